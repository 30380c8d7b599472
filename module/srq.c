// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: RECVs that any of several connections may use up.
 *
 * A server of several clients has one for each device, which its children share. The
 * server makes it with the first client there, and it stays until the server ends or
 * the device goes. A run of its own has one for itself.
 *
 * Which connection a RECV goes to is known when it has completed, on the CQ of that
 * connection. From there on the endpoint keeps accounts as with a queue of its own:
 * its RECVs krping_ep.rq stand for what it is entitled to. A message moves into the
 * first free one of them, with the RECV that it came in. That RECV returns to the
 * queue when the thread posts: whoever else it then serves. An endpoint that has no
 * free one is overdrawn, since the queue has the RECVs of the others: it ends, and the
 * RECV returns at once.
 *
 * RECVs of a shared queue are not flushed with a queue pair. Where one is not to lose
 * any, they are looked for twice: when the queue pair has used its last one, for a
 * device may forget them with it, and when it is gone, since nothing comes after that.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "completion.h"
#include "cq.h"
#include "dbg.h"
#include "krping_trace.h"
#include "pd.h"
#include "record.h"
#include "srq.h"
#include "verdict.h"

#define KRPING_SRQ_PER_PAGE ((u32)(PAGE_SIZE / KRPING_MSG_STRIDE))

/*
 * How long a device may take to tell that a queue pair in the error state has used
 * its last RECV. It does so in milliseconds, or never, as rxe of 6.1.
 */
#define KRPING_LAST_WQE_MS 100

static int krping_srq_post_one(struct krping_srq *srq,
			       struct krping_srq_recv *recv)
{
	int ret = ib_post_srq_recv(srq->srq, &recv->wr, NULL);

	if (unlikely(ret))
		llist_add(&recv->idle, &srq->idle);
	else
		atomic_dec(&srq->out);
	return ret;
}

static noinline void krping_srq_post_idle(struct krping_srq *srq)
{
	struct krping_srq_recv *recv, *next;

	llist_for_each_entry_safe(recv, next, llist_del_all(&srq->idle), idle)
		krping_srq_post_one(srq, recv);
}

/*
 * A RECV returns to the queue. One that the device refuses is not lost: the next one
 * takes it along.
 */
static int krping_srq_post(struct krping_srq *srq, struct krping_srq_recv *recv)
{
	int ret = krping_srq_post_one(srq, recv);

	if (unlikely(!ret && !llist_empty(&srq->idle)))
		krping_srq_post_idle(srq);
	return ret;
}

/* How many RECVs somebody has forgotten. Nobody uses the queue. */
static int krping_srq_missing(const struct krping_srq *srq)
{
	const struct llist_node *node;
	int missing = atomic_read(&srq->out);

	for (node = srq->idle.first; node; node = node->next)
		missing--;
	return missing;
}

/**
 * krping_srq_give - give the RECV of a message that was consumed back to the queue
 * @ep: the endpoint
 * @wr: what stands for it in krping_ep.rq
 *
 * Context: the run's thread.
 * Return: 0, or a negative errno; the next RECV that is given back takes this one
 * along.
 */
int krping_srq_give(struct krping_ep *ep, const struct krping_wr *wr)
{
	u32 i = wr - ep->rq;
	struct krping_srq_recv *recv = ep->srq_recv[i];

	ep->srq_recv[i] = NULL;
	return krping_srq_post(ep->srq, recv);
}

static noinline void krping_srq_overdrawn(struct krping_ep *ep)
{
	krping_fail(ep->verdict, -EPROTO,
		    "srq: the peer sent more than %d messages before this end had consumed one",
		    KRPING_RQ_DEPTH);
}

/*
 * A RECV of a shared queue has completed. The CQ tells whose it is: it is that of one
 * endpoint, and the queue pair may be gone.
 *
 * Context: that of the poll, one at a time for each CQ.
 */
