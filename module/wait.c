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

/* A peer that has posted no RECV for the last message may be waited for so long. */
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

static bool krping_recv_is_done(struct krping_ep *ep)
{
	/* Pairs with the release in krping_recv_done(). */
	return smp_load_acquire(&ep->rq_done) != ep->rq_seen;
}

/* clang-format off */
/* Polls, and unless the thread is busy lets the next completion wake it. */
#define krping_cq_look(kcq, cond)					\
	((kcq)->busy ? (krping_cq_poll(kcq), (cond)) :			\
		       krping_cq_is_ready(kcq, cond))

/*
 * Is cond, which a completion of the CQ makes true, true now? A queue pair that fails
 * flushes no RECV of a shared receive queue, and only the send CQ tells the end of a
 * probe (deadline.c): so a wait for a message looks there, too.
 */
#define krping_look(ep, kcq, cond)					\
	(krping_cq_look(kcq, cond) ||					\
	 (unlikely(READ_ONCE((ep)->polls_both)) && (kcq) == &(ep)->rcq && \
	  krping_cq_look(&(ep)->scq, cond)))

/* Sleeps, or polls on, until cond is true, or for so many jiffies. Returns cond. */
#define krping_block(ep, kcq, time, cond)				\
({									\
	unsigned long __until = jiffies + (time);			\
	bool __met;							\
									\
	if ((kcq)->busy) {						\
		while (!(__met = krping_look(ep, kcq, cond)) &&		\
		       time_before(jiffies, __until)) {			\
			cpu_relax();					\
			cond_resched();					\
		}							\
	} else {							\
		__met = krping_sleep((ep)->verdict, time,		\
				     krping_look(ep, kcq, cond));	\
	}								\
	__met;								\
})

/*
 * Waits until cond, for so many jiffies at most, or until the run must stop. A run that is
 * asked to end has a second for what it is in the middle of. False: the time is over.
 */
#define krping_block_until(ep, kcq, time, cond)				\
({									\
	struct krping_verdict *__v = (ep)->verdict;			\
									\
	/* Mostly nothing has completed yet, so this asks before it polls. */ \
	if (!(kcq)->busy)						\
		krping_cq_arm(kcq);					\
	krping_block(ep, kcq, time,					\
		     (cond) || krping_must_stop(ep) || READ_ONCE(__v->told)); \
	(cond) || krping_must_stop(ep) ||				\
		krping_block(ep, kcq, krping_asked_left(__v),		\
			     (cond) || krping_must_stop(ep));		\
})

/*
 * Waits until cond, which must have acquire semantics. 0: it was true at once; 1: it is
 * true after a sleep, or a spin; else an errno. Where something may well have completed,
 * the caller polls first.
 */
#define krping_wait_until(ep, kcq, cond)				\
({									\
	int __ret = 0;							\
									\
	if (!(cond)) {							\
		bool __in_time = krping_block_until(			\
			ep, kcq, MAX_SCHEDULE_TIMEOUT, cond);		\
									\
		if (!(cond))						\
			__ret = krping_why(ep, __in_time ? 0 : -EINTR);	\
		/* The queues may have been drained meanwhile, and show more. */ \
		if (cond)						\
			__ret = 1;					\
	}								\
	__ret;								\
})
/* clang-format on */

/**
 * krping_wait_open - wait until a server's connection is there
 * @ep: the endpoint
 * @is_open: has rdma_cm told so?
 * @arg: of @is_open
 *
 * The client's first message can come before the last one of the handshake, and
 * tells as much. Also returns if the run is stopping, or the connection is over.
 */
void krping_wait_open(struct krping_ep *ep, bool (*is_open)(const void *), const void *arg)
{
	krping_sleep(ep->verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_cq_is_ready(&ep->rcq, is_open(arg) || READ_ONCE(ep->rq_done) ||
							  krping_is_stopping(ep->verdict) ||
							  READ_ONCE(ep->disconnected)));
}

