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
/* Above the number of any phase, also of those of later modules: as many as a word has bits. */
#define STG_PHASE_MAX	64
#define STG_WAITS	4	/* a power of two */

enum stg_stage {
	STG_POST,
	STG_WIRE,
	STG_CQ,
	STG_WAKE,
	STG_NR_STAGES,
};

/*
 * The distributions of a run: whole iterations, then its phases in the order
 * of their first appearance, then the stages of its waiting phases likewise.
 * Histograms have the same numbers.
 */
#define STG_DIST_ITER		0
#define STG_DIST_PHASE(i)	(1 + (i))
#define STG_DIST_STAGE(w, s)	(1 + STG_PHASES + (w) * STG_NR_STAGES + (s))
#define STG_NR_DISTS		STG_DIST_STAGE(STG_WAITS, 0)

/*
 * What a tile says (see join.h): the phase, or the stage of a phase that waits,
 * each by its number within the run.
 */
#define STG_TILE_PHASE(i)	(i)
#define STG_TILE_STAGE(w, s)	(STG_PHASES + (w) * STG_NR_STAGES + (s))
_Static_assert(STG_TILE_STAGE(STG_WAITS, 0) <= JOIN_OTHER, "tiles have too few numbers");
_Static_assert(STG_WAITS <= JOIN_ROWS, "a join has too few rows");

/* A stage whose stamps are unknown. */
#define STG_UNKNOWN		(~0ULL)
/* clang-format on */

static inline __u64 stg_at_least(__u64 a, __u64 floor)
{
	return a > floor ? a : floor;
}

/* clang-format off */
/*
 * The stages of a wait, from the stamps of krping_wait. Each ends where the
 * next one begins, and none begins before the phase does: what arrived early
 * has cost this phase nothing.
 */
static inline __attribute__((always_inline))
void stg_split(__u64 *stage, __u64 t_start, __u64 t_post, __u64 t_posted, __u64 t_sig, __u64 t_wc,
	       __u64 t_run)
/* clang-format on */
{
	__u64 arrived = t_sig ? t_sig : t_wc, t = stg_at_least(t_post, t_start), next;

	if (!t_post) {
		/* A RECV: posted long ago. */
		stage[STG_POST] = STG_UNKNOWN;
	} else {
		/* The completion may come before the call returns. */
		next = t_posted && t_posted < arrived ? t_posted : arrived;
		next = stg_at_least(next, t);
		stage[STG_POST] = next - t;
		t = next;
	}
	next = stg_at_least(arrived, t);
	stage[STG_WIRE] = next - t;
	t = next;
	next = stg_at_least(t_wc, t);
	stage[STG_CQ] = t_sig ? next - t : STG_UNKNOWN;
	stage[STG_WAKE] = t_run - next;
}

/* clang-format off */
struct stg_wait {
	__u64 stage[STG_NR_STAGES];	/* of the iteration that goes on */
	__u64 unknown[STG_NR_STAGES];	/* how often it was unknown */
	__u64 early;			/* completed before the phase began */
};

struct stages_run {
	struct krp_head head;
	__u64 t_iter;			/* the iteration began; 0: not seen */
	__u64 iter;			/* its number */
	__u64 holes;			/* phases whose beginning is unknown */
	__u64 anomalies;		/* clock went back, or events out of order */
	__u64 unmatched;		/* krping_wait of another iteration */
	struct krp_sum aborted;		/* iterations that were cut short */
	struct krp_sum once[KRPING_PHASE_FREE + 1];	/* set-up and tear-down */
	struct krp_sum dist[STG_NR_DISTS];
	/* The iteration that goes on, until it is committed or aborted. */
	__u64 pending[STG_PHASES];
	__u32 phase_mask;
	__u32 wait_mask;
	__u32 cur_phase;
	__u32 nr_phases;
	__u32 nr_waits;
	__u8 phase_of[STG_PHASES];	/* enum krping_phase */
	__u8 index_of[STG_PHASE_MAX];	/* the inverse, + 1 */
	__u8 wait_of[STG_WAITS];
	__u64 waits;			/* a bit for each phase of wait_of */
	__u32 cur_wait;			/* + 1: of the phase that ends, 0: it did not wait */
	__u32 asked_peer;		/* how often a run that was there before us was looked for */
	__u64 slow_lost;		/* slow iterations whose record had no room */
	__u64 slow_lost_max;		/* the longest of them */
	struct stg_wait wait[STG_WAITS];
	struct join join;
};

/* More than an iteration has. */
#define STG_SLOW_TILES	48

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
