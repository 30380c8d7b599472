// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PD, CQ and QP of an endpoint: how they are made and destroyed.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <rdma/rdma_cm.h>
#include "calls.h"
#include "completion.h"
#include "dbg.h"
#include "qp.h"
#include "record.h"
#include "rq.h"
#include "sq.h"
#include "verdict.h"

/**
 * krping_ep_create - make PD, CQ and QP of an endpoint
 * @ep: the endpoint; rec, verdict and phases are set
 * @id: the connection, bound to a device
 *
 * On an error the objects made so far stay for the tear-down, which can handle
 * half-built endpoints.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_ep_create(struct krping_ep *ep, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.event_handler = krping_qp_event,
		.qp_context = ep,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = KRPING_SQ_DEPTH + 1,	/* + drain */
			.max_recv_wr = KRPING_RQ_DEPTH + 1,	/* + drain */
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int nr_cqe = attr.cap.max_send_wr + attr.cap.max_recv_wr + 2;
	int ret;

	ep->dev = id->device;
	ep->iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	ep->id = id;
	ep->pd = krping_ib_alloc_pd(ep->dev);
	if (IS_ERR(ep->pd)) {
		ret = PTR_ERR(ep->pd);
		ep->pd = NULL;
		return krping_fail(ep->verdict, ret,
				   "allocating a PD: error %pe", ERR_PTR(ret));
	}
	krping_dbg(ep->rec->id, "created pd %u", ep->pd->res.id);

	ep->cq = krping_ib_alloc_cq_any(ep->dev, ep, nr_cqe);
	if (IS_ERR(ep->cq)) {
		ret = PTR_ERR(ep->cq);
		ep->cq = NULL;
		return krping_fail(ep->verdict, ret,
				   "allocating a CQ of %d entries: error %pe",
				   nr_cqe, ERR_PTR(ret));
	}
	ep->comp_handler = ep->cq->comp_handler;
	ep->cq->comp_handler = krping_cq_signal;
	ep->rec->cq = ep->cq->res.id;
	WRITE_ONCE(ep->rec->has_cq, true);
	krping_dbg(ep->rec->id, "created cq %u", ep->rec->cq);

	attr.send_cq = ep->cq;
	attr.recv_cq = ep->cq;
	ret = krping_rdma_create_qp(id, ep->pd, &attr);
	if (ret)
		return krping_fail(ep->verdict, ret, "creating a QP: error %pe",
				   ERR_PTR(ret));
	ep->qp = id->qp;
	ep->rec->qp = ep->qp->qp_num;
	krping_dbg(ep->rec->id, "created qp %u", ep->rec->qp);

	krping_sq_init(ep);
	krping_rq_init(ep);
	return 0;
}

/*
 * ib_free_cq() waits only until the softirq has taken the CQ off its list of
 * CQs to poll, and the softirq arms the CQ after that: see ib_poll_handler().
 * The thread, which the last completion woke on another CPU, would free the CQ
 * while the softirq still uses it.
 */
static void krping_cq_quiesce(struct ib_cq *cq)
{
	/* From here on nothing schedules a poll, not even a missed event. */
	irq_poll_disable(&cq->iop);
	/*
	 * RCU also waits for softirqs, threaded ones as well. The call is the
	 * expedited one, since every run ends with it: an ordinary grace period
	 * is 10 ms or more.
	 */
	synchronize_rcu_expedited();
	/* ib_free_cq() disables it again; a second disable waits for ever. */
	irq_poll_enable(&cq->iop);
}

/**
 * krping_ep_destroy_qp - destroy QP and CQ; after this no completion arrives
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
	if (ep->cq) {
		krping_cq_quiesce(ep->cq);
		ib_free_cq(ep->cq);
		ep->cq = NULL;
	}
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
