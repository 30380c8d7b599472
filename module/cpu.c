// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel threads in which runs live. With cpu= a thread stays on one CPU.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/task.h>
#include <linux/topology.h>
#include <uapi/linux/sched/types.h>
#include "cpu.h"
#include "verdict.h"

/* Others may change the task's mask at any time, under this lock. */
static void krping_cpu_as(struct task_struct *task)
{
	cpumask_var_t mask;
	unsigned long flags;

	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	raw_spin_lock_irqsave(&task->pi_lock, flags);
	cpumask_copy(mask, &task->cpus_mask);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	set_cpus_allowed_ptr(current, mask);
	free_cpumask_var(mask);
}

static int krping_cpu_thread(void *data)
{
	struct krping_job *job = data;

	/* Not before: some kernels move a new thread to CPUs of their choice. */
	if (job->like) {
		krping_cpu_as(job->like);
		put_task_struct(job->like);
	}
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

	/* A task's deadline parameters are a reservation, and not inherited. */
	if (attr.sched_policy != SCHED_DEADLINE)
		sched_setattr_nocheck(task, &attr);
}

/**
 * krping_job_start - start a kernel thread
 * @job: what it does; it stays until @done is completed, or as long as its function
 *	needs it, if that does not return
 * @run: number of the run, which the thread has in its name
 * @cpu: number of the CPU where it stays; KRPING_CPU_ANY: it may run where the
 *	current task may
 *
 * The thread has the policy and priority of the current task.
 *
 * Context: process; sleeps.
 * Return: 0, or a negative errno: -ENOMEM, -EAGAIN; -EINTR: a signal kills the
 * current task.
 */
int krping_job_start(struct krping_job *job, u32 run, int cpu)
{
	bool bound = cpu != KRPING_CPU_ANY;
	struct task_struct *task;

	init_completion(&job->done);
	job->like = bound ? NULL : get_task_struct(current);
	task = kthread_create_on_node(krping_cpu_thread, job,
				      bound ? cpu_to_node(cpu) : NUMA_NO_NODE,
				      "krping/%u", run);
	if (IS_ERR(task)) {
		if (job->like)
			put_task_struct(job->like);
		return PTR_ERR(task);
	}
	if (bound)
		kthread_bind(task, cpu);
	krping_cpu_inherit(task);
	wake_up_process(task);
	return 0;
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
 * Context: the run's thread.
 */
bool krping_cpu_is_kept(void)
{
	return current->nr_cpus_allowed == 1;
}
