/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the thread of a run is, and since when. Without a listener that is a
 * few plain stores; with one the clock is read at each boundary, and with one
 * who wants stages at each step of a work request, too.
 */
#ifndef KRPING_PHASE_H
#define KRPING_PHASE_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "krping_abi.h"
#include "wants.h"

struct krping_record;
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

/**
 * struct krping_phases - where the thread of a run is, and its time line
 * @rec:	record of the run
 * @phase:	where the thread is; /proc reads it, too
 * @t_phase:	since when; 0 where no one listened
 * @t_next:	a clock reading that the next phase begins with; 0: none
 * @flags:	KRPING_PHASE_F_* for the next boundary
 * @line:	the time line of the iteration, where krping_iter is on
 * @iter:	number of the iteration, from 0
 * @in_iter:	between krping_iter_begin() and krping_iter_end()
 * @t_iter:	when the iteration began
 *
 * The thread's alone, but for what /proc reads.
 */
struct krping_phases {
	struct krping_record *rec;
	enum krping_phase phase;
	u64 t_phase;
	u64 t_next;
	u32 flags;
	struct krping_line line;
	u64 iter;
	bool in_iter;
	u64 t_iter;
};

void __krping_enter(struct krping_phases *at, enum krping_phase phase, u32 len,
		    u32 rkey);
void krping_waited(struct krping_phases *at, const struct krping_wr *wr,
		   bool slept);
void krping_phases_end(struct krping_phases *at, u64 now);
void krping_iter_begin(struct krping_phases *at);
void krping_iter_end(struct krping_phases *at);

/**
 * krping_enter - the thread leaves its phase and enters another
 * @at: where the run's thread is
 * @phase: the phase it enters
 * @len: bytes, where the phase has such, else 0
 * @rkey: remote key, where the phase has one, else 0
 *
 * Without a listener this is a few plain stores.
 *
 * Context: the run's thread.
 */
static inline void krping_enter(struct krping_phases *at,
				enum krping_phase phase, u32 len, u32 rkey)
{
	if (krping_wants(phases)) {
		__krping_enter(at, phase, len, rkey);
	} else {
		WRITE_ONCE(at->phase, phase);
		WRITE_ONCE(at->t_phase, 0);
		at->line.t_phase = 0;
		at->t_next = 0;
		at->flags = 0;
	}
}

#endif /* KRPING_PHASE_H */
