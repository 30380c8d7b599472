// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PD, CQ and QP of a run; posting work requests, and waiting for them.
 *
 * One CQ of the run's own serves both queues, polled by the core in softirq
 * context. The completion handlers below publish results to the thread and
 * wake it, nothing more: everything that has to decide is in the thread.
 *
 * Every work request has a completion handler, also the unsignalled ones: they
 * complete when they fail or are flushed.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>
#include "calls.h"
#include "ledger.h"
#include "run.h"

/*
 * After a flush the thread waits this long for rdma_cm or the core to tell why
 * the queue pair went down, before it calls it a reset.
 */
#define KRPING_LINGER_MS 1000

#define KRPING_RX_BYTES (KRPING_RQ_DEPTH * KRPING_MSG_STRIDE)
#define KRPING_TX_BYTES (KRPING_TX_DEPTH * KRPING_MSG_STRIDE)

/* The message as it is on the wire since 2007. */
struct krping_wire_msg {
	__be64 addr;
	__be32 rkey;
	__be32 len;
};

static_assert(sizeof(struct krping_wire_msg) == KRPING_MSG_SIZE);
/* An iteration and the sends of the one before it fit; see KRPING_SQ_DEPTH. */
static_assert(KRPING_SQ_DEPTH >= 9 + 3 * KRPING_TX_DEPTH);

static struct krping_wire_msg *krping_rx_msg(struct krping_ep *ep, u32 i)
{
	return ep->msgs + (i % KRPING_RQ_DEPTH) * KRPING_MSG_STRIDE;
}

static struct krping_wire_msg *krping_tx_msg(struct krping_ep *ep, u64 i)
{
	return ep->msgs + KRPING_RX_BYTES +
	       (i % KRPING_TX_DEPTH) * KRPING_MSG_STRIDE;
}

static u64 krping_rx_dma(struct krping_ep *ep, u32 i)
{
	return ep->rx_dma + (i % KRPING_RQ_DEPTH) * KRPING_MSG_STRIDE;
}

static u64 krping_tx_dma(struct krping_ep *ep, u64 i)
{
	return ep->tx_dma + (i % KRPING_TX_DEPTH) * KRPING_MSG_STRIDE;
}

/*
 * Completion side
 */

static void krping_wake(struct krping_run *run)
{
	if (wq_has_sleeper(&run->wq))
		wake_up(&run->wq);
}

static noinline void krping_signal_timed(struct ib_cq *cq,
					 struct krping_run *run)
{
	WRITE_ONCE(run->ep.t_sig, ktime_get_ns());
	run->ep.comp_handler(cq, run);
}

/*
 * The provider's call, before the core's: the only place to learn when the
 * completion became known to this host. It runs in whatever context the
 * provider calls it, maybe with its CQ lock held, and so only reads the clock.
 */
static void krping_cq_signal(struct ib_cq *cq, void *context)
{
	struct krping_run *run = context;

	if (krping_wants(stages))
		krping_signal_timed(cq, run);
	else
		run->ep.comp_handler(cq, context);
}

/* Requests whose completion a phase may wait for: of others no times are taken. */
#define KRPING_AWAITED                                    \
	(BIT(KRPING_WR_RECV) | BIT(KRPING_WR_RDMA_READ) | \
	 BIT(KRPING_WR_RDMA_WRITE))
/* Those of memory regions. */
#define KRPING_OF_MRS                                       \
	(BIT(KRPING_WR_REG_MR) | BIT(KRPING_WR_LOCAL_INV) | \
	 BIT(KRPING_WR_SEND_INV))

/* Times and trace of a completion that went well. */
static noinline void krping_trace_wc(struct krping_run *run,
				     struct krping_wr *wr, u32 len)
{
	u64 t = 0;

	if (trace_krping_wc_enabled() || (BIT(wr->kind) & KRPING_AWAITED))
		t = ktime_get_ns();
	wr->t_wc = t;
	/* One signal can stand for several completions: it times the first. */
	wr->t_sig = READ_ONCE(run->ep.t_sig);
	WRITE_ONCE(run->ep.t_sig, 0);
	krping_trace(wc, run->rec->id, t, run->rec->cq, wr->cid, wr->kind, len);
}

/*
 * Registrations and invalidations complete with a signalled request behind them,
 * or one by one when the queue is flushed. The call that posted them may not
 * have returned yet.
 */
static noinline void krping_trace_mr_done(struct krping_run *run,
					  const struct krping_wr *last, u64 t,
					  int err)
{
	struct krping_ep *ep = &run->ep;
	u32 seq = ep->sq_done;

	if (!t)
		t = ktime_get_ns();
	if ((s32)(ep->sq_told - seq) > 0)
		seq = ep->sq_told;
	for (; (s32)(last->seq - seq) >= 0; seq++) {
		const struct krping_wr *wr = &ep->sq[seq % KRPING_SQ_DEPTH];
		bool reg = wr->kind == KRPING_WR_REG_MR;

		if (BIT(wr->kind) & KRPING_OF_MRS)
			krping_trace(mr_done, run->rec->id, t, run->rec->cq,
				     wr->cid, wr->kind,
				     reg ? DIV_ROUND_UP(wr->len, PAGE_SIZE) : 0,
				     wr->t_post, READ_ONCE(wr->t_posted), err,
				     reg ? wr->map_ns : 0);
	}
	ep->sq_told = last->seq + 1;
}

