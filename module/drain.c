// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waiting until everything that was posted has completed.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "drain.h"
#include "ep.h"
#include "verdict.h"

/*
 * A device flushes a queue in milliseconds. If it does not, it never will: rxe
 * of 6.12.117 does not flush the RECVs of a queue pair for whose connection it
 * had no memory.
 */
#define KRPING_DRAIN_MS 5000

static void krping_marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_marker *marker =
		container_of(wc->wr_cqe, struct krping_marker, cqe);
	struct krping_ep *ep = wc->qp->qp_context;

	/* Pairs with the acquire in krping_marker_is_out(). */
	smp_store_release(&marker->posted, false);
	krping_wake(ep->verdict);
}

/* Its completion came, and those of all that was posted before it. */
static bool krping_marker_is_out(const struct krping_marker *marker)
{
	/* Pairs with the release in krping_marker_done(). */
	return !smp_load_acquire(&marker->posted);
}

static bool krping_post_sq_marker(struct krping_ep *ep)
{
	struct krping_marker *marker = &ep->sq_marker;
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &marker->cqe, .opcode = IB_WR_RDMA_WRITE },
	};

	if (!krping_marker_is_out(marker))
		return true;
	marker->cqe.done = krping_marker_done;
	marker->posted = true;
	/* It may be out before the call has returned. */
	if (!ib_post_send(ep->qp, &wr.wr, NULL))
		return true;
	marker->posted = false;
	return false;
}

static bool krping_post_rq_marker(struct krping_ep *ep)
{
	struct krping_marker *marker = &ep->rq_marker;
	struct ib_recv_wr wr = { .wr_cqe = &marker->cqe };

	if (!krping_marker_is_out(marker))
		return true;
	marker->cqe.done = krping_marker_done;
	marker->posted = true;
	/* It may be out before the call has returned. */
	if (!ib_post_recv(ep->qp, &wr, NULL))
		return true;
	marker->posted = false;
	return false;
}

static void krping_wait_marker(struct krping_ep *ep, struct krping_cq *kcq,
			       struct krping_marker *marker)
{
	unsigned long until = jiffies + msecs_to_jiffies(KRPING_DRAIN_MS);

	/* A device that is being reset may flush without a signal. */
	while (!krping_marker_is_out(marker) && !marker->lost &&
	       !krping_sleep(ep->verdict, HZ / 10,
			     krping_cq_is_ready(kcq, krping_marker_is_out(
							     marker)))) {
		if (!kcq->core)
			krping_cq_poll(kcq);
		marker->lost = !krping_marker_is_out(marker) &&
			       time_after(jiffies, until);
	}
}

static bool krping_flush_is_lost(const struct krping_ep *ep)
{
	return ep->sq_marker.lost || ep->rq_marker.lost;
}

/*
 * The core's drain has no limit in time. So the thread posts markers of its own, and
 * sleeps until their completions wake it, whoever polls. A device that has a drain of
 * its own, or refuses a marker, is left to the core.
 */
static bool krping_drain_here(struct krping_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	const struct ib_device_ops *ops = &ep->dev->ops;
	bool sq, rq;

	/* A queue that was not flushed in all that time never will be. */
	if (krping_flush_is_lost(ep))
		return true;
	if (ops->drain_sq || ops->drain_rq ||
	    ib_modify_qp(ep->qp, &attr, IB_QP_STATE))
		return false;
	sq = krping_post_sq_marker(ep);
	/* A shared queue is not flushed. */
	rq = ep->srq || krping_post_rq_marker(ep);
	krping_wait_marker(ep, &ep->scq, &ep->sq_marker);
	krping_wait_marker(ep, &ep->rcq, &ep->rq_marker);
	if (krping_flush_is_lost(ep)) {
		/* A handler would look for the queue pair, which goes next. */
		krping_cq_abandon(&ep->scq);
		krping_cq_abandon(&ep->rcq);
		/* Not even if a marker was refused: the core's drain has no limit. */
		return true;
	}
	return sq && rq;
}

/**
 * struct krping_drain - a drain by the core, or by the device
 * @work:	in which it waits
 * @ep:		the endpoint
 * @done:	it is done
 */
struct krping_drain {
	struct work_struct work;
	struct krping_ep *ep;
	bool done;
};

static void krping_drain_work(struct work_struct *work)
{
	struct krping_drain *drain =
		container_of(work, struct krping_drain, work);
	struct krping_ep *ep = drain->ep;

	/* The core would wait a minute for an event of the SRQ that not all have. */
	if (ep->srq)
		ib_drain_sq(ep->qp);
	else
		ib_drain_qp(ep->qp);
	WRITE_ONCE(drain->done, true);
	krping_wake(ep->verdict);
}

/* Where the thread polls, what the work waits for completes by the thread's polls. */
static void krping_drain_there(struct krping_ep *ep)
{
	struct krping_drain drain = { .ep = ep };

	INIT_WORK_ONSTACK(&drain.work, krping_drain_work);
	queue_work(system_unbound_wq, &drain.work);
	/* A device that is being reset may flush without a signal. */
	while (!krping_sleep(ep->verdict, HZ / 10,
			     krping_cq_is_ready(&ep->scq,
						READ_ONCE(drain.done)) ||
				     krping_cq_is_ready(&ep->rcq,
							READ_ONCE(
								drain.done)))) {
		if (!ep->scq.core)
			krping_cq_poll(&ep->scq);
		if (!ep->rcq.core)
			krping_cq_poll(&ep->rcq);
	}
	flush_work(&drain.work);
	destroy_work_on_stack(&drain.work);
}

/**
 * krping_ep_drain - wait until every posted work request has completed
 * @ep: the endpoint
 *
 * Or until it is sure that some of them never will: the destruction of the queue
 * pair takes these back, and nothing that they use may go before that.
 *
 * This is needed even if there never was a connection: rdma_cm may have moved
 * the queue pair to the error state, and its RECVs flush while the CQ is freed.
 *
 * Context: the run's thread; sleeps, not interruptible: the queue
 * pair is in the error state, in which requests only flush.
 */
void krping_ep_drain(struct krping_ep *ep)
{
	if (!ep->qp)
		return;
	if (!krping_drain_here(ep))
		krping_drain_there(ep);
	if (!ep->srq)
		return;
	/* No marker tells when all is there, so look, now that nothing comes. */
	krping_cq_abandon(&ep->rcq);
	krping_cq_poll(&ep->rcq);
}
