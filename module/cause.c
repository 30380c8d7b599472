// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Why an endpoint went down: what completions, the device and rdma_cm tell of it,
 * and which of them is the cause.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include "cause.h"
#include "drain.h"
#include "phase.h"
#include "verdict.h"

/*
 * After a flush the thread waits this long for rdma_cm or the core to tell why
 * the queue pair went down, before it calls it a reset.
 */
#define KRPING_LINGER_MS 1000

/**
 * krping_fail_wr - a work request failed, and that is the cause
 * @ep: the endpoint
 * @kind: enum krping_wr_kind of the request
 * @status: enum ib_wc_status of its completion
 * @vendor_err: the completion's
 *
 * Context: any.
 * Return: the run's cause, a negative errno.
 */
int krping_fail_wr(struct krping_ep *ep, u32 kind, u32 status, u32 vendor_err)
{
	static const char *const kinds[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_WR_, n, s)
		KRPING_WRS(x)
#undef x
	};

	return krping_fail(ep->verdict, -EIO,
			   "%s failed: %s (status %u, vendor error 0x%x)",
			   kinds[kind], ib_wc_status_msg(status), status,
			   vendor_err);
}

/**
 * krping_may_be_reset - does a failed request only say that the peer left?
 * @ep: the endpoint
 * @status: of the completion
 *
 * On iWARP a request that meets a connection which the peer has just closed
 * fails by one of these (siw: siw_qp_sq_process(), siw_rdmap_complete()), some
 * time before rdma_cm tells that the peer left. Then that is the cause.
 *
 * Context: any.
 */
bool krping_may_be_reset(const struct krping_ep *ep, enum ib_wc_status status)
{
	return (status == IB_WC_LOC_QP_OP_ERR || status == IB_WC_GENERAL_ERR) &&
	       ep->iwarp;
}

/*
 * What the provider told of the queue pair, where no completion says why it went
 * down: at the end that is read from and written to there is none. A refused
 * access is the cause whatever the peer does next. The other events are in doubt
 * on iWARP: siw also raises them when an answer to a READ, or a request, meets a
 * connection that the peer has just closed. Returns the run's cause, or 0.
 */
static int krping_fail_told(struct krping_ep *ep)
{
	unsigned long told = READ_ONCE(ep->told);
	enum ib_event_type event = IB_EVENT_QP_ACCESS_ERR;

	if (told & BIT(event))
		return krping_fail(ep->verdict, -EIO,
				   "this end refused the peer's access: %s (event %d)",
				   ib_event_msg(event), event);
	if (!told || (ep->peer_left && ep->iwarp))
		return 0;
	event = __ffs(told);
	return krping_fail(ep->verdict, -EIO,
			   "the queue pair failed: %s (event %d)",
			   ib_event_msg(event), event);
}

/**
 * krping_ep_moves - a READ or WRITE was posted
 * @ep: the endpoint
 * @wr: the request
 *
 * On InfiniBand and RoCE it is under way until it completes. On iWARP nothing
 * answers a WRITE: it is until the peer's next message.
 *
 * Context: the run's thread.
 */
void krping_ep_moves(struct krping_ep *ep, const struct krping_wr *wr)
{
	ep->move_kind = wr->kind;
	ep->move_len = wr->len;
	ep->move_rkey = wr->rdma.rkey;
}

/**
 * krping_ep_moved - that READ or WRITE has completed
 * @ep: the endpoint
 * @wr: the request
 *
 * Context: the run's thread.
 */
void krping_ep_moved(struct krping_ep *ep, const struct krping_wr *wr)
{
	if (wr->kind != KRPING_WR_RDMA_WRITE || !ep->iwarp)
		ep->move_kind = KRPING_WR_NONE;
}

/**
 * krping_ep_last_words - what there is to say of a connection that was lost
 * @ep: the endpoint
 * @text: receives it, to follow on a reason; empty if there is nothing
 * @size: its size in bytes, KRPING_LAST_WORDS
 *
 * iWARP's answer to a READ or WRITE that the peer's device refuses is the end of
 * the connection and no more, so this names the one that was under way.
 *
 * Context: the run's thread.
 */
