// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send queue: chains of work requests, and the call that posts them.
 */
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

/*
 * Make the requests of the send queue. @requests: how many of them a test has in flight
 * at most. Returns 0, or a negative errno that is also the run's cause.
 */
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

/**
 * krping_chain_begin - begin a chain, and reserve requests for it
 * @ep: the endpoint
 * @chain: the chain, which becomes empty
 * @room: how many requests it will have at most, no more than the send queue has
 *
 * A request becomes free when it completes, if it is signalled, or else when the
 * next signalled one does. So a test has to signal often enough: of the requests
 * that were posted before this chain, one of the newest depth - @room + 1.
 *
 * Return: 0, perhaps after a wait until so many requests are free, or a negative errno;
 * -ECONNRESET and -EINTR may be without a cause on record.
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

/**
 * krping_chain_add - append a work request to a chain
 * @ep: the endpoint
 * @chain: the chain
 * @kind: what to do; SENDs, READs and WRITEs are signalled, the others only by
 *	krping_wr_await()
 *
 * This sets opcode, flags, link and completion handler of a request that
 * krping_chain_begin() has reserved; the caller fills in what else the opcode needs.
 */
struct krping_wr *krping_chain_add(struct krping_ep *ep, struct krping_chain *chain,
				   enum krping_wr_kind kind)
{
	static const struct {
		enum ib_wr_opcode opcode;
		bool signaled;
		bool awaited;
	} kinds[] = {
		[KRPING_WR_SEND] = { IB_WR_SEND, true, false },
		[KRPING_WR_SEND_INV] = { IB_WR_SEND_WITH_INV, true, false },
		[KRPING_WR_RDMA_READ] = { IB_WR_RDMA_READ, true, true },
		[KRPING_WR_READ_INV] = { IB_WR_RDMA_READ_WITH_INV, true, true },
		[KRPING_WR_RDMA_WRITE] = { IB_WR_RDMA_WRITE, true, true },
		[KRPING_WR_REG_MR] = { IB_WR_REG_MR, false, false },
		[KRPING_WR_LOCAL_INV] = { IB_WR_LOCAL_INV, false, false },
	};
	u32 seq = ep->sq_posted + chain->nr;
	struct krping_wr *wr = krping_sq_slot(ep, seq);
	bool signaled = kinds[kind].signaled;

	KRPING_CHECK(chain->nr < chain->room);
	/* The request that was in this place has retired. */
	KRPING_CHECK(seq - READ_ONCE(ep->sq_done) < ep->sq_depth);
	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->kind = kind;
	wr->flags = signaled ? KRPING_POST_F_SIGNALED : 0;
	wr->len = 0;
	wr->t_post = 0;
	wr->t_posted = 0;
	wr->t_wc = 0;
	wr->cqe.done = krping_send_done;
	wr->send = (struct ib_send_wr){
		.wr_cqe = &wr->cqe,
		.opcode = kinds[kind].opcode,
		.send_flags = signaled ? IB_SEND_SIGNALED : 0,
	};

