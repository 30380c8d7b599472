// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Phases and iterations: where the thread of a run is, and its time line.
 */
#include <linux/ktime.h>
#include "krping_stages.h"
#include "krping_trace.h"
#include "phase.h"
#include "record.h"
#include "wants.h"
#include "wr.h"

static_assert(KRPING_WORD_STEP >= KRPING_NR_PHASES);
static_assert(KRPING_SEG_STAGE(~0ULL) >= KRPING_NR_STAGES - 1);

/*
 * The functions below cost each ping of a run that is watched, so code that
 * only some readers want is kept out of line.
 */

/* Those of a boundary's flags that events have. */
static u32 krping_told(u32 flags)
{
	return flags & ~KRPING_LINE_ENDS;
}

static u32 krping_line_flags(const struct krping_line *line)
{
	return (line->part ? KRPING_PHASE_F_PART : 0) |
	       (line->t_phase ? KRPING_ITER_F_PHASES : 0);
}

/*
 * The words are as many as an event has: tell those that are no times before the rest,
 * so that readers of times have to look at one event only.
 */
static noinline void krping_line_more(struct krping_phases *at)
{
	struct krping_line *line = &at->line;
	u32 flags = KRPING_ITER_F_MORE | krping_line_flags(line);
	u64 words[KRPING_WORDS_MAX];
	u32 i, nr = 0, times = 0;

	for (i = 0; i < line->nr; i++)
		if (KRPING_WORD_IS_TIME(line->word[i]))
			line->word[times++] = line->word[i];
		else
			words[nr++] = line->word[i];
	line->nr = times;
	if (nr)
		krping_trace(iter, at->rec->id, line->t, line->iter, flags,
			     line->t, nr, words, 0, 0, 0);
}

/* Is there room for so many words more? No test has so many times. */
static __always_inline bool krping_line_has_room(struct krping_phases *at,
						 u32 nr)
{
	if (likely(at->line.nr + nr <= KRPING_WORDS_MAX))
		return true;
	krping_line_more(at);
	return at->line.nr + nr <= KRPING_WORDS_MAX;
}

static noinline void krping_line_add_rarely(struct krping_phases *at, u32 what,
					    u64 ns)
{
	struct krping_line *line = &at->line;

	/* A missing word shows: the sum is wrong. */
	if (krping_line_has_room(at, 1))
		line->word[line->nr++] = KRPING_SEG(what, 0, 0, ns);
}

static __always_inline void krping_line_add(struct krping_phases *at, u32 what,
					    u64 ns)
{
	struct krping_line *line = &at->line;

	if (likely(line->nr < KRPING_WORDS_MAX && ns < KRPING_SEG_NS_MAX))
		line->word[line->nr++] = KRPING_SEG(what, 0, 0, ns);
	else
		krping_line_add_rarely(at, what, ns);
}

/**
 * __krping_line_room - krping_line_room() where the time line is full, or there is none
 * @at: see krping_line_room()
 * @nr: see krping_line_room()
 *
 * Context: the run's thread; somebody asks for the words.
 * Return: see krping_line_room().
 */
u64 *__krping_line_room(struct krping_phases *at, u32 nr)
{
	struct krping_line *line = &at->line;

	/* krping_iter is off, or was when this phase began. */
	if (!krping_wants(lines) || !line->t || !krping_line_has_room(at, nr))
		return NULL;
	return line->word + line->nr;
}

/* Where the next word goes, and the phase that it is of. */
struct krping_put {
	u64 *word;
	u32 phase;
};

static __always_inline void krping_put_stage(void *arg, unsigned int stage,
					     u64 ns)
{
	struct krping_put *put = arg;

	*put->word++ = KRPING_SEG(put->phase, stage, 0, ns);
}

static __always_inline void krping_line_wait(struct krping_phases *at,
					     u64 t_post, u64 t_posted,
					     u64 t_sig, u64 t_wc, u64 t_run,
					     bool early)
{
	struct krping_line *line = &at->line;
	struct krping_put put = { .phase = at->phase };

	line->t_waited = krping_later(t_run, t_wc);
	line->sum = KRPING_SEG_F_SUM;
	if (early)
		line->sum |= KRPING_SEG_F_EARLY;
	/* As in krping_line_add(). */
	if (!krping_line_has_room(at, KRPING_NR_STAGES - 1))
		return;
	put.word = line->word + line->nr;
	krping_each_stage(krping_put_stage, &put, line->t_phase, t_post,
			  t_posted, t_sig, t_wc, t_run);
	line->nr = put.word - line->word;
}

static noinline void krping_trace_wait(struct krping_phases *at,
				       const struct krping_wr *wr, u64 t_post,
				       u64 t_posted, u64 t_sig, u64 t_run,
				       bool slept)
{
	krping_trace(wait, at->rec->id, at->iter,
		     KRPING_WAIT(at->phase, wr->kind, slept), wr->cid,
		     at->t_phase, t_post, t_posted, t_sig, wr->t_wc, t_run);
}

