// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "../lib/hist.h"
#include "sums.h"

static void add_phase(struct top_sums *s, uint64_t word)
{
	uint64_t what = KRPING_WORD_KIND(word), ns = KRPING_SEG_NS(word);
	struct top_phase_sum *p;

	if (what > KRPING_NR_PHASES) {
		if (what >= KRPING_WORD_STEP)
			return;
		what = KRPING_NR_PHASES;
	}
	p = &s->phases[what];
	p->count++;
	p->sum += ns;
	if (ns > p->max)
		p->max = ns;
}

/* The state that a run has entered if it went from one of these phases to the other. */
static uint32_t state_between(uint32_t phase, uint32_t next)
{
	if (phase == KRPING_PHASE_RESOLVE_ADDR && next == KRPING_PHASE_RESOLVE_ROUTE)
		return KRPING_STATE_ADDR_RESOLVED;
	if (phase == KRPING_PHASE_RESOLVE_ROUTE && next == KRPING_PHASE_ALLOC)
		return KRPING_STATE_ROUTE_RESOLVED;
	if (phase == KRPING_PHASE_LISTEN && next == KRPING_PHASE_ALLOC)
		return KRPING_STATE_CONNECT_REQUEST;
	return KRPING_STATE_NEW;
}

/*
 * The time line of a set-up tells when the run changed its state on the way to its
 * connection: at the boundaries of its phases. The event of transitions tells it, too,
 * but is raised several times in each ping.
 */
static void add_setup(struct top_sums *s, const struct krp_rec *rec)
{
	uint32_t phase = KRPING_PHASE_NONE, next, state, i;
	uint64_t t = rec->t_begin;

	for (i = 0; i < rec->nr; i++) {
		if (!KRPING_WORD_IS_TIME(rec->word[i]))
			continue;
		next = KRPING_SEG_PHASE(rec->word[i]);
		state = state_between(phase, next);
		if (state != KRPING_STATE_NEW)
			s->setup[s->nr_setup++ % TOP_SETUP_STEPS] = (struct top_setup_step){
				.t = t,
				.state = state,
				.again = s->commits != 0,
			};
		phase = next;
		t += KRPING_SEG_NS(rec->word[i]);
	}
}

/* The first word of an iteration of a disk, which is a request, says how long that took: requests overlap. */
static void add_whole(struct top_sums *s, const struct krp_rec *rec)
{
	uint64_t first = rec->nr ? rec->word[0] : 0, ns = rec->t - rec->t_begin;

	if (KRPING_WORD_KIND(first) == KRPING_WORD_REQUEST)
		ns = KRPING_SEG_NS(first);
	krp_sum_add(&s->iter, ns);
	s->hist.bucket[krp_hist_index(ns)]++;
}

void top_sums_take(struct top_sums *s, const struct krp_rec *rec)
{
	uint32_t ends = rec->flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT), i;

	s->commits += !!(ends & KRPING_PHASE_F_COMMIT);
	s->aborts += !(ends & KRPING_PHASE_F_COMMIT) && ends & KRPING_PHASE_F_ABORT;
	for (i = 0; i < rec->nr; i++) {
		if (!(ends & KRPING_PHASE_F_ABORT))
			add_phase(s, rec->word[i]);
		else if (KRPING_WORD_IS_TIME(rec->word[i]))
			s->cut_ns += KRPING_SEG_NS(rec->word[i]);
	}
	if (!ends)
		add_setup(s, rec);
	else if (rec->whole)
		add_whole(s, rec);
}
