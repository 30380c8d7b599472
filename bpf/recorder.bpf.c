// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which task, softirq or interrupt had the CPU. This reads no structure of the
 * kernel: at sched_switch the current task is the one that leaves.
 *
 * Each program has one context: the scheduler with interrupts off, softirq,
 * hard interrupt. An event that has a beginning is written when it ends, so
 * these events are in the order of their ends.
 */
#include <linux/types.h>

#include "recorder.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp/sched_switch")
int sched_switch(rec_args *ctx)
{
	struct rec_event e = { .kind = REC_TASK, .t_end = bpf_ktime_get_ns() };
	struct rec_cpu *c;
	__u32 cpu;

	c = rec_this_cpu(&cpu);
	if (!c)
		return 0;
	e.t = c->t_task;
	/* Preempted, or in the state TASK_RUNNING. */
	e.flags = ctx->args[0] || !(__u32)ctx->args[3] ? REC_F_READY : 0;
	e.id = bpf_get_current_pid_tgid();
	bpf_get_current_comm(e.comm, sizeof(e.comm));
	if (e.t)
		rec_put(c, cpu, &e);
	c->t_task = e.t_end;
	return 0;
}

SEC("raw_tp/softirq_entry")
int softirq_entry(rec_args *ctx)
{
	struct rec_cpu *c;
	__u32 cpu;

	c = rec_this_cpu(&cpu);
	if (c) {
		c->vec = ctx->args[0];
		c->t_softirq = bpf_ktime_get_ns();
	}
	return 0;
}

SEC("raw_tp/softirq_exit")
int softirq_exit(rec_args *ctx)
{
	struct rec_event e = { .kind = REC_SOFTIRQ, .t_end = bpf_ktime_get_ns() };
	struct rec_cpu *c;
	__u32 cpu;

	c = rec_this_cpu(&cpu);
	if (!c || !c->t_softirq || c->vec != (__u32)ctx->args[0])
		return 0;
	e.t = c->t_softirq;
	e.id = c->vec;
	/* With PREEMPT_RT other tasks may have the CPU in between. */
	e.arg = bpf_get_current_pid_tgid();
	rec_put(c, cpu, &e);
	c->t_softirq = 0;
	return 0;
}

SEC("raw_tp/irq_handler_entry")
int irq_handler_entry(rec_args *ctx)
{
	struct rec_cpu *c;
	__u32 cpu;

	(void)ctx;
	c = rec_this_cpu(&cpu);
	if (c)
		c->t_irq = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/irq_handler_exit")
int irq_handler_exit(rec_args *ctx)
{
	struct rec_event e = { .kind = REC_IRQ, .t_end = bpf_ktime_get_ns() };
	struct rec_cpu *c;
	__u32 cpu;

	c = rec_this_cpu(&cpu);
	if (!c || !c->t_irq)
		return 0;
	e.t = c->t_irq;
	e.id = ctx->args[0];
	rec_put(c, cpu, &e);
	c->t_irq = 0;
	return 0;
}
