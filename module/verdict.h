/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a run ends: the order to stop, the first cause of a failure, and who asks
 * it to end: a signal to its writer, its deadline, or another command.
 *
 * The verdict (err, good, reason) says what the run's result is; the bit
 * "stopping" says that its thread has to go. Waits look at the bit alone: a run
 * that has a good result may still have to go at once.
 */
#ifndef KRPING_VERDICT_H
#define KRPING_VERDICT_H

#include <linux/rcuwait.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "krping_abi.h"

/* Anybody may report a cause, by krping_fail(); the first one stays. */
struct krping_verdict {
	struct rcuwait sleeper;		/* where the run's thread sleeps */
	spinlock_t lock;		/* of err and reason, and of told_err and told_reason */
	bool stopping;			/* no wait may last any longer; never cleared */
	int err;			/* the first cause, a negative errno; 0: none so far */
	bool good;			/* the run did what it was asked for: no cause any more */
	char reason[KRPING_REASON_MAX]; /* err in words */
	/*
	 * Nobody said how many iterations, or clients, the run has, so whoever asks it
	 * to end gives it a good end. The thread sets this when the test begins.
	 */
	bool endless;
	bool told;    /* krping_ask() was called; never cleared */
	bool killed;  /* krping_kill() was: the iteration is not finished */
	int told_err; /* of a run that was asked, and did not end in time */
	char told_reason[KRPING_REASON_MAX];
	/* Of the thread: it has seen told, and gives its iteration up at that time. */
	bool asked;
	unsigned long asked_until; /* jiffies */
};

/* clang-format off */
/**
 * krping_sleep - sleep until a condition is true
 * @verdict: of the run
 * @timeout: in jiffies; MAX_SCHEDULE_TIMEOUT: no limit
 * @cond: the condition, looked at again after each krping_wake(); may not sleep
 *
 * There is one sleeper, so this needs neither a queue nor its lock. Signals are the
 * writer's, which asks the run to end: see dispatch.c.
 *
 * Context: the run's thread.
 * Return: true if the condition is true, false if the time is over.
 */
#define krping_sleep(verdict, timeout, cond)				\
({									\
	struct rcuwait *__sleeper = &(verdict)->sleeper;		\
	long __left = (timeout);					\
	bool __woken;							\
									\
	prepare_to_rcuwait(__sleeper);					\
	for (;;) {							\
		set_current_state(TASK_IDLE);				\
		__woken = (cond);					\
		if (__woken || !__left)					\
			break;						\
		__left = schedule_timeout(__left);			\
	}								\
	finish_rcuwait(__sleeper);					\
	__woken;							\
})
/* clang-format on */

/* Wakes the thread, if it sleeps. What it waits for was stored before. */
static inline void krping_wake(struct krping_verdict *verdict)
{
	rcuwait_wake_up(&verdict->sleeper);
}

void krping_verdict_init(struct krping_verdict *verdict);
__printf(3, 4)
int krping_fail(struct krping_verdict *verdict, int err, const char *fmt, ...);
void krping_set_good(struct krping_verdict *verdict);
__printf(3, 4)
void krping_ask(struct krping_verdict *verdict, int err, const char *fmt, ...);
int krping_fail_as_told(struct krping_verdict *verdict);
void krping_kill(struct krping_verdict *verdict);
bool krping_is_stopping(const struct krping_verdict *verdict);
int krping_stopped(const struct krping_verdict *verdict);
bool krping_is_asked(struct krping_verdict *verdict);
unsigned long krping_asked_left(struct krping_verdict *verdict);

#endif /* KRPING_VERDICT_H */
