// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The thread waits for completions. */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include "cause.h"
#include "cq.h"
#include "phase.h"
#include "verdict.h"
#include "wait.h"
#include "wants.h"

/* How often a thread looks at memory before it looks at its send CQ. */
#define KRPING_LOOKS 1024

/* So long a peer may take to post a RECV for the last message. */
#define KRPING_BRIEFLY_MS 5000

/* How many requests have retired, and the results of these can be read. */
static u32 krping_sq_done(struct krping_ep *ep)
{
	/* Pairs with the release in krping_send_done(). */
	return smp_load_acquire(&ep->sq_done);
}

static bool krping_sq_is_done(struct krping_ep *ep, u32 seq)
{
	return (s32)(krping_sq_done(ep) - (seq + 1)) >= 0;
}

/* Has a RECV completed that the thread has not taken yet? */
bool krping_recv_is_done(struct krping_ep *ep)
{
	/* Pairs with the release in krping_recv_done(). */
	return (s32)(smp_load_acquire(&ep->rq_done) - READ_ONCE(ep->rq_seen)) > 0;
}

/* What a wait is for: the next message, or the request of the send queue with this number. */
#define KRPING_MESSAGE (-1LL)

static __always_inline struct krping_cq *krping_cq_for(struct krping_ep *ep, s64 what)
{
	return what == KRPING_MESSAGE ? &ep->rcq : &ep->scq;
}

static __always_inline bool krping_is_done(struct krping_ep *ep, s64 what)
{
	return what == KRPING_MESSAGE ? krping_recv_is_done(ep) : krping_sq_is_done(ep, what);
}

/* Must a wait end, whether it is done or not? @asked: also if the run was asked to end. */
static __always_inline bool krping_is_over(struct krping_ep *ep, s64 what, bool asked)
{
	return krping_is_done(ep, what) || krping_wait_must_end(ep) ||
	       (asked && READ_ONCE(ep->verdict->asked));
}

/*
 * Calls handlers until one was of what is waited for, or nothing more has completed. @timed: it may
 * be what a phase waits for.
 */
static __always_inline void krping_poll_for(struct krping_ep *ep, struct krping_cq *kcq, s64 what,
					    bool timed)
{
	if (timed ? krping_cq_poll_begin(kcq) : kcq->polled)
		while (krping_cq_poll_one(kcq) && !krping_is_done(ep, what))
			;
}

/*
 * Is the wait over? Unless the thread is busy the next completion wakes it. The answer comes
 * behind the poll: what ends a wait without a completion may come together with one.
 */
static __always_inline bool krping_look_at(struct krping_ep *ep, struct krping_cq *kcq, s64 what,
					   bool asked)
{
	do {
		/* No signal since the CQ was armed: nothing has completed. */
		if (!READ_ONCE(kcq->armed))
			krping_poll_for(ep, kcq, what, true);
		if (krping_is_over(ep, what, asked))
			return true;
	} while (!kcq->busy && krping_cq_arm(kcq));
	return false;
}

/*
 * A queue pair that fails flushes no RECV of a shared receive queue, and only the send CQ
 * tells the end of a probe (deadline.c): so a wait for a message looks there, too.
 */
static __always_inline bool krping_look(struct krping_ep *ep, s64 what, bool asked)
{
	return krping_look_at(ep, krping_cq_for(ep, what), what, asked) ||
	       (unlikely(READ_ONCE(ep->polls_both)) && what == KRPING_MESSAGE &&
		krping_look_at(ep, &ep->scq, what, asked));
}

/* Sleeps, or polls on, until the wait is over, or for so many jiffies. */
static __always_inline void krping_block(struct krping_ep *ep, s64 what, unsigned long time,
					 bool asked)
{
	unsigned long until = jiffies + time;

	if (!krping_cq_for(ep, what)->busy) {
		krping_sleep(ep->verdict, time, krping_look(ep, what, asked));
		return;
	}
	while (!krping_look(ep, what, asked) && time_before(jiffies, until)) {
		cpu_relax();
		cond_resched();
	}
}

/* The same; but a run that is asked to end has a second. False: the time is over. */
static __always_inline bool krping_block_until(struct krping_ep *ep, s64 what, unsigned long time)
{
	struct krping_cq *kcq = krping_cq_for(ep, what);

	/* Mostly nothing has completed yet, so this asks before it polls. */
	if (!kcq->busy)
		krping_cq_arm(kcq);
	krping_block(ep, what, time, true);
	if (!krping_is_over(ep, what, false))
		krping_block(ep, what, krping_time_to_finish(ep->verdict), false);
	return krping_is_over(ep, what, false);
}

