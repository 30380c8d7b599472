/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_stages.bpf.c and krping-stages share. */
#ifndef KRPING_STAGES_H
#define KRPING_STAGES_H

#include "../trace/krping_abi.h"
#include "join.h"
#include "run.h"

/* clang-format off */
/* More than any test has: phases of an iteration, and those that wait. */
#define STG_PHASES	10
#define STG_WAITS	4
/* What a segment can say, also one of a later module. */
#define STG_SEGS	(KRPING_SEG_WHAT(~0ULL) + 1)

/* All but the first, which is the phase. */
#define STG_NR_STAGES	(KRPING_NR_STAGES - 1)

/*
 * The distributions of a run: whole iterations, then its phases in the order
 * of their first appearance, then the stages of its waiting phases likewise,
 * and one for what finds no place. Histograms have the same numbers, and what a
 * tile says (see join.h) is the number of a distribution, too: JOIN_OTHER is
 * that of iterations, which are no tile, and JOIN_NONE the last one.
 */
#define STG_DIST_ITER		0
#define STG_DIST_PHASE(i)	(1 + (i))
#define STG_DIST_STAGE(w, s)	(1 + STG_PHASES + (w) * STG_NR_STAGES + (s) - KRPING_STAGE_POST)
#define STG_DIST_NONE		(1 + STG_PHASES + STG_WAITS * STG_NR_STAGES)
#define STG_NR_DISTS		(STG_DIST_NONE + 1)
_Static_assert(STG_DIST_ITER == JOIN_OTHER && STG_DIST_NONE == JOIN_NONE,
	       "a tile says something else");
_Static_assert(JOIN_MARGIN >= KRPING_SEGS_MAX, "tiles are overwritten that a peer may read");
_Static_assert((STG_NR_DISTS & (STG_NR_DISTS - 1)) == 0, "a mask does not do");
_Static_assert(STG_DIST_PHASE(STG_PHASES) <= JOIN_ROWS, "a join has too few rows");
/* In dist_of: of the sum of a phase that waited. */
#define STG_SUM			STG_NR_DISTS

struct stages_run {
	struct krp_head head;
	__u64 t_iter;			/* the iteration began */
	__u64 iter;			/* the number of the next one */
	__u64 holes;			/* how often it was not seen what came before */
	__u64 anomalies;		/* pieces that do not add up */
	__u64 unmatched;		/* iterations out of order */
	struct krp_sum aborted;		/* iterations that were cut short */
	struct krp_sum once[KRPING_PHASE_FREE + 1];	/* set-up and tear-down */
	struct krp_dist dist[STG_NR_DISTS];
	__u64 early[STG_NR_DISTS];	/* of phases: completed before they began */
	__u32 nr_phases;
	__u32 nr_waits;
	__u8 phase_of[STG_PHASES];	/* enum krping_phase */
	__u8 wait_of[STG_WAITS];
	__u8 dist_of[STG_SEGS];		/* by KRPING_SEG_WHAT(); 0: not seen yet */
	__u32 asked_peer;		/* how often a run that was there before us was looked for */
	__u64 slow_lost;		/* slow iterations whose record had no room */
	__u64 slow_lost_max;		/* the longest of them */
	__u64 seg[KRPING_SEGS_MAX + 1];	/* of the iteration that just ended, and 0 */
	struct join join;
};

#define STG_SLOW_TILES	KRPING_SEGS_MAX

/* An iteration that took longer than asked for: its time line. */
struct stg_slow {
	__u32 run;
	__u32 peer;			/* 0: not here */
	__u32 tid;			/* of the run's thread */
	__u32 cpu;			/* where it ended */
	__u32 nr;			/* tiles */
	__u32 more;			/* tiles that had no room */
	__u64 iter;
	__u64 t_first;			/* tiles count from here */
	__u64 t_begin;
	__u64 t_end;
	__u64 tile[STG_SLOW_TILES];
};
/* clang-format on */

#endif /* KRPING_STAGES_H */
