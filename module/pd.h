/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protection domain of an endpoint, or of several that share a receive queue.
 */
#ifndef KRPING_PD_H
#define KRPING_PD_H

#include <linux/types.h>

struct ib_device;
struct ib_pd;
struct krping_verdict;

struct ib_pd *krping_pd_create(struct krping_verdict *verdict,
			       struct ib_device *dev, bool dma_key);

#endif /* KRPING_PD_H */
