/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the thread of a run is, and since when. Without a listener this costs a few plain
 * stores; a listener decides how often the clock is read, see wants.h.
 */
#ifndef KRPING_PHASE_H
#define KRPING_PHASE_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/types.h>
#include "krping_abi.h"
#include "timeline.h"
#include "wants.h"

struct krping_record;
struct krping_wr;

/* Beside KRPING_PHASE_F_*, in no event: the set-up is over, and ends its time line. */
#define KRPING_LINE_ENDS 0x80000000

/*
 * The run's thread uses this, and in a flood whoever handles a completion, see run.h. /proc reads
 * phase and t_phase, too.
 */
struct krping_phases {
	struct krping_record *rec;
	enum krping_phase phase;
	u64 t_phase; /* when it began; 0: nobody wanted phases */
	u64 t_next;  /* a clock reading at which the next phase begins; 0: none */
	u32 flags;   /* KRPING_PHASE_F_* and KRPING_LINE_ENDS for the next boundary */
	struct krping_line line;
	u32 warm;     /* iterations of the warm-up that are left */
	bool muted;   /* in the warm-up, which is one phase whatever the thread does */
	u64 turn;     /* iterations so far, with those of the warm-up */
	u64 iter;     /* number of the iteration, from 0; the warm-up has none */
	bool in_iter; /* between krping_iter_begin() and krping_iter_end() */
	u64 t_iter;   /* when the iteration began */
};

void __krping_enter(struct krping_phases *at, enum krping_phase phase, u64 now, u32 len, u32 rkey);
void __krping_line_ends(struct krping_phases *at);
void krping_waited_own(struct krping_phases *at, const struct krping_wr *wr, bool slept,
		       u64 t_reap);
void krping_waited_other(struct krping_phases *at, const struct krping_wr *wr, bool slept,
			 u64 t_reap);

/*
 * A waiting phase is about to end, with the completion of wr. own: the run waits for wr as such;
 * else wr is a RECV, or was posted before the phase that waits. slept: the thread slept, or
 * polled on. t_reap: when the thread last began to poll the CQ; 0: another context polls.
 */
static __always_inline void krping_waited(struct krping_phases *at, const struct krping_wr *wr,
					  bool own, bool slept, u64 t_reap)
{
	if (own)
		krping_waited_own(at, wr, slept, t_reap);
	else
		krping_waited_other(at, wr, slept, t_reap);
}

/* What comes next is an iteration: set-up, warm-up and pauses are no part of it. */
void krping_phases_loop(struct krping_phases *at);
/* The set-up goes on with this connection: an event of its time line has room for a few of them. */
static inline void krping_phases_part(struct krping_phases *at, u32 queue)
{
	if (queue && queue % 4 == 0)
		krping_phases_loop(at);
}

/* The run is over, before krping_run_end. */
void krping_phases_end(struct krping_phases *at, u64 now);
/* Before the iteration enters its first phase, and in its last phase. */
void krping_iter_begin(struct krping_phases *at);
void krping_iter_end(struct krping_phases *at);

/* Before a phase that is no part of an iteration: cuts short the one that is under way. */
static inline void krping_iter_abort(struct krping_phases *at)
{
	at->muted = false;
	if (at->in_iter)
		at->flags = KRPING_PHASE_F_ABORT;
	at->in_iter = false;
}

/* The thread enters a phase; length and remote key are 0 if the phase has none. */
static inline void krping_enter(struct krping_phases *at, enum krping_phase phase, u32 len,
				u32 rkey)
{
	if (krping_wants(phases)) {
		__krping_enter(at, phase, at->t_next ?: ktime_get_ns(), len, rkey);
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
