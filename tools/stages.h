/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the parts of krping-stages share. */
#ifndef KRPING_STAGES_TOOL_H
#define KRPING_STAGES_TOOL_H

#include "lib/probe.h"
#include "lib/tool.h"
#include "lib/join.h"
#include "../bpf/stages.h"

/* Rows of a histogram: an octave, or what is below the first one. */
#define STG_ROWS (KRP_HIST_BUCKETS / KRP_HIST_SUB)

/*
 * The histograms of a run, which have the rows that they need: 4 of 36, mostly.
 * The number of each in row + 1, or 0.
 */
struct stg_hists {
	uint16_t row_of[STG_NR_DISTS][STG_ROWS];
	uint64_t *bucket; /* of rows, one behind the other */
	unsigned int nr, room;
};

/* A run as it is shown. */
struct view {
	struct stages_run st;
	struct stg_account a;
	struct stg_hists hists;
	struct join join;
	uint32_t peer;		  /* its run; 0: none on this host, or not known */
	struct krp_run_info info; /* zeroes where /proc does not know it */
	uint64_t tiled;		  /* the sum of all phases */
	uint64_t window;	  /* what it has to be */
	bool since;		  /* all of it is of an interval, and not of all the time */
};

extern struct krp_probe probe;
const char *phase_name(unsigned int phase);
const char *stage_name(unsigned int stage);
/* The n-th phase of an iteration in the order of the test, from 0; -1: no more. */
int nth_phase(const struct view *v, unsigned int n);
/* The number of a phase among those that wait; -1: it does not. */
int wait_of_phase(const struct view *v, unsigned int phase);
/* The name of what a tile of a run says, in two parts; stage may be "". */
void tile_names(const struct view *v, unsigned int what, const char **phase, const char **stage);
/* By its number, or NULL. */
const struct view *view_of(struct view *const *v, unsigned int nr, uint32_t run);
/* With --run and --peer the programs take all runs in. */
bool wanted(uint32_t run, uint32_t peer);

/* stages-account.c: what is made of the iterations that the kernel side tells. */

/* After the probe. */
void account_open(void);
void account_close(void);
/* They were peers before we came. */
void account_pair(uint32_t run, uint32_t peer);
/* Takes in what was told. */
void account_read(void);
/*
 * All was taken in that the run in a slot has told. Of one that has ended it may not be: a record that another CPU has not
 * finished yet hides those behind it.
 */
bool account_is_whole(uint32_t slot);
/* Nothing came for a while: until something does, the descriptor is to be waited for, and not the time. */
bool account_is_quiet(void);
int account_fd(void);
/* Pieces that found no place. */
uint64_t account_failed(void);
/* The peer of the run in a slot; 0: none on this host, or not known. */
uint32_t account_peer(uint32_t slot);
/* The distribution of what a segment of the run in a slot says. */
unsigned int account_what(uint32_t slot, uint64_t seg);
/* All of a view but info: the run in a slot, as it was told. false: it did not hold still to be read. */
bool account_view(struct view *v, uint32_t slot);
/* Lays the waits of all runs over their peers' time lines, as far as these have come. */
void account_join(void);
/*
 * Of total, the view of the run in a slot just now, what came since the mark: all of
 * it where there is none. A mark is a view that was printed, whose numbers it takes over.
 */
void account_since(struct view *since, const struct view *total, uint32_t slot);
void account_mark(uint32_t slot, struct view *total);
void account_view_free(struct view *v);
/* One of its histograms, until the next one is asked for. */
const struct krp_hist *account_hist(const struct view *v, unsigned int dist);
/* Before the slot is another run's. */
void account_drop(uint32_t slot);

/* stages-slow.c: slow iterations, and why they were. */

/* Explained, where no number is asked for, and at most. */
#define SLOW_DEFAULT	10
#define SLOW_KEEP	1000
/* Of the programs' ring buffer, for those that were not read yet. */
#define SLOW_RING_BYTES (1U << 18)

struct slow_opts {
	uint64_t ns;	      /* as slow as this; 0: any */
	unsigned int slowest; /* so many of them; 0: SLOW_DEFAULT */
	bool fail;
};

static inline bool slow_wanted(const struct slow_opts *o)
{
	return o->ns || o->slowest;
}

/* Starts the recorder; before the probe is opened. */
void slow_open(const struct slow_opts *o, const void *elf, size_t size, const void *wake,
	       size_t wake_size);
/* After it. */
void slow_start(void);
void slow_close(void);
/* Becomes readable when there are some. */
int slow_fd(void);
void slow_read(void);
/* A run has ended: what it counted is kept. */
void slow_ended(const struct view *v);
/* Iterations that took long, as of what was printed last. */
uint64_t slow_seen(void);
uint64_t slow_missed(void);
/* Those that were not printed yet; with final all. v has the runs. */
void slow_print(FILE *f, struct view *const *v, unsigned int nr, bool final);
void slow_json(json_object *o, struct view *const *v, unsigned int nr, bool final);

#endif /* KRPING_STAGES_TOOL_H */
