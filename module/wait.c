// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The thread waits for completions.
 */
#include "cause.h"
#include "phase.h"
#include "verdict.h"
#include "wait.h"
#include "wants.h"

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
 * Go on with a wait when a signal or the deadline has asked the run to end, but
 * not in the middle of an iteration. 0: cond is true; else -ERESTARTSYS.
 */
#define krping_finish_wait(verdict, cond)				\
({									\
	unsigned long __time = krping_asked_left(verdict);		\
	long __end = -ERESTARTSYS;					\
									\
	if (__time && (verdict)->asked_kills)				\
		__end = wait_event_killable_timeout((verdict)->wq, cond,\
						    __time);		\
	else if (__time)						\
		__end = wait_event_timeout((verdict)->wq, cond, __time);\
	__end > 0 ? 0 : -ERESTARTSYS;					\
})

/*
 * Wait until cond, which must have acquire semantics, is true, or until the run
 * must stop. 0: cond was true at once; 1: cond is true after a sleep; else a
 * negative errno.
 */
#define krping_wait_until(ep, cond)					\
({									\
	struct krping_verdict *__v = (ep)->verdict;			\
	int __ret = 0;							\
									\
	if (!(cond)) {							\
		long __err = wait_event_interruptible(__v->wq,		\
					(cond) || krping_must_stop(ep) || \
					READ_ONCE(__v->expired));	\
		if (__err || (READ_ONCE(__v->expired) &&		\
			      !krping_must_stop(ep)))			\
			__err = krping_finish_wait(__v,			\
					(cond) || krping_must_stop(ep));\
		if (!(cond))						\
			__ret = krping_why(ep, __err);			\
		if (cond)						\
			__ret = 1;					\
	}								\
	__ret;								\
})
/* clang-format on */

/**
 * krping_wait_seq - wait for a completion of the send queue
 * @ep: the endpoint
 * @seq: number of the request, which is signalled
 *
 * Context: the run's thread; sleeps.
 * Return: 0 or 1, see krping_wait_until(), or a negative errno; -ECONNRESET and
 * -EINTR may be without a cause on record; -ECANCELED always is: a good run was
 * told to stop.
 */
int krping_wait_seq(struct krping_ep *ep, u32 seq)
{
	return krping_wait_until(ep, krping_sq_is_done(ep, seq));
}

/**
 * krping_wait_done - end a waiting phase with a completion of the send queue
 * @ep: the endpoint
 * @wr: the signalled work request to wait for, one of KRPING_AWAITED
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_done(struct krping_ep *ep, const struct krping_wr *wr)
{
	int ret = krping_wait_seq(ep, wr->seq);

	if (ret < 0)
		return ret;
	krping_ep_moved(ep, wr);
	if (krping_wants(stages))
		krping_waited(ep->phases, wr, ret);
	return 0;
}

/**
 * krping_wait_recv - end a waiting phase with a RECV that has completed
 * @ep: the endpoint
 * @wr: receives the request, valid until it is posted again
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_wait_recv(struct krping_ep *ep, struct krping_wr **wr)
{
	int ret = krping_wait_until(ep, krping_recv_is_done(ep));

	if (ret < 0)
		return ret;
	*wr = &ep->rq[ep->rq_seen % KRPING_RQ_DEPTH];
	if (krping_wants(stages))
		krping_waited(ep->phases, *wr, ret);
	ep->rq_seen++;
	ep->move_kind = KRPING_WR_NONE;
	return 0;
}
