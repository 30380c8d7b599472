// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Phases and iterations: where the thread of a run is. */
#include <linux/ktime.h>
#include "krping_stages.h"
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
				       const struct krping_wait_times *t, bool slept)
{
	krping_trace(wait, at->rec->id, at->iter, KRPING_WAIT(at->phase, wr->kind, slept), wr->cid,
		     at->t_phase, t->t_post, t->t_posted, t->t_sig, wr->t_wc, t->t_run);
}

void krping_waited(struct krping_phases *at, const struct krping_wr *wr, bool own, bool slept,
		   u64 t_reap)
{
	struct krping_wait_times t = {
		.t_sig = wr->t_sig,
		.t_wc = wr->t_wc,
		.t_run = t_reap,
	};
	u64 begin = at->t_phase;
	bool early;

	if (unlikely(at->muted))
		return;
	/* The completion may have been found before the phase, and before somebody wanted times. */
	if (!t_reap || !t.t_wc || !begin || t_reap < begin)
		t.t_run = ktime_get_ns();
	if (own) {
		t.t_post = wr->t_post;
		t.t_posted = wr->t_posted;
		/*
		 * rxe's tasklet can signal a completion that has been reaped, and siw one that
		 * krping_cq_arm() has found: this signal is left over, and times nothing.
		 */
		if (t.t_sig < t.t_post)
			t.t_sig = 0;
		/* Somebody may have begun to listen after the post. */
		if (!t.t_post)
			t.t_wc = 0;
	}
	if (!t.t_wc)
		t.t_sig = 0;
	/* Where the thread polls, the handler comes last. */
	at->t_next = krping_later(t.t_run, wr->t_wc);
	if (trace_krping_wait_enabled())
		krping_trace_wait(at, wr, &t, slept);
	if (!trace_krping_iter_stages_enabled() || !begin || !t.t_wc)
		return;
	/* A request that was posted, or signalled, in this phase had not completed before it. */
	early = t_reap ? !slept && t.t_post <= begin && t.t_sig < begin : t.t_wc < begin;
	krping_line_wait(&at->line, at->phase, begin, &t, early);
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

static noinline void krping_trace_phase(struct krping_phases *at, enum krping_phase phase, u32 len,
					u32 rkey)
{
	if (!at->t_next)
		at->t_next = ktime_get_ns();
	krping_trace(phase, at->rec->id, at->t_next, at->iter, phase, at->phase, at->t_phase,
		     krping_event_flags(at->flags), len, rkey);
}

void __krping_enter(struct krping_phases *at, enum krping_phase phase, u32 len, u32 rkey)
{
	u64 now;

	if (unlikely(at->muted))
		return;
	if (trace_krping_phase_enabled())
		krping_trace_phase(at, phase, len, rkey);
	now = at->t_next ?: ktime_get_ns();
	if (krping_wants(lines))
		krping_line_goes_on(at, now);
	else
		at->line.t = 0;
	WRITE_ONCE(at->t_phase, 0);
	/* Pairs with show_phase(): the old time goes before the new phase comes. */
	smp_wmb();
	WRITE_ONCE(at->phase, phase);
	/* Pairs with show_phase(), too: the new phase comes before its time. */
	smp_wmb();
	WRITE_ONCE(at->t_phase, now);
	at->t_next = 0;
	at->flags = 0;
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
