/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel threads in which runs live.
 */
#ifndef KRPING_CPU_H
#define KRPING_CPU_H

#include <linux/completion.h>
#include <linux/types.h>

struct krping_verdict;
struct task_struct;

#define KRPING_CPU_ANY (-1)

/**
 * struct krping_job - what a kernel thread does
 * @fn:		the function that it calls
 * @data:	the argument
 * @like:	it may run where this task may, referenced; NULL: it was bound to a CPU
 * @done:	the thread does not use the module any more
 */
struct krping_job {
	void (*fn)(void *data);
	void *data;
	struct task_struct *like;
	struct completion done;
};

int krping_cpu_check(struct krping_verdict *verdict, u32 cpu);
bool krping_cpu_is_kept(void);
int krping_job_start(struct krping_job *job, u32 run, int cpu);

#endif /* KRPING_CPU_H */
