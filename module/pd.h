/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, and who may have one with a key for all memory: mem_mode=dma. */
#ifndef KRPING_PD_H
#define KRPING_PD_H

#include <linux/types.h>

struct ib_device;
struct ib_pd;
struct krping_verdict;

int krping_dma_key_check(struct krping_verdict *verdict);
struct ib_pd *krping_pd_create(struct krping_verdict *verdict, struct ib_device *dev, bool dma_key);

#endif /* KRPING_PD_H */
