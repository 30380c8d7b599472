// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls that the task that wrote a command makes for its run's thread. siw connects and listens
 * by sockets of the current task's network namespace, which no kernel thread can choose.
 */
#include <linux/completion.h>
#include <linux/errno.h>
#include <linux/sched/signal.h>
#include "verdict.h"
#include "writer.h"

struct krping_call {
	int (*fn)(void *data);
	void *data;
	int ret; /* of the function; -EINTR: withdrawn */
	struct completion done;
};

/*
 * Has the writer call a function, which returns soon when the run is stopping. Without a writer
 * the run serves a client of another run, and this task calls. Returns what the function
 * returned, or -EINTR: the run is stopping.
 */
int krping_writer_call(struct krping_writer *writer, const struct krping_verdict *verdict,
		       int (*fn)(void *data), void *data)
{
	struct krping_call call = { .fn = fn, .data = data, .ret = -EINTR };

	if (!writer)
		return fn(data);
	init_completion(&call.done);
	/* Who stops the run withdraws a call that is there by then. */
	xchg(&writer->call, &call);
	if (krping_must_end(verdict))
		krping_writer_withdraw(writer);
	wake_up(&writer->wait);
	/* A writer that is stopped may be away for hours: the thread is not hung. */
	wait_for_completion_state(&call.done, TASK_IDLE);
	return call.ret;
}

/* Make the call that the thread waits for, if there is one. In the writer. */
void krping_writer_serve(struct krping_writer *writer)
{
	struct krping_call *call = xchg(&writer->call, NULL);

	if (!call)
		return;
	call->ret = call->fn(call->data);
	complete(&call->done);
}

/* The run is stopping: do not wait for a call that the writer has not begun. */
void krping_writer_withdraw(struct krping_writer *writer)
{
	struct krping_call *call = xchg(&writer->call, NULL);

	if (call)
		complete(&call->done);
}

/*
 * Gets the writer out of rdma_connect(), which nothing cancels. But rdma_connect() sleeps
 * interruptibly, and a task that has to return to user mode soon looks interrupted to it; that
 * is how io_uring and live patching get tasks out of system calls.
 */
void krping_writer_interrupt(struct krping_writer *writer)
{
	struct wait_queue_entry sleeper = { .private = writer->task };

	set_tsk_thread_flag(writer->task, TIF_NOTIFY_SIGNAL);
	default_wake_function(&sleeper, TASK_INTERRUPTIBLE, 0, NULL);
}
