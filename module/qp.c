// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PD, CQs and QP of an endpoint: how they are made and destroyed.
 */
#include <linux/err.h>
#include <linux/string.h>
#include <rdma/rdma_cm.h>
#include "calls.h"
#include "completion.h"
#include "cq.h"
#include "dbg.h"
#include "qp.h"
#include "record.h"
#include "rq.h"
#include "sq.h"
#include "verdict.h"

/**
 * krping_ep_create - make PD, CQs and QP of an endpoint
 * @ep: the endpoint; rec, verdict and phases are set
 * @id: the connection, bound to a device
 * @needs: what the run asks of it
 *
 * On an error the objects made so far stay for the tear-down, which can handle
 * half-built endpoints.
 *
 * Context: the run's thread; sleeps.
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
	ep->pd = krping_ib_alloc_pd(ep->dev, needs->dma_key ?
						     IB_PD_UNSAFE_GLOBAL_RKEY :
						     0);
	if (IS_ERR(ep->pd)) {
		ret = PTR_ERR(ep->pd);
		ep->pd = NULL;
		if (needs->dma_key && ret != -ENOMEM)
			return krping_fail(ep->verdict, -EOPNOTSUPP,
					   "mem_mode=dma: the device has no key for all memory (error %pe)",
					   ERR_PTR(ret));
		return krping_fail(ep->verdict, ret,
				   "allocating a PD: error %pe", ERR_PTR(ret));
	}
	krping_dbg(ep->rec->id, "created pd %u", ep->pd->res.id);

	ret = krping_sq_create(ep, needs->requests);
	if (ret)
		return ret;
	attr.cap.max_send_wr = ep->sq_depth + 1; /* + drain */
	attr.cap.max_inline_data = needs->inline_size;
	ep->scq.verdict = ep->verdict;
	ep->scq.run = ep->rec->id;
	ep->rcq.verdict = ep->verdict;
	ep->rcq.run = ep->rec->id;
	ret = krping_cq_create(&ep->scq, ep->dev, needs->poll_ctx,
			       needs->comp_vector, attr.cap.max_send_wr + 1);
	if (!ret)
		ret = krping_cq_create(&ep->rcq, ep->dev, needs->poll_ctx,
				       needs->comp_vector,
				       attr.cap.max_recv_wr + 1);
	if (ret)
		return ret;
	ep->rec->cq = ep->rcq.id;
	ep->rec->scq = ep->scq.id;
	WRITE_ONCE(ep->rec->has_cq, true);

	attr.send_cq = ep->scq.cq;
	attr.recv_cq = ep->rcq.cq;
	ret = krping_rdma_create_qp(id, ep->pd, &attr);
	/* No attribute of a device says how much it can, so it is asked for. */
	if (ret && needs->inline_size && ret != -ENOMEM)
		return krping_fail(ep->verdict, -EOPNOTSUPP,
				   "inline_size: the device has no QP with %u bytes in a request",
				   needs->inline_size);
	if (ret)
		return krping_fail(ep->verdict, ret, "creating a QP: error %pe",
				   ERR_PTR(ret));
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

/**
 * krping_ep_destroy_qp - destroy QP, CQs and send queue; after this no completion
 * arrives
 * @ep: the endpoint
 *
 * Context: the run's thread, or its work; sleeps.
 */
void krping_ep_destroy_qp(struct krping_ep *ep)
{
	if (ep->qp) {
		rdma_destroy_qp(ep->id);
		ep->qp = NULL;
	}
	if (ep->scq.cq)
		krping_cqs_flush(ep->dev);
	krping_cq_destroy(&ep->scq);
	krping_cq_destroy(&ep->rcq);
	krping_sq_destroy(ep);
}

/**
 * krping_ep_destroy_pd - free the PD
 * @ep: the endpoint; its QP, CQ, messages and memory regions are gone
 *
 * Context: the run's thread, or its work; sleeps.
 */
void krping_ep_destroy_pd(struct krping_ep *ep)
{
	krping_dma_check_end(ep);
	if (ep->pd) {
		ib_dealloc_pd(ep->pd);
		ep->pd = NULL;
	}
}

/**
 * krping_ep_clear - make ready for another endpoint
 * @ep: the endpoint, of which nothing is left
 *
 * The numbers of work requests go on, since they are the run's.
 *
 * Context: the run's thread.
 */
void krping_ep_clear(struct krping_ep *ep)
{
	memset_after(ep, 0, next_cid);
}
