// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls that the task that wrote a command makes for its run's thread.
 *
 * siw connects and listens by sockets of the current task's network namespace, which
 * no kernel thread can choose.
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

/**
 * krping_writer_call - have the writer of a run call a function
 * @writer: the writer; NULL: the run serves one client of another run, and this task
 *	calls the function
 * @verdict: of the run
 * @fn: the function; has to return soon when the run is stopping
 * @data: its argument
 *
 * Returns what the function returned, or -EINTR: the run is stopping.
 */
int krping_writer_call(struct krping_writer *writer, const struct krping_verdict *verdict,
		       int (*fn)(void *data), void *data)
{
	struct krping_call call = { .fn = fn, .data = data, .ret = -EINTR };

	if (!writer)
		return fn(data);
	init_completion(&call.done);
	/* Who stops the run withdraws the call after that, if it is there by then. */
	xchg(&writer->call, &call);
	if (krping_is_stopping(verdict))
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

/**
 * krping_writer_interrupt - get the writer out of a call that nobody answers
 * @writer: the writer, which makes a call for its run
 *
 * There is no call to cancel rdma_connect(). But rdma_connect() sleeps interruptibly,
 * and a task that has to return to user mode soon looks interrupted to it; that is how
 * io_uring and live patching get tasks out of system calls. Only a task in an
 * interruptible sleep is woken.
 */
void krping_writer_interrupt(struct krping_writer *writer)
{
	struct wait_queue_entry sleeper = { .private = writer->task };

	set_tsk_thread_flag(writer->task, TIF_NOTIFY_SIGNAL);
	default_wake_function(&sleeper, TASK_INTERRUPTIBLE, 0, NULL);
}