static int krping_fail_wr(struct krping_run *run, u32 kind, u32 status,
			  u32 vendor_err)
{
	static const char *const kinds[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_WR_, n, s)
		KRPING_WRS(x)
#undef x
	};

	return krping_fail(run, -EIO,
			   "%s failed: %s (status %u, vendor error 0x%x)",
			   kinds[kind], ib_wc_status_msg(status), status,
			   vendor_err);
}

/*
 * On iWARP a request that meets a connection which the peer has just closed
 * fails by one of these (siw: siw_qp_sq_process(), siw_rdmap_complete()), some
 * time before rdma_cm tells that the peer left. Then that is the cause.
 */
static bool krping_may_be_reset(const struct krping_run *run,
				enum ib_wc_status status)
{
	return (status == IB_WC_LOC_QP_OP_ERR || status == IB_WC_GENERAL_ERR) &&
	       rdma_protocol_iwarp(run->ep.dev, run->cm.id->port_num);
}

/*
 * What the provider told of the queue pair, where no completion says why it went
 * down: at the end that is read from and written to there is none. A refused
 * access is the cause whatever the peer does next. The other events are in doubt
 * on iWARP: siw also raises them when an answer to a READ, or a request, meets a
 * connection that the peer has just closed. Returns the run's cause, or 0.
 */
static int krping_fail_told(struct krping_run *run)
{
	unsigned long told = READ_ONCE(run->ep.told);
	enum ib_event_type event = IB_EVENT_QP_ACCESS_ERR;

	if (told & BIT(event))
		return krping_fail(run, -EIO,
				   "this end refused the peer's access: %s (event %d)",
				   ib_event_msg(event), event);
	if (!told || (run->ep.peer_left &&
		      rdma_protocol_iwarp(run->ep.dev, run->cm.id->port_num)))
		return 0;
	event = __ffs(told);
	return krping_fail(run, -EIO, "the queue pair failed: %s (event %d)",
			   ib_event_msg(event), event);
}

/**
 * krping_ep_moves - a READ or WRITE was posted
 * @run: the run
 * @wr: the request
 *
 * On InfiniBand and RoCE it is under way until it completes. On iWARP nothing
 * answers a WRITE: it is until the peer's next message.
 *
 * Context: the run's thread.
 */
void krping_ep_moves(struct krping_run *run, const struct krping_wr *wr)
{
	run->ep.move_kind = wr->kind;
	run->ep.move_len = wr->len;
	run->ep.move_rkey = wr->rdma.rkey;
}

static void krping_moved(struct krping_run *run, const struct krping_wr *wr)
{
	if (wr->kind != KRPING_WR_RDMA_WRITE ||
	    !rdma_protocol_iwarp(run->ep.dev, run->cm.id->port_num))
		run->ep.move_kind = KRPING_WR_NONE;
}

/**
 * krping_ep_last_words - what there is to say of a connection that was lost
 * @run: the run
 * @text: receives it, to follow on a reason; empty if there is nothing
 * @size: its size in bytes, KRPING_LAST_WORDS
 *
 * iWARP's answer to a READ or WRITE that the peer's device refuses is the end of
 * the connection and no more, so this names the one that was under way.
 *
 * Context: the run's thread.
 */
void krping_ep_last_words(const struct krping_run *run, char *text, size_t size)
{
	const struct krping_ep *ep = &run->ep;
	unsigned long told = READ_ONCE(ep->told);
	bool reads = ep->move_kind == KRPING_WR_RDMA_READ;
	size_t n = 0;

	text[0] = '\0';
	if (ep->move_kind)
		n = scnprintf(text, size,
			      ", with a %s of %u bytes %s key 0x%x under way",
			      reads ? "READ" : "WRITE", ep->move_len,
			      reads ? "of" : "to", ep->move_rkey);
	if (told)
		scnprintf(text + n, size - n, "; the device told: %s",
			  ib_event_msg(__ffs(told)));
}

/*
 * The queue pair is going down, or has been closed. Find out once whether it was
 * the peer that left: from here on this end has ended the connection, too, and
 * the peer's leaving is no more than an answer to that.
 */
