// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/events.h"
#include "../lib/hist.h"
#include "sums.h"

/* An argument of an event. */
#define ARG(h, event, name) (((const __u64 *)((h) + 1))[KRP_ARG_##event##_##name])

static void log_entry(struct top_log *log, uint64_t t, enum top_log_kind kind, uint32_t a,
		      uint32_t b, int32_t err)
{
	log->entry[log->nr++ % TOP_LOG] = (struct top_entry){ t, kind, a, b, err };
}

/* Is the word the time of a phase? Of krping_iter_stages, a phase that waited has its stages before that. */
static bool is_phase(uint64_t word)
{
	return KRPING_WORD_IS_TIME(word) && (!KRPING_SEG_STAGE(word) || word & KRPING_SEG_F_SUM);
}

static void add_phase(struct top_sums *s, uint64_t word)
{
	uint64_t what = KRPING_WORD_KIND(word), ns = KRPING_SEG_NS(word);
	struct top_phase_sum *p;

	if (what > KRPING_NR_PHASES)
		what = KRPING_NR_PHASES;
	p = &s->phases[what];
	p->count++;
	p->sum += ns;
	if (ns > p->max)
		p->max = ns;
}

/* The first word of an iteration of a disk, which is a request, says how long that took: requests overlap. */
static void add_whole(struct top_sums *s, const struct krp_rec *rec, bool disk)
{
	uint64_t first = disk && rec->nr ? rec->word[0] : 0, ns = rec->t - rec->t_begin;

	if (KRPING_WORD_KIND(first) == KRPING_WORD_REQUEST)
		ns = KRPING_SEG_NS(first);
	krp_sum_add(&s->iter, ns);
	if (!s->hist)
		s->hist = krp_new(1, sizeof(*s->hist));
	s->hist->bucket[krp_hist_index(ns)]++;
}

void top_sums_take(struct top_sums *s, const struct krp_rec *rec, bool disk)
{
	uint32_t ends = rec->flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT), i;

	s->commits += !!(ends & KRPING_PHASE_F_COMMIT);
	s->aborts += !(ends & KRPING_PHASE_F_COMMIT) && ends & KRPING_PHASE_F_ABORT;
	for (i = 0; i < rec->nr; i++) {
		if (!is_phase(rec->word[i]))
			continue;
		if (ends & KRPING_PHASE_F_ABORT)
			s->cut_ns += KRPING_SEG_NS(rec->word[i]);
		else
			add_phase(s, rec->word[i]);
	}
	if (rec->whole)
		add_whole(s, rec, disk);
}

/* The last ones are of use for the log alone. */
static const enum krp_event rare[] = {
	KRP_EV_post_send_err, KRP_EV_post_recv_err, KRP_EV_wc_err,	KRP_EV_wc_flush,
	KRP_EV_cm_event,      KRP_EV_reject,	    KRP_EV_async_event,
};

static bool is_rare(const char *event, unsigned int nr)
{
	int id = krp_event_find(event);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if ((int)rare[i] == id)
			return true;
	}
	return false;
}

bool top_sums_event(const char *event)
{
	return is_rare(event, 4);
}

bool top_log_event(const char *event)
{
	return is_rare(event, sizeof(rare) / sizeof(*rare));
}

/* One call may refuse a whole chain of requests, and all requests of a QP may fail: the first ones are logged. */
void top_sums_rare(struct top_sums *s, struct top_log *log, const struct krp_event_head *h)
{
	switch (h->event) {
	case KRP_EV_cm_event:
		log_entry(log, h->t, TOP_LOG_CM, ARG(h, cm_event, event), 0,
			  ARG(h, cm_event, status));
		break;
	case KRP_EV_reject:
		log_entry(log, h->t, TOP_LOG_REJECT, ARG(h, reject, peer_run), 0,
			  ARG(h, reject, err));
		break;
	case KRP_EV_async_event:
		log_entry(log, h->t, TOP_LOG_ASYNC, ARG(h, async_event, event), 0, 0);
		break;
	case KRP_EV_wc_err:
		s->wc_err++;
		if (log->nr_errs++ < TOP_LOGGED_ERRS)
			log_entry(log, h->t, TOP_LOG_WC_ERR, ARG(h, wc_err, kind),
				  ARG(h, wc_err, vendor_err), ARG(h, wc_err, status));
		break;
	case KRP_EV_wc_flush:
		s->wc_flush++;
		break;
	case KRP_EV_post_send_err:
	case KRP_EV_post_recv_err:
		s->post_err++;
		if (log->nr_errs++ < TOP_LOGGED_ERRS)
			log_entry(log, h->t, TOP_LOG_POST_ERR, ARG(h, post_send_err, kind), 0,
				  ARG(h, post_send_err, err));
		break;
	}
}

void top_sums_add(struct top_sums *to, const struct top_sums *from)
{
	unsigned int i;

	to->commits += from->commits;
	to->aborts += from->aborts;
	to->cut_ns += from->cut_ns;
	to->wc_err += from->wc_err;
	to->wc_flush += from->wc_flush;
	to->post_err += from->post_err;
	krp_sum_merge(&to->iter, &from->iter);
	for (i = 0; i < TOP_PHASES; i++) {
		to->phases[i].count += from->phases[i].count;
		to->phases[i].sum += from->phases[i].sum;
		if (from->phases[i].max > to->phases[i].max)
			to->phases[i].max = from->phases[i].max;
	}
	if (!from->hist || !from->iter.count)
		return;
	if (!to->hist)
		to->hist = krp_new(1, sizeof(*to->hist));
	krp_hist_add(to->hist, from->hist);
}

void top_sums_clear(struct top_sums *s)
{
	struct krp_hist *hist = s->hist;

	if (hist && s->iter.count)
		memset(hist, 0, sizeof(*hist));
	*s = (struct top_sums){ .hist = hist };
}
