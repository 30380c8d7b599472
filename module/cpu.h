/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A part of a run in a kernel thread that stays on one CPU.
 */
#ifndef KRPING_CPU_H
#define KRPING_CPU_H

#include <linux/types.h>

struct krping_verdict;

int krping_cpu_check(struct krping_verdict *verdict, u32 cpu);
bool krping_cpu_is_kept(void);
int krping_on_cpu(struct krping_verdict *verdict, u32 run, u32 cpu,
		  void (*fn)(void *data), void *data);

#endif /* KRPING_CPU_H */
