// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The send queue: chains of work requests, and the call that posts them. */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include "cause.h"
#include "completion.h"
#include "dbg.h"
#include "krping_trace.h"
#include "mr_trace.h"
#include "phase.h"
#include "record.h"
#include "sq.h"
#include "verdict.h"
#include "wait.h"
#include "wants.h"

/* @requests: how many of them a test has in flight at most. */
int krping_sq_create(struct krping_ep *ep, u32 requests)
{
	u32 slots = roundup_pow_of_two(requests);
	u32 max = ep->dev->attrs.max_qp_wr;

	if (requests + KRPING_SQ_EXTRA > max)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "the test needs a send queue of %u, the device has %u",
				   requests + KRPING_SQ_EXTRA, max);
	ep->sq = kvcalloc(slots, sizeof(*ep->sq), GFP_KERNEL);
	if (!ep->sq)
		return krping_fail(ep->verdict, -ENOMEM, "allocating the send queue");
	ep->sq_depth = requests;
	ep->sq_mask = slots - 1;
	return 0;
}

/* The queue pair and its CQs are gone, so nobody looks at a request any more. */
void krping_sq_destroy(struct krping_ep *ep)
{
	kvfree(ep->sq);
	ep->sq = NULL;
}

/*
 * Begin a chain, and reserve @room requests for it, which may sleep until so many are free. Only
 * a signalled request frees those up to itself: of the requests posted before this chain, a
 * test has signalled one of the newest depth - @room + 1. Returns 0, or as krping_wait_errno().
 */
int krping_chain_begin(struct krping_ep *ep, struct krping_chain *chain, unsigned int room)
{
	u32 used = ep->sq_posted - READ_ONCE(ep->sq_done);
	int ret;

	KRPING_CHECK(room && room <= ep->sq_depth);
	memset(chain, 0, sizeof(*chain));
	chain->room = room;
	if (unlikely(used + room > ep->sq_depth)) {
		ret = krping_wait_seq(ep, ep->sq_posted + room - ep->sq_depth - 1);
		if (ret < 0)
			return ret;
	}
	krping_memory_room(ep, room);
	return 0;
}

/* The same for whoever handles a completion, and knows that there is room. Does not sleep. */
void krping_chain_begin_again(struct krping_chain *chain, unsigned int room)
{
	*chain = (struct krping_chain){ .room = room, .calls_back = true };
}

/*
 * Append a work request to a chain; the caller fills in what else its opcode needs. All but
 * KRPING_UNSIGNALED have a completion of their own.
 */
struct krping_wr *krping_chain_add(struct krping_ep *ep, struct krping_chain *chain,
				   enum krping_wr_kind kind)
{
	static const enum ib_wr_opcode opcodes[] = {
		[KRPING_WR_SEND] = IB_WR_SEND,
		[KRPING_WR_SEND_INV] = IB_WR_SEND_WITH_INV,
		[KRPING_WR_RDMA_READ] = IB_WR_RDMA_READ,
		[KRPING_WR_READ_INV] = IB_WR_RDMA_READ_WITH_INV,
		[KRPING_WR_RDMA_WRITE] = IB_WR_RDMA_WRITE,
		[KRPING_WR_REG_MR] = IB_WR_REG_MR,
		[KRPING_WR_LOCAL_INV] = IB_WR_LOCAL_INV,
	};
	u32 seq = ep->sq_posted + chain->nr;
	struct krping_wr *wr = krping_sq_slot(ep, seq);

	KRPING_CHECK(chain->nr < chain->room);
	/* The request that was in this place has retired. */
	KRPING_CHECK(seq - READ_ONCE(ep->sq_done) < ep->sq_depth);
	wr->cqe.done = krping_send_done;
	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->kind = kind;
	wr->len = 0;
	wr->done = NULL;
	wr->map_ns = 0;
	wr->t_post = 0;
	wr->t_posted = 0;
	wr->t_wc = 0;
	if (krping_wants(requests))
		wr->t_queued = ep->t_queued;
	wr->send = (struct ib_send_wr){ .wr_cqe = &wr->cqe, .opcode = opcodes[kind] };
	if (BIT(kind) & KRPING_UNSIGNALED) {
		/* A run whose chain is not posted ends, and waits for no request. */
		ep->mr_wr_seq = seq;
		ep->mr_wr_pending = true;
	} else {
		wr->send.send_flags = IB_SEND_SIGNALED;
	}

