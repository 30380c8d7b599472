/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the thread of a run is, and since when. Without a listener that is a
 * few plain stores; with one the clock is read at each boundary, and with one
 * who wants stages at each step of a work request, too.
 */
#ifndef KRPING_PHASE_H
#define KRPING_PHASE_H

#include <linux/types.h>
#include "krping_abi.h"

struct krping_run;
struct krping_wr;

/**
 * struct krping_line - the time line of the iteration that goes on
 * @t_phase:	when the phase began that is next on it; 0: nobody listened
 * @t_waited:	up to where the stages of that phase go; 0: it has none yet
 * @sum:	flags of a phase that waited, for its sum
 * @nr:		segments
 * @seg:	see KRPING_SEG()
 * @stage:	of the wait that just ended: on the stack it would be cleared first
 * @t:		when the iteration began
 * @iter:	its number
 * @part:	nobody listened when the iteration began, and @t is later
 *
 * Set-up and tear-down have one, too.
 */
struct krping_line {
	u64 t_phase;
	u64 t_waited;
	u32 sum;
	u32 nr;
	u64 seg[KRPING_SEGS_MAX];
	u64 stage[KRPING_NR_STAGES];
	u64 t;
	u64 iter;
	bool part;
};

void __krping_enter(struct krping_run *run, enum krping_phase phase, u32 len,
		    u32 rkey);
void krping_waited(struct krping_run *run, const struct krping_wr *wr,
		   bool slept);
void krping_phases_end(struct krping_run *run, u64 now);
void krping_iter_begin(struct krping_run *run);
void krping_iter_end(struct krping_run *run);

#endif /* KRPING_PHASE_H */
