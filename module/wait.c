// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The thread waits for completions.
 */
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

static bool krping_recv_is_done(struct krping_ep *ep)
{
	/* Pairs with the release in krping_recv_done(). */
	return smp_load_acquire(&ep->rq_done) != ep->rq_seen;
}

/* clang-format off */
/*
 * Is cond, which a completion of the CQ makes true, true now? If not, the next
 * completion of the CQ wakes the thread. A queue pair that fails flushes no RECV of a
 * shared receive queue: where the thread waits for a message, only the send CQ can have
 * the failure, so the thread looks there, and is woken from there, too. The same holds
 * while a probe is under way, see deadline.c: only the send CQ tells its end.
 */
#define krping_ep_is_ready(ep, kcq, cond)				\
	(krping_cq_is_ready(kcq, cond) ||				\
	 (unlikely(READ_ONCE((ep)->polls_both)) && (kcq) == &(ep)->rcq && \
	  krping_cq_is_ready(&(ep)->scq, cond)))

/* Polls until cond is true. */
#define krping_spin_until(ep, kcq, cond)				\
({									\
	while (krping_cq_reap(kcq), !(cond)) {				\
		/* As in krping_ep_is_ready(). */			\
		if (unlikely(READ_ONCE((ep)->polls_both)))		\
			krping_cq_reap(&(ep)->scq);			\
		cpu_relax();						\
		cond_resched();						\
	}								\
})

/*
 * Sleep, or spin, until cond or until the run must stop. A run that is asked to end
 * has a second for what it is in the middle of: false if that is over.
 */
#define krping_block_until(ep, kcq, cond)				\
({									\
	struct krping_verdict *__v = (ep)->verdict;			\
	bool __in_time = true;						\
									\
	if ((kcq)->busy) {						\
		krping_spin_until(ep, kcq,				\
				(cond) || krping_must_stop(ep) ||	\
				READ_ONCE(__v->told));			\
	} else {							\
		/* Where something has completed, that is polled below. */ \
		krping_cq_arm(kcq);					\
		krping_sleep(__v, MAX_SCHEDULE_TIMEOUT,			\
				krping_ep_is_ready(ep, kcq,		\
				(cond) || krping_must_stop(ep) ||	\
				READ_ONCE(__v->told)));			\
	}								\
	if (READ_ONCE(__v->told) && !krping_must_stop(ep))		\
		__in_time = krping_sleep(__v, krping_asked_left(__v),	\
				krping_ep_is_ready(ep, kcq,		\
				(cond) || krping_must_stop(ep)));	\
	__in_time;							\
})

/*
 * Wait until cond, which must have acquire semantics and comes true by a
 * completion of the CQ, or until the run must stop. 0: it was true at once; 1:
 * it is true after a sleep, or a spin; else an errno. The CQ is not polled before
 * it is armed: where something may well have completed, the caller does that.
 */
#define krping_wait_until(ep, kcq, cond)				\
({									\
	int __ret = 0;							\
									\
	if (!(cond)) {							\
		bool __in_time = krping_block_until(ep, kcq, cond);	\
									\
		if (!(cond))						\
			__ret = krping_why(ep, __in_time ? 0 : -EINTR);	\
		if (cond)						\
			__ret = 1;					\
	}								\
	__ret;								\
})

/* Is cond, which a completion of the CQ makes true, true now? Does not sleep. */
#define krping_look(kcq, cond)						\
	((kcq)->busy ? (krping_cq_reap(kcq), (cond)) :			\
		       krping_cq_is_ready(kcq, cond))
/* clang-format on */

/**
 * krping_wait_open - wait until a server's connection is there
 * @ep: the endpoint
 * @is_open: has rdma_cm told so?
 * @arg: of @is_open
 *
 * The client's first message can come before the last one of the handshake, and
 * tells as much.
 *
 * Context: the run's thread; sleeps until it is open, the run is stopping, or the
 * connection is over.
 */
