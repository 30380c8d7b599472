// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The part of the flight recorder that reads structures of the kernel, and so
 * needs the BTF of the kernel: which task became ready to run, and on which
 * CPU.
 */
#include <linux/types.h>

#include "recorder.bpf.h"
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PF_KTHREAD 0x00200000

/* The members that we need; their offsets are found out when this is loaded. */
struct thread_info {
	__u32 cpu;
} __attribute__((preserve_access_index));

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int pid;
	char comm[REC_COMM_LEN];
} __attribute__((preserve_access_index));

static __always_inline int record(struct task_struct *p, __u32 kind, __u32 to)
{
	struct rec_event e = { .kind = kind, .t = bpf_ktime_get_ns(), .arg = to };
	struct rec_cpu *c;
	__u32 cpu;

	c = rec_this_cpu(&cpu);
	if (!c)
		return 0;
	e.flags = BPF_CORE_READ(p, flags) & PF_KTHREAD ? REC_F_KTHREAD : 0;
	e.t_end = e.t;
	e.id = BPF_CORE_READ(p, pid);
	bpf_core_read(e.comm, sizeof(e.comm), &p->comm);
	rec_put(c, cpu, &e);
	return 0;
}

/* Both are raised with interrupts off. */
SEC("raw_tp/sched_wakeup")
int sched_wakeup(rec_args *ctx)
{
	struct task_struct *p = (void *)ctx->args[0];

	return record(p, REC_WAKEUP, BPF_CORE_READ(p, thread_info.cpu));
}

SEC("raw_tp/sched_migrate_task")
int sched_migrate_task(rec_args *ctx)
{
	return record((void *)ctx->args[0], REC_MIGRATE, ctx->args[1]);
}