/* The wait of a phase is over. @own, @slept: see krping_waited(). */
static noinline void krping_tell_wait(struct krping_ep *ep, const struct krping_wr *last, bool own,
				      bool slept)
{
	u64 t = krping_cq_of(ep, last)->t_poll;

	/* A poll that began behind the handler, as those of a drain do, did not find this. */
	if (last->t_wc && t > last->t_wc)
		t = last->t_wc;
	krping_waited(ep->phases, last, own, slept, t);
}

static noinline int krping_block_for_seq(struct krping_ep *ep, u32 seq)
{
	/* A request of an earlier phase: its completion may well be there. */
	krping_cq_poll(&ep->scq);
	return krping_wait_until(ep, &ep->scq, krping_sq_is_done(ep, seq));
}

/**
 * krping_wait_seq - wait for a completion of the send queue
 * @ep: the endpoint
 * @seq: number of the request: it, or one behind it, is signalled
 *
 * Return: 0 or 1, see krping_wait_until(), or a negative errno; -ECONNRESET and
 * -EINTR may be without a cause on record; -ECANCELED always is: a good run was
 * told to stop.
 */
int krping_wait_seq(struct krping_ep *ep, u32 seq)
{
	return krping_sq_is_done(ep, seq) ? 0 : krping_block_for_seq(ep, seq);
}

/**
 * krping_wait_seq_briefly - give a request of the send queue a few seconds to complete
 * @ep: the endpoint, whose queue pair is about to be left
 * @seq: see krping_wait_seq()
 */
void krping_wait_seq_briefly(struct krping_ep *ep, u32 seq)
{
	if (!krping_sq_is_done(ep, seq))
		krping_block_until(ep, &ep->scq, msecs_to_jiffies(KRPING_BRIEFLY_MS),
				   krping_sq_is_done(ep, seq));
}

/**
 * krping_wait_done - end a waiting phase with a completion of the send queue
 * @ep: the endpoint
 * @wr: the signalled work request to wait for
 *
 * Return: as krping_wait_recv().
 */
int krping_wait_done(struct krping_ep *ep, const struct krping_wr *wr)
{
	struct krping_cq *scq = &ep->scq;
	int ret;

	/* What was posted may have completed before the post returned. */
	if (!READ_ONCE(scq->armed))
		krping_cq_poll(scq);
	ret = krping_wait_until(ep, scq, krping_sq_is_done(ep, wr->seq));
	if (ret < 0)
		return ret;
	ep->waited = scq;
	krping_ep_moved(ep, wr);
	/* Now, and not billions of requests later, when numbers have wrapped. */
	if (ep->mr_wr_pending && krping_sq_is_done(ep, ep->mr_wr_seq))
		ep->mr_wr_pending = false;
	if (krping_wants(stages))
		krping_tell_wait(ep, wr, true, ret);
	return 0;
}

/*
 * Waits until the requests on memory regions have retired, or cannot any more. Returns
 * the request whose completion ended the wait; NULL: there was none.
 */