static void krping_ep_end(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;

	/* Not interruptible: a signal may be what the run is ending on. */
	wait_event_timeout(run->wq,
			   krping_is_stopping(run) ||
				   test_bit(KRPING_CM_DISCONNECTED,
					    &run->cm.seen),
			   msecs_to_jiffies(KRPING_LINGER_MS));
	if (krping_is_stopping(run))
		return;
	ep->peer_left = test_bit(KRPING_CM_DISCONNECTED, &run->cm.seen);
	/*
	 * What came before the peer left may not have been reaped yet: flush
	 * the queues behind it, for the caller to look again. On iWARP a SEND
	 * that meets the end of the connection completes before the RECV that
	 * ended it, so this also brings out the cause.
	 */
	krping_ep_drain(run);
	ep->ended = true;
}

/*
 * What came was not what the thread waited for. -ECONNRESET without a cause on
 * record: the peer left, and the caller knows whether it may; or it left after
 * it had sent what the thread waits for, which is there now. -EINTR without
 * one: a signal, and the caller knows whether the run may end.
 */
static int krping_why(struct krping_run *run, long ret)
{
	struct krping_ep *ep = &run->ep;
	bool flushed;

	if (krping_is_stopping(run))
		return krping_stopped(run);
	if (ret)
		return -EINTR;
	if (!ep->ended)
		krping_ep_end(run);
	if (krping_is_stopping(run))
		return krping_stopped(run);
	/* Pairs with the release in krping_wc_bad() and krping_qp_event(). */
	flushed = smp_load_acquire(&ep->flushed);
	ret = krping_fail_told(run);
	if (ret)
		return ret;
	if (!ep->peer_left && flushed && ep->doubt_status)
		return krping_fail_wr(run, ep->doubt_kind, ep->doubt_status,
				      ep->doubt_vendor_err);
	return -ECONNRESET;
}

/* A post found the connection closed: the provider knows before rdma_cm tells. */
static int krping_fail_closed(struct krping_run *run)
{
	char more[KRPING_LAST_WORDS];
	int ret = krping_why(run, 0);

	if (ret != -ECONNRESET)
		return ret;
	/* Nobody agreed on when the peer would leave: the caller judges. */
	if (run->ep.peer_left && !run->params.count)
		return ret;
	krping_ep_last_words(run, more, sizeof(more));
	return krping_fail(run, -ECONNRESET, "the connection is closed%s",
			   more);
}

/*
 * A completion that did not go well. Nothing of it may be read but identity,
 * status and vendor error.
 */
static void krping_wc_bad(struct krping_run *run, struct krping_wr *wr,
			  struct ib_wc *wc)
{
	u64 t = 0;

	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		if (trace_krping_wc_flush_enabled())
			t = ktime_get_ns();
		krping_trace(wc_flush, run->rec->id, t, run->rec->cq, wr->cid,
			     wr->kind, wc->status, wc->vendor_err);
		krping_dbg(run, "cq flushed");
	} else {
		if (trace_krping_wc_err_enabled())
			t = ktime_get_ns();
		krping_trace(wc_err, run->rec->id, t, run->rec->cq, wr->cid,
			     wr->kind, wc->status, wc->vendor_err);
		if (!krping_may_be_reset(run, wc->status)) {
			krping_fail_wr(run, wr->kind, wc->status,
				       wc->vendor_err);
		} else if (!run->ep.doubt_status) {
			run->ep.doubt_kind = wr->kind;
			run->ep.doubt_vendor_err = wc->vendor_err;
			run->ep.doubt_status = wc->status;
		}
	}
	if (trace_krping_mr_done_enabled() && wr->kind != KRPING_WR_RECV)
		krping_trace_mr_done(run, wr, t, -ECANCELED);
	/*
	 * Either way the queue pair is in the error state. Pairs with the
	 * acquire in krping_why().
	 */
	smp_store_release(&run->ep.flushed, true);
	krping_wake(run);
}

static void krping_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_wr *wr = container_of(wc->wr_cqe, struct krping_wr, cqe);
	struct krping_run *run = wr->run;
	struct krping_stats *stats = &run->rec->stats;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		/* Nothing from here on was executed. */
		if (!run->ep.sq_bad)
			WRITE_ONCE(run->ep.sq_bad, wr->seq + 1);
		krping_wc_bad(run, wr, wc);
		return;
	}

	if (krping_wants(completions))
		krping_trace_wc(run, wr, wr->len);
	if (trace_krping_mr_done_enabled())
		krping_trace_mr_done(run, wr, wr->t_wc, 0);
	switch (wr->kind) {
	case KRPING_WR_SEND:
	case KRPING_WR_SEND_INV:
		WRITE_ONCE(stats->send_bytes, stats->send_bytes + wr->len);
		WRITE_ONCE(stats->send_msgs, stats->send_msgs + 1);
		krping_dbg(run, "send completion");
		break;
	case KRPING_WR_RDMA_READ:
		WRITE_ONCE(stats->read_bytes, stats->read_bytes + wr->len);
		WRITE_ONCE(stats->read_msgs, stats->read_msgs + 1);
		krping_dbg(run, "rdma read completion");
		break;
	case KRPING_WR_RDMA_WRITE:
		WRITE_ONCE(stats->write_bytes, stats->write_bytes + wr->len);
		WRITE_ONCE(stats->write_msgs, stats->write_msgs + 1);
		krping_dbg(run, "rdma write completion");
		break;
	}
	/* Pairs with the acquire in krping_sq_is_done(). */
	smp_store_release(&run->ep.sq_done, wr->seq + 1);
	krping_wake(run);
}