/* Returns as krping_wait_seq(). @polls: something may well have completed. @timed: see above. */
static __always_inline int krping_wait_until(struct krping_ep *ep, s64 what, bool polls, bool timed)
{
	int ret;

	if (krping_is_done(ep, what))
		return 0;
	if (polls) {
		krping_poll_for(ep, krping_cq_for(ep, what), what, timed);
		if (krping_is_done(ep, what))
			return 0;
	}
	ret = krping_block_until(ep, what, MAX_SCHEDULE_TIMEOUT) ? 0 : -EINTR;
	if (!krping_is_done(ep, what))
		ret = krping_wait_errno(ep, ret);
	/* The queues may have been drained meanwhile, and show more. */
	return krping_is_done(ep, what) ? 1 : ret;
}

/*
 * Wait until a request has completed, which is signalled, or one behind it is. Returns 0: it was
 * done at once; 1: after a sleep; or as krping_wait_errno(); -ECANCELED: a good run has to end.
 */
int krping_wait_seq(struct krping_ep *ep, u32 seq)
{
	/* A request of an earlier phase, which may be in the CQ although siw raised no event. */
	return krping_wait_until(ep, seq, true, false);
}

/* Wait until all requests have retired; the newest is signalled. Returns 0, or as above. */
int krping_wait_sq_empty(struct krping_ep *ep)
{
	int ret = ep->sq_posted ? krping_wait_seq(ep, ep->sq_posted - 1) : 0;

	if (ret >= 0)
		ep->mr_wr_pending = false;
	return min(ret, 0);
}

/* Give a request of the send queue a few seconds: the queue pair is about to be left. */
void krping_wait_seq_briefly(struct krping_ep *ep, u32 seq)
{
	if (!krping_sq_is_done(ep, seq))
		krping_block_until(ep, seq, msecs_to_jiffies(KRPING_BRIEFLY_MS));
}

/* End a waiting phase with a completion of the send queue. Returns as krping_wait_recv(). */
int krping_wait_done(struct krping_ep *ep, const struct krping_wr *wr)
{
	/* What was posted may have completed before the post returned. */
	int ret = krping_wait_until(ep, wr->seq, !READ_ONCE(ep->scq.armed), true);

	if (ret < 0)
		return ret;
	ep->waited = &ep->scq;
	/* On iWARP nothing answers a WRITE, which is under way until the peer's next message. */
	if (wr->kind != KRPING_WR_RDMA_WRITE || !ep->iwarp)
		ep->rdma = NULL;
	/* Now, and not billions of requests later, when numbers have wrapped. */
	if (ep->mr_wr_pending && krping_sq_is_done(ep, ep->mr_wr_seq))
		ep->mr_wr_pending = false;
	if (krping_wants(stages))
		krping_waited(ep->phases, wr, true, ret, ep->scq.t_poll);
	return 0;
}

/* Waits for the requests on regions. Returns whose completion ended the wait, or NULL. */
static noinline struct krping_wr *krping_wait_regions(struct krping_ep *ep)
{
	u32 seq = ep->mr_wr_seq;
	struct krping_wr *wr;
	u64 t;

	if (!krping_sq_is_done(ep, seq))
		krping_poll_for(ep, &ep->scq, seq, false);
	ep->mr_wr_pending = !krping_sq_is_done(ep, seq);
	if (!ep->mr_wr_pending)
		return NULL;
	t = krping_wants(stages) ? ktime_get_ns() : 0;
	krping_block_until(ep, seq, MAX_SCHEDULE_TIMEOUT);
	if (!krping_sq_is_done(ep, seq))
		return NULL;
	ep->mr_wr_pending = false;
	ep->waited = &ep->scq;
	wr = krping_sq_slot(ep, krping_sq_done(ep) - 1);
	/* A message's, whose handler has not read the clock. */
	if (!wr->t_wc && krping_wants(stages))
		wr->t_wc = ktime_get_ns();
	/* Where the thread polls, such a signal is left over from another completion. */
	if (wr->t_sig < t)
		wr->t_sig = 0;
	return wr;
}

/*
 * End a waiting phase with a RECV that has completed; the request is valid until it is posted
 * again. Returns 0, or as krping_wait_errno().
 *
 * After a message the thread may map a memory region again, for which the region's last request
 * has to be retired. The peer's answer says so; but the ACK that retires the request can come
 * long after the answer. So the phase waits for that, too. If the request cannot retire any
 * more, the message counts all the same, and the next wait meets the reason.
 */
