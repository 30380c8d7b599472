// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PD, CQs and QP of an endpoint: how they are made and destroyed.
 */
#include <linux/err.h>
#include <linux/string.h>
#include <rdma/rdma_cm.h>
#include "compat/rxe_cq.h"
#include "completion.h"
#include "cq.h"
#include "dbg.h"
#include "pd.h"
#include "qp.h"
#include "record.h"
#include "rq.h"
#include "sq.h"
#include "srq.h"
#include "verdict.h"

/* The PD, and the shared receive queue, whose PD all its endpoints have. */
static int krping_ep_create_pd(struct krping_ep *ep, const struct krping_ep_needs *needs)
{
	if (needs->srqs)
		return krping_srq_enter(ep, needs->srqs, needs->dma_key);
	ep->pd = krping_pd_create(ep->verdict, ep->dev, needs->dma_key);
	if (!ep->pd)
		return ep->verdict->err;
	return 0;
}

/*
 * The CQ of the receive queue. One endpoint may use up all RECVs of a shared queue
 * before its CQ is polled; and whoever takes too many of the others' has to be found
 * at once, whatever its thread waits for, so the thread does not poll there.
 */
static int krping_ep_create_rcq(struct krping_ep *ep, const struct krping_ep_needs *needs)
{
	enum krping_poll_ctx poll_ctx = needs->poll_ctx;
	int nr_cqe = (ep->srq ? ep->srq->depth : KRPING_RQ_DEPTH + 1) + 1;
	int ret;

	if (ep->srq && needs->srqs->places && poll_ctx != KRPING_POLL_WORKQUEUE)
		poll_ctx = KRPING_POLL_SOFTIRQ;
	ret = krping_cq_create(&ep->rcq, ep->dev, poll_ctx, needs->comp_vector, nr_cqe);
	if (!ret)
		ep->rcq.busy = needs->poll_ctx == KRPING_POLL_BUSY;
	return ret;
}

/**
 * krping_ep_create - make PD, CQs and QP of an endpoint
 * @ep: the endpoint; rec, verdict and phases are set
 * @id: the connection, bound to a device
 * @needs: what the run asks of it
 *
 * On an error the objects made so far stay for the tear-down, which can handle
 * half-built endpoints.
 *
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_ep_create(struct krping_ep *ep, struct rdma_cm_id *id,
		     const struct krping_ep_needs *needs)
{
	struct ib_qp_init_attr attr = {
		.event_handler = krping_qp_event,
		.qp_context = ep,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_recv_wr = KRPING_RQ_DEPTH + 1,	/* + drain */
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int ret;

	ep->dev = id->device;
	ep->iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	ep->id = id;
	ep->offset = needs->offset;
	ret = krping_ep_create_pd(ep, needs);
	if (ret)
		return ret;
	ep->polls_both = ep->srq;
	krping_dbg(ep->rec->id, "created pd %u", ep->pd->res.id);

	ret = krping_sq_create(ep, needs->requests);
	if (ret)
		return ret;
	attr.cap.max_send_wr = ep->sq_depth + KRPING_SQ_EXTRA;
	attr.cap.max_inline_data = needs->inline_size;
	ep->scq.verdict = ep->verdict;
	ep->scq.run = ep->rec->id;
	ep->rcq.verdict = ep->verdict;
	ep->rcq.run = ep->rec->id;
	ret = krping_cq_create(&ep->scq, ep->dev, needs->poll_ctx, needs->comp_vector,
			       attr.cap.max_send_wr + 1);
	if (!ret)
		ret = krping_ep_create_rcq(ep, needs);
	if (ret)
		return ret;
	ep->rec->cq = ep->rcq.id;
	ep->rec->scq = ep->scq.id;
	WRITE_ONCE(ep->rec->has_cq, true);

	attr.send_cq = ep->scq.cq;
	attr.recv_cq = ep->rcq.cq;
	if (ep->srq) {
		attr.srq = ep->srq->srq;
		attr.cap.max_recv_wr = 0;
	}
	ret = rdma_create_qp(id, ep->pd, &attr);
	/*
	 * No attribute of a device says how much it can, so it is asked for. Any other
	 * errno is about something else.
	 */
	if (ret == -EINVAL && needs->inline_size)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "inline_size: the device has no QP with %u bytes in a request",
				   needs->inline_size);
	if (ret)
		return krping_fail(ep->verdict, ret, "creating a QP: error %pe", ERR_PTR(ret));
	ep->qp = id->qp;
	if (attr.cap.max_inline_data < needs->inline_size)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "inline_size: the device has %u bytes in a request",
				   attr.cap.max_inline_data);
	ep->rec->qp = ep->qp->qp_num;
	krping_dbg(ep->rec->id, "created qp %u", ep->rec->qp);

	krping_rq_init(ep);
	return 0;
}

/* Destroy QP, CQs and send queue; after this no completion arrives. Sleeps. */
void krping_ep_destroy_qp(struct krping_ep *ep)
{
	if (ep->srq && ep->qp)
		krping_srq_drain(ep);
	if (ep->qp) {
		rdma_destroy_qp(ep->id);
		ep->qp = NULL;
		krping_async_end(&ep->async);
	}
	/* A CQ takes along what nobody has polled, and the RECVs belong to others. */
	if (ep->srq)
		krping_cq_poll(&ep->rcq);
	if (ep->scq.cq)
		krping_rxe_flush_cqs(ep->dev);
	krping_cq_destroy(&ep->scq);
	krping_cq_destroy(&ep->rcq);
	krping_sq_destroy(ep);
}

/* QP, CQs, messages and memory regions are gone. */
void krping_ep_destroy_pd(struct krping_ep *ep)
{
	krping_srq_leave(ep);
	if (ep->pd) {
		ib_dealloc_pd(ep->pd);
		ep->pd = NULL;
	}
}
