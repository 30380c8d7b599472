// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send queue: chains of work requests, and the call that posts them.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include "calls.h"
#include "cause.h"
#include "completion.h"
#include "krping_trace.h"
#include "record.h"
#include "sq.h"
#include "verdict.h"
#include "wants.h"

/**
 * krping_sq_init - prepare the requests of the send queue
 * @ep: the endpoint
 */
void krping_sq_init(struct krping_ep *ep)
{
	u32 i;

	for (i = 0; i < KRPING_SQ_DEPTH; i++) {
		ep->sq[i].ep = ep;
		ep->sq[i].cqe.done = krping_send_done;
	}
}

/**
 * krping_chain_add - append a work request to a chain
 * @ep: the endpoint
 * @chain: the chain
 * @kind: what to do; SENDs, READs and WRITEs are signalled, the others not
 *
 * This sets opcode, flags and link; the caller fills in the other members that
 * the opcode needs. A slot is always free: see KRPING_SQ_DEPTH.
 *
 * Context: the run's thread.
 * Return: the request.
 */
struct krping_wr *krping_chain_add(struct krping_ep *ep,
				   struct krping_chain *chain,
				   enum krping_wr_kind kind)
{
	static const enum ib_wr_opcode opcodes[] = {
		[KRPING_WR_SEND] = IB_WR_SEND,
		[KRPING_WR_SEND_INV] = IB_WR_SEND_WITH_INV,
		[KRPING_WR_RDMA_READ] = IB_WR_RDMA_READ,
		[KRPING_WR_RDMA_WRITE] = IB_WR_RDMA_WRITE,
		[KRPING_WR_REG_MR] = IB_WR_REG_MR,
		[KRPING_WR_LOCAL_INV] = IB_WR_LOCAL_INV,
	};
	u32 seq = ep->sq_posted + chain->nr;
	struct krping_wr *wr = &ep->sq[seq % KRPING_SQ_DEPTH];
	bool signaled = kind != KRPING_WR_REG_MR && kind != KRPING_WR_LOCAL_INV;

	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->kind = kind;
	wr->flags = signaled ? KRPING_POST_F_SIGNALED : 0;
	wr->len = 0;
	wr->t_post = 0;
	wr->t_posted = 0;
	wr->t_wc = 0;
	memset(&wr->reg, 0, sizeof(wr->reg));
	memset(&wr->rdma, 0, sizeof(wr->rdma));
	wr->send.wr_cqe = &wr->cqe;
	wr->send.opcode = opcodes[kind];
	wr->send.send_flags = signaled ? IB_SEND_SIGNALED : 0;

	if (chain->last)
		chain->last->send.next = &wr->send;
	else
		chain->first = wr;
	chain->last = wr;
	chain->nr++;
	chain->kinds |= BIT(kind);
	return wr;
}

static u32 krping_wr_rkey(const struct krping_wr *wr)
{
	switch (wr->kind) {
	case KRPING_WR_RDMA_READ:
	case KRPING_WR_RDMA_WRITE:
		return wr->rdma.rkey;
	case KRPING_WR_REG_MR:
		return wr->reg.key;
	default:
		return 0;
	}
}

static u32 krping_wr_inv_rkey(const struct krping_wr *wr)
{
	if (wr->kind == KRPING_WR_LOCAL_INV || wr->kind == KRPING_WR_SEND_INV)
		return wr->send.ex.invalidate_rkey;
	return 0;
}

static struct krping_wr *krping_sq_slot(struct krping_ep *ep, u32 seq)
{
	return &ep->sq[seq % KRPING_SQ_DEPTH];
}

static void krping_trace_post(struct krping_ep *ep,
			      const struct krping_chain *chain, u64 t)
{
	u32 seq;

	for (seq = chain->first->seq; seq != chain->last->seq + 1; seq++) {
		const struct krping_wr *wr = krping_sq_slot(ep, seq);

		krping_trace(post_send, ep->rec->id, t, ep->rec->cq, wr->cid,
			     ep->rec->qp, wr->kind, wr->len, wr->flags,
			     krping_wr_rkey(wr), krping_wr_inv_rkey(wr));
	}
}

static noinline int krping_post_failed(struct krping_ep *ep,
				       const struct krping_chain *chain,
				       const struct ib_send_wr *bad, int err)
{
	bool refused = false;
	u32 seq;

	for (seq = chain->first->seq; seq != chain->last->seq + 1; seq++) {
		struct krping_wr *wr = krping_sq_slot(ep, seq);

		if (&wr->send == bad || !bad)
			refused = true;
		if (!refused)
			continue;
		if (!READ_ONCE(ep->sq_bad))
			WRITE_ONCE(ep->sq_bad, wr->seq + 1);
		krping_trace(post_send_err, ep->rec->id, ep->rec->cq, wr->cid,
			     ep->rec->qp, wr->kind, err);
	}
	/*
	 * iWARP closes its end of the connection as soon as the peer does, so
	 * a post can be refused before rdma_cm has told that the peer left.
	 */
	if (err == -ENOTCONN)
		return krping_fail_closed(ep);
	return krping_fail(ep->verdict, err == -ENOMEM ? err : -EIO,
			   "posting %u work requests: error %pe", chain->nr,
			   ERR_PTR(err));
}

/*
 * Will an event that is on tell when the call was made? If none will, the clock
 * is not read, since reading it is a good part of what events cost.
 */
static bool krping_post_is_timed(const struct krping_chain *chain)
{
	if (krping_wants(stages) && (chain->kinds & KRPING_AWAITED))
		return true;
	return trace_krping_mr_done_enabled() && (chain->kinds & KRPING_OF_MRS);
}

static noinline int krping_post_traced(struct krping_ep *ep,
				       struct krping_chain *chain, bool timed,
				       const struct ib_send_wr **bad)
{
	u64 t = 0;
	int ret;

	if (trace_krping_post_send_enabled() || timed) {
		t = ktime_get_ns();
		if (trace_krping_post_send_enabled())
			krping_trace_post(ep, chain, t);
	}
	/* Set both times or none. A chain has at most these two requests. */
	if (timed) {
		chain->last->t_post = t;
		chain->first->t_post = t;
	}

	ret = krping_ib_post_send(ep->qp, &chain->first->send, bad);

	if (trace_krping_post_return_enabled() || timed) {
		t = ktime_get_ns();
		krping_trace(post_return, ep->rec->id, t, ep->rec->cq,
			     chain->first->cid, chain->nr, ret);
	}
	if (timed) {
		WRITE_ONCE(chain->last->t_posted, t);
		WRITE_ONCE(chain->first->t_posted, t);
	}
	return ret;
}

/**
 * krping_post - post a chain with one verbs call
 * @ep: the endpoint
 * @chain: the chain, not empty
 *
 * Context: the run's thread.
 * Return: 0, or a negative errno; -ECONNRESET may be without a cause on record.
 */
int krping_post(struct krping_ep *ep, struct krping_chain *chain)
{
	bool timed = krping_post_is_timed(chain);
	const struct ib_send_wr *bad = NULL;
	int ret;

	if (krping_wants(posts) || timed)
		ret = krping_post_traced(ep, chain, timed, &bad);
	else
		ret = krping_ib_post_send(ep->qp, &chain->first->send, &bad);
	ep->sq_posted += chain->nr;
	if (unlikely(ret))
		return krping_post_failed(ep, chain, bad, ret);
	return 0;
}
