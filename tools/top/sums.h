/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The sums of a run, made of the words of krping_iter_phases. */
#ifndef KRP_TOP_SUMS_H
#define KRP_TOP_SUMS_H

#include "../lib/seen.h"
#include "../lib/hist.h"

/* A phase of a newer module that we do not know is accounted to the entry behind the last phase. */
#define TOP_PHASES (KRPING_NR_PHASES + 1)

/* The last transitions on the way to a connection, of which a run may make several. */
#define TOP_SETUP_STEPS 4

struct top_setup_step {
	uint64_t t;
	uint32_t state; /* enum krping_state, which the run has entered */
	uint32_t again; /* it had iterations before */
};

struct top_phase_sum {
	uint64_t count, sum, max;
};

struct top_sums {
	uint64_t commits, aborts;
	uint64_t cut_ns;     /* the time in iterations that were cut short */
	struct krp_sum iter; /* of those that were seen from their beginning on */
	uint64_t nr_setup;   /* the number of all steps; the last ones are here */
	struct top_setup_step setup[TOP_SETUP_STEPS];
	struct top_phase_sum phases[TOP_PHASES];
	struct krp_hist hist; /* of iter */
};

/* Adds what an event tells. */
void top_sums_take(struct top_sums *s, const struct krp_rec *rec);

#endif /* KRP_TOP_SUMS_H */
