// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls that the task that wrote a command makes for its run's thread.
 *
 * siw connects and listens by sockets of the current task's network namespace, which
 * no kernel thread can choose.
 */
#include <linux/completion.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include "verdict.h"
#include "writer.h"

#define KRPING_CALL_MS 30000 /* see krping_writer_call() */

/**
 * struct krping_call - a call that the writer makes for the thread
 * @fn:		the function
 * @data:	its argument
 * @ret:	what it returned
 * @done:	it has returned, or is withdrawn
 */
struct krping_call {
	int (*fn)(void *data);
	void *data;
	int ret;
	struct completion done;
};

/**
 * krping_writer_init - make ready for calls
 * @writer: the writer, zeroed
 *
 * Context: the task that wrote the command.
 */
void krping_writer_init(struct krping_writer *writer)
{
	writer->task = get_task_struct(current);
	spin_lock_init(&writer->lock);
	init_waitqueue_head(&writer->wait);
}

/**
 * krping_writer_exit - there are no calls any more
 * @writer: the writer
 *
 * Context: any.
 */
void krping_writer_exit(struct krping_writer *writer)
{
	put_task_struct(writer->task);
}

/**
 * krping_writer_call - have the writer of a run call a function
 * @writer: the writer; NULL: the run serves one client of another run, and this task
 *	calls the function
 * @verdict: of the run
 * @fn: the function; has to return soon when the run is stopping
 * @data: its argument
 *
 * Context: the run's thread; sleeps.
 * Return: what the function returned; -EINTR: the writer is gone, or the run is
 * stopping.
 */
int krping_writer_call(struct krping_writer *writer,
		       const struct krping_verdict *verdict,
		       int (*fn)(void *data), void *data)
{
	struct krping_call call = { .fn = fn, .data = data };

	if (!writer)
		return fn(data);
	init_completion(&call.done);
	spin_lock_irq(&writer->lock);
	/* Who stops the run withdraws the call after that, under this lock. */
	if (writer->gone || krping_is_stopping(verdict)) {
		spin_unlock_irq(&writer->lock);
		return -EINTR;
	}
	WRITE_ONCE(writer->call, &call);
	spin_unlock_irq(&writer->lock);
	wake_up(&writer->wait);
	/* A writer that is stopped may be away for hours: the thread is not hung. */
	while (!wait_for_completion_timeout(&call.done,
					    msecs_to_jiffies(KRPING_CALL_MS)))
		;
	return call.ret;
}

static struct krping_call *krping_writer_take(struct krping_writer *writer)
{
	struct krping_call *call;
	unsigned long flags;

	spin_lock_irqsave(&writer->lock, flags);
	call = writer->call;
	WRITE_ONCE(writer->call, NULL);
	spin_unlock_irqrestore(&writer->lock, flags);
	return call;
}

/**
 * krping_writer_serve - make the call that the thread waits for, if there is one
 * @writer: the writer
 *
 * Context: the writer; sleeps, interruptible.
 */
void krping_writer_serve(struct krping_writer *writer)
{
	struct krping_call *call = krping_writer_take(writer);

	if (!call)
		return;
	call->ret = call->fn(call->data);
	complete(&call->done);
}

/**
 * krping_writer_withdraw - do not wait for a call that the writer has not begun
 * @writer: the writer, of a run that is stopping; it may be away
 *
 * Context: any; the deadline is a timer.
 */
void krping_writer_withdraw(struct krping_writer *writer)
{
	struct krping_call *call = krping_writer_take(writer);

	if (!call)
		return;
	call->ret = -EINTR;
	complete(&call->done);
}

/**
 * krping_writer_leave - the writer does not come back, and makes no more calls
 * @writer: the writer, which was called away
 *
 * Context: process.
 */
void krping_writer_leave(struct krping_writer *writer)
{
	spin_lock_irq(&writer->lock);
	writer->gone = true;
	spin_unlock_irq(&writer->lock);
	krping_writer_withdraw(writer);
}

/**
 * krping_writer_interrupt - get the writer out of a call that nobody answers
 * @writer: the writer, which makes a call for its run
 *
 * There is no call to cancel rdma_connect(). But it sleeps interruptibly, and a
 * task that has to return to user mode soon looks interrupted to it; that is how
 * io_uring and live patching get tasks out of system calls. Only a task in an
 * interruptible sleep is woken.
 *
 * Context: any; the deadline is a timer.
 */
void krping_writer_interrupt(struct krping_writer *writer)
{
	struct wait_queue_entry sleeper = { .private = writer->task };

	set_tsk_thread_flag(writer->task, TIF_NOTIFY_SIGNAL);
	default_wake_function(&sleeper, TASK_INTERRUPTIBLE, 0, NULL);
}