/**
 * krping_waited - a waiting phase is about to end
 * @at: where the run's thread is
 * @wr: the work request that has completed
 * @own: a request of the send queue that the run waits for as such; false: a
 *	RECV, or what was posted before the phase that waits for one
 * @slept: the thread slept, or polled on
 * @t_reap: when the thread last began to poll the CQ, perhaps before the phase; 0:
 *	another context polls
 *
 * Context: the run's thread, as soon as it runs again; somebody wants stages.
 */
void krping_waited(struct krping_phases *at, const struct krping_wr *wr,
		   bool own, bool slept, u64 t_reap)
{
	u64 t_post = 0, t_posted = 0, t_sig = wr->t_sig, t_wc = wr->t_wc;
	u64 begin = at->line.t_phase, t_run = t_reap;
	bool early;

	if (unlikely(at->muted))
		return;
	/*
	 * The completion may have been found before the phase began. If nobody wanted phases
	 * then, it is not known when that was.
	 */
	if (!t_reap || !t_wc || !at->t_phase || t_reap < at->t_phase)
		t_run = ktime_get_ns();
	if (own) {
		t_post = wr->t_post;
		t_posted = wr->t_posted;
		/*
		 * rxe's tasklet can signal a completion that has been reaped
		 * already, and siw can if krping_cq_arm() has found it. Such a
		 * signal is left over for the next completion and does not
		 * time it.
		 */
		if (t_sig < t_post)
			t_sig = 0;
		/* Somebody may have begun to listen after the post. */
		if (!t_post)
			t_wc = 0;
	}
	if (!t_wc)
		t_sig = 0;
	/*
	 * Had the request completed before the phase began? One that was posted
	 * in this phase, or signalled in it, had not.
	 */
	early = t_reap ? !slept && t_post <= begin && t_sig < begin :
			 t_wc < begin;
	/* Where the thread polls, the handler comes last. */
	at->t_next = krping_later(t_run, wr->t_wc);
	if (trace_krping_wait_enabled())
		krping_trace_wait(at, wr, t_post, t_posted, t_sig, t_run,
				  slept);
	/* That somebody wants krping_wait changes nothing in krping_iter. */
	if (krping_wants(line_stages) && at->line.t && at->line.t_phase && t_wc)
		krping_line_wait(at, t_post, t_posted, t_sig, t_wc, t_run,
				 early);
}

static void krping_line_begin(struct krping_phases *at, u64 now)
{
	struct krping_line *line = &at->line;

	line->t = now;
	/* Who begins to ask for phases in the middle of an iteration gets them from the next one on. */
	line->t_phase = krping_wants(line_phases) ? now : 0;
	line->t_waited = 0;
	line->iter = at->iter;
	line->moved = at->rec->moved;
	line->part = false;
	line->nr = 0;
}

/* The run begins, or somebody begins to listen to it. */
static noinline void krping_line_start(struct krping_phases *at, u64 now)
{
	krping_line_begin(at, now);
	at->line.part = at->phase != KRPING_PHASE_NONE;
	/* An iteration ends just here, and at->iter is already the next one. */
	if (at->flags & KRPING_PHASE_F_COMMIT)
		at->line.iter--;
}

/* Add a phase that waited, and ends now: some time after its wait, or it does not fit in. */
static noinline void krping_line_leave_wait(struct krping_phases *at, u64 t,
					    u64 now)
{
	struct krping_line *line = &at->line;
	u32 what = at->phase;

	if (unlikely(now != line->t_waited))
		krping_line_add(at, what | KRPING_STAGE_OWN << 8,
				now - line->t_waited);
	line->t_waited = 0;
	krping_line_add(at, what | line->sum, now - t);
}

/* Mostly a phase ends with its wait. */
static __always_inline void krping_line_leave_waited(struct krping_phases *at,
						     u64 t, u64 now)
{
	struct krping_line *line = &at->line;

	if (unlikely(now != line->t_waited || line->nr == KRPING_WORDS_MAX ||
		     now - t >= KRPING_SEG_NS_MAX)) {
		krping_line_leave_wait(at, t, now);
		return;
	}
	line->t_waited = 0;
	line->word[line->nr++] = KRPING_SEG(at->phase, 0, line->sum, now - t);
}

/* Add the phase that ends to the time line. */
static __always_inline void krping_line_leave(struct krping_phases *at, u64 now)
{
	struct krping_line *line = &at->line;
	u64 t = line->t_phase;

	if (unlikely(!line->t)) {
		krping_line_start(at, now);
		return;
	}
	if (!t)
		return;
	line->t_phase = now;
	if (line->t_waited)
		krping_line_leave_waited(at, t, now);
	else
		krping_line_add(at, at->phase, now - t);
}

