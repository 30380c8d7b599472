/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The distributions of a run, and which of them the words of krping_iter_stages belong to.
 */
#ifndef KRP_STAGES_DISTS_H
#define KRP_STAGES_DISTS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "../lib/hist.h"
#include "../../trace/krping_abi.h"
#include "provider.h"

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
 * and one for segments that find no place: these are what its time line is made of.
 * Behind them are requests (enum krping_request_stage), and those of a disk that write; then, of each phase that waits,
 * what the provider did in its stage wire. The histogram of a distribution has the same number.
 */
#define STG_DIST_ITER		0
#define STG_DIST_PHASE(i)	(1 + (i))
#define STG_DIST_STAGE(w, s)	(1 + STG_PHASES + (w) * STG_NR_STAGES + (s) - KRPING_STAGE_POST)
#define STG_DIST_NONE		(1 + STG_PHASES + STG_WAITS * STG_NR_STAGES)
#define STG_NR_TILES		(STG_DIST_NONE + 1)
_Static_assert((STG_NR_TILES & (STG_NR_TILES - 1)) == 0, "a mask does not do");
/* A flag beside a distribution: the segment is the sum of a phase that waited. */
#define STG_SUM			STG_NR_TILES
#define STG_DIST_REQUEST(s)	(STG_NR_TILES + (s))
#define STG_NR_REQUESTS		(2 * KRPING_NR_REQUESTS)
#define STG_DIST_PROVIDER(w, s)	(STG_DIST_REQUEST(STG_NR_REQUESTS) + (w) * PROVIDER_NR_STAGES + (s))
#define STG_NR_DISTS		STG_DIST_PROVIDER(STG_WAITS, 0)

/*
 * A distribution without its histogram. octave and row tell where in that the last value
 * was: mostly the next one is in the same octave.
 */
struct stg_dist {
	struct krp_sum s;
	uint64_t octave;
	uint64_t *row;		/* the buckets of the octave; of no meaning in a copy */
};

/* Where the time of a run went, without the histograms. */
struct stg_account {
	uint64_t anomalies;		/* how often the pieces did not add up */
	uint64_t too_long_ns;		/* the time that their words had no room for */
	struct krp_sum aborted;		/* iterations that were cut short */
	struct krp_sum once[KRPING_NR_ONCE];	/* phases of no iteration, by KRPING_ONCE() */
	struct stg_dist dist[STG_NR_DISTS];
	uint64_t early[STG_PHASES];	/* waits whose completion came before the phase began */
	uint32_t nr_phases;
	uint32_t nr_waits;
	uint8_t phase_of[STG_PHASES];	/* enum krping_phase */
	uint8_t wait_of[STG_WAITS];
};

/* clang-format on */

/*
 * The number of a phase among those that a run has, assigned when the phase is
 * first seen; max if all numbers are taken.
 */
static inline uint64_t stg_number(uint8_t *of, uint32_t *nr, uint64_t max, uint32_t phase)
{
	uint64_t i;

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
static inline uint64_t stg_phase(struct stg_account *a, uint32_t phase)
{
	return stg_number(a->phase_of, &a->nr_phases, STG_PHASES, phase);
}

/* The number of a phase that waits; STG_WAITS if none is left. */
static inline uint64_t stg_wait(struct stg_account *a, uint32_t phase)
{
	return stg_number(a->wait_of, &a->nr_waits, STG_WAITS, phase);
}

/*
 * Assign the distribution of a segment: STG_DIST_NONE if it finds no place. The
 * sum of a phase that waited gets STG_SUM, too.
 */
static inline uint32_t stg_new_dist(struct stg_account *a, uint64_t seg)
{
	uint64_t stage = KRPING_SEG_STAGE(seg), phase = KRPING_SEG_PHASE(seg);
	uint32_t sum = seg & KRPING_SEG_F_SUM ? STG_SUM : 0;
	uint64_t p = stg_phase(a, phase), w = stage ? stg_wait(a, phase) : 0;

	if (p >= STG_PHASES || w >= STG_WAITS || stage >= KRPING_NR_STAGES)
		return STG_DIST_NONE + sum;
	return stage ? STG_DIST_STAGE(w, stage) : STG_DIST_PHASE(p) + sum;
}

/*
 * Check where the pieces ended ("at") against the end of the whole (t_end). The
 * word of a piece of more than 26 days (a server may listen that long) has the
 * largest number instead: how much is lacking is known, but not in which piece.
 */
static inline void stg_check(struct stg_account *a, uint64_t t_begin, uint64_t at, uint64_t t_end)
{
	if (at == t_end)
		return;
	a->anomalies++;
	if (t_end > at && at - t_begin >= KRPING_SEG_NS_MAX)
		a->too_long_ns += t_end - at;
}

/*
 * Account an event that is not a whole iteration: set-up, tear-down, or an
 * iteration that was cut short.
 */
static inline void stg_once(struct stg_account *a, const __u64 *words, unsigned int nr,
			    uint64_t t_begin, uint64_t t_end)
{
	uint64_t seg, ns, phase, sum, cut = 0, at = t_begin;
	bool was_cut = false;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		seg = words[i];
		if (!KRPING_WORD_IS_TIME(seg))
			continue;
		ns = KRPING_SEG_NS(seg);
		/* The stages of a phase that waited come before their sum. */
		sum = seg & KRPING_SEG_F_SUM;
		if (!sum)
			at += ns;
		phase = KRPING_SEG_PHASE(seg);
		if (KRPING_PHASE_IS_ONCE(phase)) {
			if (sum || !KRPING_SEG_STAGE(seg))
				krp_sum_add(&a->once[KRPING_ONCE(phase)], ns);
		} else if (!sum) {
			cut += ns;
			was_cut = true;
		}
	}
	if (was_cut)
		krp_sum_add(&a->aborted, cut);
	stg_check(a, t_begin, at, t_end);
}

#endif /* KRP_STAGES_DISTS_H */
