/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions, which fast registration maps onto buffers. */
#ifndef KRPING_MR_H
#define KRPING_MR_H

#include <rdma/ib_verbs.h>
#include "buf.h"
#include "krping_abi.h"

struct krping_chain;
struct krping_ep;
struct krping_msg;
struct krping_wr;

/*
 * A memory region and the ledger of its keys. Whoever posts on its connection uses this: the run's
 * thread; with fr also the handlers of completions, under the connection's lock; and with block
 * these and blk-mq, which count for the run under the flood's lock, too.
 */
struct krping_mr {
	struct ib_mr *mr;
	enum krping_mr_state state; /* after all work requests posted so far */
	u8 key;			    /* last value of the key's low byte */
	bool used;		    /* it has had a request */
	u32 last_seq;		    /* send queue number of the last one */
};

/* How work requests name a buffer. */
struct krping_key {
	u64 addr;
	u32 lkey; /* for requests of this end */
	u32 rkey; /* for requests of the peer */
};

int krping_mr_alloc(struct krping_ep *ep, struct krping_mr *mr, size_t size);
void krping_mr_free(struct krping_ep *ep, struct krping_mr *mr);
int krping_mr_chain_reg(struct krping_ep *ep, struct krping_mr *mr, struct krping_chain *chain,
			struct krping_buf *buf, u32 len, int access, struct krping_key *key);
int krping_mr_chain_reg_sg(struct krping_ep *ep, struct krping_mr *mr, struct krping_chain *chain,
			   struct scatterlist *sg, int nr, u32 len, int access,
			   struct krping_key *key);
struct krping_wr *krping_mr_chain_inv(struct krping_ep *ep, struct krping_mr *mr,
				      struct krping_chain *chain, bool fence);
void krping_mr_read_inv(struct krping_ep *ep, struct krping_mr *mr, struct krping_wr *wr);
void krping_buf_key(const struct krping_ep *ep, const struct krping_buf *buf, int access,
		    struct krping_key *key);
int krping_mr_remote_inv(struct krping_ep *ep, struct krping_mr *mr, const struct krping_msg *msg);

#endif /* KRPING_MR_H */
