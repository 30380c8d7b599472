// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A part of a run in a kernel thread that stays on one CPU.
 *
 * The task that wrote the command waits meanwhile, and its signals are still
 * those of the run: krping_is_signalled() looks at that task in whatever thread
 * it is called, and the writer wakes the thread when a signal arrives.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include "cpu.h"
#include "verdict.h"

struct krping_job {
	int (*fn)(void *data);
	void *data;
	int ret;
	struct completion done;
};

static int krping_cpu_thread(void *data)
{
	struct krping_job *job = data;

	job->ret = job->fn(job->data);
	/* The module can be gone as soon as the writer goes on. */
	kthread_complete_and_exit(&job->done, 0);
}

/*
 * A signal that is pending ends every interruptible sleep at once, so each of
 * the sleeps here ends once at most: the first signal, and then one that kills.
 */
static void krping_cpu_wait(struct krping_verdict *verdict,
			    struct completion *done)
{
	if (!wait_for_completion_interruptible(done))
		return;
	krping_wake(verdict);
	if (!wait_for_completion_killable(done))
		return;
	krping_wake(verdict);
	wait_for_completion(done);
}

/**
 * krping_cpu_check - can a thread be on this CPU?
 * @verdict: of the run
 * @cpu: number of the CPU
 *
 * Context: the run's thread.
 * Return: 0, or -EINVAL, which is also the run's cause.
 */
int krping_cpu_check(struct krping_verdict *verdict, u32 cpu)
{
	if (cpu < nr_cpu_ids && cpu_online(cpu))
		return 0;
	return krping_fail(verdict, -EINVAL, "cpu: CPU %u is not online", cpu);
}

/**
 * krping_on_cpu - call a function in a kernel thread that stays on one CPU
 * @verdict: of the run
 * @run: number of the run, which the thread has in its name
 * @cpu: number of the CPU
 * @fn: the function; has to end soon when the run's task is signalled, or the
 *	run is stopping
 * @data: its argument
 *
 * What was set before is what the function sees, and the other way round. A CPU
 * that goes offline meanwhile gives the thread to another one.
 *
 * Context: the task that wrote the command; sleeps until the function has
 * returned.
 * Return: what @fn returned; or a negative errno that is also the run's cause:
 * -EINVAL, the CPU is not online; -EINTR, -ENOMEM.
 */
int krping_on_cpu(struct krping_verdict *verdict, u32 run, u32 cpu,
		  int (*fn)(void *data), void *data)
{
	struct krping_job job = { .fn = fn, .data = data };
	struct task_struct *task;
	int ret = krping_cpu_check(verdict, cpu);

	if (ret)
		return ret;
	init_completion(&job.done);
	task = kthread_create_on_node(krping_cpu_thread, &job, cpu_to_node(cpu),
				      "krping/%u", run);
	if (IS_ERR(task))
		return krping_fail(verdict, PTR_ERR(task),
				   "starting a thread on CPU %u: error %pe",
				   cpu, task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	krping_cpu_wait(verdict, &job.done);
	return job.ret;
}
