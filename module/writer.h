/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls that the task that wrote a command makes for its run's thread.
 */
#ifndef KRPING_WRITER_H
#define KRPING_WRITER_H

#include <linux/spinlock.h>
#include <linux/wait.h>

struct krping_call;
struct krping_verdict;
struct task_struct;

/**
 * struct krping_writer - the task that wrote a command
 * @task:	the task, referenced
 * @wait:	where it sleeps until there is a call, or its run is over
 * @lock:	guards @call and @gone
 * @call:	the call that it has to make; NULL: none
 * @gone:	it does not come back
 */
struct krping_writer {
	struct task_struct *task;
	wait_queue_head_t wait;
	spinlock_t lock;
	struct krping_call *call;
	bool gone;
};

void krping_writer_init(struct krping_writer *writer);
void krping_writer_exit(struct krping_writer *writer);
int krping_writer_call(struct krping_writer *writer,
		       const struct krping_verdict *verdict,
		       int (*fn)(void *data), void *data);
void krping_writer_withdraw(struct krping_writer *writer);
void krping_writer_interrupt(struct krping_writer *writer);
void krping_writer_serve(struct krping_writer *writer);
void krping_writer_leave(struct krping_writer *writer);

#endif /* KRPING_WRITER_H */
