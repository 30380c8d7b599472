/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_CPU_H
#define KRPING_CPU_H

#include <linux/completion.h>

struct krping_run;
struct task_struct;

/* What a kernel thread does. */
struct krping_job {
	void (*fn)(void *data);
	void *data;
	/* The task whose CPUs the thread gets; NULL: cpu= names one. */
	struct task_struct *like;
	struct completion done; /* the thread does not use the module any more */
};

int krping_job_start(struct krping_job *job, struct krping_run *run, void (*fn)(void *data),
		     void *data);
int krping_cpu_check_kept(struct krping_run *run);

#endif /* KRPING_CPU_H */
