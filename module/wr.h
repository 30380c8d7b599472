/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A work request and its result.
 */
#ifndef KRPING_WR_H
#define KRPING_WR_H

#include <rdma/ib_verbs.h>

/**
 * struct krping_wr - one work request, and its result
 * @cqe:	by which a completion finds the request
 * @seq:	its number in its queue
 * @cid:	its number in the run, as events show it
 * @kind:	enum krping_wr_kind
 * @flags:	KRPING_POST_F_*
 * @awaited:	a phase may wait for it, so that its times are wanted for stages
 * @len:	bytes to move
 * @map_ns:	REG_MR: how long the mapping took
 * @wc_is_msg:	RECV: a SEND has completed it; a WRITE with immediate data can, too
 * @wc_len:	RECV: bytes received
 * @wc_inv:	RECV: key that the peer invalidated, if @wc_has_inv
 * @wc_has_inv:	RECV: the message was a SEND_WITH_INV
 * @t_post:	when the verbs call was made; every time is 0 if nobody wants it
 * @t_posted:	when the verbs call returned
 * @t_sig:	when the provider signalled the CQ
 * @t_wc:	when the completion handler ran; a request that failed has this only if
 *		somebody wants to know of requests on memory regions
 * @mem:	RECV: its buffer, as the CPU addresses it
 * @sge:	its only scatter/gather entry
 *
 * The thread writes a request before it posts it. But it writes @t_posted, and @t_post
 * if no event tells of the call, behind the post; outside the thread only
 * krping_mr_done reads these two. The completion handler writes the
 * wc_ members and the last two times before it publishes the completion by
 * krping_ep.sq_done or rq_done (release), after which the thread reads them.
 */
struct krping_wr {
	struct ib_cqe cqe;
	u32 seq;
	u32 cid;
	u32 len;
	u8 kind;
	u8 flags;
	bool awaited;
	bool wc_is_msg;
	bool wc_has_inv;
	u32 wc_len;
	u32 wc_inv;
	u64 map_ns;
	u64 t_post;
	u64 t_posted;
	u64 t_sig;
	u64 t_wc;
	void *mem;
	struct ib_sge sge;
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_reg_wr reg;
		struct ib_recv_wr recv;
	};
};

#endif /* KRPING_WR_H */
