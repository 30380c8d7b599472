/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a run ends. Its result is err, good and reason. The bit "must_end" says that its thread
 * has to go, and waits look at this bit alone: a run that has a good result may have to go.
 */
#ifndef KRPING_VERDICT_H
#define KRPING_VERDICT_H

#include <linux/rcuwait.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "krping_abi.h"

struct krping_verdict {
	struct rcuwait sleeper;		/* where the run's thread sleeps */
	spinlock_t lock;		/* of err and reason, and of asked_err and asked_reason */
	bool must_end;			/* no wait may last any longer; never cleared */
	int err;			/* the first cause, a negative errno; 0: none so far */
	bool good;			/* the run did what it was asked for: no cause any more */
	char reason[KRPING_REASON_MAX]; /* err in words */
	bool endless;			/* nobody said how many iterations, or clients, to make */
	bool asked;			/* krping_ask_to_end() was called; never cleared */
	bool killed;			/* krping_kill() was: the iteration is not finished */
	int asked_err;			/* of a run that was asked, and did not end in time */
	char asked_reason[KRPING_REASON_MAX];
	unsigned long finish_by; /* jiffies; set by the thread when it first sees asked; 0: not yet */
};

/* clang-format off */
/*
 * The run's thread sleeps for at most so many jiffies until the condition is true, which is
 * looked at again after each krping_wake() and may not sleep. False: the time is over.
 * Signals are the writer's, see dispatch.c.
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
void krping_ask_to_end(struct krping_verdict *verdict, int err, const char *reason);
void krping_fail_as_asked(struct krping_verdict *verdict);
void krping_kill(struct krping_verdict *verdict);
bool krping_must_end(const struct krping_verdict *verdict);
int krping_end_errno(const struct krping_verdict *verdict);
bool krping_is_asked_to_end(struct krping_verdict *verdict);
unsigned long krping_time_to_finish(struct krping_verdict *verdict);

#endif /* KRPING_VERDICT_H */