static void krping_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_wr *wr = container_of(wc->wr_cqe, struct krping_wr, cqe);
	struct krping_run *run = wr->run;
	struct krping_stats *stats = &run->rec->stats;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		krping_wc_bad(run, wr, wc);
		return;
	}

	if (krping_wants(completions))
		krping_trace_wc(run, wr, wc->byte_len);
	WRITE_ONCE(stats->recv_bytes, stats->recv_bytes + wc->byte_len);
	WRITE_ONCE(stats->recv_msgs, stats->recv_msgs + 1);
	krping_dbg(run, "recv completion");
	wr->wc_len = wc->byte_len;
	wr->wc_has_inv = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	wr->wc_inv = wr->wc_has_inv ? wc->ex.invalidate_rkey : 0;
	/* Pairs with the acquire in krping_recv_is_done(). */
	smp_store_release(&run->ep.rq_done, wr->seq + 1);
	krping_wake(run);
}

static void krping_qp_event(struct ib_event *event, void *context)
{
	struct krping_run *run = context;

	krping_trace(async_event, run->rec->id, event->event, 0);
	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* The peer's first message overtook its last CM message. */
		rdma_notify(run->cm.id, event->event);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		/* A completion may know more: see krping_fail_told(). */
		set_bit(event->event, &run->ep.told);
		/* Pairs with the acquire in krping_why(). */
		smp_store_release(&run->ep.flushed, true);
		krping_wake(run);
		break;
	default:
		break;
	}
}

/*
 * Set-up and tear-down
 */

static noinline int krping_post_recv_traced(struct krping_run *run,
					    struct krping_wr *wr)
{
	u64 t = 0;
	int ret;

	if (trace_krping_post_recv_enabled())
		t = ktime_get_ns();
	krping_trace(post_recv, run->rec->id, t, run->rec->cq, wr->cid,
		     run->rec->qp, KRPING_MSG_SIZE);
	ret = krping_ib_post_recv(run->ep.qp, &wr->recv);
	t = trace_krping_post_return_enabled() ? ktime_get_ns() : 0;
	krping_trace(post_return, run->rec->id, t, run->rec->cq, wr->cid, 1,
		     ret);
	return ret;
}

static noinline int krping_post_recv_failed(struct krping_run *run,
					    struct krping_wr *wr, int err)
{
	krping_trace(post_recv_err, run->rec->id, run->rec->cq, wr->cid,
		     run->rec->qp, wr->kind, err);
	/*
	 * The provider's word for "the peer has closed". The message whose
	 * place this is came before that, and counts: if it was the last one,
	 * nothing is amiss. Whatever waits for more finds the end.
	 */
	if (err == -ENOTCONN) {
		WRITE_ONCE(run->ep.flushed, true);
		return 0;
	}
	return krping_fail(run, err == -ENOMEM ? err : -EIO,
			   "posting a RECV: error %pe", ERR_PTR(err));
}

static int krping_post_recv(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;
	u32 seq = ep->rq_posted;
	struct krping_wr *wr = &ep->rq[seq % KRPING_RQ_DEPTH];
	int ret;

	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->t_wc = 0;
	if (krping_wants(posts))
		ret = krping_post_recv_traced(run, wr);
	else
		ret = krping_ib_post_recv(ep->qp, &wr->recv);
	if (unlikely(ret))
		return krping_post_recv_failed(run, wr, ret);
	ep->rq_posted++;
	return 0;
}

static void krping_init_wrs(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;
	u32 i;

	for (i = 0; i < KRPING_SQ_DEPTH; i++) {
		ep->sq[i].run = run;
		ep->sq[i].cqe.done = krping_send_done;
	}
	for (i = 0; i < KRPING_RQ_DEPTH; i++) {
		struct krping_wr *wr = &ep->rq[i];

		wr->run = run;
		wr->cqe.done = krping_recv_done;
		wr->kind = KRPING_WR_RECV;
		wr->len = KRPING_MSG_SIZE;
		wr->sge.addr = krping_rx_dma(ep, i);
		wr->sge.length = KRPING_MSG_SIZE;
		wr->sge.lkey = ep->pd->local_dma_lkey;
		wr->recv.wr_cqe = &wr->cqe;
		wr->recv.sg_list = &wr->sge;
		wr->recv.num_sge = 1;
	}
}

