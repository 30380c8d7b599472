/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The runs that krping-top knows of, and their figures: of the last interval
 * and of all the time. This code does not know where they come from, or how
 * they are shown.
 */
#ifndef KRP_TOP_ROWS_H
#define KRP_TOP_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "../lib/by.h"
#include "../lib/hist.h"
#include "../lib/runs.h"
#include "sums.h"

/* The figures of a span of time. */
struct top_figures {
	uint64_t ns; /* how long it is */
	uint64_t iters;
	double rate, mb, reg, inv; /* per second */
	uint64_t p50, p99, max;	   /* of whole iterations; 0: none was seen */
	double in_flight;	   /* requests of a disk, on average; negative: of another test */
	uint64_t phase_ns[TOP_PHASES];
	uint64_t phase_count[TOP_PHASES];
};

/* Counts that /proc has, and times of phases that go on, as they were at the last display. */
struct top_mark {
	uint64_t t; /* when that was; 0: never */
	uint64_t fastreg, inv, bytes;
	uint64_t phase_ns[TOP_PHASES];
};

struct top_row {
	struct krp_run_info info;
	struct krp_split split_last; /* of the last interval */
	struct krp_head head;	     /* as its events have it */
	struct top_sums all;	     /* all the time up to the last display */
	struct top_sums prev;	     /* the last interval */
	struct top_sums cur;	     /* since the last display */
	struct top_log log;
	bool known;	       /* there were events of it */
	bool counts;	       /* /proc, or its copy, has told what the module counts */
	bool listed;	       /* /proc has it, or had, and no filter is against it */
	bool reported;	       /* its cause was printed */
	uint32_t phase;	       /* the phase that it is in, from /proc */
	uint64_t t_phase;      /* when the phase began; 0: not known */
	uint64_t t_ended;      /* when we saw its end; 0: it runs */
	uint64_t fastreg, inv; /* the counts that /proc had before we attached */
	uint64_t bytes;	       /* the same for the bytes that were moved */
	bool total;	       /* its line is of all the time, also while it runs */
	bool shrunk;	       /* the histograms were freed; these are kept: */
	uint64_t p50, p90, p99, p999;
	struct top_mark mark;
	struct top_figures last;  /* the last interval */
	struct top_figures whole; /* all the time; of a run that has ended, or with total */
	/* The row is the sum of a group: its key, and how many runs it has; NULL: of one run. */
	const struct krp_group *group;
	/* The other end, where one row is for both; NULL: this row is of one end. */
	const struct top_row *other;
	bool wanted;  /* the list shows the run */
	bool part;    /* a run of the group has lost its histogram, so hist is not that of all */
	bool counted; /* the row of a run: it is in a sum */
};

struct top_rows {
	struct top_row **v; /* by ascending id */
	size_t nr, room;
	bool total;	       /* "total" of new rows */
	bool keep_hist;	       /* runs that have left the screen keep their histograms */
	unsigned long dropped; /* how many rows were freed so far */
	unsigned long forgotten;
	uint32_t forgotten_id; /* the highest id of a forgotten run */
};

/* If there are more runs than this, those that ended first are forgotten. */
#define TOP_KEEP 1024

struct top_row *top_rows_find(const struct top_rows *rows, uint32_t run);
/* The other end of a run; NULL: it is not here. */
const struct top_row *top_rows_other(const struct top_rows *rows, const struct top_row *r);
/*
 * Of two ends that are both here, is r the one whose figures are not shown for both? That is the server, or the end that
 * has nothing but memory.
 */
bool top_row_second(const struct top_row *r, const struct top_row *other);
/*
 * Iterations per second of all running runs. If both ends of a connection are
 * on this host, its iterations are counted once.
 */
double top_rows_rate(const struct top_rows *rows);
/* The row of this run, which is made if there is none. */
struct top_row *top_rows_get(struct top_rows *rows, uint32_t run);
void top_rows_drop(struct top_rows *rows, struct top_row *row);
void top_rows_free(struct top_rows *rows);

/* To be called at a display: the interval since the last one is over. */
void top_row_interval(struct top_row *r, uint64_t now);
/* The figures of all the time, or of as much as was watched. */
void top_row_whole(const struct top_row *r, uint64_t now, struct top_figures *f);
/*
 * The figures of a line: for a run that has ended, or with total, of all the
 * time, else of the last interval.
 */
const struct top_figures *top_row_figures(const struct top_row *r);
/*
 * Keeps only the percentiles of a run that has ended and left the screen, and with keep_hist the
 * histogram of all its time.
 */
void top_row_shrink(struct top_row *r, bool keep_hist);

/*
 * Sums of runs by what they have in common. A sum is a row itself; its id is its place + 1, and its
 * figures are counted at the ends of connections.
 */
struct top_groups {
	struct krp_groups keys;
	struct top_row **v; /* by the places in keys */
	size_t room;
};

/*
 * Makes the sums of the rows that are listed and visible, and of those that ended in the last interval,
 * whose figures it has; with all of all rows that are listed, of all the time.
 */
void top_groups_make(struct top_groups *g, const struct top_rows *rows, uint64_t now,
		     uint64_t keep_ns, bool all);
void top_groups_free(struct top_groups *g);

/* Runs that have ended stay for keep_ns. */
bool top_row_visible(const struct top_row *r, uint64_t now, uint64_t keep_ns);
/* A positive errno, or 0. */
int top_row_errno(const struct top_row *r);
/* The errno of the row, of either end: that of the first end that has one. And their failed completions. */
int top_row_fault(const struct top_row *r);
uint64_t top_row_errs(const struct top_row *r);
/* Has the row failed, or any of its requests? */
bool top_row_bad(const struct top_row *r);
/* Registrations and invalidations, as far as the run was watched. */
uint64_t top_row_reg(const struct top_row *r);
uint64_t top_row_inv(const struct top_row *r);
/* Payload that the run's complete iterations have moved, as far as the run was watched. */
uint64_t top_row_bytes(const struct top_row *r);
/*
 * Takes over what /proc says of the run now. t_watch: a run that began before
 * was not watched from its beginning.
 */
void top_row_info(struct top_row *r, const struct krp_run_info *info, uint64_t t_watch);

#endif /* KRP_TOP_ROWS_H */
