// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* PD, CQs and QP of an endpoint: how they are made and destroyed. */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/rdma_cm.h>
#include "compat/rxe_cq.h"
#include "completion.h"
#include "cq.h"
#include "dbg.h"
#include "pd.h"
#include "qp.h"
#include "record.h"
#include "sq.h"
#include "srq.h"
#include "verdict.h"

void krping_ep_init(struct krping_ep *ep, struct krping_record *rec, struct krping_verdict *verdict,
		    struct krping_phases *phases)
{
	ep->rec = rec;
	ep->verdict = verdict;
	ep->phases = phases;
	krping_async_init(&ep->async, rec);
}

/*
 * Make PD, CQs and QP of an endpoint whose offset is set, for a connection that has a device.
 * @vector: the completion vector; negative: each CQ has another one. With @srqs the RECVs are
 * those of a shared queue, whose PD all its endpoints have. Returns 0, or the run's cause; what was
 * made so far stays for the tear-down.
 */
int krping_ep_create(struct krping_ep *ep, struct rdma_cm_id *id,
		     const struct krping_params *params, int vector, u32 requests,
		     struct krping_srqs *srqs)
{
	bool dma_key = params->mem_mode == KRPING_MEM_DMA;
	enum krping_poll_ctx rcq_ctx = params->poll_ctx;
	struct ib_qp_init_attr attr = {
		.event_handler = krping_qp_event,
		.qp_context = ep,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_recv_wr = ep->rq_depth + 1,	/* + drain */
			.max_send_sge = ep->max_sge,
			.max_recv_sge = ep->max_sge,
			.max_inline_data = params->inline_size,
		},
	};
	int ret;

	ep->dev = id->device;
	ep->iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	ep->id = id;
	if (srqs)
		krping_srq_enter(ep, srqs, dma_key);
	else if (ep->pd_owner)
		ep->pd = ep->pd_owner->pd;
	else
		ep->pd = krping_pd_create(ep->verdict, ep->dev, dma_key);
	if (!ep->pd)
		return ep->verdict->err;
	ep->polls_both = ep->srq;
	krping_dbg(ep->rec->id, "created pd %u", ep->pd->res.id);

	ret = krping_sq_create(ep, requests);
	if (ret)
		return ret;
	ep->rq = kvcalloc(ep->rq_depth, sizeof(*ep->rq), GFP_KERNEL);
	if (!ep->rq)
		return krping_fail(ep->verdict, -ENOMEM, "allocating the receive queue");
	attr.cap.max_send_wr = ep->sq_depth + KRPING_SQ_EXTRA;
	ep->scq.verdict = ep->verdict;
	ep->scq.run = ep->rec->id;
	ep->rcq.verdict = ep->verdict;
	ep->rcq.run = ep->rec->id;
	ret = krping_cq_create(&ep->scq, ep->dev, params->poll_ctx, vector,
			       attr.cap.max_send_wr + 1);
	/*
	 * One endpoint may use up all RECVs of a shared queue before its CQ is polled; and
	 * whoever takes too many of the others' has to be found at once, whatever its thread
	 * waits for, so the thread does not poll there.
	 */
	if (ep->srq && srqs->places && rcq_ctx != KRPING_POLL_WORKQUEUE)
		rcq_ctx = KRPING_POLL_SOFTIRQ;
	if (!ret)
		ret = krping_cq_create(&ep->rcq, ep->dev, rcq_ctx, vector,
				       (ep->srq ? ep->srq->depth : ep->rq_depth + 1) + 1);
	if (ret)
		return ret;
	ep->rcq.busy = params->poll_ctx == KRPING_POLL_BUSY;
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
	if (ret == -EINVAL && params->inline_size)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "inline_size: the device has no QP with %u bytes in a request",
				   params->inline_size);
	if (ret)
		return krping_fail(ep->verdict, ret, "creating a QP: error %pe", ERR_PTR(ret));
	ep->qp = id->qp;
	if (attr.cap.max_inline_data < params->inline_size)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "inline_size: the device has %u bytes in a request",
				   attr.cap.max_inline_data);
	ep->rec->qp = ep->qp->qp_num;
	krping_dbg(ep->rec->id, "created qp %u", ep->rec->qp);
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
	/* The RECVs of completions that nobody has polled have to return to the shared queue. */
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
	if (ep->pd && !ep->pd_owner)
		ib_dealloc_pd(ep->pd);
	ep->pd = NULL;
	kvfree(ep->rq);
	ep->rq = NULL;
}
