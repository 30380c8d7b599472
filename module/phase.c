// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Phases and iterations: where the thread of a run is, and its time line.
 */
#include <linux/ktime.h>
#include "krping_stages.h"
#include "run.h"

static_assert(KRPING_SEG_PHASE(~0ULL) >= KRPING_NR_PHASES - 1);
static_assert(KRPING_SEG_STAGE(~0ULL) >= KRPING_NR_STAGES - 1);

/*
 * What follows costs each ping of a run that is watched, so what only some
 * readers want is kept out of line.
 */

static __always_inline void krping_line_add(struct krping_line *line, u32 what,
					    u64 ns)
{
	/* No test has so many. What is missing shows: they do not add up. */
	if (likely(line->nr < KRPING_SEGS_MAX))
		line->seg[line->nr++] = KRPING_SEG(what, 0, 0, ns);
}

static __always_inline u64 *krping_put_stage(u64 *seg, u32 phase, u32 stage,
					     const u64 *ns)
{
	*seg = KRPING_SEG(phase, stage, 0, ns[stage]);
	return seg + 1;
}

static void krping_line_wait(struct krping_run *run, u64 t_post, u64 t_posted,
			     u64 t_sig, u64 t_wc, u64 t_run)
{
	struct krping_line *line = &run->line;
	u64 *seg = line->seg + line->nr;
	u64 *ns = line->stage;
	u32 phase = run->phase;

	line->t_waited = t_run;
	line->sum = KRPING_SEG_F_SUM;
	if (t_wc < line->t_phase)
		line->sum |= KRPING_SEG_F_EARLY;
	/* As above. */
	if (unlikely(line->nr > KRPING_SEGS_MAX - (KRPING_NR_STAGES - 1)))
		return;
	krping_split_wait(ns, line->t_phase, t_post, t_posted, t_sig, t_wc,
			  t_run);
	if (t_post) {
		seg = krping_put_stage(seg, phase, KRPING_STAGE_OWN, ns);
		seg = krping_put_stage(seg, phase, KRPING_STAGE_POST, ns);
	}
	seg = krping_put_stage(seg, phase, KRPING_STAGE_WIRE, ns);
	if (t_sig)
		seg = krping_put_stage(seg, phase, KRPING_STAGE_CQ, ns);
	seg = krping_put_stage(seg, phase, KRPING_STAGE_WAKE, ns);
	line->nr = seg - line->seg;
}

static noinline void krping_trace_wait(struct krping_run *run,
				       const struct krping_wr *wr, u64 t_post,
				       u64 t_posted, u64 t_sig, bool slept)
{
	krping_trace(wait, run->rec->id, run->iter, run->phase, wr->cid,
		     wr->kind, run->t_phase, t_post, t_posted, t_sig, wr->t_wc,
		     run->t_next, slept);
}

/**
 * krping_waited - a waiting phase is about to end
 * @run: the run
 * @wr: what came, or was done
 * @slept: the thread did
 *
 * Context: the run's thread, as soon as it is back; somebody wants stages.
 */
void krping_waited(struct krping_run *run, const struct krping_wr *wr,
		   bool slept)
{
	u64 t_post = 0, t_posted = 0, t_sig = wr->t_sig, t_wc = wr->t_wc;
	u64 t_run = ktime_get_ns();

	if (wr->kind != KRPING_WR_RECV) {
		t_post = wr->t_post;
		t_posted = wr->t_posted;
		/*
		 * A signal for a completion that had been reaped before it, as
		 * rxe's tasklet can give, is left over for the next one and does
		 * not time it.
		 */
		if (t_sig < t_post)
			t_sig = 0;
		/* Somebody may have begun to listen in the middle. */
		if (!t_post)
			t_wc = 0;
	}
	if (!t_wc)
		t_sig = 0;
	run->t_next = t_run;
	if (trace_krping_wait_enabled())
		krping_trace_wait(run, wr, t_post, t_posted, t_sig, slept);
	if (run->line.t_phase && t_wc)
		krping_line_wait(run, t_post, t_posted, t_sig, t_wc, t_run);
}

static void krping_line_begin(struct krping_run *run, u64 now)
{
	struct krping_line *line = &run->line;

	line->t = now;
	line->iter = run->iter;
	line->part = false;
	line->nr = 0;
}

/* The run begins, or somebody begins to listen to it. */
static noinline void krping_line_start(struct krping_run *run, u64 now)
{
	krping_line_begin(run, now);
	run->line.t_waited = 0;
	run->line.part = run->phase != KRPING_PHASE_NONE;
	/* It ends just here, and the next one has been counted already. */
	if (run->phase_flags & KRPING_PHASE_F_COMMIT)
		run->line.iter--;
}