	if (chain->last)
		chain->last->send.next = &wr->send;
	else
		chain->first = wr;
	chain->last = wr;
	chain->nr++;
	chain->kinds |= BIT(kind);
	return wr;
}

/* The request behind this one in its chain, or NULL. */
static struct krping_wr *krping_chain_next(const struct krping_wr *wr)
{
	return wr->send.next ? container_of(wr->send.next, struct krping_wr, send) : NULL;
}

#define krping_for_each_wr(wr, chain) for (wr = (chain)->first; wr; wr = krping_chain_next(wr))

static u32 krping_wr_rkey(const struct krping_wr *wr)
{
	if (BIT(wr->kind) & KRPING_OF_RDMA)
		return wr->rdma.rkey;
	return wr->kind == KRPING_WR_REG_MR ? wr->reg.key : 0;
}

static u32 krping_wr_flags(const struct krping_wr *wr)
{
	int flags = wr->send.send_flags;

	return (flags & IB_SEND_SIGNALED ? KRPING_POST_F_SIGNALED : 0) |
	       (flags & IB_SEND_FENCE ? KRPING_POST_F_FENCE : 0) |
	       (flags & IB_SEND_INLINE ? KRPING_POST_F_INLINE : 0);
}

/* @bad: the first request that was refused; NULL: all were. */
static noinline int krping_post_failed(struct krping_ep *ep, const struct krping_chain *chain,
				       const struct ib_send_wr *bad, int err)
{
	const struct krping_wr *wr = chain->first;

	if (bad)
		wr = container_of(bad, struct krping_wr, send);
	/* The core may poll the CQ at the same time. */
	cmpxchg(&ep->sq_bad, 0, wr->seq + 1);
	for (; wr; wr = krping_chain_next(wr))
		krping_trace(post_send_err, ep->rec->id, ep->scq.id, wr->cid, ep->qp->qp_num,
			     wr->kind, err);
	/* iWARP closes its end as soon as the peer does, before rdma_cm tells of that. */
	if (err == -ENOTCONN && chain->calls_back)
		return krping_flushed(ep, err);
	if (err == -ENOTCONN)
		return krping_fail_closed(ep);
	/* The caller may have asked for what the provider has to refuse. */
	if (ep->may_fail && err != -ENOMEM)
		return err;
	return krping_fail(ep->verdict, err == -ENOMEM ? err : -EIO,
			   "posting %u work requests: error %pe", chain->nr, ERR_PTR(err));
}

/*
 * A provider in software may leave the work to a softirq, as rxe up to 6.8 does with a
 * tasklet. Raised by a thread, a softirq waits for ksoftirqd, whose turn costs more than the
 * work; raised while softirqs are disabled, it runs when the caller enables them again, and so
 * does what a peer on this host has to do then.
 */
static __always_inline int krping_post_call(struct krping_ep *ep, struct krping_chain *chain,
					    const struct ib_send_wr **bad)
{
	local_bh_disable();
	return ib_post_send(ep->qp, &chain->first->send, bad);
}

/* The clock is read only for who wants this chain: reading it is most of what watching costs. */
static __always_inline bool krping_post_is_timed(const struct krping_chain *chain)
{
	return (krping_wants(stages) && (chain->awaited || chain->kinds & KRPING_OF_RDMA)) ||
	       (chain->kinds & KRPING_OF_MRS &&
		(trace_krping_mr_done_enabled() || trace_krping_iter_memory_enabled()));
}

