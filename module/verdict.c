// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How a run ends; see verdict.h.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include "verdict.h"

#define KRPING_FINISH_MS 1000 /* for the iteration that is under way */

/**
 * krping_verdict_init - no cause, and no order to stop
 * @verdict: the verdict, zeroed
 */
void krping_verdict_init(struct krping_verdict *verdict)
{
	init_waitqueue_head(&verdict->wq);
	spin_lock_init(&verdict->lock);
}

/**
 * krping_fail - report what keeps a run from doing what it was asked for
 * @verdict: of the run
 * @err: negative errno
 * @fmt: the reason, in words
 *
 * The first cause stays. A run that has done what it was asked for takes none
 * any more: what goes wrong later belongs to the tear-down. The thread is told
 * to stop in any case: a good run may be waiting to leave its connection, for
 * an event that will never come.
 *
 * Context: any.
 * Return: the run's first cause, a negative errno.
 */
int krping_fail(struct krping_verdict *verdict, int err, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&verdict->lock, flags);
	if (!verdict->err && !verdict->good) {
		va_start(args, fmt);
		vscnprintf(verdict->reason, sizeof(verdict->reason), fmt, args);
		va_end(args);
		WRITE_ONCE(verdict->err, err);
	}
	spin_unlock_irqrestore(&verdict->lock, flags);
	/* Pairs with krping_is_stopping(): who sees the bit sees the cause, too. */
	smp_store_release(&verdict->stopping, true);
	wake_up(&verdict->wq);
	return READ_ONCE(verdict->err) ?: err;
}

/**
 * krping_set_good - the run did what it was asked for
 * @verdict: of the run
 *
 * Context: the run's thread.
 */
void krping_set_good(struct krping_verdict *verdict)
{
	spin_lock_irq(&verdict->lock);
	verdict->err = 0;
	verdict->reason[0] = '\0';
	verdict->good = true;
	spin_unlock_irq(&verdict->lock);
}

/**
 * krping_expire - the deadline of an endless run has passed
 * @verdict: of the run
 *
 * Context: any.
 */
void krping_expire(struct krping_verdict *verdict)
{
	WRITE_ONCE(verdict->expired, true);
	/* The store is there for a thread that is about to sleep. */
	smp_mb();
	wake_up(&verdict->wq);
}

/**
 * krping_is_stopping - was the run told to stop?
 * @verdict: of the run
 *
 * Every wait of the thread ends on it.
 *
 * Context: any.
 */
bool krping_is_stopping(const struct krping_verdict *verdict)
{
	/* Pairs with krping_fail(). */
	return smp_load_acquire(&verdict->stopping);
}

/**
 * krping_stopped - what a wait returns that ended because the run is stopping
 * @verdict: of the run
 *
 * Context: the run's thread.
 * Return: the run's cause; -ECANCELED for a good run, which has none.
 */
int krping_stopped(const struct krping_verdict *verdict)
{
	return READ_ONCE(verdict->err) ?: -ECANCELED;
}

/*
 * KILL, or a second signal. A signal without a handler ends the process by KILL
 * as well, but leaves its own number as the exit code.
 */
static bool krping_is_killed(const struct krping_verdict *verdict)
{
	return fatal_signal_pending(current) &&
	       (verdict->asked_kills ||
		READ_ONCE(current->signal->group_exit_code) == SIGKILL);
}

/*
 * A signal has come, or the deadline has passed. The first of them starts the
 * clock of KRPING_FINISH_MS.
 */
static bool krping_heard(struct krping_verdict *verdict)
{
	if (!signal_pending(current) && !READ_ONCE(verdict->expired))
		return false;
	if (krping_is_killed(verdict))
		return false;
	if (!verdict->asked) {
		verdict->asked = true;
		verdict->asked_kills = !fatal_signal_pending(current);
		verdict->asked_until =
			jiffies + msecs_to_jiffies(KRPING_FINISH_MS);
	}
	return true;
}

/**
 * krping_is_asked - has a signal, or its deadline, asked an endless run to end?
 * @verdict: of the run
 *
 * Either is how an endless run ends, and so no failure. The run ends between
 * two iterations, for both ends to have the same number of them.
 *
 * Context: the run's thread.
 * Return: true if so; false for a run with a count, which has not done what it
 * was asked for, and after KILL or a second signal, which end any run at once.
 */
bool krping_is_asked(struct krping_verdict *verdict)
{
	return verdict->endless && krping_heard(verdict);
}

/**
 * krping_asked_left - how long may a wait go on in spite of a signal or deadline?
 * @verdict: of the run
 *
 * An endless run finishes its iteration, and a good one waits until its last
 * message has left; either has a second in all.
 *
 * Context: the run's thread.
 * Return: jiffies; 0: not at all.
 */
unsigned long krping_asked_left(struct krping_verdict *verdict)
{
	if ((!verdict->endless && !verdict->good) || !krping_heard(verdict) ||
	    time_after_eq(jiffies, verdict->asked_until))
		return 0;
	return verdict->asked_until - jiffies;
}