void krping_wait_open(struct krping_ep *ep, bool (*is_open)(const void *),
		      const void *arg)
{
	krping_sleep(ep->verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_cq_is_ready(&ep->rcq,
					is_open(arg) ||
						READ_ONCE(ep->rq_done) ||
						krping_is_stopping(
							ep->verdict) ||
						READ_ONCE(ep->disconnected)));
}

/*
 * The wait of a phase is over. @own, @slept: see krping_waited(). @last: the
 * request whose completion ended it.
 */
static noinline void krping_trace_waited(struct krping_ep *ep,
					 const struct krping_wr *last, bool own,
					 bool slept)
{
	const struct krping_cq *kcq = krping_cq_of(ep, last);

	/* When the thread last began to poll; 0: the core polls. */
	krping_waited(ep->phases, last, own, slept,
		      kcq->core ? 0 : kcq->t_reap);
}

static noinline int krping_block_for_seq(struct krping_ep *ep, u32 seq)
{
	/* A request of an earlier phase: its completion may well be there. */
	krping_cq_retire(&ep->scq);
	return krping_wait_until(ep, &ep->scq, krping_sq_is_done(ep, seq));
}

/**
 * krping_wait_seq - wait for a completion of the send queue
 * @ep: the endpoint
 * @seq: number of the request: it, or one behind it, is signalled
 *
 * Context: the run's thread; sleeps.
 * Return: 0 or 1, see krping_wait_until(), or a negative errno; -ECONNRESET and
 * -EINTR may be without a cause on record; -ECANCELED always is: a good run was
 * told to stop.
 */
int krping_wait_seq(struct krping_ep *ep, u32 seq)
{
	return krping_sq_is_done(ep, seq) ? 0 : krping_block_for_seq(ep, seq);
}

/**
 * krping_wait_done - end a waiting phase with a completion of the send queue
 * @ep: the endpoint
 * @wr: the signalled work request to wait for, one that is awaited
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_done(struct krping_ep *ep, const struct krping_wr *wr)
{
	int ret;

	/* What was posted may have completed before the post returned. */
	krping_cq_reap(&ep->scq);
	ret = krping_wait_until(ep, &ep->scq, krping_sq_is_done(ep, wr->seq));
	if (ret < 0)
		return ret;
	ep->waited = &ep->scq;
	krping_ep_moved(ep, wr);
	/* Now, and not billions of requests later, when numbers have wrapped. */
	if (ep->regions_out && krping_sq_is_done(ep, ep->regions_seq))
		ep->regions_out = false;
	if (krping_wants(stages))
		krping_trace_waited(ep, wr, true, ret);
	return 0;
}

static noinline int krping_block_for_regions(struct krping_ep *ep,
					     const struct krping_wr **last)
{
	struct krping_cq *scq = &ep->scq;
	u32 seq = ep->regions_seq, done;
	struct krping_wr *wr;
	u64 t = 0;

	if (krping_wants(stages)) {
		WRITE_ONCE(scq->timed, true);
		t = ktime_get_ns();
	}
	krping_block_until(ep, scq, krping_sq_is_done(ep, seq));
	WRITE_ONCE(scq->timed, false);
	done = krping_sq_done(ep);
	if ((s32)(done - (seq + 1)) < 0)
		return -ECONNRESET;
	ep->regions_out = false;
	ep->waited = scq;
	wr = krping_sq_slot(ep, done - 1);
	/*
	 * Where the thread polls, a signal from before this wait is left over
	 * from another completion.
	 */
	if (!scq->core && wr->t_sig < t)
		wr->t_sig = 0;
	*last = wr;
	return 1;
}

/*
 * Wait until the requests on memory regions have retired. 0: they had; 1: *last
 * receives the request whose completion retired them; else they cannot retire
 * any more.
 */
