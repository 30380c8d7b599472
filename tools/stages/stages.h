/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the parts of krping-stages share. */
#ifndef KRP_STAGES_STAGES_H
#define KRP_STAGES_STAGES_H

#include "../lib/display.h"
#include "../lib/tool.h"
#include "dists.h"
#include "join.h"

/* Rows of a histogram: each is an octave, or the values below the first octave. */
#define STG_ROWS (KRP_HIST_BUCKETS / KRP_HIST_SUB)

/*
 * The histograms of a run have only the rows that they need: 4 of 36, mostly.
 * row_of has the number of each row + 1, or 0.
 */
struct stg_hists {
	uint16_t row_of[STG_NR_DISTS][STG_ROWS];
	uint64_t *bucket; /* of rows, one behind the other */
	unsigned int nr, room;
};

/* What is known of a run beside its account. */
struct stages_run {
	uint64_t holes;	    /* how often the event before another one was not seen */
	uint64_t unmatched; /* iterations out of order */
	uint64_t slow;	    /* slow iterations */
	/* What was overwritten before we read it. */
	struct krp_totals missed;
};

/* A run as it is shown. */
struct view {
	struct krp_view run;
	struct stages_run st;
	struct stg_account a;
	struct stg_hists hists;
	struct join join;
	uint32_t peer;	 /* the peer's run; 0: none on this host, or not known */
	uint64_t tiled;	 /* the sum of all phases, and of what was missed */
	uint64_t window; /* what tiled has to be */
};

/* The runs, whose iterations account.c reads. */
extern struct krp_seen runs_seen;
/* The run's own thread polls its CQs: it is woken before its completion is handled. */
bool thread_polls(const struct krp_run_info *info);
const char *request_name(unsigned int stage);
/* The name of what a tile of a run says, in two parts; stage may be "". */
void tile_names(const struct view *v, unsigned int what, const char **phase, const char **stage);
/* The view of a run, or NULL. */
const struct view *view_of(void *const *v, unsigned int nr, uint32_t run);
/* Is the run to be shown? With --run only that one, with --peer its peer, too. */
bool wanted(uint32_t run, uint32_t peer);

/* account.c: the accounts that are made of the iterations that the kernel side tells. */

/*
 * To be called after the programs were found or loaded. Iterations that take slow_ns are counted, and handed to slow, unless that is
 * NULL, with how long they took. provider reads the marks by which wire is
 * divided, see provider.h; NULL: it is not.
 */
void account_open(uint64_t slow_ns, void (*slow)(const struct krp_rec *rec, uint64_t ns),
		  const char *input, struct krp_runs *runs, uint64_t (*provider)(void));
void account_close(void);
/* Tells that two runs were peers before we attached. */
void account_pair(uint32_t run, uint32_t peer);
/* Pieces that found no place. */
uint64_t account_failed(void);
/* The peer of the run in a slot; 0: none on this host, or not known. */
uint32_t account_peer(uint32_t slot);
/* The distribution of a segment of the run in a slot. */
unsigned int account_what(uint32_t slot, uint64_t seg);
/*
 * Fills in a view, except info: the run in a slot, as it was told. whole: it has ended,
 * and all its records were read since; else it goes on, for us. since: a second view, of what
 * came since the last line; may be NULL. false: its state was written at each attempt to read it.
 */
bool account_view(struct view *v, struct view *since, uint32_t slot, bool whole);
/* A line has shown the run in a slot, whose view this was: it takes over the histograms. */
void account_line(uint32_t slot, void *view);
/* Lays the waits of all runs over their peers' time lines, as far as these have come. */
void account_join(void);
void account_view_free(void *view);
/* A histogram of a view; valid until the next one is asked for. */
const struct krp_hist *account_hist(const struct view *v, unsigned int dist);

/* slow.c: slow iterations, and why they were slow. */

/* The number of iterations that are explained: by default, and at most. */
#define SLOW_DEFAULT 10
#define SLOW_KEEP    1000

struct slow_opts {
	uint64_t ns;	      /* at least as slow as this; 0: any */
	unsigned int slowest; /* the number of slowest ones; 0: SLOW_DEFAULT */
	bool fail;
};

static inline bool slow_wanted(const struct slow_opts *o)
{
	return o->ns || o->slowest;
}

/*
 * Starts the recorder; to be called before the programs are loaded. recorded: there is none, since the iterations are those of a
 * recording, which has these runs; NULL: they are live.
 */
void slow_open(const struct slow_opts *o, const struct krp_runs *recorded);
void slow_close(void);
/* A slow iteration, and how long that took: its causes are looked for while the recorder still has them. */
void slow_take(const struct krp_rec *rec, uint64_t ns);
/* Live, reads the counters of devices, now and then. */
void slow_poll(void);
/* A run has ended: what it counted is kept. */
void slow_ended(const struct view *v);
/* The number of slow iterations, at the last print. */
uint64_t slow_seen(void);
/* What the recorder has lost. */
struct krp_lost slow_lost_events(void);
/* Prints the slow iterations that were not printed yet; with final all of them. v has the runs. */
void slow_print(FILE *f, void *const *v, unsigned int nr, bool final);
void slow_json(json_object *o, void *const *v, unsigned int nr, bool final);

#endif /* KRP_STAGES_STAGES_H */