static int krping_map_msgs(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;
	int ret;

	ep->msgs = kzalloc(KRPING_RX_BYTES + KRPING_TX_BYTES, GFP_KERNEL);
	if (!ep->msgs)
		return krping_fail(run, -ENOMEM,
				   "allocating the message buffers");
	ret = krping_dma_map_single(ep, ep->msgs, KRPING_RX_BYTES,
				    DMA_FROM_DEVICE, &ep->rx_dma);
	if (ret)
		goto failed;
	ep->mapped |= 1;
	ret = krping_dma_map_single(ep, ep->msgs + KRPING_RX_BYTES,
				    KRPING_TX_BYTES, DMA_TO_DEVICE,
				    &ep->tx_dma);
	if (ret)
		goto failed;
	ep->mapped |= 2;
	return 0;

failed:
	return krping_fail(run, ret, "mapping the message buffers: error %pe",
			   ERR_PTR(ret));
}

/**
 * krping_ep_create - make the endpoint of a run, and post its RECVs
 * @run: the run
 * @id: the connection, bound to a device
 *
 * On an error what was made stays for the tear-down, which knows half-built
 * endpoints.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_ep_create(struct krping_run *run, struct rdma_cm_id *id)
{
	struct krping_ep *ep = &run->ep;
	struct ib_qp_init_attr attr = {
		.event_handler = krping_qp_event,
		.qp_context = run,
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
	int i, ret;

	ep->dev = id->device;
	ep->pd = krping_ib_alloc_pd(ep->dev);
	if (IS_ERR(ep->pd)) {
		ret = PTR_ERR(ep->pd);
		ep->pd = NULL;
		return krping_fail(run, ret, "allocating a PD: error %pe",
				   ERR_PTR(ret));
	}
	krping_dbg(run, "created pd %u", ep->pd->res.id);

	ret = krping_map_msgs(run);
	if (ret)
		return ret;

	ep->cq = krping_ib_alloc_cq_any(ep->dev, run, nr_cqe);
	if (IS_ERR(ep->cq)) {
		ret = PTR_ERR(ep->cq);
		ep->cq = NULL;
		return krping_fail(run, ret,
				   "allocating a CQ of %d entries: error %pe",
				   nr_cqe, ERR_PTR(ret));
	}
	ep->comp_handler = ep->cq->comp_handler;
	ep->cq->comp_handler = krping_cq_signal;
	run->rec->cq = ep->cq->res.id;
	krping_dbg(run, "created cq %u", run->rec->cq);

	attr.send_cq = ep->cq;
	attr.recv_cq = ep->cq;
	ret = krping_rdma_create_qp(id, ep->pd, &attr);
	if (ret)
		return krping_fail(run, ret, "creating a QP: error %pe",
				   ERR_PTR(ret));
	ep->qp = id->qp;
	run->rec->qp = ep->qp->qp_num;
	krping_dbg(run, "created qp %u", run->rec->qp);

	krping_init_wrs(run);
	for (i = 0; i < KRPING_RQ_DEPTH; i++) {
		ret = krping_post_recv(run);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * krping_ep_drain - wait until every posted work request has completed
 * @run: the run
 *
 * Also where there never was a connection: rdma_cm may have moved the queue
 * pair to the error state, and its RECVs flush while the CQ is being freed.
 *
 * Context: the run's thread; sleeps, not interruptible: the queue pair is in
 * the error state, in which requests only flush.
 */
void krping_ep_drain(struct krping_run *run)
{
	if (run->ep.qp)
		ib_drain_qp(run->ep.qp);
}

/*
 * ib_free_cq() waits for the softirq only until that has left the list of those
 * to be polled, and it arms the CQ after that: ib_poll_handler(). The thread,
 * which the last completion woke on another CPU, would free the CQ under it.
 */
static void krping_cq_quiesce(struct ib_cq *cq)
{
	/* From here on nothing schedules it, nor do events that it missed. */
	irq_poll_disable(&cq->iop);
	/*
	 * RCU also waits for softirqs, threaded ones as well. Expedited, since
	 * every run ends with this: an ordinary grace period is 10 ms or more.
	 */
	synchronize_rcu_expedited();
	/* ib_free_cq() disables it, too, and would wait for ever. */
	irq_poll_enable(&cq->iop);
}

/**
 * krping_ep_destroy_qp - destroy QP and CQ; after it no completion comes
 * @run: the run
 * @id: the connection
 *
 * Context: the run's thread; sleeps.
 */
void krping_ep_destroy_qp(struct krping_run *run, struct rdma_cm_id *id)
{
	struct krping_ep *ep = &run->ep;

	if (ep->qp) {
		rdma_destroy_qp(id);
		ep->qp = NULL;
	}
	if (ep->cq) {
		krping_cq_quiesce(ep->cq);
		ib_free_cq(ep->cq);
		ep->cq = NULL;
	}
}

/**
 * krping_ep_destroy_pd - unmap the messages and free the PD
 * @run: the run; its QP, CQ and memory regions are gone
 *
 * Context: the run's thread; sleeps.
 */
