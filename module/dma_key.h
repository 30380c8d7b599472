/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who may open all memory of this host to a peer: mem_mode=dma.
 */
#ifndef KRPING_DMA_KEY_H
#define KRPING_DMA_KEY_H

struct krping_verdict;

int krping_dma_key_check(struct krping_verdict *verdict);

#endif /* KRPING_DMA_KEY_H */