static void krping_srq_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_srq_recv *recv =
		container_of(wc->wr_cqe, struct krping_srq_recv, cqe);
	struct krping_cq *kcq = cq->cq_context;
	struct krping_ep *ep = container_of(kcq, struct krping_ep, rcq);
	u32 seq = ep->rq_done;
	struct krping_wr *wr = &ep->rq[seq % KRPING_RQ_DEPTH];

	atomic_inc(&ep->srq->out);
	/* Pairs with krping_srq_drained(). */
	if (unlikely(smp_load_acquire(&ep->srq_closed))) {
		krping_srq_post(ep->srq, recv);
		return;
	}
	/* Pairs with krping_post_recv(): its thread is done with the place. */
	if (unlikely(seq == smp_load_acquire(&ep->rq_posted))) {
		krping_srq_overdrawn(ep);
		krping_srq_post(ep->srq, recv);
		return;
	}
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		krping_wc_bad(ep, wr, wc);
		krping_srq_post(ep->srq, recv);
		return;
	}
	ep->srq_recv[seq % KRPING_RQ_DEPTH] = recv;
	wr->mem = recv->mem;
	wr->sge.addr = recv->sge.addr;
	krping_received(ep, wr, wc);
}

static void krping_srq_event(struct ib_event *event, void *context)
{
	struct krping_srq *srq = context;

	krping_async_tell(&srq->async, event->event);
	/* No RECV comes any more. The limit is only told to those who watch. */
	if (event->event == IB_EVENT_SRQ_ERR)
		krping_fail(srq->verdict, -EIO,
			    "the shared receive queue failed: %s (event %d)",
			    ib_event_msg(event->event), event->event);
}

static void krping_srq_unmap(struct krping_srq *srq)
{
	u32 i;

	for (i = 0; i < srq->mapped; i++) {
		ib_dma_unmap_single(srq->dev, srq->dma[i], PAGE_SIZE,
				    DMA_FROM_DEVICE);
		free_page((unsigned long)srq->mem[i]);
	}
	kvfree(srq->recvs);
	kfree(srq->mem);
	kfree(srq->dma);
}

static int krping_srq_map(struct krping_srq *srq,
			  struct krping_verdict *verdict)
{
	u32 pages = DIV_ROUND_UP(srq->depth, KRPING_SRQ_PER_PAGE);
	u32 i;

	srq->recvs = kvcalloc(srq->depth, sizeof(*srq->recvs), GFP_KERNEL);
	srq->mem = kcalloc(pages, sizeof(*srq->mem), GFP_KERNEL);
	srq->dma = kcalloc(pages, sizeof(*srq->dma), GFP_KERNEL);
	if (!srq->recvs || !srq->mem || !srq->dma)
		goto no_memory;
	for (i = 0; i < pages; i++) {
		srq->mem[i] = (void *)get_zeroed_page(GFP_KERNEL);
		if (!srq->mem[i])
			goto no_memory;
		srq->dma[i] = ib_dma_map_single(srq->dev, srq->mem[i],
						PAGE_SIZE, DMA_FROM_DEVICE);
		if (ib_dma_mapping_error(srq->dev, srq->dma[i])) {
			free_page((unsigned long)srq->mem[i]);
			return krping_fail(verdict, -ENOMEM,
					   "srq: mapping the message buffers: error %pe",
					   ERR_PTR(-ENOMEM));
		}
		srq->mapped++;
	}
	for (i = 0; i < srq->depth; i++) {
		struct krping_srq_recv *recv = &srq->recvs[i];
		u32 page = i / KRPING_SRQ_PER_PAGE;
		u32 at = i % KRPING_SRQ_PER_PAGE * KRPING_MSG_STRIDE;

		recv->mem = srq->mem[page] + at;
		recv->sge.addr = srq->dma[page] + at;
		recv->sge.length = KRPING_MSG_SIZE;
		recv->sge.lkey = srq->pd->local_dma_lkey;
		recv->cqe.done = krping_srq_recv_done;
		recv->wr.wr_cqe = &recv->cqe;
		recv->wr.sg_list = &recv->sge;
		recv->wr.num_sge = 1;
	}
	return 0;

no_memory:
	return krping_fail(verdict, -ENOMEM,
			   "srq: allocating the message buffers");
}