/* The phase ends that the thread is in. */
static __always_inline void krping_line_leave(struct krping_run *run, u64 now)
{
	struct krping_line *line = &run->line;
	u64 t = line->t_phase;
	u32 what = run->phase;

	line->t_phase = now;
	if (unlikely(!t)) {
		krping_line_start(run, now);
		return;
	}
	if (line->t_waited) {
		if (unlikely(now != line->t_waited))
			krping_line_add(line, what | KRPING_STAGE_OWN << 6,
					now - line->t_waited);
		line->t_waited = 0;
		what |= line->sum;
	}
	krping_line_add(line, what, now - t);
}

static noinline void krping_line_tell(struct krping_run *run, u64 now)
{
	struct krping_line *line = &run->line;
	u32 flags = run->phase_flags;

	if (line->part)
		flags |= KRPING_PHASE_F_PART;
	krping_trace(iter, run->rec->id, now, line->iter, flags, line->t,
		     line->nr, line->seg);
	krping_trace(iter_stages, run->rec->id, now, line->iter, flags, line->t,
		     line->nr, line->seg);
	krping_line_begin(run, now);
}

static noinline void krping_trace_phase(struct krping_run *run,
					enum krping_phase phase, u32 len,
					u32 rkey)
{
	if (!run->t_next)
		run->t_next = ktime_get_ns();
	krping_trace(phase, run->rec->id, run->t_next, run->iter, phase,
		     run->phase, run->t_phase, run->phase_flags, len, rkey);
}

/**
 * __krping_enter - krping_enter() with somebody listening
 * @run: the run
 * @phase: see krping_enter()
 * @len: see krping_enter()
 * @rkey: see krping_enter()
 *
 * Context: the run's thread.
 */
void __krping_enter(struct krping_run *run, enum krping_phase phase, u32 len,
		    u32 rkey)
{
	u64 now;

	if (trace_krping_phase_enabled())
		krping_trace_phase(run, phase, len, rkey);
	now = run->t_next ?: ktime_get_ns();
	if (krping_wants(lines)) {
		krping_line_leave(run, now);
		if (run->phase_flags || (run->phase <= KRPING_PHASE_FREE &&
					 phase > KRPING_PHASE_FREE))
			krping_line_tell(run, now);
	} else {
		run->line.t_phase = 0;
	}
	WRITE_ONCE(run->t_phase, 0);
	/* krping_show_where() sees both of them, or no time. */
	smp_wmb();
	WRITE_ONCE(run->phase, phase);
	/* The same. */
	smp_wmb();
	WRITE_ONCE(run->t_phase, now);
	run->t_next = 0;
	run->phase_flags = 0;
}

/**
 * krping_phases_end - the run is over, and with it its last phase
 * @run: the run
 * @now: the time at which it ended
 *
 * Context: the run's thread, before krping_run_end.
 */
void krping_phases_end(struct krping_run *run, u64 now)
{
	if (!krping_wants(lines))
		return;
	krping_line_leave(run, now);
	if (run->line.nr)
		krping_line_tell(run, now);
}

/**
 * krping_iter_begin - an iteration of the test's loop begins
 * @run: the run
 *
 * Context: the run's thread, before it enters the iteration's first phase.
 */
void krping_iter_begin(struct krping_run *run)
{
	run->in_iter = true;
	if (!run->t_iter) {
		run->t_iter = ktime_get_ns();
		run->t_next = run->t_iter;
	}
}

/**
 * krping_iter_end - it is complete
 * @run: the run
 *
 * The one clock read of an iteration: for the run's own statistics, which need
 * no listener, and for the boundary to the next one.
 *
 * Context: the run's thread, in the iteration's last phase.
 */
void krping_iter_end(struct krping_run *run)
{
	struct krping_record *rec = run->rec;
	/* Where a waiting phase just ended that was read already. */
	u64 now = run->t_next ?: ktime_get_ns();
	u64 lat = now - run->t_iter;

	if (!rec->iters || lat < rec->lat_min_ns)
		WRITE_ONCE(rec->lat_min_ns, lat);
	if (lat > rec->lat_max_ns)
		WRITE_ONCE(rec->lat_max_ns, lat);
	WRITE_ONCE(rec->lat_sum_ns, rec->lat_sum_ns + lat);
	run->iter++;
	WRITE_ONCE(rec->iters, run->iter);
	run->in_iter = false;
	run->t_iter = now;
	run->t_next = now;
	run->phase_flags = KRPING_PHASE_F_COMMIT;
}
