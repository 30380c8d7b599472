// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The tables of names of RDMA enums moved from trace/events/ to trace/misc/. */
#include <linux/tracepoint.h>
#include <trace/misc/rdma.h>