/* Nothing of the device uses the queue after this, nor does a work of ours. */
static void krping_srq_release(struct krping_srq *srq)
{
	if (srq->srq)
		ib_destroy_srq(srq->srq);
	krping_async_end(&srq->async);
	krping_srq_unmap(srq);
}

static void krping_srq_free(struct krping_srq *srq)
{
	krping_srq_release(srq);
	kfree(srq);
}

/*
 * A queue whose RECVs are yet to be posted. @verdict: of the run that wants it, which
 * need not be the one that keeps it.
 */
static struct krping_srq *krping_srq_create(struct krping_record *rec,
					    struct krping_verdict *owner,
					    struct krping_verdict *verdict,
					    struct ib_pd *pd, u32 depth,
					    u32 limit)
{
	struct ib_srq_init_attr attr = {
		.event_handler = krping_srq_event,
		.srq_type = IB_SRQT_BASIC,
		.attr = { .max_wr = depth, .max_sge = 1, .srq_limit = limit },
	};
	const struct ib_device_attr *can = &pd->device->attrs;
	struct krping_srq *srq;
	int ret;

	if (!pd->device->ops.create_srq || can->max_srq < 1 ||
	    can->max_srq_sge < 1) {
		krping_fail(verdict, -EOPNOTSUPP,
			    "srq: %s has no shared receive queues",
			    dev_name(&pd->device->dev));
		return NULL;
	}
	if (depth > can->max_srq_wr) {
		krping_fail(verdict, -EOPNOTSUPP,
			    "srq: the queue needs %u RECVs, %s has at most %d",
			    depth, dev_name(&pd->device->dev), can->max_srq_wr);
		return NULL;
	}
	srq = kzalloc_obj(*srq);
	if (!srq) {
		krping_fail(verdict, -ENOMEM, "srq: allocating the queue");
		return NULL;
	}
	srq->rec = rec;
	krping_async_init(&srq->async, rec);
	srq->verdict = owner;
	srq->dev = pd->device;
	srq->pd = pd;
	srq->depth = depth;
	atomic_set(&srq->out, depth);
	init_llist_head(&srq->idle);
	if (krping_srq_map(srq, verdict)) {
		krping_srq_free(srq);
		return NULL;
	}
	attr.srq_context = srq;
	srq->srq = ib_create_srq(pd, &attr);
	if (IS_ERR(srq->srq)) {
		ret = PTR_ERR(srq->srq);
		srq->srq = NULL;
		krping_fail(verdict, ret,
			    "srq: creating a queue of %u RECVs: error %pe",
			    depth, ERR_PTR(ret));
		krping_srq_free(srq);
		return NULL;
	}
	return srq;
}

/*
 * The queue of one run
 */

/**
 * krping_srq_own - make a shared queue for one endpoint
 * @ep: the endpoint; it has a PD
 *
 * Its RECVs are those that the endpoint is going to post.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_srq_own(struct krping_ep *ep)
{
	u32 i;

	ep->srq = krping_srq_create(ep->rec, ep->verdict, ep->verdict, ep->pd,
				    KRPING_RQ_DEPTH, 0);
	if (!ep->srq)
		return ep->verdict->err;
	for (i = 0; i < KRPING_RQ_DEPTH; i++)
		ep->srq_recv[i] = &ep->srq->recvs[i];
	ep->rec->srq = ep->srq->depth;
	return 0;
}

/*
 * The queues of a server
 */

/* Make ready for the shared queues of a server. */
void krping_srqs_init(struct krping_srqs *srqs, struct krping_record *rec,
		      struct krping_verdict *verdict)
{
	srqs->rec = rec;
	srqs->verdict = verdict;
	mutex_init(&srqs->lock);
	INIT_LIST_HEAD(&srqs->list);
}

/* Called under a lock of device.c: the server's thread does the rest. */
static void krping_srq_removed(struct krping_device_user *user,
			       struct ib_device *dev)
{
	struct krping_srq *srq = container_of(user, struct krping_srq, device);

	WRITE_ONCE(srq->srqs->going, true);
	krping_wake(srq->verdict);
}

