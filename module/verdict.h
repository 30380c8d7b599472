/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a run ends: the order to stop, the first cause of a failure, and the
 * signals to the task that waits for the run.
 *
 * The verdict (err, good, reason) says what the run's result is; the bit
 * "stopping" says that its thread has to go. Waits look at the bit alone: a run
 * that has a good result may still have to go at once.
 */
#ifndef KRPING_VERDICT_H
#define KRPING_VERDICT_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include "krping_abi.h"

/**
 * struct krping_verdict - how a run ends
 * @wq:		where the run's thread sleeps, and no other task
 * @lock:	guards @err and @reason against each other
 * @stopping:	no wait may last any longer; set by krping_fail(), never cleared
 * @err:	the first cause, a negative errno; 0: there is none so far
 * @good:	the run has done what it was asked for; no cause is taken any more
 * @reason:	@err in words
 * @endless:	nobody said how many iterations the run has, so a signal or its
 *		deadline is its good end; set by the thread when the test begins
 * @expired:	the deadline of an endless run has passed, which ends it like a
 *		signal; set by krping_expire(), never cleared
 * @asked:	thread: a signal, or the deadline, has asked the run to end; see
 *		krping_is_asked()
 * @asked_kills: thread: the process was not dying then, so a signal that kills
 *		it after that ends the run at once
 * @asked_until: thread: the time, in jiffies, at which the iteration that is
 *		under way is given up
 *
 * Anybody may report a cause, by krping_fail(); the first one stays.
 */
struct krping_verdict {
	wait_queue_head_t wq;
	spinlock_t lock;
	bool stopping;
	int err;
	bool good;
	char reason[KRPING_REASON_MAX];
	bool endless;
	bool expired;
	bool asked;
	bool asked_kills;
	unsigned long asked_until;
};

void krping_verdict_init(struct krping_verdict *verdict);
__printf(3, 4)
int krping_fail(struct krping_verdict *verdict, int err, const char *fmt, ...);
void krping_set_good(struct krping_verdict *verdict);
void krping_expire(struct krping_verdict *verdict);
bool krping_is_stopping(const struct krping_verdict *verdict);
int krping_stopped(const struct krping_verdict *verdict);
bool krping_is_asked(struct krping_verdict *verdict);
unsigned long krping_asked_left(struct krping_verdict *verdict);

#endif /* KRPING_VERDICT_H */
