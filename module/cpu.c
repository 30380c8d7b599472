// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The kernel threads in which runs live. With cpu= a thread stays on one CPU. */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/task.h>
#include <linux/topology.h>
#include <uapi/linux/sched/types.h>
#include "cpu.h"
#include "record.h"
#include "run.h"

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

static int krping_job_thread(void *data)
{
	struct krping_job *job = data;

	/* Not before: some kernels move a new thread to CPUs of their choice. */
	if (job->like) {
		krping_cpu_as(job->like);
		put_task_struct(job->like);
	}
	job->fn(job->data);
	/* The module can be gone as soon as the starter goes on. */
	kthread_complete_and_exit(&job->done, 0);
}

/* A user who has chosen a priority for the command wants it for the test. */
static void krping_job_inherit(struct task_struct *task)
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

/*
 * Starts a run's kernel thread, which uses @job until its function returns. The thread has the
 * policy, the priority and, without cpu=, the CPUs of the current task. Returns 0, or a negative
 * errno that is also the run's cause.
 */
int krping_job_start(struct krping_job *job, struct krping_run *run, void (*fn)(void *data),
		     void *data)
{
	bool bound = krping_option_given(&run->params, KRPING_OPT_CPU);
	u32 cpu = run->params.cpu;
	struct task_struct *task;

	if (bound && (cpu >= nr_cpu_ids || !cpu_online(cpu)))
		return krping_fail(&run->verdict, -EINVAL, "cpu: CPU %u is not online", cpu);
	job->fn = fn;
	job->data = data;
	init_completion(&job->done);
	task = kthread_create_on_node(krping_job_thread, job,
				      bound ? cpu_to_node(cpu) : NUMA_NO_NODE, "krping/%u",
				      run->rec->id);
	if (IS_ERR(task))
		return krping_fail(&run->verdict, PTR_ERR(task), "starting a thread: error %pe",
				   task);
	if (bound)
		kthread_bind(task, cpu);
	job->like = bound ? NULL : get_task_struct(current);
	krping_job_inherit(task);
	wake_up_process(task);
	return 0;
}

/*
 * Has this thread been on the CPU of cpu= all the time? A CPU that goes offline gives
 * its threads to others, for good. 0, or -EINVAL, which is also the run's cause.
 */
int krping_cpu_check_kept(struct krping_run *run)
{
	if (!krping_option_given(&run->params, KRPING_OPT_CPU) || current->nr_cpus_allowed == 1)
		return 0;
	return krping_fail(&run->verdict, -EINVAL, "cpu: CPU %u went offline during the test",
			   run->params.cpu);
}
