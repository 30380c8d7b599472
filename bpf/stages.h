/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_stages.bpf.c and krping-stages share. */
#ifndef KRPING_STAGES_H
#define KRPING_STAGES_H

#include "../trace/krping_abi.h"
#include "dist.h"

/* clang-format off */
/* Limits above what any test has: phases of an iteration, and phases that wait. */
#define STG_PHASES	10
#define STG_WAITS	4
/* The number of values of KRPING_SEG_WHAT(), also in a later module. */
#define STG_SEGS	(KRPING_SEG_WHAT(~0ULL) + 1)

/* All stages but the first one, which is the phase itself. */
#define STG_NR_STAGES	(KRPING_NR_STAGES - 1)

/*
 * The distributions of a run: whole iterations, then its phases in the order of
 * their first appearance, then the stages of its waiting phases in that order,
 * and one for segments that find no place. The histogram of a distribution has
 * the same number.
 */
#define STG_DIST_ITER		0
#define STG_DIST_PHASE(i)	(1 + (i))
#define STG_DIST_STAGE(w, s)	(1 + STG_PHASES + (w) * STG_NR_STAGES + (s) - KRPING_STAGE_POST)
#define STG_DIST_NONE		(1 + STG_PHASES + STG_WAITS * STG_NR_STAGES)
#define STG_NR_DISTS		(STG_DIST_NONE + 1)
_Static_assert((STG_NR_DISTS & (STG_NR_DISTS - 1)) == 0, "a mask does not do");
/* A flag in dist_of: the segment is the sum of a phase that waited. */
#define STG_SUM			STG_NR_DISTS

/* Where the time of a run went, without the histograms. */
struct stg_account {
	__u64 anomalies;		/* how often the pieces did not add up */
	__u64 too_long_ns;		/* the time that their words had no room for */
	struct krp_sum aborted;		/* iterations that were cut short */
	struct krp_sum once[KRPING_NR_ONCE];	/* phases of no iteration, by KRPING_ONCE() */
	struct krp_dist dist[STG_NR_DISTS];
	__u64 early[STG_PHASES];	/* waits whose completion came before the phase began */
	__u32 nr_phases;
	__u32 nr_waits;
	__u8 phase_of[STG_PHASES];	/* enum krping_phase */
	__u8 wait_of[STG_WAITS];
	__u8 dist_of[STG_SEGS];		/* by KRPING_SEG_WHAT(); 0: not seen yet */
};

/*
 * What the kernel side knows of a run. Its account covers only events that
 * found no room in the ring: mostly none.
 */
struct stages_run {
	struct krp_head head;
	__u64 iter;			/* the number of the next iteration */
	__u64 holes;			/* how often the event before this one was not seen */
	__u64 unmatched;		/* iterations out of order */
	__u64 told;			/* records of this run that were put into the ring */
	__u64 spilled_ns;		/* the time that is in the account */
	__u64 slow;			/* slow iterations */
	__u64 slow_lost;		/* slow iterations whose record found no room */
	__u64 slow_lost_max;		/* the longest of those */
	__u32 peer;			/* the peer's run, if it is on this host */
	struct stg_account spilled;
	__u64 seg[KRPING_SEGS_MAX + 1];
};

/* An iteration, set-up or tear-down, as the module told it. */
struct stg_iter {
	__u32 run;
	__u32 slot;
	__u32 complete;			/* it is an iteration, and a whole one */
	__u32 reserved;
	__u64 t_begin;
	__u64 t_end;
	__u64 spilled_ns;		/* the run's spilled_ns before this record */
	__u64 seg[KRPING_SEGS_MAX + 1];	/* with a 0 behind the last one */
};

/* An iteration that took as long as the user asked for, or longer. */
struct stg_slow {
	__u32 run;
	__u32 slot;
	__u32 tid;			/* thread ID of the run's thread */
	__u32 cpu;			/* the CPU where the iteration ended */
	__u64 iter;
	__u64 t_begin;
	__u64 t_end;
	__u64 seg[KRPING_SEGS_MAX + 1];
};
/* clang-format on */

