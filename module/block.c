// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the two ends of test=block have in common, see block.h. */
#include <linux/string.h>
#include "block.h"

/*
 * Append the SEND of a message. Few ask for a completion, which says that there is room in the send
 * queue: the peer's answer says more than that. @done is called for those, and with @signalled.
 */
struct krping_wr *krping_block_send(struct krping_conn *conn, struct krping_chain *chain,
				    const void *msg, u32 len, bool signalled,
				    void (*done)(struct krping_ep *ep, struct krping_wr *wr,
						 int err))
{
	struct krping_wr *wr = krping_chain_add(&conn->ep, chain, KRPING_WR_SEND);
	size_t at = (wr->seq & conn->ep.sq_mask) * sizeof(struct krping_capsule);
	struct krping_block *b = krping_block(conn);

	ib_dma_sync_single_for_cpu(conn->ep.dev, b->tx.dma + at, len, b->tx.dir);
	memcpy(b->tx.addr + at, msg, len);
	ib_dma_sync_single_for_device(conn->ep.dev, b->tx.dma + at, len, b->tx.dir);
	wr->len = len;
	wr->sge.addr = b->tx.dma + at;
	wr->sge.length = len;
	wr->sge.lkey = conn->ep.pd->local_dma_lkey;
	wr->send.sg_list = &wr->sge;
	wr->send.num_sge = 1;
	if (!signalled && wr->seq + 1 - b->signalled < conn->ep.sq_depth / 4) {
		wr->send.send_flags &= ~IB_SEND_SIGNALED;
	} else {
		b->signalled = wr->seq + 1;
		wr->done = done;
	}
	/* Its times are wanted, too. */
	chain->awaited = true;
	return wr;
}
