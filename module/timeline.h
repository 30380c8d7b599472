/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The time line of the iteration that is under way: its words are collected while the thread is
 * in it, and told at its end, by an event for each kind of words. Set-up, pauses and tear-down
 * have time lines, too. Who uses struct krping_phases uses them.
 */
#ifndef KRPING_TIMELINE_H
#define KRPING_TIMELINE_H

#include <linux/types.h>
#include "krping_abi.h"
#include "krping_stages.h"
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
	u64 t_iter;   /* when krping_iter says that it began; 0: with the time line */
	u64 moved;    /* bytes that the run's record had by then */
	u64 t_waited; /* when the last stage of a phase that waited ended */
	u32 sum;      /* KRPING_SEG_F_* of a phase that waited; 0: it did not yet */
	/* krping_line_gens when it began; another number, or 0: the event has only a part. */
	u32 gen[KRPING_NR_LINE_EVENTS];
	struct krping_words words[KRPING_NR_LINE_WORDS];
	u64 told[KRPING_NR_LINE_WORDS]; /* events of each kind that the run has raised */
};

/* Begins now, with an iteration; or, not whole, somewhere in it, since somebody listens. */
void krping_line_begin(struct krping_line *line, const struct krping_record *rec, u64 iter, u64 now,
		       bool whole);
/* Tells the iteration, which ends now, with KRPING_PHASE_F_COMMIT or _ABORT. */
void krping_line_end(struct krping_line *line, const struct krping_record *rec, u32 flags, u64 now);
/* Tells the words of memory so far, since an event has no room for the next ones. */
void krping_line_more(struct krping_line *line, const struct krping_record *rec);

/* No test has so many times. A missing word shows: the sum is wrong. */
static __always_inline void krping_words_add(struct krping_words *words, u64 word)
{
	if (likely(words->nr < KRPING_WORDS_MAX))
		words->word[words->nr++] = word;
}

/* Adds a stage of the request that ends the iteration, or all of it. */
static inline void krping_line_request(struct krping_line *line, enum krping_request_stage stage,
				       u32 flags, u64 ns)
{
	krping_words_add(&line->words[KRPING_LINE_STAGES], KRPING_REQUEST(stage, flags, ns));
}

/* Adds a phase from t to now; t is 0 if nobody wanted to know. Fifteen times a ping. */
static __always_inline void krping_line_phase(struct krping_line *line, enum krping_phase phase,
					      u64 t, u64 now)
{
	u64 word = KRPING_SEG(phase, 0, 0, now - t);

	if (unlikely(!t)) {
		line->gen[KRPING_LINE_PHASES] = 0;
		line->gen[KRPING_LINE_STAGES] = 0;
		return;
	}
	if (trace_krping_iter_phases_enabled())
		krping_words_add(&line->words[KRPING_LINE_PHASES], word);
	if (trace_krping_iter_stages_enabled()) {
		struct krping_words *words = &line->words[KRPING_LINE_STAGES];

		if (line->sum) {
			/* Mostly a phase ends with its wait. */
			if (unlikely(now != line->t_waited))
				krping_words_add(words, KRPING_SEG(phase, KRPING_STAGE_OWN, 0,
								   now - line->t_waited));
			word |= line->sum;
			line->sum = 0;
		}
		krping_words_add(words, word);
	}
}

/* Where the next word goes, and the phase that it is of. */
struct krping_put {
	u64 *word;
	u32 phase;
};

static __always_inline void krping_put_stage(void *arg, unsigned int stage, u64 ns)
{
	struct krping_put *put = arg;

	*put->word++ = KRPING_SEG(put->phase, stage, 0, ns);
}

/*
 * Adds the stages of a phase that waited, whose times are those of krping_each_stage(); early: the
 * wait was over before the phase began. Six times a ping.
 */
static __always_inline void krping_line_wait(struct krping_line *line, enum krping_phase phase,
					     u64 t_phase, u64 t_post, u64 t_posted, u64 t_sig,
					     u64 t_wc, u64 t_run, bool early)
{
	struct krping_words *stages = &line->words[KRPING_LINE_STAGES];
	struct krping_put put = {
		.word = stages->word + stages->nr,
		.phase = phase,
	};

	line->t_waited = krping_later(t_run, t_wc);
	line->sum = KRPING_SEG_F_SUM | (early ? KRPING_SEG_F_EARLY : 0);
	if (unlikely(stages->nr + KRPING_NR_STAGES - 1 > KRPING_WORDS_MAX))
		return;
	krping_each_stage(krping_put_stage, &put, t_phase, t_post, t_posted, t_sig, t_wc, t_run);
	stages->nr = put.word - stages->word;
}

#endif /* KRPING_TIMELINE_H */