/*
 * The number of a phase among those that a run has, assigned when the phase is
 * first seen; max if all numbers are taken.
 */
static __always_inline __u64 stg_number(__u8 *of, __u32 *nr, __u64 max, __u32 phase)
{
	__u64 i;

	for (i = 0; i < max; i++) {
		if (i == *nr) {
			of[i] = phase;
			(*nr)++;
			return i;
		}
		if (of[i] == phase)
			return i;
	}
	return i;
}

/* The number of a phase of an iteration; STG_PHASES if none is left. */
static __always_inline __u64 stg_phase(struct stg_account *a, __u32 phase)
{
	return stg_number(a->phase_of, &a->nr_phases, STG_PHASES, phase);
}

/* The number of a phase that waits; STG_WAITS if none is left. */
static __always_inline __u64 stg_wait(struct stg_account *a, __u32 phase)
{
	return stg_number(a->wait_of, &a->nr_waits, STG_WAITS, phase);
}

/*
 * Assign the distribution of a segment: STG_DIST_NONE if it finds no place. The
 * sum of a phase that waited gets STG_SUM, too.
 */
static inline __u32 stg_new_dist(struct stg_account *a, __u64 seg)
{
	__u64 stage = KRPING_SEG_STAGE(seg), phase = KRPING_SEG_PHASE(seg);
	__u32 sum = seg & KRPING_SEG_F_SUM ? STG_SUM : 0, dist;
	__u64 p = stg_phase(a, phase), w = stage ? stg_wait(a, phase) : 0;

	if (p >= STG_PHASES || w >= STG_WAITS || stage >= KRPING_NR_STAGES)
		return STG_DIST_NONE + sum;
	dist = stage ? STG_DIST_STAGE(w, stage) : STG_DIST_PHASE(p) + sum;
	a->dist_of[KRPING_SEG_WHAT(seg)] = dist;
	return dist;
}

/*
 * Check where the pieces ended ("at") against the end of the whole (t_end). A
 * piece has 53 bits for its time. A piece of 104 days or more (a server may
 * listen that long) therefore lacks a multiple of 2^53 ns: how much is known,
 * but not in which piece.
 */
static inline void stg_check(struct stg_account *a, __u64 at, __u64 t_end)
{
	if (at == t_end)
		return;
	a->anomalies++;
	if (t_end > at && !((t_end - at) & ((1ULL << KRPING_SEG_NS_BITS) - 1)))
		a->too_long_ns += t_end - at;
}

/*
 * Account an event that is not a whole iteration: set-up, tear-down, or an
 * iteration that was cut short.
 */
static inline void stg_once(struct stg_account *a, const __u64 *segs, __u64 t_begin, __u64 t_end)
{
	__u64 seg, ns, phase, once, sum, cut = 0;
	__u32 i, was_cut = 0;

	for (i = 0; i < KRPING_SEGS_MAX; i++) {
		seg = segs[i];
		if (!seg)
			break;
		ns = KRPING_SEG_NS(seg);
		/* The stages of a phase that waited come before their sum. */
		sum = seg & KRPING_SEG_F_SUM;
		if (!sum)
			t_begin += ns;
		phase = KRPING_SEG_PHASE(seg);
		once = KRPING_PHASE_IS_ONCE(phase) ? KRPING_ONCE(phase) : KRPING_NR_ONCE;
		barrier_var(once);
		if (once < KRPING_NR_ONCE) {
			if (sum || !KRPING_SEG_STAGE(seg))
				krp_sum_add(&a->once[once], ns);
		} else if (!sum) {
			cut += ns;
			was_cut = 1;
		}
	}
	if (was_cut)
		krp_sum_add(&a->aborted, cut);
	stg_check(a, t_begin, t_end);
}

#endif /* KRPING_STAGES_H */
