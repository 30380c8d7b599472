// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: RECVs that any of several connections may use up.
 *
 * A run with srq has a queue for each device that it has connections on; the clients of a
 * server share the server's. The first endpoint on a device makes the queue, and the last one
 * frees the queue, so no device is removed under a queue.
 *
 * Which connection a RECV goes to is known when the RECV has completed, on the CQ of that
 * connection. The RECV then belongs to the endpoint until its thread has consumed the message,
 * and posts the RECV again. The requests krping_ep.rq are the places for messages until then.
 *
 * Where the queue is empty an iWARP device ends the connection; others answer RNR NAK, and the
 * peer tries again. So the queue has a RECV for each place of each client, and the run of a
 * client that sends more than it has places for is ended.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "completion.h"
#include "cq.h"
#include "dbg.h"
#include "pd.h"
#include "record.h"
#include "srq.h"
#include "verdict.h"

/*
 * Who has used a RECV is known when it completes, so a client may use up more than its share: these
 * are for the others.
 */
#define KRPING_SRQ_SPARE 64

/* A device tells in milliseconds that a queue pair used its last RECV, or never (rxe of 6.1). */
#define KRPING_LAST_WQE_MS 20

static int krping_srq_post(struct krping_srq *srq, struct krping_wr *recv)
{
	int ret;

	/* Before the call, during which the RECV may complete. */
	atomic_inc(&srq->posted);
	ret = ib_post_srq_recv(srq->srq, &recv->recv, NULL);
	if (unlikely(ret))
		atomic_dec(&srq->posted);
	return ret;
}

/* A place for a message, one of krping_ep.rq, is free: its RECV, if any, is posted again. */
int krping_srq_give(struct krping_ep *ep, const struct krping_wr *wr)
{
	u32 i = wr - ep->rq;
	struct krping_wr *recv = ep->srq_recv[i];
	int ret = recv ? krping_srq_post(ep->srq, recv) : 0;

	/* One that is refused is not lost for others: krping_srq_leave() posts it again. */
	if (!ret)
		ep->srq_recv[i] = NULL;
	return ret;
}

/* The CQ tells whose RECV this is, as the queue pair may be gone. */
static void krping_srq_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_wr *recv = container_of(wc->wr_cqe, struct krping_wr, cqe);
	struct krping_cq *kcq = cq->cq_context;
	struct krping_ep *ep = container_of(kcq, struct krping_ep, rcq);
	u32 seq = ep->rq_done;
	struct krping_wr *wr = &ep->rq[seq % KRPING_RQ_DEPTH];

	atomic_dec(&ep->srq->posted);
	/* Pairs with krping_post_recv(): the thread is done with the place. */
	if (unlikely(seq == smp_load_acquire(&ep->rq_posted))) {
		krping_fail(ep->verdict, -EPROTO,
			    "srq: the peer sent more than %d messages before this end had consumed one",
			    KRPING_RQ_DEPTH);
	} else if (unlikely(wc->status != IB_WC_SUCCESS)) {
		krping_wc_bad(ep, wr, wc);
	} else {
		ep->srq_recv[seq % KRPING_RQ_DEPTH] = recv;
		wr->mem = recv->mem;
		wr->sge.addr = recv->sge.addr;
		krping_received(ep, wr, wc);
		return;
	}
	krping_srq_post(ep->srq, recv);
}

static void krping_srq_event(struct ib_event *event, void *context)
{
	struct krping_srq *srq = context;

	krping_async_tell(&srq->async, event->event);
	/* No RECV comes any more. The limit is only told to those who watch. */
	if (event->event == IB_EVENT_SRQ_ERR)
		krping_fail(srq->srqs->verdict, -EIO,
			    "the shared receive queue failed: %s (event %d)",
			    ib_event_msg(event->event), event->event);
}

/* Map the RECVs, and post them. */
static int krping_srq_fill(struct krping_srq *srq, struct krping_verdict *verdict)
{
	u32 i;
	int ret;

	for (i = 0; i < srq->depth; i++) {
		void *mem = kzalloc(KRPING_MSG_STRIDE, GFP_KERNEL);
		u64 dma;

		if (!mem)
			return krping_fail(verdict, -ENOMEM, "srq: allocating the message buffers");
		dma = ib_dma_map_single(srq->pd->device, mem, KRPING_MSG_STRIDE, KRPING_MSG_DIR);
		if (ib_dma_mapping_error(srq->pd->device, dma)) {
			kfree(mem);
			return krping_fail(verdict, -ENOMEM,
					   "srq: mapping the message buffers: error %pe",
					   ERR_PTR(-ENOMEM));
		}
		krping_wr_recv(&srq->recvs[i], srq->pd, mem, dma, KRPING_MSG_SIZE,
			       krping_srq_recv_done);
		ret = krping_srq_post(srq, &srq->recvs[i]);
		if (ret)
			return krping_fail(verdict, ret == -ENOMEM ? ret : -EIO,
					   "srq: posting RECV %u of %u: error %pe", i + 1,
					   srq->depth, ERR_PTR(ret));
	}
	return 0;
}

