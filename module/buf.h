/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Buffers: memory that a device can reach. */
#ifndef KRPING_BUF_H
#define KRPING_BUF_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct krping_ep;

/* Memory that the device can reach. Only the run's thread uses this. */
struct krping_buf {
	void *addr;   /* of the first byte */
	u64 dma;      /* of the first byte */
	u64 dma_last; /* of the last byte */
	size_t size;  /* bytes that the run uses */
	enum dma_data_direction dir;
	bool mapped;
	void *base;	     /* of the first page; NULL: not allocated */
	size_t bytes;	     /* of the pages */
	bool single_pages;   /* not contiguous, and base shows them in one piece */
	struct sg_table mem; /* the pages; one entry if they are contiguous */
};

int krping_buf_alloc(struct krping_ep *ep, struct krping_buf *buf, size_t size,
		     enum dma_data_direction dir);
void krping_buf_free(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_for_cpu(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_for_device(struct krping_ep *ep, struct krping_buf *buf);
u8 krping_buf_peek_last(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_poke_last(struct krping_ep *ep, struct krping_buf *buf, u8 value);

#endif /* KRPING_BUF_H */
