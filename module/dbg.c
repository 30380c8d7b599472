// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/moduleparam.h>
#include "dbg.h"

bool krping_debug;
module_param_named(debug, krping_debug, bool, 0644);
MODULE_PARM_DESC(debug, "print a running commentary to the kernel log (default 0)");