	if (chain->last)
		chain->last->send.next = &wr->send;
	else
		chain->first = wr;
	chain->last = wr;
	chain->nr++;
	chain->kinds |= BIT(kind);
	chain->awaited |= kinds[kind].awaited;
	if (!signaled)
		chain->regions_seq = seq;
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
	switch (wr->kind) {
	case KRPING_WR_RDMA_READ:
	case KRPING_WR_READ_INV:
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
	if (wr->kind == KRPING_WR_LOCAL_INV || wr->kind == KRPING_WR_SEND_INV ||
	    wr->kind == KRPING_WR_READ_INV)
		return wr->send.ex.invalidate_rkey;
	return 0;
}

static void krping_trace_post(struct krping_ep *ep, const struct krping_chain *chain, u64 t)
{
	const struct krping_wr *wr;

	krping_for_each_wr(wr, chain)
		krping_trace(post_send, ep->rec->id, t, ep->scq.id, wr->cid, ep->qp->qp_num,
			     wr->kind, wr->len, wr->flags, krping_wr_rkey(wr),
			     krping_wr_inv_rkey(wr));
}

/* @bad: the first request that was refused; NULL: all were. */
static noinline int krping_post_failed(struct krping_ep *ep, const struct krping_chain *chain,
				       const struct ib_send_wr *bad, int err)
{
	const struct krping_wr *wr = chain->first;

	if (bad)
		wr = container_of(bad, struct krping_wr, send);
	if (!READ_ONCE(ep->sq_bad))
		WRITE_ONCE(ep->sq_bad, wr->seq + 1);
	for (; wr; wr = krping_chain_next(wr))
		krping_trace(post_send_err, ep->rec->id, ep->scq.id, wr->cid, ep->qp->qp_num,
			     wr->kind, err);
	/*
	 * iWARP closes its end of the connection as soon as the peer does, so
	 * a post can be refused before rdma_cm has told that the peer left.
	 */
	if (err == -ENOTCONN)
		return krping_fail_closed(ep);
	/* The caller may have asked for what the provider has to refuse. */
	if (ep->may_fail && err != -ENOMEM)
		return err;
	return krping_fail(ep->verdict, err == -ENOMEM ? err : -EIO,
			   "posting %u work requests: error %pe", chain->nr, ERR_PTR(err));
}

/* Does an event that is on tell of the call? */
static __always_inline bool krping_post_is_traced(const struct krping_chain *chain)
{
	return trace_krping_post_send_enabled() || trace_krping_post_return_enabled() ||
	       (trace_krping_mr_done_enabled() && chain->kinds & KRPING_OF_MRS);
}

/*
 * Will somebody be told when the call was made? If nobody will, the clock is not read,
 * since reading it is a good part of what watching costs.
 */
static __always_inline bool krping_post_is_timed(const struct krping_chain *chain)
{
	if (krping_wants(stages) && chain->awaited)
		return true;
	return (chain->kinds & KRPING_OF_MRS) &&
	       (trace_krping_mr_done_enabled() || trace_krping_iter_memory_enabled());
}

/*
 * A provider in software may leave the work to a softirq, as rxe up to 6.8 does
 * with a tasklet. Raised by a thread, a softirq waits for ksoftirqd, whose wake-up
 * and turn cost more than the work. Raised while softirqs are disabled it runs when
 * they are enabled again, as a rule: a CPU that has much to do hands the rest to
 * ksoftirqd. Work that is done for the peer, if it is on this host, runs there, too.
 * The caller enables softirqs.
 */
static __always_inline int krping_post_call(struct krping_ep *ep, struct krping_chain *chain,
					    const struct ib_send_wr **bad)
{
	local_bh_disable();
	return ib_post_send(ep->qp, &chain->first->send, bad);
}

static noinline int krping_post_watched(struct krping_ep *ep, struct krping_chain *chain,
					const struct ib_send_wr **bad)
{
	bool timed = krping_post_is_timed(chain);
	struct krping_wr *wr;
	u64 t = 0;
	int ret;

	if (trace_krping_post_send_enabled() || timed)
		t = ktime_get_ns();
	if (trace_krping_post_send_enabled())
		krping_trace_post(ep, chain, t);
	/* Set both times or none. */
	if (timed)
		krping_for_each_wr(wr, chain)
			wr->t_post = t;

	ret = krping_post_call(ep, chain, bad);

	if (trace_krping_post_return_enabled() || timed) {
		t = ktime_get_ns();
		krping_trace(post_return, ep->rec->id, t, ep->scq.id, chain->first->cid, chain->nr,
			     ret);
	}
	if (timed)
		krping_for_each_wr(wr, chain)
			WRITE_ONCE(wr->t_posted, t);
	return ret;
}

/**
 * krping_wr_invalidates - make of a SEND one that invalidates a key of the peer
 * @chain: the chain that it is the last of
 * @wr: the request
 * @rkey: the key
 */
void krping_wr_invalidates(struct krping_chain *chain, struct krping_wr *wr, u32 rkey)
{
	wr->kind = KRPING_WR_SEND_INV;
	wr->send.opcode = IB_WR_SEND_WITH_INV;
	wr->send.ex.invalidate_rkey = rkey;
	chain->kinds |= BIT(KRPING_WR_SEND_INV);
}

/* The request is executed only after the READs before it. */
void krping_wr_fence(struct krping_wr *wr)
{
	wr->flags |= KRPING_POST_F_FENCE;
	wr->send.send_flags |= IB_SEND_FENCE;
}

/* Ask for the completion of a request in the chain, for which a phase may wait. */
void krping_wr_await(struct krping_chain *chain, struct krping_wr *wr)
{
	wr->flags |= KRPING_POST_F_SIGNALED;
	wr->send.send_flags |= IB_SEND_SIGNALED;
	chain->awaited = true;
}

/*
 * The newest request of its chain needs no completion of its own. A request behind it, in
 * this chain or a later one, has to be signalled, since only that retires this one.
 */
void krping_wr_unsignal(struct krping_wr *wr)
{
	wr->flags &= ~KRPING_POST_F_SIGNALED;
	wr->send.send_flags &= ~IB_SEND_SIGNALED;
}

/*
 * The request carries its data, which the provider copies before the post returns. Its
 * scatter/gather entry has their length.
 */
void krping_wr_inline(struct krping_wr *wr, const void *data)
{
	wr->flags |= KRPING_POST_F_INLINE;
	wr->send.send_flags |= IB_SEND_INLINE;
	wr->sge.addr = (uintptr_t)data;
}

/*
 * What /proc/krping counts is what was posted: all of the chain but bad, the first
 * one that was refused, and those behind it.
 */
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
			WRITE_ONCE(stats->send_bytes, stats->send_bytes + wr->len);
			WRITE_ONCE(stats->send_msgs, stats->send_msgs + 1);
			break;
		case KRPING_WR_RDMA_READ:
		case KRPING_WR_READ_INV:
			WRITE_ONCE(stats->read_bytes, stats->read_bytes + wr->len);
			WRITE_ONCE(stats->read_msgs, stats->read_msgs + 1);
			break;
		case KRPING_WR_RDMA_WRITE:
			WRITE_ONCE(stats->write_bytes, stats->write_bytes + wr->len);
			WRITE_ONCE(stats->write_msgs, stats->write_msgs + 1);
			break;
		}
	}
}

/*
 * The phase ends with the call: what softirqs do for the requests belongs to the
 * next phase, which waits for what they bring.
 */
static noinline void krping_post_leaves(struct krping_phases *at, const struct krping_chain *chain)
{
	if (!at->muted)
		at->t_next = chain->last->t_posted ?: ktime_get_ns();
}

/**
 * krping_post - post a chain with one verbs call
 * @ep: the endpoint
 * @chain: the chain, not empty
 *
 * Softirqs that the post raises may run before this returns. Sleeps only if the post fails.
 *
 * Return: 0, or a negative errno; -ECONNRESET may be without a cause on record, and
 * so may be any other but -ENOMEM if the endpoint may fail.
 */
int krping_post(struct krping_ep *ep, struct krping_chain *chain)
{
	const struct ib_send_wr *bad = NULL;
	int ret;

	if (krping_wants(posts) && (krping_post_is_traced(chain) || krping_post_is_timed(chain)))
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
	if (chain->kinds & KRPING_UNSIGNALED) {
		ep->mr_wr_seq = chain->regions_seq;
		ep->mr_wr_pending = true;
	}
	if (unlikely(ret))
		return krping_post_failed(ep, chain, bad, ret);
	return 0;
}