void krping_ep_destroy_pd(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;

	if (ep->mapped & 1)
		ib_dma_unmap_single(ep->dev, ep->rx_dma, KRPING_RX_BYTES,
				    DMA_FROM_DEVICE);
	if (ep->mapped & 2)
		ib_dma_unmap_single(ep->dev, ep->tx_dma, KRPING_TX_BYTES,
				    DMA_TO_DEVICE);
	ep->mapped = 0;
	krping_ledger_end(ep);
	kfree(ep->msgs);
	ep->msgs = NULL;
	if (ep->pd) {
		ib_dealloc_pd(ep->pd);
		ep->pd = NULL;
	}
}

/*
 * Posting
 */

/**
 * krping_chain_add - append a work request to a chain
 * @run: the run
 * @chain: the chain
 * @kind: what to do; SENDs, READs and WRITEs are signalled, the others not
 *
 * The caller fills in what the opcode needs beyond opcode, flags and link. A
 * slot is always free: see KRPING_SQ_DEPTH.
 *
 * Context: the run's thread.
 * Return: the request.
 */
struct krping_wr *krping_chain_add(struct krping_run *run,
				   struct krping_chain *chain,
				   enum krping_wr_kind kind)
{
	static const enum ib_wr_opcode opcodes[] = {
		[KRPING_WR_SEND] = IB_WR_SEND,
		[KRPING_WR_SEND_INV] = IB_WR_SEND_WITH_INV,
		[KRPING_WR_RDMA_READ] = IB_WR_RDMA_READ,
		[KRPING_WR_RDMA_WRITE] = IB_WR_RDMA_WRITE,
		[KRPING_WR_REG_MR] = IB_WR_REG_MR,
		[KRPING_WR_LOCAL_INV] = IB_WR_LOCAL_INV,
	};
	struct krping_ep *ep = &run->ep;
	u32 seq = ep->sq_posted + chain->nr;
	struct krping_wr *wr = &ep->sq[seq % KRPING_SQ_DEPTH];
	bool signaled = kind != KRPING_WR_REG_MR && kind != KRPING_WR_LOCAL_INV;

	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->kind = kind;
	wr->flags = signaled ? KRPING_POST_F_SIGNALED : 0;
	wr->len = 0;
	wr->t_post = 0;
	wr->t_posted = 0;
	wr->t_wc = 0;
	memset(&wr->reg, 0, sizeof(wr->reg));
	memset(&wr->rdma, 0, sizeof(wr->rdma));
	wr->send.wr_cqe = &wr->cqe;
	wr->send.opcode = opcodes[kind];
	wr->send.send_flags = signaled ? IB_SEND_SIGNALED : 0;

	if (chain->last)
		chain->last->send.next = &wr->send;
	else
		chain->first = wr;
	chain->last = wr;
	chain->nr++;
	chain->kinds |= BIT(kind);
	return wr;
}

static u32 krping_wr_rkey(const struct krping_wr *wr)
{
	switch (wr->kind) {
	case KRPING_WR_RDMA_READ:
	case KRPING_WR_RDMA_WRITE:
		return wr->rdma.rkey;
	case KRPING_WR_REG_MR:
		return wr->reg.key;
	default:
		return 0;
	}
}

static u32 krping_wr_inv_rkey(const struct krping_wr *wr)
{
	if (wr->kind == KRPING_WR_LOCAL_INV || wr->kind == KRPING_WR_SEND_INV)
		return wr->send.ex.invalidate_rkey;
	return 0;
}

static struct krping_wr *krping_sq_slot(struct krping_ep *ep, u32 seq)
{
	return &ep->sq[seq % KRPING_SQ_DEPTH];
}

static void krping_trace_post(struct krping_run *run,
			      const struct krping_chain *chain, u64 t)
{
	u32 seq;

	for (seq = chain->first->seq; seq != chain->last->seq + 1; seq++) {
		const struct krping_wr *wr = krping_sq_slot(&run->ep, seq);

		krping_trace(post_send, run->rec->id, t, run->rec->cq, wr->cid,
			     run->rec->qp, wr->kind, wr->len, wr->flags,
			     krping_wr_rkey(wr), krping_wr_inv_rkey(wr));
	}
}

static noinline int krping_post_failed(struct krping_run *run,
				       const struct krping_chain *chain,
				       const struct ib_send_wr *bad, int err)
{
	bool refused = false;
	u32 seq;

	for (seq = chain->first->seq; seq != chain->last->seq + 1; seq++) {
		struct krping_wr *wr = krping_sq_slot(&run->ep, seq);

		if (&wr->send == bad || !bad)
			refused = true;
		if (!refused)
			continue;
		if (!READ_ONCE(run->ep.sq_bad))
			WRITE_ONCE(run->ep.sq_bad, wr->seq + 1);
		krping_trace(post_send_err, run->rec->id, run->rec->cq, wr->cid,
			     run->rec->qp, wr->kind, err);
	}
	/*
	 * iWARP closes its end of the connection as soon as the peer does, so
	 * a post can be refused before rdma_cm has told that the peer left.
	 */
	if (err == -ENOTCONN)
		return krping_fail_closed(run);
	return krping_fail(run, err == -ENOMEM ? err : -EIO,
			   "posting %u work requests: error %pe", chain->nr,
			   ERR_PTR(err));
}

