/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Buffers, and the memory region that fast registration maps onto them.
 */
#ifndef KRPING_MR_H
#define KRPING_MR_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "krping_abi.h"

struct krping_ep;
struct krping_chain;
struct krping_wr;

/**
 * struct krping_buf - memory that the device can reach
 * @addr:	kernel address of its first byte, krping_ep.offset behind the
 *		beginning of a page
 * @dma:	DMA address of its first byte
 * @size:	bytes that the run uses of it
 * @dir:	direction of the DMA
 * @mapped:	@mem is mapped for the device
 * @base:	kernel address of its first page; NULL: not allocated
 * @bytes:	of its pages
 * @pages:	single pages, which @base shows in one piece; NULL: they are contiguous
 * @mem:	its pages; one entry if they are contiguous
 * @segs:	the bytes of it, as the device addresses them: what a registration takes
 * @spot:	single pages: offset of the byte that was looked for last
 * @spot_dma:	its DMA address; 0: none was
 *
 * Only the run's thread uses this.
 */
struct krping_buf {
	void *addr;
	u64 dma;
	size_t size;
	enum dma_data_direction dir;
	bool mapped;
	void *base;
	size_t bytes;
	struct page **pages;
	struct sg_table mem;
	struct sg_table segs;
	size_t spot;
	u64 spot_dma;
};

/**
 * struct krping_mr - a memory region and the ledger of its keys
 * @mr:		the verbs object
 * @state:	its state after all work requests posted so far
 * @key:	last value of the key's low byte
 * @reg_seq:	send queue number of the last REG_MR
 * @last_seq:	send queue number of the last request, if @used
 * @used:	it has had a request, of the endpoint that is there now
 *
 * Only the run's thread uses this.
 */
struct krping_mr {
	struct ib_mr *mr;
	enum krping_mr_state state;
	u8 key;
	u32 reg_seq;
	u32 last_seq;
	bool used;
};

/**
 * struct krping_key - how work requests name a buffer
 * @addr:	its address for the device and the peer
 * @lkey:	for requests of this end
 * @rkey:	for requests of the peer
 */
struct krping_key {
	u64 addr;
	u32 lkey;
	u32 rkey;
};

int krping_buf_alloc(struct krping_ep *ep, struct krping_buf *buf, size_t size,
		     enum dma_data_direction dir);
int krping_buf_part(struct krping_ep *ep, struct krping_buf *part,
		    const struct krping_buf *buf, size_t at);
void krping_buf_free(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_for_cpu(struct krping_ep *ep, struct krping_buf *buf);
void krping_buf_for_device(struct krping_ep *ep, struct krping_buf *buf);
u8 krping_buf_peek(struct krping_ep *ep, struct krping_buf *buf, size_t at);
void krping_buf_poke(struct krping_ep *ep, struct krping_buf *buf, size_t at,
		     u8 value);

int krping_mr_alloc(struct krping_ep *ep, struct krping_mr *mr, size_t size);
void krping_mr_free(struct krping_ep *ep, struct krping_mr *mr);
void krping_mr_outlives(struct krping_mr *mr);
int krping_mr_chain_reg(struct krping_ep *ep, struct krping_mr *mr,
			struct krping_chain *chain, struct krping_buf *buf,
			u32 len, int access, struct krping_key *key);
struct krping_wr *krping_mr_chain_inv(struct krping_ep *ep,
				      struct krping_mr *mr,
				      struct krping_chain *chain, bool fence);
void krping_mr_read_inv(struct krping_ep *ep, struct krping_mr *mr,
			struct krping_wr *wr);
void krping_buf_key(const struct krping_ep *ep, const struct krping_buf *buf,
		    int access, struct krping_key *key);
int krping_mr_remote_inv(struct krping_ep *ep, struct krping_mr *mr, u32 cid,
			 bool has_inv, u32 key);

#endif /* KRPING_MR_H */