static int krping_wait_regions(struct krping_ep *ep,
			       const struct krping_wr **last)
{
	if (!ep->regions_out)
		return 0;
	if (!krping_sq_is_done(ep, ep->regions_seq))
		krping_cq_retire(&ep->scq);
	if (!krping_sq_is_done(ep, ep->regions_seq))
		return krping_block_for_regions(ep, last);
	ep->regions_out = false;
	return 0;
}

/**
 * krping_wait_recv - end a waiting phase with a RECV that has completed
 * @ep: the endpoint
 * @wr: receives the request, valid until it is posted again
 *
 * After a message the thread may map a memory region again, for which the
 * region's last request has to be retired. An answer of the peer says that it
 * is; but the acknowledgement that retires it can be lost on the wire, and come
 * long after the answer. So the phase also waits for that, and the time shows
 * where it belongs, as a wait for the peer. If the request cannot retire any
 * more, the message counts all the same, and the stages are those of the message:
 * if it was not the last one of the run, the next wait meets the reason.
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_recv(struct krping_ep *ep, struct krping_wr **wr)
{
	const struct krping_wr *last;
	int ret, late;

	/*
	 * Mostly the peer's answer to what was posted just before is not there yet, so
	 * a wait does not poll first. But stages tell a message that was there from one
	 * that came.
	 */
	if (krping_wants(stages) && !krping_recv_is_done(ep))
		krping_cq_look(&ep->rcq);
	ret = krping_wait_until(ep, &ep->rcq, krping_recv_is_done(ep));
	if (ret < 0)
		return ret;
	*wr = &ep->rq[ep->rq_seen % KRPING_RQ_DEPTH];
	last = *wr;
	ep->waited = &ep->rcq;
	late = krping_wait_regions(ep, &last);
	if (krping_wants(stages))
		krping_trace_waited(ep, last, false, ret || late > 0);
	ep->rq_seen++;
	ep->move_kind = KRPING_WR_NONE;
	return 0;
}

/**
 * krping_recv_is_there - has a RECV completed that the thread has not taken yet?
 * @ep: the endpoint
 *
 * Context: the run's thread; does not sleep.
 * Return: true if so.
 */
bool krping_recv_is_there(struct krping_ep *ep)
{
	return krping_look(&ep->rcq, krping_recv_is_done(ep));
}

/**
 * krping_wait_message - wait until a RECV completes, or the run is asked to end
 * @ep: the endpoint
 *
 * Context: the run's thread; sleeps.
 * Return: 0: krping_recv_is_there() and krping_is_asked() tell which of them; or
 * a negative errno, of which -ECONNRESET and -EINTR may be without a cause on
 * record.
 */
int krping_wait_message(struct krping_ep *ep)
{
	struct krping_verdict *verdict = ep->verdict;
	struct krping_cq *rcq = &ep->rcq;
	int ret = 0;

	if (rcq->busy)
		krping_spin_until(ep, rcq,
				  krping_recv_is_done(ep) ||
					  krping_must_stop(ep) ||
					  READ_ONCE(verdict->told));
	else
		krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
			     krping_ep_is_ready(ep, rcq,
						krping_recv_is_done(ep) ||
							krping_must_stop(ep) ||
							READ_ONCE(
								verdict->told)));
	/* An endless run can be asked without having to stop; the caller looks. */
	if (!krping_recv_is_done(ep) && !krping_is_asked(verdict))
		ret = krping_why(ep, krping_must_stop(ep) ? 0 : -EINTR);
	return krping_recv_is_done(ep) ? 0 : ret;
}

/* Did the request complete, or the message come, or is neither going to? */
static bool krping_has_outcome(struct krping_ep *ep, const struct krping_wr *wr)
{
	return krping_must_stop(ep) ||
	       (wr ? krping_sq_is_done(ep, wr->seq) : krping_recv_is_done(ep));
}

