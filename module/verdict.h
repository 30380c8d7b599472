/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a run ends: the order to stop, the first cause of a failure, and who asks
 * it to end: the signals to its task, its deadline, or somebody else.
 *
 * The verdict (err, good, reason) says what the run's result is; the bit
 * "stopping" says that its thread has to go. Waits look at the bit alone: a run
 * that has a good result may still have to go at once.
 */
#ifndef KRPING_VERDICT_H
#define KRPING_VERDICT_H

#include <linux/rcuwait.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "krping_abi.h"

/**
 * struct krping_verdict - how a run ends
 * @task:	the task that wrote the command, referenced: its signals are the run's,
 *		whatever thread the run is in. A run with a parent has a kernel thread
 *		here, which gets no signals: the parent passes on its own
 * @sleeper:	where the run's thread sleeps, which with cpu= is a kernel thread for the
 *		time of the test, or the work that tears the run down; one of them at a
 *		time
 * @lock:	guards @err and @reason against each other, and @told_err and
 *		@told_reason
 * @stopping:	no wait may last any longer; set by krping_fail(), never cleared
 * @err:	the first cause, a negative errno; 0: there is none so far
 * @good:	the run has done what it was asked for; no cause is taken any more
 * @reason:	@err in words
 * @endless:	nobody said how many iterations, or clients, the run has, so whoever
 *		asks it to end gives it a good end; set by the thread when the test
 *		begins
 * @told:	krping_ask() has asked the run to end, which is like a signal; never
 *		cleared
 * @told_err:	the cause of a run that was asked, and did not end in time
 * @told_reason: @told_err in words
 * @asked:	thread: a signal, or somebody by @told, has asked the run to end; see
 *		krping_is_asked()
 * @asked_kills: thread: the process was not dying then, so a signal that kills
 *		it after that ends the run at once
 * @asked_until: thread: the time, in jiffies, at which the iteration that is
 *		under way is given up
 *
 * Anybody may report a cause, by krping_fail(); the first one stays.
 */
struct krping_verdict {
	struct task_struct *task;
	struct rcuwait sleeper;
	spinlock_t lock;
	bool stopping;
	int err;
	bool good;
	char reason[KRPING_REASON_MAX];
	bool endless;
	bool told;
	int told_err;
	char told_reason[KRPING_REASON_MAX];
	bool asked;
	bool asked_kills;
	unsigned long asked_until;
};

/* clang-format off */
/**
 * krping_sleep - sleep until a condition is true
 * @verdict: of the run
 * @state: TASK_INTERRUPTIBLE, TASK_KILLABLE or TASK_UNINTERRUPTIBLE
 * @timeout: in jiffies; MAX_SCHEDULE_TIMEOUT: no limit
 * @cond: the condition, looked at again after each krping_wake(); may not sleep
 *
 * There is one sleeper, so this needs neither a queue nor its lock.
 *
 * Context: the run's thread, or its work.
 * Return: more than 0 if the condition is true; 0: the time is over;
 * -ERESTARTSYS: a signal to the run's task.
 */
#define krping_sleep(verdict, state, timeout, cond)			\
({									\
	struct rcuwait *__sleeper = &(verdict)->sleeper;		\
	long __left = (timeout), __woken;				\
									\
	prepare_to_rcuwait(__sleeper);					\
	for (;;) {							\
		set_current_state(state);				\
		__woken = __left ?: 1;					\
		if (cond)						\
			break;						\
		__woken = -ERESTARTSYS;					\
		if (signal_pending_state(state, (verdict)->task))	\
			break;						\
		__woken = 0;						\
		if (!__left)						\
			break;						\
		__left = schedule_timeout(__left);			\
	}								\
	finish_rcuwait(__sleeper);					\
	__woken;							\
})
/* clang-format on */

/**
 * krping_wake - wake the thread, if it sleeps
 * @verdict: of the run; what the sleeper waits for was stored before
 *
 * Context: any.
 */
static inline void krping_wake(struct krping_verdict *verdict)
{
	rcuwait_wake_up(&verdict->sleeper);
}

/**
 * krping_is_signalled - has a signal arrived for the run?
 * @verdict: of the run
 *
 * Context: the run's thread.
 * Return: true until the task has handled it, which it does after the run.
 */
static inline bool krping_is_signalled(const struct krping_verdict *verdict)
{
	return signal_pending(verdict->task);
}

void krping_verdict_init(struct krping_verdict *verdict);
void krping_verdict_exit(struct krping_verdict *verdict);
void krping_verdict_adopt(struct krping_verdict *verdict);
__printf(3, 4)
int krping_fail(struct krping_verdict *verdict, int err, const char *fmt, ...);
void krping_set_good(struct krping_verdict *verdict);
__printf(3, 4)
void krping_ask(struct krping_verdict *verdict, int err, const char *fmt, ...);
int krping_fail_as_told(struct krping_verdict *verdict);
bool krping_is_stopping(const struct krping_verdict *verdict);
int krping_stopped(const struct krping_verdict *verdict);
bool krping_is_killed(const struct krping_verdict *verdict);
bool krping_is_asked(struct krping_verdict *verdict);
unsigned long krping_asked_left(struct krping_verdict *verdict);

#endif /* KRPING_VERDICT_H */
