// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the device tells: completions, and the events of a queue pair.
 *
 * The handlers, which run where the CQ is polled and one at a time for each CQ, publish
 * results to the thread and wake it: the thread makes the decisions. A completion finds its
 * endpoint by its CQ, since the queue pair may be gone when the core polls. Every work request
 * has a handler, also the unsignalled ones, which complete when they fail or are flushed.
 */
#include <linux/ktime.h>
#include <rdma/rdma_cm.h>
#include "cause.h"
#include "completion.h"
#include "dbg.h"
#include "krping_trace.h"
#include "record.h"
#include "verdict.h"
#include "wants.h"

/* A thread that polls is awake. */
static void krping_completed(const struct krping_cq *kcq)
{
	if (!kcq->polled)
		krping_wake(kcq->verdict);
}

static noinline void krping_trace_wc(const struct krping_ep *ep, const struct krping_cq *kcq,
				     const struct krping_wr *wr, u32 len)
{
	krping_trace(wc, ep->rec->id, wr->t_wc, kcq->id, wr->cid, wr->kind, len);
}

/*
 * The times of a successful completion; they are 0 if nobody wants them. No phase waits for a
 * message to leave, but see krping_wait_regions().
 */
static __always_inline void krping_take_times(struct krping_ep *ep, struct krping_cq *kcq,
					      struct krping_wr *wr, u32 len)
{
	wr->t_wc = 0;
	wr->t_sig = 0;
	if (trace_krping_wc_enabled() ||
	    (krping_wants(stages) && !(BIT(wr->kind) & KRPING_OF_SENDS))) {
		wr->t_wc = ktime_get_ns();
		/* One signal can stand for several completions: it times the first. */
		wr->t_sig = READ_ONCE(kcq->t_sig);
	}
	if (trace_krping_wc_enabled())
		krping_trace_wc(ep, kcq, wr, len);
	WRITE_ONCE(kcq->t_sig, 0);
}

/*
 * Registrations and invalidations complete with a signalled request behind them, or one by one
 * when the queue is flushed, perhaps before the call that posted them has returned. What they
 * cost the thread tells in krping_iter_memory, from the time in the request that has completed.
 */
static noinline void krping_trace_mr_done(struct krping_ep *ep, struct krping_wr *last, u64 t,
					  int err)
{
	u32 seq = ep->sq_done;

	/* While nobody wants this, mr_reported_seq stays where it was. */
	if (ep->mr_reported_seq - seq <= ep->sq_mask + 1)
		seq = ep->mr_reported_seq;
	for (; (s32)(last->seq - seq) >= 0; seq++) {
		const struct krping_wr *wr = krping_sq_slot(ep, seq);
		bool reg = wr->kind == KRPING_WR_REG_MR;

		if (!(BIT(wr->kind) & KRPING_OF_MRS))
			continue;
		if (!t)
			t = ktime_get_ns();
		last->t_wc = t;
		krping_trace(mr_done, ep->rec->id, t, ep->scq.id, wr->cid, wr->kind,
			     reg ? wr->pages : 0, wr->t_post, READ_ONCE(wr->t_posted), err,
			     reg ? wr->map_ns : 0);
	}
	ep->mr_reported_seq = last->seq + 1;
}

/* A request is done, or has failed; the time is 0 if it is not known yet. */
static __always_inline void krping_tell_mr_done(struct krping_ep *ep, struct krping_wr *wr, u64 t,
						int err)
{
	if (trace_krping_mr_done_enabled())
		krping_trace_mr_done(ep, wr, t, err);
	/* It may retire some on regions, of which the thread learns later. */
	if (trace_krping_iter_memory_enabled() && !wr->t_wc)
		wr->t_wc = t ?: ktime_get_ns();
}

/*
 * A completion has an error, of which only identity, queue pair, status and vendor error may
 * be read. The queue pair is in the error state then.
 */
