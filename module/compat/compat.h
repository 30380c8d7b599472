/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The only place that knows of differences between kernels; see README.
 */
#ifndef KRPING_COMPAT_H
#define KRPING_COMPAT_H

/* Prefix of every message, whatever the module is called. */
#define pr_fmt(fmt) "krping: " fmt

#endif /* KRPING_COMPAT_H */