/* The device is not used any more, and its removal may go on. */
static void krping_srq_drop(struct krping_srq *srq)
{
	struct krping_record *rec = srq->rec;
	struct krping_device_user *user = &srq->device;
	struct ib_pd *pd = srq->pd;
	int missing = krping_srq_missing(srq);

	KRPING_CHECK(!missing);
	WRITE_ONCE(rec->srq_lost, rec->srq_lost + missing);
	list_del(&srq->list);
	krping_srq_release(srq);
	ib_dealloc_pd(pd);
	krping_device_leave(user);
	kfree(srq);
}

/**
 * krping_srqs_reap - free the queues of devices that are being removed
 * @srqs: the queues
 *
 * A queue that a client still uses stays until that one has gone, too.
 *
 * Context: the thread of the server; sleeps.
 */
void krping_srqs_reap(struct krping_srqs *srqs)
{
	struct krping_srq *srq, *next;

	WRITE_ONCE(srqs->going, false);
	mutex_lock(&srqs->lock);
	list_for_each_entry_safe(srq, next, &srqs->list, list)
		if (READ_ONCE(srq->device.going) && !srq->users)
			krping_srq_drop(srq);
	mutex_unlock(&srqs->lock);
}

/**
 * krping_srqs_close - free all queues of a server
 * @srqs: the queues, which nobody uses any more
 *
 * Context: the thread of the server; sleeps.
 */
void krping_srqs_close(struct krping_srqs *srqs)
{
	struct krping_srq *srq, *next;

	mutex_lock(&srqs->lock);
	list_for_each_entry_safe(srq, next, &srqs->list, list)
		krping_srq_drop(srq);
	mutex_unlock(&srqs->lock);
}

/* Post all RECVs, as work of the server's run. */
static int krping_srq_fill(struct krping_srq *srq,
			   struct krping_verdict *verdict)
{
	struct krping_srqs *srqs = srq->srqs;
	u32 i;
	int ret;

	for (i = 0; i < srq->depth; i++) {
		u32 cid = srqs->cid++;
		u64 t = trace_krping_post_recv_enabled() ? ktime_get_ns() : 0;

		krping_trace(post_recv, srq->rec->id, t, 0, cid, 0,
			     KRPING_MSG_SIZE);
		ret = krping_srq_post(srq, &srq->recvs[i]);
		t = trace_krping_post_return_enabled() ? ktime_get_ns() : 0;
		krping_trace(post_return, srq->rec->id, t, 0, cid, 1, ret);
		if (!ret)
			continue;
		krping_trace(post_recv_err, srq->rec->id, 0, cid, 0,
			     KRPING_WR_RECV, ret);
		return krping_fail(verdict, ret == -ENOMEM ? ret : -EIO,
				   "srq: posting RECV %u of %u: error %pe",
				   i + 1, srq->depth, ERR_PTR(ret));
	}
	return 0;
}

static struct krping_srq *krping_srqs_find(struct krping_srqs *srqs,
					   struct ib_device *dev)
{
	struct krping_srq *srq;

	list_for_each_entry(srq, &srqs->list, list)
		if (srq->dev == dev && !READ_ONCE(srq->device.going))
			return srq;
	return NULL;
}

static int krping_srqs_add(struct krping_srqs *srqs, struct ib_device *dev,
			   struct krping_verdict *verdict, bool dma_key,
			   struct krping_srq **added)
{
	u32 honest = srqs->places * KRPING_RQ_DEPTH;
	struct krping_srq *srq;
	struct ib_pd *pd;
	int ret;

