/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A flight recorder of what each CPU does: each CPU has a ring of its last
 * events, in an array map that user space maps.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_RECORDER_H
#define KRPING_RECORDER_H

/* clang-format off */

#define REC_COMM_LEN	16

enum rec_kind {
	REC_TASK,		/* a task had the CPU from t to t_end */
	REC_SOFTIRQ,		/* a softirq vector ran */
	REC_IRQ,		/* an interrupt's handler ran */
	REC_WAKEUP,		/* a task became ready to run on the CPU in arg */
	REC_MIGRATE,		/* a task was moved to the CPU in arg */
};

#define REC_F_READY	0x1	/* REC_TASK: the task was still ready to run */
#define REC_F_KTHREAD	0x2	/* REC_WAKEUP, REC_MIGRATE: a kernel thread */

struct rec_event {
	/*
	 * The number of the event + 1; 0 while the event is written. It tells a
	 * reader that it has read this event, and all of it.
	 */
	__u32 seq;
	__u16 kind;
	__u16 flags;
	__u64 t;
	__u64 t_end;
	__u32 id;		/* thread, vector, or number of the interrupt */
	__u32 arg;		/* REC_SOFTIRQ: the thread it ran in; wakeup, migration: a CPU */
	char comm[REC_COMM_LEN];
};

/* The state of a CPU. Each member except head belongs to the programs of one context. */
struct rec_cpu {
	__u32 head;		/* events made */
	__u32 vec;
	__u64 t_task;		/* when the CPU got its task; 0: not seen */
	__u64 t_softirq;
	__u64 t_irq;
	__u64 pad[4];		/* so that each CPU has a cache line of its own */
};

/* clang-format on */

#endif /* KRPING_RECORDER_H */
