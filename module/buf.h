/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Buffers: memory that a device can reach.
 */
#ifndef KRPING_BUF_H
#define KRPING_BUF_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct krping_ep;

/**
 * struct krping_buf - memory that the device can reach
 * @addr:	kernel address of its first byte
 * @dma:	DMA address of its first byte
 * @dma_last:	DMA address of its last byte
 * @size:	bytes that the run uses
 * @dir:	direction of the DMA
 * @mapped:	@mem is mapped for the device
 * @base:	kernel address of the first page; NULL: not allocated
 * @bytes:	of the pages
 * @single_pages: the pages are not contiguous, and @base shows them in one piece
 * @mem:	the pages; one entry if they are contiguous
 *
 * Only the run's thread uses this.
 */
struct krping_buf {
	void *addr;
	u64 dma;
	u64 dma_last;
	size_t size;
	enum dma_data_direction dir;
	bool mapped;
	void *base;
	size_t bytes;
	bool single_pages;
	struct sg_table mem;
};

int krping_buf_alloc(struct krping_ep *ep, struct krping_buf *buf, size_t size,
		     enum dma_data_direction dir);
void krping_buf_free(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_for_cpu(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_for_device(struct krping_ep *ep, struct krping_buf *buf);
u8 krping_buf_peek_last(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_poke_last(struct krping_ep *ep, struct krping_buf *buf, u8 value);

#endif /* KRPING_BUF_H */