static noinline void krping_trace_posts(const struct krping_ep *ep,
					const struct krping_chain *chain)
{
	const struct krping_wr *wr;

	krping_for_each_wr(wr, chain)
		krping_trace(post_send, ep->rec->id, wr->t_post, ep->scq.id, wr->cid,
			     ep->qp->qp_num, wr->kind, wr->len, krping_wr_flags(wr),
			     krping_wr_rkey(wr), wr->send.ex.invalidate_rkey);
}

static noinline int krping_post_watched(struct krping_ep *ep, struct krping_chain *chain,
					const struct ib_send_wr **bad)
{
	u64 t = ktime_get_ns();
	struct krping_wr *wr;
	int ret;

	krping_for_each_wr(wr, chain)
		wr->t_post = t;
	if (trace_krping_post_send_enabled())
		krping_trace_posts(ep, chain);

	ret = krping_post_call(ep, chain, bad);

	t = ktime_get_ns();
	krping_trace(post_return, ep->rec->id, t, ep->scq.id, chain->first->cid, chain->nr, ret);
	krping_for_each_wr(wr, chain)
		WRITE_ONCE(wr->t_posted, t);
	return ret;
}

/* A SEND of the chain also invalidates a key of the peer. */
void krping_wr_invalidates(struct krping_chain *chain, struct krping_wr *wr, u32 rkey)
{
	wr->kind = KRPING_WR_SEND_INV;
	wr->send.opcode = IB_WR_SEND_WITH_INV;
	wr->send.ex.invalidate_rkey = rkey;
	chain->kinds |= BIT(KRPING_WR_SEND_INV);
}

/* Ask for the completion of a request in the chain, for which a phase may wait. */
void krping_wr_await(struct krping_chain *chain, struct krping_wr *wr)
{
	wr->send.send_flags |= IB_SEND_SIGNALED;
	chain->awaited = true;
}

/* What was posted is counted: all before bad, the first request that was refused. */
static void krping_count_posts(struct krping_ep *ep, const struct krping_chain *chain,
			       const struct ib_send_wr *bad)
{
	struct krping_stats *stats = &ep->rec->stats;
	const struct krping_wr *wr;

	if (!(chain->kinds & KRPING_OF_STATS))
		return;
	krping_for_each_wr(wr, chain) {
		if (&wr->send == bad)
			break;
		switch (wr->kind) {
		case KRPING_WR_SEND:
		case KRPING_WR_SEND_INV:
			krping_count(&stats->send, wr->len);
			break;
		case KRPING_WR_RDMA_READ:
		case KRPING_WR_READ_INV:
			krping_count(&stats->read, wr->len);
			break;
		case KRPING_WR_RDMA_WRITE:
			krping_count(&stats->write, wr->len);
			break;
		}
	}
}

/* What softirqs do for the requests belongs to the next phase, which waits for them. */
static __always_inline void krping_post_leaves(struct krping_phases *at,
					       const struct krping_chain *chain)
{
	if (!at->muted)
		at->t_next = chain->last->t_posted ?: ktime_get_ns();
}

/*
 * Post a chain with one verbs call. Softirqs that the post raises may run before this returns.
 * Returns 0, or as krping_wait_errno(); if the endpoint may fail, only -ENOMEM is on record. With
 * calls_back this does not sleep, and returns -ENOTCONN where it would: the thread finds the cause.
 */
int krping_post(struct krping_ep *ep, struct krping_chain *chain)
{
	const struct ib_send_wr *bad = NULL;
	int ret;

	if (krping_wants(posts) &&
	    (trace_krping_post_send_enabled() || trace_krping_post_return_enabled() ||
	     krping_post_is_timed(chain)))
		ret = krping_post_watched(ep, chain, &bad);
	else
		ret = krping_post_call(ep, chain, &bad);
	if (krping_wants(phases) && chain->leaves && !ret)
		krping_post_leaves(ep->phases, chain);
	local_bh_enable();

	/* No completion handler looks at these. */
	ep->sq_posted += chain->nr;
	/* A provider that refuses without saying which has taken none. */
	if (!ret || bad)
		krping_count_posts(ep, chain, bad);
	if (unlikely(ret))
		return krping_post_failed(ep, chain, bad, ret);
	return 0;
}
