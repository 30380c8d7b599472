/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What kept a thread from going on. The events of the flight recorder
 * (bpf/recorder.h) tell who had the CPU for which the thread, or a thread that
 * worked for it, was waiting.
 */
#ifndef KRP_STAGES_CAUSE_H
#define KRP_STAGES_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "../../bpf/recorder.h"

enum krp_cause_mode {
	/*
	 * The thread works. Causes are tasks that had its CPU while it was
	 * ready to run, and softirqs and interrupts on top of it.
	 */
	KRP_CAUSE_RUN,
	/* The thread was woken: causes as for KRP_CAUSE_RUN, but it is ready from the beginning. */
	KRP_CAUSE_WAKE,
	/*
	 * The thread sleeps, and others work for it. Causes are softirqs and
	 * interrupts on all CPUs, and tasks that had a CPU on which a kernel
	 * thread, or the peer's thread, was ready to run.
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
	uint32_t waiter;    /* REC_TASK: the thread that was ready to run, 0: the run's thread */
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
	uint32_t peer_tid; /* the peer's thread, 0: not on this host */
	bool wakeups;	   /* REC_WAKEUP and REC_MIGRATE were recorded */
};

/* Which threads were ready to run and could not, and where; good for any number of windows. */
struct krp_history;

/* in has to stay as it is until the history is freed. */
struct krp_history *krp_history_new(const struct krp_cause_input *in);
void krp_history_free(struct krp_history *h);

/*
 * Adds the causes in a window to *to. Causes on different CPUs overlap in time,
 * so with KRP_CAUSE_AWAY their sum can be longer than the window.
 */
void krp_causes_find(struct krp_causes *to, const struct krp_history *h,
		     const struct krp_window *w);
/* If all causes together are more than limit, reduces each by its share. */
void krp_causes_limit(struct krp_causes *c, uint64_t limit);
void krp_causes_add(struct krp_causes *to, const struct krp_causes *from);
uint64_t krp_causes_sum(const struct krp_causes *c);
/* A line that tasks of this name are much of this time, on a host with so many CPUs; "": they are not. */
void krp_causes_own(char *buf, size_t size, const struct krp_causes *c, const char *comm,
		    uint64_t of_ns, long cpus);
/* Sorts the causes, the largest first. */
void krp_causes_sort(struct krp_causes *c);
void krp_causes_free(struct krp_causes *c);

#endif /* KRP_STAGES_CAUSE_H */