static void krping_srq_free(struct krping_srq *srq)
{
	struct krping_wr *recv = srq->recvs;

	if (!IS_ERR_OR_NULL(srq->srq))
		ib_destroy_srq(srq->srq);
	krping_async_end(&srq->async);
	for (; recv < srq->recvs + srq->depth && recv->mem; recv++) {
		ib_dma_unmap_single(srq->pd->device, recv->sge.addr, KRPING_MSG_STRIDE,
				    KRPING_MSG_DIR);
		kfree(recv->mem);
	}
	if (srq->pd)
		ib_dealloc_pd(srq->pd);
	kvfree(srq);
}

/* Returns the queue, or NULL after an error that is also the run's cause. */
static struct krping_srq *krping_srq_create(struct krping_srqs *srqs, struct ib_device *dev,
					    struct krping_verdict *verdict, bool dma_key)
{
	u32 share = srqs->places * KRPING_RQ_DEPTH;
	u32 depth = share ? share + KRPING_SRQ_SPARE : KRPING_RQ_DEPTH;
	struct ib_srq_init_attr attr = {
		.event_handler = krping_srq_event,
		.srq_type = IB_SRQT_BASIC,
		.attr.max_wr = depth,
		.attr.max_sge = 1,
		/* The device tells when the spare RECVs are used up. */
		.attr.srq_limit = share,
	};
	struct krping_srq *srq;

	if (!dev->ops.create_srq || dev->attrs.max_srq < 1 || dev->attrs.max_srq_sge < 1) {
		krping_fail(verdict, -EOPNOTSUPP, "srq: %s has no shared receive queues",
			    dev_name(&dev->dev));
		return NULL;
	}
	if (depth > dev->attrs.max_srq_wr) {
		krping_fail(verdict, -EOPNOTSUPP,
			    "srq: the queue needs %u RECVs, %s has at most %d", depth,
			    dev_name(&dev->dev), dev->attrs.max_srq_wr);
		return NULL;
	}
	srq = kvzalloc(struct_size(srq, recvs, depth), GFP_KERNEL);
	if (!srq) {
		krping_fail(verdict, -ENOMEM, "srq: allocating the queue");
		return NULL;
	}
	srq->srqs = srqs;
	krping_async_init(&srq->async, srqs->rec);
	srq->depth = depth;
	srq->pd = krping_pd_create(verdict, dev, dma_key);
	if (!srq->pd)
		goto free;
	attr.srq_context = srq;
	srq->srq = ib_create_srq(srq->pd, &attr);
	if (IS_ERR(srq->srq)) {
		krping_fail(verdict, PTR_ERR(srq->srq),
			    "srq: creating a queue of %u RECVs: error %pe", depth, srq->srq);
		goto free;
	}
	if (krping_srq_fill(srq, verdict))
		goto free;
	list_add_tail(&srq->list, &srqs->list);
	WRITE_ONCE(srqs->rec->srq, depth);
	return srq;
free:
	krping_srq_free(srq);
	return NULL;
}

void krping_srqs_init(struct krping_srqs *srqs, struct krping_record *rec,
		      struct krping_verdict *verdict)
{
	srqs->rec = rec;
	srqs->verdict = verdict;
	mutex_init(&srqs->lock);
	INIT_LIST_HEAD(&srqs->list);
}

/* An endpoint gets the shared queue of its device, and a PD, perhaps with a key of all memory. */
int krping_srq_enter(struct krping_ep *ep, struct krping_srqs *srqs, bool dma_key)
{
	struct krping_srq *srq;

	mutex_lock(&srqs->lock);
	list_for_each_entry(srq, &srqs->list, list)
		if (srq->pd->device == ep->dev)
			break;
	if (list_entry_is_head(srq, &srqs->list, list))
		srq = krping_srq_create(srqs, ep->dev, ep->verdict, dma_key);
	if (srq) {
		srq->users++;
		ep->srq = srq;
		ep->pd = srq->pd;
		ep->rec->srq = srq->depth;
	}
	mutex_unlock(&srqs->lock);
	return srq ? 0 : ep->verdict->err;
}

/* A queue pair in the error state goes: a shared queue does not flush the RECVs of the pair. */
void krping_srq_drain(struct krping_ep *ep)
{
	/* iWARP has no such event. */
	if (!ep->iwarp)
		krping_sleep(ep->verdict, msecs_to_jiffies(KRPING_LAST_WQE_MS),
			     READ_ONCE(ep->last_wqe));
	krping_cq_settle(&ep->rcq);
}

/* QP, CQs and regions of an endpoint are gone. The last user of a queue counts the lost RECVs. */
void krping_srq_leave(struct krping_ep *ep)
{
	struct krping_srq *srq = ep->srq;
	struct krping_srqs *srqs;
	u32 i, lost;

	if (!srq)
		return;
	for (i = 0; i < KRPING_RQ_DEPTH; i++)
		if (ep->srq_recv[i])
			krping_srq_give(ep, &ep->rq[i]);
	ep->srq = NULL;
	ep->pd = NULL;
	srqs = srq->srqs;
	mutex_lock(&srqs->lock);
	if (!--srq->users) {
		list_del(&srq->list);
		lost = srq->depth - atomic_read(&srq->posted);
		KRPING_CHECK(!lost);
		WRITE_ONCE(srqs->rec->srq_lost, srqs->rec->srq_lost + lost);
		krping_srq_free(srq);
	}
	mutex_unlock(&srqs->lock);
}