/* The bytes that the iteration has moved, as krping_result counts them. */
static u64 krping_line_bytes(const struct krping_phases *at)
{
	const struct krping_record *rec = at->rec;

	if (!(at->flags & KRPING_PHASE_F_COMMIT))
		return 0;
	return rec->moved ? rec->moved - at->line.moved :
			    (u64)rec->moves * rec->params.size;
}

static noinline void krping_line_emit(struct krping_phases *at, u64 now)
{
	struct krping_line *line = &at->line;
	bool split = !line->part && at->split_iter == line->iter + 1;
	u64 host_ns = split ? at->host_ns : 0;
	u64 peer_ns = split ? at->peer_ns : 0;

	krping_trace(iter, at->rec->id, now, line->iter,
		     krping_told(at->flags) | krping_line_flags(line), line->t,
		     line->nr, line->word, host_ns, peer_ns,
		     krping_line_bytes(at));
	krping_line_begin(at, now);
}

/**
 * __krping_line_ends - the time line ends here, or somebody begins to listen
 * @at: where the run's thread is
 *
 * Context: the run's thread, at a boundary between phases of which nobody wants the time.
 */
void __krping_line_ends(struct krping_phases *at)
{
	u64 now;

	if (unlikely(at->muted))
		return;
	now = at->t_next ?: ktime_get_ns();
	if (!at->line.t)
		krping_line_start(at, now);
	if (at->flags)
		krping_line_emit(at, now);
}

static noinline void krping_trace_phase(struct krping_phases *at,
					enum krping_phase phase, u32 len,
					u32 rkey)
{
	if (!at->t_next)
		at->t_next = ktime_get_ns();
	krping_trace(phase, at->rec->id, at->t_next, at->iter, phase, at->phase,
		     at->t_phase, krping_told(at->flags), len, rkey);
}

/**
 * __krping_enter - krping_enter() with somebody listening
 * @at: where the run's thread is
 * @phase: see krping_enter()
 * @len: see krping_enter()
 * @rkey: see krping_enter()
 *
 * Context: the run's thread.
 */
void __krping_enter(struct krping_phases *at, enum krping_phase phase, u32 len,
		    u32 rkey)
{
	u64 now;

	if (unlikely(at->muted))
		return;
	if (trace_krping_phase_enabled())
		krping_trace_phase(at, phase, len, rkey);
	now = at->t_next ?: ktime_get_ns();
	if (krping_wants(lines)) {
		krping_line_leave(at, now);
		if (at->flags)
			krping_line_emit(at, now);
	} else {
		at->line.t = 0;
	}
	WRITE_ONCE(at->t_phase, 0);
	/* For krping_show_where(): clear the old time before the new phase. */
	smp_wmb();
	WRITE_ONCE(at->phase, phase);
	/* For krping_show_where(): store the new phase before its time. */
	smp_wmb();
	WRITE_ONCE(at->t_phase, now);
	at->t_next = 0;
	at->flags = 0;
}

/**
 * krping_phases_loop - what comes next is an iteration
 * @at: where the run's thread is
 *
 * The set-up, the warm-up and a pause have time lines of their own, and are no
 * part of the iteration behind them.
 *
 * Context: the run's thread.
 */
void krping_phases_loop(struct krping_phases *at)
{
	at->flags |= KRPING_LINE_ENDS;
	at->t_iter = 0;
}

/**
 * krping_phases_end - the run is over, and with it its last phase
 * @at: where the run's thread is
 * @now: the time at which it ended
 *
 * Context: the run's thread, before krping_run_end.
 */
void krping_phases_end(struct krping_phases *at, u64 now)
{
	if (!krping_wants(lines) || !at->line.t)
		return;
	krping_line_leave(at, now);
	krping_line_emit(at, now);
}

static noinline void krping_warm_begin(struct krping_phases *at)
{
	if (at->muted)
		return;
	krping_enter(at, KRPING_PHASE_WARMUP, 0, 0);
	at->muted = true;
}

static noinline void krping_warm_end(struct krping_phases *at)
{
	if (--at->warm)
		return;
	at->muted = false;
	krping_phases_loop(at);
}

/**
 * krping_iter_begin - an iteration of the test's loop begins
 * @at: where the run's thread is
 *
 * Context: the run's thread, before it enters the iteration's first phase.
 */
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

/**
 * krping_iter_end - an iteration of the test's loop is complete
 * @at: where the run's thread is
 *
 * Without a listener this is the only clock read of an iteration. It is for the
 * run's own statistics, and for the boundary to the next iteration.
 *
 * Context: the run's thread, in the iteration's last phase.
 */
void krping_iter_end(struct krping_phases *at)
{
	struct krping_record *rec = at->rec;
	u64 now;

	at->turn++;
	if (unlikely(at->warm)) {
		krping_warm_end(at);
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