int krping_wait_recv(struct krping_ep *ep, struct krping_wr **wr)
{
	const struct krping_wr *last = NULL;
	/* A peer in a device of this host may have answered before the post returned. */
	int ret = krping_wait_until(ep, KRPING_MESSAGE, !READ_ONCE(ep->rcq.armed), true);

	if (ret < 0)
		return ret;
	*wr = krping_rq_slot(ep, ep->rq_seen);
	ep->waited = &ep->rcq;
	if (ep->mr_wr_pending)
		last = krping_wait_regions(ep);
	if (krping_wants(stages))
		krping_waited(ep->phases, last ?: *wr, false, ret || last, ep->waited->t_poll);
	ep->rq_seen++;
	ep->sq_answered = ep->sq_posted;
	ep->rdma = NULL;
	return 0;
}

/* The same, after a look at the CQ. */
bool krping_recv_is_there(struct krping_ep *ep)
{
	krping_look_at(ep, &ep->rcq, KRPING_MESSAGE, false);
	return krping_recv_is_done(ep);
}

/*
 * Wait until a RECV completes, or the run is asked to end: krping_recv_is_there() and
 * krping_is_asked_to_end() tell which. Returns as krping_wait_recv().
 */
int krping_wait_message(struct krping_ep *ep)
{
	int ret = 0;

	krping_block(ep, KRPING_MESSAGE, MAX_SCHEDULE_TIMEOUT, true);
	/* An endless run can be asked without having to stop; the caller looks. */
	if (!krping_recv_is_done(ep) && !krping_is_asked_to_end(ep->verdict))
		ret = krping_wait_errno(ep, krping_wait_must_end(ep) ? 0 : -EINTR);
	return krping_recv_is_done(ep) ? 0 : ret;
}

/*
 * Wait so long for what becomes of a signalled request, or for a message if @wr is NULL, of an
 * endpoint that may fail. Returns 0: the request has completed without an error, or the message
 * is there; -ECONNRESET: the endpoint failed, or the connection is over; -ETIMEDOUT; -EINTR; or
 * the run's cause. None of these three is on record.
 */
int krping_wait_outcome(struct krping_ep *ep, const struct krping_wr *wr, unsigned int ms)
{
	s64 what = wr ? wr->seq : KRPING_MESSAGE;
	int ret = -ETIMEDOUT;

	/* A failure may be in the other CQ. */
	krping_sleep(ep->verdict, msecs_to_jiffies(ms),
		     krping_cq_is_ready(&ep->scq, krping_is_over(ep, what, false)) ||
			     krping_cq_is_ready(&ep->rcq, krping_is_over(ep, what, false)));
	if (!krping_is_done(ep, what) && krping_wait_must_end(ep))
		ret = krping_wait_errno(ep, 0);
	/* The queues may have been drained meanwhile, and show more. */
	if (krping_is_done(ep, what) && (ret == -ECONNRESET || ret == -ETIMEDOUT))
		return 0;
	return ret;
}

/* Let some time pass, unless the run has to end, or is asked to. */
void krping_wait_pause(struct krping_ep *ep, u64 ns)
{
	/* So late the timer may be. */
	u64 slack = min_t(u64, div_u64(ns, 20), 50 * NSEC_PER_USEC);
	struct krping_verdict *verdict = ep->verdict;
	ktime_t until = ktime_add_ns(ktime_get(), ns);

	prepare_to_rcuwait(&verdict->sleeper);
	do {
		set_current_state(TASK_IDLE);
		if (krping_wait_must_end(ep) || READ_ONCE(verdict->asked))
			break;
		/* 0: the time is over. */
	} while (schedule_hrtimeout_range(&until, slack, HRTIMER_MODE_ABS));
	finish_rcuwait(&verdict->sleeper);
}

/*
 * May the thread go on to look for what the peer writes to memory? A queue pair that fails flushes
 * its RECVs; but not all providers do so before somebody drains, so now and then the failed request
 * is looked for, too. Returns as krping_wait_recv(); what is waited for may be there all the same.
 */
int krping_spin(struct krping_ep *ep)
{
	struct krping_verdict *verdict = ep->verdict;

	if (!(++ep->looks % KRPING_LOOKS))
		krping_cq_poll(&ep->scq);
	if (krping_look_at(ep, &ep->rcq, KRPING_MESSAGE, false) && krping_wait_must_end(ep))
		return krping_wait_errno(ep, 0);
	if (READ_ONCE(verdict->asked) && !krping_time_to_finish(verdict))
		return krping_wait_errno(ep, -EINTR);
	cpu_relax();
	cond_resched();
	return 0;
}
