/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The flight recorder: what the CPUs did in the last moments. Kernel side: bpf/recorder.h. */
#ifndef KRP_STAGES_FLIGHT_H
#define KRP_STAGES_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cause.h"
#include "../lib/probe.h"
#include "rings.h"

struct recorder_bpf;
struct recorder_wake_bpf;

struct krp_recorder {
	struct recorder_bpf *skel;
	struct recorder_wake_bpf *wake;
	struct krp_probe probe;
	struct krp_rings rings;
	bool wakeups; /* threads that became ready to run are recorded, too */
};

/*
 * Loads and attaches, or dies with the cause; krp_probe_init() comes before. The
 * part that tells wakeups needs the kernel's BTF; without that a note says what is
 * missing.
 */
void krp_recorder_open(struct krp_recorder *r);
void krp_recorder_close(struct krp_recorder *r);

/* Events of all CPUs from a time on. */
struct krp_flight {
	struct krp_cpu_events *cpus;
	unsigned int nr_cpus;
	/* CPUs of which some events of that time may have been overwritten already. */
	uint64_t overwritten;
};

/*
 * Copies the events from t on. tid is a thread that was running at t_end: its
 * last stay on a CPU, which may still go on, is copied, too.
 */
void krp_recorder_copy(const struct krp_recorder *r, uint64_t t, uint64_t t_end, uint32_t tid,
		       unsigned int cpu, struct krp_flight *to);
void krp_flight_free(struct krp_flight *rec);

/* The name of a softirq's vector; NULL if it has none. */
const char *krp_softirq_name(uint32_t vec);
/* Writes the name of an interrupt, from /proc/interrupts, to the buffer, escaped. */
void krp_irq_name(uint32_t irq, char *buf, size_t size);

#endif /* KRP_STAGES_FLIGHT_H */
