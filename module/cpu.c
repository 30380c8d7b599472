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
#include <linux/sched/prio.h>
#include <linux/topology.h>
#include <uapi/linux/sched/types.h>
#include "cpu.h"
#include "verdict.h"

struct krping_job {
	void (*fn)(void *data);
	void *data;
	struct completion done;
};

static int krping_cpu_thread(void *data)
{
	struct krping_job *job = data;

	job->fn(job->data);
	/* The module can be gone as soon as the writer goes on. */
	kthread_complete_and_exit(&job->done, 0);
}

/* A user who has chosen a priority for the command wants it for the test. */
static void krping_cpu_inherit(struct task_struct *task)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = current->policy,
		.sched_nice = task_nice(current),
		.sched_priority = current->rt_priority,
	};

	/* Of a deadline there is one for a task. */
	if (attr.sched_policy != SCHED_DEADLINE)
		sched_setattr_nocheck(task, &attr);
}

/*
 * A signal that is pending ends every interruptible sleep at once, so each of
 * the sleeps here ends once at most: by the first signal, and then by one that
 * kills. A process that is being killed gets no more signals, and the function
 * has noticed: so the last sleep is short.
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
 * krping_cpu_is_kept - has this thread been on one CPU all the time?
 *
 * A CPU that goes offline gives its threads to others, for good.
 *
 * Context: a function that krping_on_cpu() has called.
 */
bool krping_cpu_is_kept(void)
{
	return !(current->flags & PF_KTHREAD) || current->nr_cpus_allowed == 1;
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
 * What was set before is what the function sees, and the other way round. The
 * thread has the policy and priority of the current task. If a signal kills that
 * while the thread is made, it calls the function itself, which notices.
 *
 * Context: the task that wrote the command; sleeps until the function has
 * returned.
 * Return: 0: the function was called; or a negative errno that is also the run's
 * cause: -EINVAL, the CPU is not online; -ENOMEM, -EAGAIN.
 */
int krping_on_cpu(struct krping_verdict *verdict, u32 run, u32 cpu,
		  void (*fn)(void *data), void *data)
{
	struct krping_job job = { .fn = fn, .data = data };
	struct task_struct *task;
	int ret = krping_cpu_check(verdict, cpu);

	if (ret)
		return ret;
	init_completion(&job.done);
	task = kthread_create_on_node(krping_cpu_thread, &job, cpu_to_node(cpu),
				      "krping/%u", run);
	if (task == ERR_PTR(-EINTR)) {
		fn(data);
		return 0;
	}
	if (IS_ERR(task))
		return krping_fail(verdict, PTR_ERR(task),
				   "starting a thread on CPU %u: error %pe",
				   cpu, task);
	kthread_bind(task, cpu);
	krping_cpu_inherit(task);
	wake_up_process(task);
	krping_cpu_wait(verdict, &job.done);
	return 0;
}