void krping_ep_last_words(const struct krping_ep *ep, char *text, size_t size)
{
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
static void krping_ep_end(struct krping_ep *ep)
{
	/* Not interruptible: a signal may be what the run is ending on. */
	wait_event_timeout(ep->verdict->wq,
			   krping_is_stopping(ep->verdict) ||
				   READ_ONCE(ep->disconnected),
			   msecs_to_jiffies(KRPING_LINGER_MS));
	if (krping_is_stopping(ep->verdict))
		return;
	ep->peer_left = READ_ONCE(ep->disconnected);
	/*
	 * What came before the peer left may not have been reaped yet: flush
	 * the queues behind it, for the caller to look again. On iWARP a SEND
	 * that meets the end of the connection completes before the RECV that
	 * ended it, so this also brings out the cause.
	 */
	krping_ep_drain(ep);
	ep->ended = true;
}

/**
 * krping_ep_disconnected - rdma_cm says that the connection is over
 * @ep: the endpoint
 *
 * Context: rdma_cm's handler.
 */
void krping_ep_disconnected(struct krping_ep *ep)
{
	WRITE_ONCE(ep->disconnected, true);
	/* The store is there for a thread that is about to sleep. */
	smp_mb();
	wake_up(&ep->verdict->wq);
}

/**
 * krping_must_stop - should a wait end although its completion did not come?
 * @ep: the endpoint
 *
 * Context: any.
 * Return: true if the run is stopping, or if the connection is gone.
 */
bool krping_must_stop(const struct krping_ep *ep)
{
	return krping_is_stopping(ep->verdict) || READ_ONCE(ep->flushed) ||
	       READ_ONCE(ep->disconnected);
}

/**
 * krping_why - a wait ended, and the completion that it waits for is not there
 * @ep: the endpoint
 * @ret: the wait was interrupted: its negative errno; else 0
 *
 * Context: the run's thread; sleeps.
 * Return: a negative errno. -ECONNRESET without a cause on record: the peer
 * left, and the caller knows whether it may; or it left after it had sent the
 * message that the thread waits for, which is there now. -EINTR without one: a
 * signal, and the caller knows whether the run may end.
 */
int krping_why(struct krping_ep *ep, long ret)
{
	bool flushed;

	if (krping_is_stopping(ep->verdict))
		return krping_stopped(ep->verdict);
	if (ret)
		return -EINTR;
	if (!ep->ended)
		krping_ep_end(ep);
	if (krping_is_stopping(ep->verdict))
		return krping_stopped(ep->verdict);
	/* Pairs with the release in krping_wc_bad() and krping_qp_event(). */
	flushed = smp_load_acquire(&ep->flushed);
	ret = krping_fail_told(ep);
	if (ret)
		return ret;
	if (!ep->peer_left && flushed && ep->doubt_status)
		return krping_fail_wr(ep, ep->doubt_kind, ep->doubt_status,
				      ep->doubt_vendor_err);
	return -ECONNRESET;
}

/**
 * krping_fail_closed - a post found the connection closed
 * @ep: the endpoint
 *
 * The provider knows that before rdma_cm tells.
 *
 * Context: the run's thread; sleeps.
 * Return: as krping_why(); with a count agreed a reset is the run's cause.
 */
int krping_fail_closed(struct krping_ep *ep)
{
	char more[KRPING_LAST_WORDS];
	int ret = krping_why(ep, 0);

	if (ret != -ECONNRESET)
		return ret;
	/* Nobody agreed on when the peer would leave: the caller judges. */
	if (ep->peer_left && ep->verdict->endless)
		return ret;
	krping_ep_last_words(ep, more, sizeof(more));
	return krping_fail(ep->verdict, -ECONNRESET,
			   "the connection is closed%s", more);
}