/* A failure may be in the CQ that it is not waited for. Does not sleep. */
static bool krping_look_for_outcome(struct krping_ep *ep,
				    const struct krping_wr *wr)
{
	return krping_look(&ep->scq, krping_has_outcome(ep, wr)) ||
	       krping_look(&ep->rcq, krping_has_outcome(ep, wr));
}

static void krping_spin_for_outcome(struct krping_ep *ep,
				    const struct krping_wr *wr,
				    unsigned long until)
{
	while (!krping_look_for_outcome(ep, wr) &&
	       time_before(jiffies, until)) {
		cpu_relax();
		cond_resched();
	}
}

/**
 * krping_wait_outcome - wait for what becomes of a request, or for a message
 * @ep: the endpoint, which may fail
 * @wr: the request, signalled; NULL: a message
 * @ms: how long, in milliseconds
 *
 * Context: the run's thread; sleeps.
 * Return: 0: it has completed without an error, or the message is there;
 * -ECONNRESET: the endpoint failed, or the connection is over; -ETIMEDOUT; -EINTR;
 * or the run's cause. None of these three is on record.
 */
int krping_wait_outcome(struct krping_ep *ep, const struct krping_wr *wr,
			unsigned int ms)
{
	unsigned long time = msecs_to_jiffies(ms);
	int ret = -ETIMEDOUT;

	if (ep->scq.busy)
		krping_spin_for_outcome(ep, wr, jiffies + time);
	else
		krping_sleep(ep->verdict, time,
			     krping_look_for_outcome(ep, wr));
	if (wr ? krping_sq_is_done(ep, wr->seq) : krping_recv_is_done(ep))
		return 0;
	if (krping_must_stop(ep))
		ret = krping_why(ep, 0);
	/* The queues may have been flushed meanwhile, and show more. */
	if (ret == -ECONNRESET &&
	    (wr ? krping_sq_is_done(ep, wr->seq) : krping_recv_is_done(ep)))
		return 0;
	return ret;
}

/**
 * krping_wait_pause - let some time pass
 * @ep: the endpoint
 * @ns: how much, in nanoseconds; the timer may be late by a twentieth of it, and
 *	by 50 us at most
 *
 * Ends early if the run has to end, or is asked to; the caller looks for that.
 *
 * Context: the run's thread; sleeps.
 */
void krping_wait_pause(struct krping_ep *ep, u64 ns)
{
	u64 slack = min_t(u64, div_u64(ns, 20), 50 * NSEC_PER_USEC);
	struct krping_verdict *verdict = ep->verdict;
	ktime_t until = ktime_add_ns(ktime_get(), ns);

	prepare_to_rcuwait(&verdict->sleeper);
	do {
		set_current_state(TASK_IDLE);
		if (krping_must_stop(ep) || READ_ONCE(verdict->told))
			break;
		/* 0: the time is over. */
	} while (schedule_hrtimeout_range(&until, slack, HRTIMER_MODE_ABS));
	finish_rcuwait(&verdict->sleeper);
}

/**
 * krping_spin - may the thread go on to look for what the peer writes to memory?
 * @ep: the endpoint
 *
 * For a wait that no completion ends. What is waited for may be there also if
 * this returns an error: look once more.
 *
 * A queue pair that fails flushes its RECVs, which is seen at once; not all
 * providers do so before somebody drains, so the failed request is looked for,
 * too, now and then.
 *
 * Context: the run's thread, between two looks; may sleep.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_spin(struct krping_ep *ep)
{
	struct krping_verdict *verdict = ep->verdict;

	if (!(++ep->looks % KRPING_LOOKS))
		krping_cq_reap(&ep->scq);
	if (krping_look(&ep->rcq, krping_must_stop(ep)))
		return krping_why(ep, 0);
	if (READ_ONCE(verdict->told) && !krping_asked_left(verdict))
		return krping_why(ep, -EINTR);
	cpu_relax();
	cond_resched();
	return 0;
}