	pd = krping_pd_create(verdict, dev, dma_key);
	if (!pd)
		return verdict->err;
	srq = krping_srq_create(srqs->rec, srqs->verdict, verdict, pd,
				honest + KRPING_SRQ_SPARE, honest);
	if (!srq) {
		ib_dealloc_pd(pd);
		return verdict->err;
	}
	srq->srqs = srqs;
	srq->device.removed = krping_srq_removed;
	krping_device_enter(&srq->device);
	list_add_tail(&srq->list, &srqs->list);
	ret = krping_srq_fill(srq, verdict);
	/* The run that wants it is a user, too, and is told of the removal. */
	if (!ret && !krping_device_use(&srq->device, dev))
		ret = krping_fail(verdict, -ENODEV, "the device was removed");
	if (ret) {
		/* Nobody has seen it, so what is not in it is not lost. */
		atomic_set(&srq->out, 0);
		init_llist_head(&srq->idle);
		krping_srq_drop(srq);
		return ret;
	}
	WRITE_ONCE(srqs->rec->srq, srq->depth);
	*added = srq;
	return 0;
}

/**
 * krping_srq_enter - an endpoint begins to use the server's queue of its device
 * @ep: the endpoint, which has no PD yet and gets that of the queue
 * @srqs: the queues of the server; the first client on a device makes its queue
 * @dma_key: its PD has a key that opens all memory to the peer
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_srq_enter(struct krping_ep *ep, struct krping_srqs *srqs,
		     bool dma_key)
{
	struct krping_srq *srq;
	int ret = 0;

	mutex_lock(&srqs->lock);
	srq = krping_srqs_find(srqs, ep->dev);
	if (!srq)
		ret = krping_srqs_add(srqs, ep->dev, ep->verdict, dma_key,
				      &srq);
	if (!ret) {
		srq->users++;
		ep->srq = srq;
		ep->pd = srq->pd;
		ep->rec->srq = srq->depth;
	}
	mutex_unlock(&srqs->lock);
	return ret;
}

/**
 * krping_srq_is_common - do other endpoints use this one's shared queue?
 * @ep: the endpoint
 *
 * Context: the run's thread.
 */
bool krping_srq_is_common(const struct krping_ep *ep)
{
	return ep->srq && ep->srq->srqs;
}

/* A device that has told once may be late once, and is waited for again. */
static void krping_srq_wait_last(struct krping_ep *ep)
{
	struct krping_srq *srq = ep->srq;

	if (krping_sleep(ep->verdict, msecs_to_jiffies(KRPING_LAST_WQE_MS),
			 READ_ONCE(ep->last_wqe)))
		WRITE_ONCE(srq->tells, true);
	else if (!READ_ONCE(srq->tells))
		WRITE_ONCE(srq->mute, true);
}

/**
 * krping_srq_drained - no RECV of the shared queue is to stay with an endpoint
 * @ep: the endpoint; its queue pair is in the error state and its send queue is
 *	drained, or it has none
 *
 * From here on what completes goes back to the queue, and the core does not poll the
 * CQ any more.
 *
 * Context: the run's thread; sleeps.
 */
void krping_srq_drained(struct krping_ep *ep)
{
	struct krping_srq *srq = ep->srq;
	u32 i;

	if (krping_srq_is_common(ep) && ep->qp && !ep->iwarp &&
	    !READ_ONCE(srq->mute))
		krping_srq_wait_last(ep);
	/* Pairs with krping_srq_recv_done(). */
	smp_store_release(&ep->srq_closed, true);
	if (ep->rcq.cq) {
		krping_cq_abandon(&ep->rcq);
		krping_cq_poll(&ep->rcq);
	}
	for (i = 0; i < KRPING_RQ_DEPTH; i++)
		if (ep->srq_recv[i])
			krping_srq_give(ep, &ep->rq[i]);
}

/**
 * krping_srq_leave - an endpoint uses its shared queue no more, if it did
 * @ep: the endpoint; its queue pair, CQs and memory regions are gone
 *
 * Context: the run's thread; sleeps.
 */
void krping_srq_leave(struct krping_ep *ep)
{
	struct krping_srq *srq = ep->srq;

	if (!srq)
		return;
	ep->srq = NULL;
	if (!srq->srqs) {
		KRPING_CHECK(!krping_srq_missing(srq));
		krping_srq_free(srq);
		return;
	}
	/* The PD is that of the queue. */
	ep->pd = NULL;
	mutex_lock(&srq->srqs->lock);
	srq->users--;
	mutex_unlock(&srq->srqs->lock);
}
