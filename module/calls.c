// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The debug build's functions of calls.h.
 */
#include <linux/error-injection.h>

#define KRPING_DEFINE_CALLS
#include "calls.h"
