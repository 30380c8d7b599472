/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the events of a run tell: sums of a span of time, and a log of rare events. */
#ifndef KRP_TOP_SUMS_H
#define KRP_TOP_SUMS_H

#include "../lib/seen.h"
#include "../lib/hist.h"

/* A phase of a newer module that we do not know is accounted to the entry behind the last phase. */
#define TOP_PHASES (KRPING_NR_PHASES + 1)

/* So many rare events of a run are kept. */
#define TOP_LOG 20

/* Failed requests beyond these are counted only: they must not push all else out of the log. */
#define TOP_LOGGED_ERRS 8

enum top_log_kind {
	TOP_LOG_CM,	  /* event, 0, status */
	TOP_LOG_REJECT,	  /* peer's run, 0, errno */
	TOP_LOG_ASYNC,	  /* event, 0, 0 */
	TOP_LOG_WC_ERR,	  /* kind, vendor's error, status */
	TOP_LOG_POST_ERR, /* kind, 0, errno */
};

struct top_entry {
	uint64_t t;
	enum top_log_kind kind;
	uint32_t a, b;
	int32_t err;
};

struct top_log {
	uint64_t nr;	  /* the number of all entries; the last TOP_LOG are here */
	uint64_t nr_errs; /* failed requests, in the log or not */
	struct top_entry entry[TOP_LOG];
};

struct top_phase_sum {
	uint64_t count, sum, max;
};

struct top_sums {
	uint64_t commits, aborts;
	uint64_t cut_ns; /* the time in iterations that were cut short */
	uint64_t wc_err, wc_flush;
	uint64_t post_err;   /* requests that the verbs call refused */
	struct krp_sum iter; /* of those that were seen from their beginning on */
	struct top_phase_sum phases[TOP_PHASES];
	struct krp_hist *hist; /* of iter; NULL: there was none, or the histogram was freed */
};

/* Adds an event of an iteration. disk: its iterations are requests. */
void top_sums_take(struct top_sums *s, const struct krp_rec *rec, bool disk);
/* Adds an event of another kind. */
void top_sums_rare(struct top_sums *s, struct top_log *log, const struct krp_event_head *h);
/* Is an event of use for the sums, or for the log? Those of iterations are not asked for here. */
bool top_sums_event(const char *event);
bool top_log_event(const char *event);
void top_sums_add(struct top_sums *to, const struct top_sums *from);
/* Keeps the memory of the histogram. */
void top_sums_clear(struct top_sums *s);

#endif /* KRP_TOP_SUMS_H */
