// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Why an endpoint went down: completions, the device and rdma_cm all tell something of it. */
#include <linux/jiffies.h>
#include "cause.h"
#include "cq.h"
#include "drain.h"
#include "phase.h"
#include "verdict.h"

/* So long after a flush rdma_cm or the core may tell why; then the end is a reset. */
#define KRPING_LINGER_MS 1000

/* A request that failed is the cause. Returns the run's cause, as krping_fail(). */
int krping_fail_wr(struct krping_ep *ep, u32 kind, u32 status, u32 vendor_err)
{
	static const char *const kinds[] = {
#define x(n, s) KRPING_NAME_ENTRY_(KRPING_WR_, n, s)
		KRPING_WRS(x)
#undef x
	};

	return krping_fail(ep->verdict, -EIO, "%s failed: %s (status %u, vendor error 0x%x)",
			   kinds[kind], ib_wc_status_msg(status), status, vendor_err);
}

/*
 * The end whose memory the peer reads and writes has no completion that tells of a failure, but
 * events of the queue pair. A refused access is the cause whatever the peer does next. siw also
 * raises the other events when something meets a connection that the peer has just closed.
 * Returns the run's cause, or 0.
 */
static int krping_fail_by_event(struct krping_ep *ep)
{
	unsigned long events = READ_ONCE(ep->qp_events);
	enum ib_event_type event = IB_EVENT_QP_ACCESS_ERR;

	if (events & BIT(event))
		return krping_fail(ep->verdict, -EIO,
				   "this end refused the peer's access: %s (event %d)",
				   ib_event_msg(event), event);
	if (!events || (ep->peer_left && ep->iwarp))
		return 0;
	event = __ffs(events);
	return krping_fail(ep->verdict, -EIO, "the queue pair failed: %s (event %d)",
			   ib_event_msg(event), event);
}

/*
 * Describe how a connection was lost, in @text, of KRPING_LOSS_TEXT bytes, which follows a
 * reason. On iWARP the peer's device refuses a READ or WRITE by ending the connection, and
 * tells no more, so the text names the request that was under way.
 */
void krping_ep_describe_loss(const struct krping_ep *ep, char *text)
{
	unsigned long events = READ_ONCE(ep->qp_events);
	const struct krping_wr *wr = ep->rdma;
	bool reads = wr && wr->kind != KRPING_WR_RDMA_WRITE;
	size_t n = 0;

	/* With chain no phase waits for it. */
	if (wr && (s32)(READ_ONCE(ep->sq_done) - wr->seq) > 0 && (reads || !ep->iwarp))
		wr = NULL;
	text[0] = '\0';
	if (wr)
		n = scnprintf(text, KRPING_LOSS_TEXT,
			      ", with a %s of %u bytes %s key 0x%x under way",
			      reads ? "READ" : "WRITE", wr->len, reads ? "of" : "to",
			      wr->rdma.rkey);
	if (events)
		scnprintf(text + n, KRPING_LOSS_TEXT - n, "; the device told: %s",
			  ib_event_msg(__ffs(events)));
}

/*
 * The queue pair is going down, or has been closed. Find out once whether the peer left: from
 * here on this end has ended the connection, too, which a peer that leaves only answers.
 */
static void krping_ep_end(struct krping_ep *ep)
{
	/* The cause may be in the CQ that the thread was not waiting for. */
	krping_sleep(ep->verdict, msecs_to_jiffies(KRPING_LINGER_MS),
		     krping_cq_is_ready(&ep->scq, krping_must_end(ep->verdict) ||
							  READ_ONCE(ep->disconnected)));
	if (krping_must_end(ep->verdict))
		return;
	ep->peer_left = READ_ONCE(ep->disconnected);
	/*
	 * Completions from before the peer left may not be reaped yet: flush the queues, so that
	 * the caller looks at all of them. On iWARP a SEND that meets the end of the connection
	 * completes before the RECV that ended it.
	 */
	krping_ep_drain(ep);
	ep->ended = true;
}

/* rdma_cm says that the connection is over. */
void krping_ep_disconnected(struct krping_ep *ep)
{
	WRITE_ONCE(ep->disconnected, true);
	krping_wake(ep->verdict);
}

/* Should a wait end although its completion did not come? */
bool krping_wait_must_end(const struct krping_ep *ep)
{
	return krping_must_end(ep->verdict) || READ_ONCE(ep->flushed) ||
	       READ_ONCE(ep->disconnected);
}

/*
 * Find out why a wait ended without its completion. @ret: -EINTR if the run was asked to end,
 * and the wait's time is over; else 0. -ECONNRESET without a cause: the peer left, perhaps after
 * the message that the thread waits for; or the queue pair went down, and nobody said why.
 */
int krping_wait_errno(struct krping_ep *ep, int ret)
{
	bool flushed;

	if (krping_must_end(ep->verdict))
		return krping_end_errno(ep->verdict);
	if (ret)
		return ret;
	/* A completion that tells more may not be polled yet. */
	if (ep->may_fail)
		krping_ep_drain(ep);
	else if (!ep->ended)
		krping_ep_end(ep);
	if (krping_must_end(ep->verdict))
		return krping_end_errno(ep->verdict);
	if (ep->may_fail)
		return -ECONNRESET;
	/* Pairs with the release in krping_wc_bad() and krping_qp_event(). */
	flushed = smp_load_acquire(&ep->flushed);
	ret = krping_fail_by_event(ep);
	if (ret)
		return ret;
	if (!ep->peer_left && flushed && ep->first_error_status)
		return krping_fail_wr(ep, ep->first_error_kind, ep->first_error_status,
				      ep->first_error_vendor_err);
	return -ECONNRESET;
}

/*
 * A post found the connection closed. Returns as krping_wait_errno(), but a reset is also the run's
 * cause, unless the endpoint may fail, or the peer left an endless run.
 */
int krping_fail_closed(struct krping_ep *ep)
{
	char more[KRPING_LOSS_TEXT];
	int ret = krping_wait_errno(ep, 0);

	if (ret != -ECONNRESET || ep->may_fail)
		return ret;
	/* Nobody agreed on when the peer leaves: the caller judges. */
	if (ep->peer_left && ep->verdict->endless)
		return ret;
	krping_ep_describe_loss(ep, more);
	return krping_fail(ep->verdict, -ECONNRESET, "the connection is closed%s", more);
}