/*
 * Will an event that is on tell when the call was made? Reading the clock for
 * nobody is a good part of what events cost.
 */
static bool krping_post_is_timed(const struct krping_chain *chain)
{
	if (krping_wants(stages) && (chain->kinds & KRPING_AWAITED))
		return true;
	return trace_krping_mr_done_enabled() && (chain->kinds & KRPING_OF_MRS);
}

static noinline int krping_post_traced(struct krping_run *run,
				       struct krping_chain *chain, bool timed,
				       const struct ib_send_wr **bad)
{
	u64 t = 0;
	int ret;

	if (trace_krping_post_send_enabled() || timed) {
		t = ktime_get_ns();
		if (trace_krping_post_send_enabled())
			krping_trace_post(run, chain, t);
	}
	/* Both times or none; no chain is longer than that. */
	if (timed) {
		chain->last->t_post = t;
		chain->first->t_post = t;
	}

	ret = krping_ib_post_send(run->ep.qp, &chain->first->send, bad);

	if (trace_krping_post_return_enabled() || timed) {
		t = ktime_get_ns();
		krping_trace(post_return, run->rec->id, t, run->rec->cq,
			     chain->first->cid, chain->nr, ret);
	}
	if (timed) {
		WRITE_ONCE(chain->last->t_posted, t);
		WRITE_ONCE(chain->first->t_posted, t);
	}
	return ret;
}

/**
 * krping_post - post a chain with one verbs call
 * @run: the run
 * @chain: the chain, not empty
 *
 * Context: the run's thread.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_post(struct krping_run *run, struct krping_chain *chain)
{
	bool timed = krping_post_is_timed(chain);
	const struct ib_send_wr *bad = NULL;
	int ret;

	if (krping_wants(posts) || timed)
		ret = krping_post_traced(run, chain, timed, &bad);
	else
		ret = krping_ib_post_send(run->ep.qp, &chain->first->send,
					  &bad);
	run->ep.sq_posted += chain->nr;
	if (unlikely(ret))
		return krping_post_failed(run, chain, bad, ret);
	return 0;
}

/*
 * Waiting
 */

static bool krping_sq_is_done(struct krping_ep *ep, u32 seq)
{
	/* Pairs with the release in krping_send_done(). */
	u32 done = smp_load_acquire(&ep->sq_done);

	return (s32)(done - (seq + 1)) >= 0;
}

static bool krping_recv_is_done(struct krping_ep *ep)
{
	/* Pairs with the release in krping_recv_done(). */
	return smp_load_acquire(&ep->rq_done) != ep->rq_seen;
}

/* clang-format off */
/*
 * The rest of a wait, when a signal asks the run to end, but not in the middle.
 * 0: cond is true; else -ERESTARTSYS.
 */
#define krping_finish_wait(run, cond)					\
({									\
	unsigned long __time = krping_asked_left(run);			\
	long __end = -ERESTARTSYS;					\
									\
	if (__time && (run)->asked_kills)				\
		__end = wait_event_killable_timeout((run)->wq, cond,	\
						    __time);		\
	else if (__time)						\
		__end = wait_event_timeout((run)->wq, cond, __time);	\
	__end > 0 ? 0 : -ERESTARTSYS;					\
})

/*
 * Wait until cond, which must have acquire semantics, or until the run must
 * stop. 0: it was true at once; 1: it is true after a sleep; else an errno.
 */
#define krping_wait_until(run, cond)					\
({									\
	int __ret = 0;							\
									\
	if (!(cond)) {							\
		long __err = wait_event_interruptible((run)->wq,	\
					(cond) || krping_must_stop(run));\
		if (__err)						\
			__err = krping_finish_wait(run,			\
					(cond) || krping_must_stop(run));\
		if (!(cond))						\
			__ret = krping_why(run, __err);			\
		if (cond)						\
			__ret = 1;					\
	}								\
	__ret;								\
})
/* clang-format on */

/**
 * krping_wait_done - end a waiting phase with a completion of the send queue
 * @run: the run
 * @wr: the signalled work request to wait for, one of KRPING_AWAITED
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_done(struct krping_run *run, const struct krping_wr *wr)
{
	int ret = krping_wait_until(run, krping_sq_is_done(&run->ep, wr->seq));

	if (ret < 0)
		return ret;
	krping_moved(run, wr);
	if (krping_wants(stages))
		krping_waited(run, wr, ret);
	return 0;
}

/**
 * krping_wait_sends - wait until every message has left its buffer
 * @run: the run
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record, and -ECANCELED is: a good run was told to stop.
 */
