// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Phases and iterations: where the thread of a run is. */
#include <linux/ktime.h>
#include "krping_trace.h"
#include "phase.h"
#include "record.h"
#include "wants.h"
#include "wr.h"

/* The flags of a boundary that events have. */
static u32 krping_event_flags(u32 flags)
{
	return flags & ~KRPING_LINE_ENDS;
}

static noinline void krping_trace_wait(struct krping_phases *at, const struct krping_wr *wr,
				       bool slept, u64 t_post, u64 t_posted, u64 t_sig, u64 t_run)
{
	krping_trace(wait, at->rec->id, at->iter, KRPING_WAIT(at->phase, wr->kind, slept), wr->cid,
		     at->t_phase, t_post, t_posted, t_sig, wr->t_wc, t_run);
}

/* Inlined, since a phase that waits for a message has no times of a post. */
static __always_inline void krping_tell_wait(struct krping_phases *at, const struct krping_wr *wr,
					     bool own, bool slept, u64 t_reap)
{
	u64 t_post = 0, t_posted = 0, t_sig = wr->t_sig, t_wc = wr->t_wc, t_run;
	u64 begin = at->t_phase;
	bool early;

	if (unlikely(at->muted))
		return;
	/* A drain may have polled again after the handler: that poll did not find this one. */
	if (t_wc && t_reap > t_wc)
		t_reap = t_wc;
	t_run = t_reap;
	/* The completion may have been found before the phase, and before somebody wanted times. */
	if (unlikely(!t_wc || !begin || t_reap < begin))
		t_run = ktime_get_ns();
	/* Where the thread polls, the handler comes last. */
	at->t_next = krping_later(t_run, t_wc);
	if (own) {
		t_post = wr->t_post;
		t_posted = wr->t_posted;
		/*
		 * rxe's tasklet can signal a completion that has been reaped, and siw one that
		 * krping_cq_arm() has found: this signal is left over, and times nothing.
		 */
		if (t_sig < t_post)
			t_sig = 0;
		/* Somebody may have begun to listen after the post. */
		if (!t_post)
			t_wc = 0;
	}
	if (!t_wc)
		t_sig = 0;
	if (trace_krping_wait_enabled())
		krping_trace_wait(at, wr, slept, t_post, t_posted, t_sig, t_run);
	if (!trace_krping_iter_stages_enabled() || !begin || !t_wc)
		return;
	/* A request that was posted, or signalled, in this phase had not completed before it. */
	early = t_reap ? !slept && t_post <= begin && t_sig < begin : t_wc < begin;
	krping_line_wait(&at->line, at->phase, begin, t_post, t_posted, t_sig, t_wc, t_run, early);
}

void krping_waited_other(struct krping_phases *at, const struct krping_wr *wr, bool slept,
			 u64 t_reap)
{
	krping_tell_wait(at, wr, false, slept, t_reap);
}

void krping_waited_own(struct krping_phases *at, const struct krping_wr *wr, bool slept, u64 t_reap)
{
	krping_tell_wait(at, wr, true, slept, t_reap);
}

/* The phase ends now, and an iteration may end with it: an event tells iterations. */
static __always_inline void krping_line_goes_on(struct krping_phases *at, u64 now)
{
	struct krping_line *line = &at->line;

	/* Somebody begins to listen. Where an iteration ends, at->iter is already the next one. */
	if (unlikely(!line->t))
		krping_line_begin(line, at->rec, at->iter - !!(at->flags & KRPING_PHASE_F_COMMIT),
				  now, at->phase == KRPING_PHASE_NONE);
	else
		krping_line_phase(line, at->phase, at->t_phase, now);
	if (at->flags) {
		krping_line_end(line, at->rec, krping_event_flags(at->flags), now);
		krping_line_begin(line, at->rec, at->iter, now, true);
	}
}

/* As krping_enter(), where nobody wants the times of phases. */
void __krping_line_ends(struct krping_phases *at)
{
	if (likely(!at->muted))
		krping_line_goes_on(at, at->t_next ?: ktime_get_ns());
}

static noinline void krping_trace_phase(struct krping_phases *at, enum krping_phase phase, u64 now,
					u32 len, u32 rkey)
{
	krping_trace(phase, at->rec->id, now, at->iter, phase, at->phase, at->t_phase,
		     krping_event_flags(at->flags), len, rkey);
}

static __always_inline void krping_phase_begin(struct krping_phases *at, enum krping_phase phase,
					       u64 now)
{
	WRITE_ONCE(at->t_phase, 0);
	/* Pairs with show_phase(): the old time goes before the new phase comes. */
	smp_wmb();
	WRITE_ONCE(at->phase, phase);
	/* Pairs with show_phase(), too: the new phase comes before its time. */
	smp_wmb();
	WRITE_ONCE(at->t_phase, now);
	at->t_next = 0;
}

/* Somebody wants more of this boundary than a word of each phase. */
static noinline void krping_enter_slowly(struct krping_phases *at, enum krping_phase phase, u64 now,
					 u32 len, u32 rkey)
{
	if (trace_krping_phase_enabled())
		krping_trace_phase(at, phase, now, len, rkey);
	if (krping_wants(lines))
		krping_line_goes_on(at, now);
	else
		at->line.t = 0;
	at->flags = 0;
	krping_phase_begin(at, phase, now);
}

/* The function that most of the phases of a ping come to saves no register, and calls nothing. */
void __krping_enter(struct krping_phases *at, enum krping_phase phase, u64 now, u32 len, u32 rkey)
{
	if (unlikely(at->muted))
		return;
	if (trace_krping_phase_enabled() || at->flags || !at->line.t || !krping_wants(lines)) {
		krping_enter_slowly(at, phase, now, len, rkey);
		return;
	}
	krping_line_phase(&at->line, at->phase, at->t_phase, now);
	krping_phase_begin(at, phase, now);
}

void krping_phases_loop(struct krping_phases *at)
{
	at->flags |= KRPING_LINE_ENDS;
	at->t_iter = 0;
}

void krping_phases_end(struct krping_phases *at, u64 now)
{
	if (!krping_wants(lines) || !at->line.t)
		return;
	krping_line_phase(&at->line, at->phase, at->t_phase, now);
	krping_line_end(&at->line, at->rec, krping_event_flags(at->flags), now);
}

static noinline void krping_warm_begin(struct krping_phases *at)
{
	if (at->muted)
		return;
	krping_enter(at, KRPING_PHASE_WARMUP, 0, 0);
	at->muted = true;
}

void krping_iter_begin(struct krping_phases *at)
{
	if (unlikely(at->warm)) {
		krping_warm_begin(at);
		return;
	}
	at->in_iter = true;
	if (!at->t_iter) {
		at->t_iter = ktime_get_ns();
		at->t_next = at->t_iter;
	}
}

/* Without a listener this is the only clock read of an iteration. */
void krping_iter_end(struct krping_phases *at)
{
	struct krping_record *rec = at->rec;
	u64 now;

	at->turn++;
	if (unlikely(at->warm)) {
		if (!--at->warm) {
			at->muted = false;
			krping_phases_loop(at);
		}
		return;
	}
	/* If a waiting phase just ended, the clock was read for its end. */
	now = at->t_next ?: ktime_get_ns();
	krping_lat_add(&rec->lat, !rec->iters, now - at->t_iter);
	at->iter++;
	WRITE_ONCE(rec->iters, at->iter);
	at->in_iter = false;
	at->t_iter = now;
	at->t_next = now;
	at->flags = KRPING_PHASE_F_COMMIT;
}