static noinline struct krping_wr *krping_wait_regions(struct krping_ep *ep)
{
	u32 seq = ep->mr_wr_seq, done;
	struct krping_cq *scq = &ep->scq;
	struct krping_wr *wr;
	u64 t;

	if (!krping_sq_is_done(ep, seq))
		krping_cq_poll(scq);
	ep->mr_wr_pending = !krping_sq_is_done(ep, seq);
	if (!ep->mr_wr_pending)
		return NULL;
	t = krping_wants(stages) ? ktime_get_ns() : 0;
	krping_block_until(ep, scq, MAX_SCHEDULE_TIMEOUT, krping_sq_is_done(ep, seq));
	done = krping_sq_done(ep);
	if ((s32)(done - (seq + 1)) < 0)
		return NULL;
	ep->mr_wr_pending = false;
	ep->waited = scq;
	wr = krping_sq_slot(ep, done - 1);
	/* Where the thread polls, such a signal is left over from another completion. */
	if (wr->t_sig < t)
		wr->t_sig = 0;
	return wr;
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
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_recv(struct krping_ep *ep, struct krping_wr **wr)
{
	const struct krping_wr *last = NULL;
	struct krping_cq *rcq = &ep->rcq;
	int ret;

	/*
	 * Mostly the peer's answer to what was posted just before is not there yet. But
	 * stages tell a message that was there from one that came.
	 */
	if (krping_wants(stages) && !krping_recv_is_done(ep))
		krping_cq_poll(rcq);
	ret = krping_wait_until(ep, rcq, krping_recv_is_done(ep));
	if (ret < 0)
		return ret;
	*wr = &ep->rq[ep->rq_seen % KRPING_RQ_DEPTH];
	ep->waited = rcq;
	if (ep->mr_wr_pending)
		last = krping_wait_regions(ep);
	if (krping_wants(stages))
		krping_tell_wait(ep, last ?: *wr, false, ret || last);
	ep->rq_seen++;
	ep->rdma_kind = KRPING_WR_NONE;
	return 0;
}

/**
 * krping_recv_is_there - has a RECV completed that the thread has not taken yet?
 * @ep: the endpoint
 */
bool krping_recv_is_there(struct krping_ep *ep)
{
	return krping_cq_look(&ep->rcq, krping_recv_is_done(ep));
}

/**
 * krping_wait_message - wait until a RECV completes, or the run is asked to end
 * @ep: the endpoint
 *
 * Return: 0: krping_recv_is_there() and krping_is_asked() tell which of them; or
 * a negative errno, of which -ECONNRESET and -EINTR may be without a cause on
 * record.
 */
int krping_wait_message(struct krping_ep *ep)
{
	struct krping_verdict *verdict = ep->verdict;
	int ret = 0;

	krping_block(ep, &ep->rcq, MAX_SCHEDULE_TIMEOUT,
		     krping_recv_is_done(ep) || krping_must_stop(ep) || READ_ONCE(verdict->told));
	/* An endless run can be asked without having to stop; the caller looks. */
	if (!krping_recv_is_done(ep) && !krping_is_asked(verdict))
		ret = krping_why(ep, krping_must_stop(ep) ? 0 : -EINTR);
	return krping_recv_is_done(ep) ? 0 : ret;
}

/* Did the request complete without an error, or is the message there? */
static bool krping_is_done(struct krping_ep *ep, const struct krping_wr *wr)
{
	return wr ? krping_sq_is_done(ep, wr->seq) : krping_recv_is_done(ep);
}

/* A failure may be in the other CQ. */
static bool krping_has_outcome(struct krping_ep *ep, const struct krping_wr *wr)
{
	return krping_cq_look(&ep->rcq, krping_is_done(ep, wr) || krping_must_stop(ep));
}

/**
 * krping_wait_outcome - wait for what becomes of a request, or for a message
 * @ep: the endpoint, which may fail
 * @wr: the request, signalled; NULL: a message
 * @ms: how long, in milliseconds
 *
 * Return: 0: it has completed without an error, or the message is there;
 * -ECONNRESET: the endpoint failed, or the connection is over; -ETIMEDOUT; -EINTR;
 * or the run's cause. None of these three is on record.
 */
int krping_wait_outcome(struct krping_ep *ep, const struct krping_wr *wr, unsigned int ms)
{
	int ret = -ETIMEDOUT;

	krping_block(ep, &ep->scq, msecs_to_jiffies(ms), krping_has_outcome(ep, wr));
	if (!krping_is_done(ep, wr) && krping_must_stop(ep))
		ret = krping_why(ep, 0);
	/* The queues may have been drained meanwhile, and show more. */
	if (krping_is_done(ep, wr) && (ret == -ECONNRESET || ret == -ETIMEDOUT))
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
 * For a wait that no completion ends. A queue pair that fails flushes its RECVs, which
 * is seen at once; not all providers do so before somebody drains, so the failed request
 * is looked for, too, now and then.
 *
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record. What is waited for may be there all the same: look once more.
 */
int krping_spin(struct krping_ep *ep)
{
	struct krping_verdict *verdict = ep->verdict;

	if (!(++ep->looks % KRPING_LOOKS))
		krping_cq_poll(&ep->scq);
	if (krping_cq_look(&ep->rcq, krping_must_stop(ep)))
		return krping_why(ep, 0);
	if (READ_ONCE(verdict->told) && !krping_asked_left(verdict))
		return krping_why(ep, -EINTR);
	cpu_relax();
	cond_resched();
	return 0;
}