void krping_wc_bad(struct krping_ep *ep, struct krping_wr *wr, struct ib_wc *wc)
{
	/* In siw so fails a request that meets a connection which the peer has just closed. */
	bool may_be_reset = ep->iwarp &&
			    (wc->status == IB_WC_LOC_QP_OP_ERR || wc->status == IB_WC_GENERAL_ERR);
	const struct krping_cq *kcq = krping_cq_of(ep, wr);
	u64 t = 0;

	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		if (trace_krping_wc_flush_enabled())
			t = ktime_get_ns();
		krping_trace(wc_flush, ep->rec->id, t, kcq->id, wr->cid, wr->kind, wc->status,
			     wc->vendor_err);
		krping_dbg(ep->rec->id, "cq flushed");
	} else {
		if (trace_krping_wc_err_enabled())
			t = ktime_get_ns();
		krping_trace(wc_err, ep->rec->id, t, kcq->id, wr->cid, wr->kind, wc->status,
			     wc->vendor_err);
		if (!READ_ONCE(ep->may_fail) && !may_be_reset) {
			krping_fail_wr(ep, wr->kind, wc->status, wc->vendor_err);
		} else if (!cmpxchg(&ep->first_error_kind, KRPING_WR_NONE, wr->kind)) {
			/* The core may poll the other CQ at the same time. */
			ep->first_error_vendor_err = wc->vendor_err;
			ep->first_error_status = wc->status;
		}
	}
	if (wr->kind != KRPING_WR_RECV)
		krping_tell_mr_done(ep, wr, t, -ECANCELED);
	krping_flushed(ep, 0);
}

/* The queue pair is down, whose cause the thread has to find. Returns @err. */
int krping_flushed(struct krping_ep *ep, int err)
{
	/* Pairs with the acquire in krping_wait_errno(). */
	smp_store_release(&ep->flushed, true);
	krping_wake(ep->verdict);
	return err;
}

static noinline void krping_send_dbg(const struct krping_ep *ep, u32 kind)
{
	if (kind == KRPING_WR_SEND || kind == KRPING_WR_SEND_INV)
		krping_dbg(ep->rec->id, "send completion");
	else if (BIT(kind) & KRPING_OF_RDMA)
		krping_dbg(ep->rec->id, "rdma %s completion",
			   kind == KRPING_WR_RDMA_WRITE ? "write" : "read");
}

void krping_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_wr *wr = container_of(wc->wr_cqe, struct krping_wr, cqe);
	struct krping_ep *ep = container_of(cq->cq_context, struct krping_ep, scq);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		/* No request from here on was executed. */
		cmpxchg(&ep->sq_bad, 0, wr->seq + 1);
		krping_wc_bad(ep, wr, wc);
		if (wr->done)
			wr->done(ep, wr, -EIO);
		return;
	}
	if (krping_wants(completions)) {
		krping_take_times(ep, &ep->scq, wr, wr->len);
		krping_tell_mr_done(ep, wr, wr->t_wc, 0);
	}
	if (unlikely(READ_ONCE(krping_debug)))
		krping_send_dbg(ep, wr->kind);
	/* Pairs with the acquire in krping_sq_done(). */
	smp_store_release(&ep->sq_done, wr->seq + 1);
	if (wr->done)
		wr->done(ep, wr, 0);
	else
		krping_completed(&ep->scq);
}

/* A RECV, perhaps of a shared queue, has a message for the thread. */
void krping_received(struct krping_ep *ep, struct krping_wr *wr, const struct ib_wc *wc)
{
	/* Whoever takes the message posts the RECV again, under another number. */
	u32 seq = wr->seq;

	if (krping_wants(completions))
		krping_take_times(ep, &ep->rcq, wr, wc->byte_len);
	krping_count(&ep->rec->stats.recv, wc->byte_len);
	krping_dbg(ep->rec->id, "recv completion");
	wr->wc_is_msg = wc->opcode == IB_WC_RECV;
	wr->wc_len = wc->byte_len;
	wr->wc_has_inv = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	wr->wc_inv = wr->wc_has_inv ? wc->ex.invalidate_rkey : 0;
	if (ep->recv && ep->recv(ep, wr)) {
		WRITE_ONCE(ep->rq_seen, seq + 1);
		/* The acquire in krping_recv_is_done() sees that nothing is left for the thread. */
		smp_store_release(&ep->rq_done, seq + 1);
		return;
	}
	/* Pairs with the acquire in krping_recv_is_done(). */
	smp_store_release(&ep->rq_done, seq + 1);
	krping_completed(&ep->rcq);
}

void krping_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_wr *wr = container_of(wc->wr_cqe, struct krping_wr, cqe);
	struct krping_ep *ep = container_of(cq->cq_context, struct krping_ep, rcq);

	if (likely(wc->status == IB_WC_SUCCESS))
		krping_received(ep, wr, wc);
	else
		krping_wc_bad(ep, wr, wc);
}

void krping_qp_event(struct ib_event *event, void *context)
{
	struct krping_ep *ep = context;

	krping_async_tell(&ep->async, event->event);
	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* The peer's first message overtook its last CM message. */
		rdma_notify(ep->id, event->event);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		/* A completion may know more: see krping_fail_by_event(). */
		set_bit(event->event, &ep->qp_events);
		krping_flushed(ep, 0);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		WRITE_ONCE(ep->last_wqe, true);
		krping_wake(ep->verdict);
		break;
	default:
		break;
	}
}