int krping_wait_sends(struct krping_run *run)
{
	struct krping_ep *ep = &run->ep;
	u32 seq;
	int ret;

	if (!ep->tx_posted)
		return 0;
	seq = ep->tx_seq[(ep->tx_posted - 1) % KRPING_TX_DEPTH] - 1;
	ret = krping_wait_until(run, krping_sq_is_done(ep, seq));
	return ret < 0 ? ret : 0;
}

/**
 * krping_wait_recv - end a waiting phase with a message of the peer
 * @run: the run
 * @msg: receives the message
 *
 * The RECV is posted again before this returns, and so before the peer can be
 * answered.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_recv(struct krping_run *run, struct krping_msg *msg)
{
	struct krping_ep *ep = &run->ep;
	u32 i = ep->rq_seen;
	struct krping_wr *wr = &ep->rq[i % KRPING_RQ_DEPTH];
	const struct krping_wire_msg *wire = krping_rx_msg(ep, i);
	int ret = krping_wait_until(run, krping_recv_is_done(ep));

	if (ret < 0)
		return ret;
	if (krping_wants(stages))
		krping_waited(run, wr, ret);

	ep->rq_seen++;
	ep->move_kind = KRPING_WR_NONE;
	if (wr->wc_len != KRPING_MSG_SIZE)
		return krping_fail(run, -EPROTO,
				   "a message of %u bytes instead of %d",
				   wr->wc_len, KRPING_MSG_SIZE);
	ib_dma_sync_single_for_cpu(ep->dev, krping_rx_dma(ep, i),
				   KRPING_MSG_STRIDE, DMA_FROM_DEVICE);
	msg->addr = be64_to_cpu(wire->addr);
	msg->rkey = be32_to_cpu(wire->rkey);
	msg->len = be32_to_cpu(wire->len);
	msg->cid = wr->cid;
	msg->has_inv = wr->wc_has_inv;
	msg->inv_key = wr->wc_inv;
	ib_dma_sync_single_for_device(ep->dev, krping_rx_dma(ep, i),
				      KRPING_MSG_STRIDE, DMA_FROM_DEVICE);
	krping_trace(adv_recv, run->rec->id, run->iter, msg->rkey, msg->len);
	krping_dbg(run, "Received rkey %x addr %llx len %u from peer",
		   msg->rkey, msg->addr, msg->len);
	return krping_post_recv(run);
}

/**
 * krping_send_msg - send the 16-byte message
 * @run: the run
 * @addr: address to advertise
 * @rkey: its key
 * @len: its length in bytes
 * @inv: invalidate a key of the peer with it
 * @inv_rkey: that key
 *
 * Context: the run's thread; may sleep until the buffer of an earlier message
 * is free.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_send_msg(struct krping_run *run, u64 addr, u32 rkey, u32 len,
		    bool inv, u32 inv_rkey)
{
	struct krping_ep *ep = &run->ep;
	u64 i = ep->tx_posted;
	struct krping_wire_msg *wire = krping_tx_msg(ep, i);
	struct krping_chain chain = {};
	struct krping_wr *wr;
	int ret;

	if (i >= KRPING_TX_DEPTH) {
		u32 seq = ep->tx_seq[i % KRPING_TX_DEPTH] - 1;

		ret = krping_wait_until(run, krping_sq_is_done(ep, seq));
		if (ret < 0)
			return ret;
	}

	ib_dma_sync_single_for_cpu(ep->dev, krping_tx_dma(ep, i),
				   KRPING_MSG_STRIDE, DMA_TO_DEVICE);
	wire->addr = cpu_to_be64(addr);
	wire->rkey = cpu_to_be32(rkey);
	wire->len = cpu_to_be32(len);
	ib_dma_sync_single_for_device(ep->dev, krping_tx_dma(ep, i),
				      KRPING_MSG_STRIDE, DMA_TO_DEVICE);

	wr = krping_chain_add(run, &chain,
			      inv ? KRPING_WR_SEND_INV : KRPING_WR_SEND);
	wr->len = KRPING_MSG_SIZE;
	wr->sge.addr = krping_tx_dma(ep, i);
	wr->sge.length = KRPING_MSG_SIZE;
	wr->sge.lkey = ep->pd->local_dma_lkey;
	wr->send.sg_list = &wr->sge;
	wr->send.num_sge = 1;
	if (inv)
		wr->send.ex.invalidate_rkey = inv_rkey;

	krping_trace(adv_send, run->rec->id, run->iter, rkey, len);
	krping_dbg(run, "RDMA addr %llx rkey %x len %u", addr, rkey, len);
	ep->tx_seq[i % KRPING_TX_DEPTH] = wr->seq + 1;
	ep->tx_posted++;
	return krping_post(run, &chain);
}
