/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The send queue. */
#ifndef KRPING_SQ_H
#define KRPING_SQ_H

#include "ep.h"

/* Requests that have no completion of their own, unless the caller of a chain asks for it. */
#define KRPING_UNSIGNALED (BIT(KRPING_WR_REG_MR) | BIT(KRPING_WR_LOCAL_INV))

/* Work requests that one verbs call will post. */
struct krping_chain {
	struct krping_wr *first;
	struct krping_wr *last;
	unsigned int nr;
	u32 kinds;	   /* bits of enum krping_wr_kind */
	unsigned int room; /* how many requests were reserved */
	bool awaited;	   /* a phase waits for one of them that is not of KRPING_OF_RDMA */
	bool leaves;	   /* set by the caller: with the post the phase, or the iteration, ends */
	bool calls_back;   /* a completion's handler posts it, and may not sleep */
};

int krping_sq_create(struct krping_ep *ep, u32 requests);
void krping_sq_destroy(struct krping_ep *ep);
int krping_chain_begin(struct krping_ep *ep, struct krping_chain *chain, unsigned int room);
void krping_chain_begin_again(struct krping_chain *chain, unsigned int room);
struct krping_wr *krping_chain_add(struct krping_ep *ep, struct krping_chain *chain,
				   enum krping_wr_kind kind);
void krping_wr_invalidates(struct krping_chain *chain, struct krping_wr *wr, u32 rkey);
void krping_wr_await(struct krping_chain *chain, struct krping_wr *wr);
int krping_post(struct krping_ep *ep, struct krping_chain *chain);

#endif /* KRPING_SQ_H */
