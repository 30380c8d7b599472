/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC  1000000000L
