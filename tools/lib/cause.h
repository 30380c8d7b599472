/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What kept a thread from going on: from the events of the flight recorder
 * (bpf/recorder.h) who had the CPU that it, or who worked for it, was waiting for.
 */
#ifndef KRP_LIB_CAUSE_H
#define KRP_LIB_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "../../bpf/recorder.h"

enum krp_cause_mode {
	/*
	 * The thread works: what counts is who else had its CPU while it was
	 * ready to run, and softirqs and interrupts on top of it.
	 */
	KRP_CAUSE_RUN,
	/* It was woken: the same, and it is ready from the beginning. */
	KRP_CAUSE_WAKE,
	/*
	 * It sleeps, others work for it: softirqs and interrupts on all CPUs,
	 * and who had a CPU that a thread of the kernel's, or the peer's
	 * thread, was ready to run on.
	 */
	KRP_CAUSE_AWAY,
};

struct krp_window {
	uint64_t t, t_end;
	enum krp_cause_mode mode;
};

struct krp_cause {
	enum rec_kind kind; /* REC_TASK, REC_SOFTIRQ, REC_IRQ */
	uint32_t id;	    /* thread, vector, interrupt */
	uint32_t waiter;    /* REC_TASK: who was ready to run, 0: the run's thread */
	char comm[REC_COMM_LEN];
	char waiter_comm[REC_COMM_LEN];
	uint64_t ns;
};

struct krp_causes {
	struct krp_cause *v;
	size_t nr;
};

/* The events of a CPU, in the order of their ends. */
struct krp_cpu_events {
	struct rec_event *v;
	size_t nr;
};

/* What is known of the time around an iteration. */
struct krp_cause_input {
	const struct krp_cpu_events *cpus;
	unsigned int nr_cpus;
	uint32_t tid;	   /* the run's thread */
	uint32_t peer_tid; /* of its peer, 0: not here */
	bool wakeups;	   /* REC_WAKEUP and REC_MIGRATE were recorded */
};

/* Who was ready to run and could not, and where: of any number of windows. */
struct krp_history;

/* in has to stay as it is until the history is freed. */
struct krp_history *krp_history_new(const struct krp_cause_input *in);
void krp_history_free(struct krp_history *h);

/*
 * Adds the causes in a window to *to. Those of different CPUs run at the same
 * time, so with KRP_CAUSE_AWAY they can be more than the window is long.
 */
void krp_causes_find(struct krp_causes *to, const struct krp_history *h,
		     const struct krp_window *w);
/* Where they are more than limit all together, each is made less by its share. */
void krp_causes_limit(struct krp_causes *c, uint64_t limit);
void krp_causes_add(struct krp_causes *to, const struct krp_causes *from);
uint64_t krp_causes_sum(const struct krp_causes *c);
/* The largest first. */
void krp_causes_sort(struct krp_causes *c);
void krp_causes_free(struct krp_causes *c);

#endif /* KRP_LIB_CAUSE_H */
