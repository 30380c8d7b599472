/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The send queue.
 */
#ifndef KRPING_SQ_H
#define KRPING_SQ_H

#include "ep.h"

/**
 * struct krping_chain - work requests that one verbs call will post
 * @first:	the first of the requests
 * @last:	the last of the requests
 * @nr:		number of requests
 * @kinds:	their kinds, bits of enum krping_wr_kind
 */
struct krping_chain {
	struct krping_wr *first;
	struct krping_wr *last;
	unsigned int nr;
	u32 kinds;
};

void krping_sq_init(struct krping_ep *ep);
struct krping_wr *krping_chain_add(struct krping_ep *ep,
				   struct krping_chain *chain,
				   enum krping_wr_kind kind);
int krping_post(struct krping_ep *ep, struct krping_chain *chain);

#endif /* KRPING_SQ_H */
