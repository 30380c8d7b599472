// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receive queue.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include "completion.h"
#include "krping_trace.h"
#include "record.h"
#include "rq.h"
#include "srq.h"
#include "verdict.h"

/* The owner of the messages sets the scatter/gather entries of the requests. */
void krping_rq_init(struct krping_ep *ep)
{
	u32 i;

	for (i = 0; i < KRPING_RQ_DEPTH; i++) {
		struct krping_wr *wr = &ep->rq[i];

		wr->cqe.done = krping_recv_done;
		wr->kind = KRPING_WR_RECV;
		wr->recv.wr_cqe = &wr->cqe;
		wr->recv.sg_list = &wr->sge;
		wr->recv.num_sge = 1;
	}
}

static __always_inline int krping_post_recv_call(struct krping_ep *ep, struct krping_wr *wr)
{
	if (unlikely(ep->srq))
		return krping_srq_give(ep, wr);
	return ib_post_recv(ep->qp, &wr->recv, NULL);
}

static noinline int krping_post_recv_traced(struct krping_ep *ep, struct krping_wr *wr)
{
	int ret;

	krping_trace(post_recv, ep->rec->id, ktime_get_ns(), ep->rcq.id, wr->cid, ep->qp->qp_num,
		     wr->len);
	ret = krping_post_recv_call(ep, wr);
	krping_trace(post_return, ep->rec->id, ktime_get_ns(), ep->rcq.id, wr->cid, 1, ret);
	return ret;
}

static noinline int krping_post_recv_failed(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	krping_trace(post_recv_err, ep->rec->id, ep->rcq.id, wr->cid, ep->qp->qp_num, wr->kind,
		     err);
	/*
	 * The peer has closed. The message that was in this RECV came before that, and counts: if
	 * it was not the last one, the wait for the next one finds the end.
	 */
	if (err == -ENOTCONN) {
		WRITE_ONCE(ep->flushed, true);
		return 0;
	}
	return krping_fail(ep->verdict, err == -ENOMEM ? err : -EIO, "posting a RECV: error %pe",
			   ERR_PTR(err));
}

/*
 * Post the next RECV. With a shared queue this is the RECV in which the oldest message came
 * that was not posted since: it returns to the queue, and the endpoint may get another message.
 *
 * Returns 0, or a negative errno that is also the run's cause.
 */
int krping_post_recv(struct krping_ep *ep)
{
	u32 seq = ep->rq_posted;
	struct krping_wr *wr = &ep->rq[seq % KRPING_RQ_DEPTH];
	int ret;

	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->t_wc = 0;
	/* Stages and costs also want posts, but have nothing of a RECV. */
	if (trace_krping_post_recv_enabled() || trace_krping_post_return_enabled())
		ret = krping_post_recv_traced(ep, wr);
	else
		ret = krping_post_recv_call(ep, wr);
	if (unlikely(ret))
		return krping_post_recv_failed(ep, wr, ret);
	/* Pairs with krping_srq_recv_done(), which may use the request again. */
	smp_store_release(&ep->rq_posted, seq + 1);
	return 0;
}
