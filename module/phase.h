/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the thread of a run is, and since when. Without a listener this costs a
 * few plain stores. If a listener wants phases, the clock is read at each boundary
 * between them; if it wants stages, also at each step of a work request.
 */
#ifndef KRPING_PHASE_H
#define KRPING_PHASE_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "krping_abi.h"
#include "timeline.h"
#include "wants.h"

struct krping_record;
struct krping_wr;

/* With KRPING_PHASE_F_*: the time line ends at the next boundary, since a set-up is over. */
#define KRPING_LINE_ENDS 0x80000000

/**
 * struct krping_phases - where the thread of a run is, and its iterations
 * @rec:	record of the run
 * @phase:	the phase that the thread is in; /proc reads it, too
 * @t_phase:	when that phase began; 0: nobody wanted phases; /proc reads it, too
 * @t_next:	a clock reading at which the next phase begins; 0: none
 * @flags:	KRPING_PHASE_F_* and KRPING_LINE_ENDS for the next boundary
 * @line:	the time line of the iteration, if an event tells iterations
 * @warm:	iterations of the warm-up that are left
 * @muted:	the warm-up is under way: it is one phase, whatever the thread does
 * @turn:	iterations so far, with those of the warm-up
 * @iter:	number of the iteration, from 0; the warm-up has none
 * @in_iter:	the thread is between krping_iter_begin() and krping_iter_end()
 * @t_iter:	when the iteration began
 *
 * Only the run's thread uses this, except for the members that /proc reads.
 */
struct krping_phases {
	struct krping_record *rec;
	enum krping_phase phase;
	u64 t_phase;
	u64 t_next;
	u32 flags;
	struct krping_line line;
	u32 warm;
	bool muted;
	u64 turn;
	u64 iter;
	bool in_iter;
	u64 t_iter;
};

void __krping_enter(struct krping_phases *at, enum krping_phase phase, u32 len,
		    u32 rkey);
void __krping_line_ends(struct krping_phases *at);
void krping_waited(struct krping_phases *at, const struct krping_wr *wr,
		   bool own, bool slept, u64 t_reap);
void krping_phases_loop(struct krping_phases *at);
void krping_phases_end(struct krping_phases *at, u64 now);
void krping_iter_begin(struct krping_phases *at);
void krping_iter_end(struct krping_phases *at);

/**
 * krping_iter_abort - the iteration that is under way, if there is one, is cut short
 * @at: where the run's thread is
 *
 * Context: the run's thread, before it enters a phase that is no part of it.
 */
static inline void krping_iter_abort(struct krping_phases *at)
{
	at->muted = false;
	if (at->in_iter)
		at->flags = KRPING_PHASE_F_ABORT;
	at->in_iter = false;
}

/**
 * krping_enter - the thread leaves its phase and enters another
 * @at: where the run's thread is
 * @phase: the phase it enters
 * @len: length in bytes, if the phase has one, else 0
 * @rkey: remote key, if the phase has one, else 0
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
		return;
	}
	if (krping_wants(lines)) {
		if (unlikely(at->flags || !at->line.t))
			__krping_line_ends(at);
	} else {
		at->line.t = 0;
	}
	WRITE_ONCE(at->phase, phase);
	WRITE_ONCE(at->t_phase, 0);
	at->t_next = 0;
	at->flags = 0;
}

#endif /* KRPING_PHASE_H */
