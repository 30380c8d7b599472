// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waiting until everything that was posted has completed.
 *
 * The core's drain has no limit in time, and looks only each 100 ms at a CQ that the thread
 * polls. So the thread posts a marker to either queue, and polls until both are out. A device
 * with a drain of its own, or that refuses a marker, drains in a work while the thread polls.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "drain.h"
#include "ep.h"
#include "verdict.h"

/* A device flushes in milliseconds, or never: rxe of 6.12 not, if it had no memory to connect. */
#define KRPING_DRAIN_MS 5000

static void krping_drained(struct krping_ep *ep)
{
	/* Orders what the completions before have stored; see krping_is_drained(). */
	atomic_dec_return_release(&ep->undrained);
	krping_wake(ep->verdict);
}

static bool krping_is_drained(const struct krping_ep *ep)
{
	/* Pairs with krping_drained(). */
	return !atomic_read_acquire(&ep->undrained);
}

static void krping_marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	krping_drained(container_of(wc->wr_cqe, struct krping_ep, marker));
}

/* A marker may be out before the call that posts it has returned. False: one was refused. */
static bool krping_post_markers(struct krping_ep *ep)
{
	struct ib_rdma_wr send = {
		.wr = { .wr_cqe = &ep->marker, .opcode = IB_WR_RDMA_WRITE },
	};
	struct ib_recv_wr recv = { .wr_cqe = &ep->marker };
	int ret;

	ep->marker.done = krping_marker_done;
	atomic_inc(&ep->undrained);
	ret = ib_post_send(ep->qp, &send.wr, NULL);
	/* A shared queue is not flushed. */
	if (!ret && !ep->srq) {
		atomic_inc(&ep->undrained);
		ret = ib_post_recv(ep->qp, &recv, NULL);
	}
	if (ret)
		atomic_dec(&ep->undrained);
	return !ret;
}

static bool krping_wait_drained(struct krping_ep *ep, unsigned long time)
{
	unsigned long until = jiffies + time;

	while (!krping_sleep(ep->verdict, HZ / 10,
			     krping_cq_is_ready(&ep->scq, krping_is_drained(ep)) ||
				     krping_cq_is_ready(&ep->rcq, krping_is_drained(ep)))) {
		if (time_after(jiffies, until))
			return false;
		/* A device that is being reset may flush without a signal. */
		krping_cq_poll(&ep->scq);
		krping_cq_poll(&ep->rcq);
	}
	return true;
}

/* False: the device has a drain of its own, or took no marker, and ib_drain_qp() has to do it. */
static bool krping_drain_here(struct krping_ep *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	bool posted;

	if (ep->dev->ops.drain_sq || ep->dev->ops.drain_rq ||
	    ib_modify_qp(ep->qp, &attr, IB_QP_STATE))
		return false;
	posted = krping_post_markers(ep);
	ep->never_drains = !krping_wait_drained(ep, msecs_to_jiffies(KRPING_DRAIN_MS));
	/* The core would wait for ever. */
	return posted || ep->never_drains;
}

static void krping_drain_work(struct work_struct *work)
{
	struct krping_ep *ep = container_of(work, struct krping_ep, drain);

	/* The core would wait a minute for an event of the SRQ that not all have. */
	if (ep->srq)
		ib_drain_sq(ep->qp);
	else
		ib_drain_qp(ep->qp);
	krping_drained(ep);
}

static void krping_drain_device(struct krping_ep *ep)
{
	INIT_WORK(&ep->drain, krping_drain_work);
	atomic_inc(&ep->undrained);
	queue_work(system_dfl_wq, &ep->drain);
	krping_wait_drained(ep, MAX_SCHEDULE_TIMEOUT);
	flush_work(&ep->drain);
}

/*
 * Wait until every posted work request has completed, or it is sure that some never will: the
 * destruction of the queue pair takes these back. This is needed even if there never was a
 * connection: rdma_cm may have moved the queue pair to the error state.
 */
void krping_ep_drain(struct krping_ep *ep)
{
	/* A queue that was not flushed in all that time never will be. */
	if (!ep->qp || ep->never_drains)
		return;
	if (!krping_drain_here(ep))
		krping_drain_device(ep);
	/* No marker tells when all RECVs are there that a shared queue had. */
	if (ep->srq)
		krping_cq_settle(&ep->rcq);
}
