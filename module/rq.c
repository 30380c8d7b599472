// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receive queue.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include "calls.h"
#include "completion.h"
#include "krping_trace.h"
#include "record.h"
#include "rq.h"
#include "verdict.h"
#include "wants.h"

/**
 * krping_rq_init - prepare the requests of the receive queue
 * @ep: the endpoint
 *
 * The owner of the messages sets their scatter/gather entries.
 */
void krping_rq_init(struct krping_ep *ep)
{
	u32 i;

	for (i = 0; i < KRPING_RQ_DEPTH; i++) {
		struct krping_wr *wr = &ep->rq[i];

		wr->cqe.done = krping_recv_done;
		wr->kind = KRPING_WR_RECV;
		wr->awaited = true;
		wr->recv.wr_cqe = &wr->cqe;
		wr->recv.sg_list = &wr->sge;
		wr->recv.num_sge = 1;
	}
}

static noinline int krping_post_recv_traced(struct krping_ep *ep,
					    struct krping_wr *wr)
{
	u64 t = 0;
	int ret;

	if (trace_krping_post_recv_enabled())
		t = ktime_get_ns();
	krping_trace(post_recv, ep->rec->id, t, ep->rcq.id, wr->cid,
		     ep->rec->qp, wr->len);
	ret = krping_ib_post_recv(ep->qp, &wr->recv);
	t = trace_krping_post_return_enabled() ? ktime_get_ns() : 0;
	krping_trace(post_return, ep->rec->id, t, ep->rcq.id, wr->cid, 1, ret);
	return ret;
}

static noinline int krping_post_recv_failed(struct krping_ep *ep,
					    struct krping_wr *wr, int err)
{
	krping_trace(post_recv_err, ep->rec->id, ep->rcq.id, wr->cid,
		     ep->rec->qp, wr->kind, err);
	/*
	 * -ENOTCONN: the peer has closed the connection. The message that was
	 * in this RECV came before that, and counts: if it was the last one,
	 * all is well. If not, the wait for the next one finds the end.
	 */
	if (err == -ENOTCONN) {
		WRITE_ONCE(ep->flushed, true);
		return 0;
	}
	return krping_fail(ep->verdict, err == -ENOMEM ? err : -EIO,
			   "posting a RECV: error %pe", ERR_PTR(err));
}

/**
 * krping_post_recv - post the next RECV
 * @ep: the endpoint; its owner has set the scatter/gather entries
 *
 * Context: the run's thread, also while it makes the endpoint.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_post_recv(struct krping_ep *ep)
{
	u32 seq = ep->rq_posted;
	struct krping_wr *wr = &ep->rq[seq % KRPING_RQ_DEPTH];
	int ret;

	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->t_wc = 0;
	if (krping_wants(posts))
		ret = krping_post_recv_traced(ep, wr);
	else
		ret = krping_ib_post_recv(ep->qp, &wr->recv);
	if (unlikely(ret))
		return krping_post_recv_failed(ep, wr, ret);
	ep->rq_posted++;
	return 0;
}
