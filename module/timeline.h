/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The time line of the iteration that is under way: its words are collected while the thread is
 * in it, and told at its end, by an event for each kind of words. Set-up, pauses and tear-down
 * have time lines, too. Only the run's thread uses them.
 */
#ifndef KRPING_TIMELINE_H
#define KRPING_TIMELINE_H

#include <linux/types.h>
#include "krping_abi.h"
#include "krping_trace.h"
#include "wants.h"

struct krping_record;

/* The words that an event has so far. */
struct krping_words {
	u32 nr;
	u64 word[KRPING_WORDS_MAX];
};

struct krping_line {
	u64 t;	      /* when it began; 0: nobody listened */
	u64 iter;     /* the number of the iteration */
	u64 moved;    /* bytes that the run's record had by then */
	u64 t_waited; /* when the last stage of the phase ended; 0: it has none yet */
	u32 sum;      /* KRPING_SEG_F_* of a phase that waited */
	/* krping_line_gens when it began; another number, or 0: the event has only a part. */
	u32 gen[KRPING_NR_LINE_EVENTS];
	struct krping_words words[KRPING_NR_LINE_WORDS];
};

/* The times of a wait, see krping_each_stage(). */
struct krping_wait_times {
	u64 t_post;
	u64 t_posted;
	u64 t_sig;
	u64 t_wc;
	u64 t_run;
};

/* Begins now, with an iteration; or, not whole, somewhere in it, since somebody listens. */
void krping_line_begin(struct krping_line *line, const struct krping_record *rec, u64 iter, u64 now,
		       bool whole);
/* Adds the stages of a phase that waited; early: the wait was over before the phase began. */
void krping_line_wait(struct krping_line *line, enum krping_phase phase, u64 t_phase,
		      const struct krping_wait_times *t, bool early);
/* Tells the iteration, which ends now, with KRPING_PHASE_F_COMMIT or _ABORT. */
void krping_line_end(struct krping_line *line, const struct krping_record *rec, u32 flags, u64 now);
/* Tells the words of memory so far, since an event has room for no more. */
void krping_line_more(struct krping_line *line, const struct krping_record *rec);

/* No test has so many times. A missing word shows: the sum is wrong. */
static __always_inline void krping_words_add(struct krping_words *words, u64 word)
{
	if (likely(words->nr < KRPING_WORDS_MAX))
		words->word[words->nr++] = word;
}

/* Adds a stage of the request that ends the iteration, or all of it. */
static inline void krping_line_request(struct krping_line *line, enum krping_request_stage stage,
				       u64 ns)
{
	krping_words_add(&line->words[KRPING_LINE_STAGES], KRPING_REQUEST(stage, ns));
}

/* Adds a phase from t to now; t is 0 if nobody wanted to know. Fifteen times a ping. */
static __always_inline void krping_line_phase(struct krping_line *line, enum krping_phase phase,
					      u64 t, u64 now)
{
	if (unlikely(!t)) {
		line->gen[KRPING_LINE_PHASES] = 0;
		line->gen[KRPING_LINE_STAGES] = 0;
		return;
	}
	if (trace_krping_iter_phases_enabled())
		krping_words_add(&line->words[KRPING_LINE_PHASES],
				 KRPING_SEG(phase, 0, 0, now - t));
	if (trace_krping_iter_stages_enabled()) {
		struct krping_words *words = &line->words[KRPING_LINE_STAGES];

		/* Mostly a phase ends with its wait. */
		if (unlikely(line->t_waited && now != line->t_waited))
			krping_words_add(words, KRPING_SEG(phase, KRPING_STAGE_OWN, 0,
							   now - line->t_waited));
		krping_words_add(words, KRPING_SEG(phase, 0, line->sum, now - t));
		line->t_waited = 0;
		line->sum = 0;
	}
}

#endif /* KRPING_TIMELINE_H */
