/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The main loop of the tools that read the records of iterations: it reads them in time,
 * takes the runs that have ended, and prints lines and the summary.
 */
#ifndef KRP_LIB_DISPLAY_H
#define KRP_LIB_DISPLAY_H

#include <json-c/json.h>
#include <stdio.h>

#include "lost.h"
#include "runs.h"
#include "seen.h"
#include "tool.h"

/* The width of lines that can be cut, to be read on a terminal of 80 columns. */
#define KRP_TEXT_WIDTH 79

/* A run as it is shown: what the views of a tool begin with. */
struct krp_view {
	struct krp_head head;	  /* "late" also if it began before this tool did */
	struct krp_run_info info; /* zeroes if /proc does not know it, nor the head */
	bool since;		  /* it is of an interval, and not of all the time */
};

/* What one line shows, or the summary. */
struct krp_shown {
	void **v,
		**total; /* views by id; both have the same runs, and differ only for an interval */
	unsigned int nr;
	bool final, since;
	unsigned long dropped; /* runs that are in no list: too many have ended, or it ended unseen */
};

struct krp_display {
	const char *traces; /* for a note */
	struct krp_seen *seen;
	struct krp_runs *runs;
	size_t size; /* of a view */
	/* All is read some times a second, and not only where much waits to be read. */
	bool eager;
	/* With --run: is the run in the slot to be shown? NULL: if it is that run. */
	bool (*wanted)(uint32_t slot);
	/*
	 * Fills in a view but for info, which is there if /proc knows it: the run in a slot. whole: it has
	 * ended, and all its records were read since; else it goes on, for us. since: what came since the
	 * last line; may be NULL. false: it cannot be read.
	 */
	bool (*view)(void *total, void *since, uint32_t slot, bool whole);
	/* A line has shown the run in a slot, whose view this was; may take memory of the view over. */
	void (*line)(uint32_t slot, void *total);
	/* Frees what a view has; may be NULL. */
	void (*free)(void *view);
	/* A run has ended, and this is its view; may be NULL. */
	void (*ended)(const void *total);
	/* The members of a line, and its text without its last lines. */
	void (*json)(json_object *o, const struct krp_shown *s);
	void (*text)(FILE *f, const struct krp_shown *s);
	struct krp_lost (*lost)(void);
	/* What the tool has found that is not as it should be, in words; NULL: nothing. */
	const char *(*broken)(void);
	/* Reads what is not in the rings, each time that the rings were read; may be NULL. */
	void (*read)(void);
	/* All was read, and the events are about to be switched off, which takes a while; may be NULL. */
	void (*ends)(void);
	/* Runs of which all was read are about to be shown, or have ended; may be NULL. */
	void (*ready)(void);
	/* Looks at the runs that go on, some times a second; may be NULL. */
	void (*look)(void);
	/* It is time to end, whichever runs go on; may be NULL. */
	bool (*done)(void);
};

/*
 * Returns when it is done, or for a signal or the end of the last interval, and has printed all: KRP_EXIT_BROKEN
 * if something is broken, or the recording is damaged.
 */
enum krp_exit krp_display_run(const struct krp_display *d);
/* Reads the view of the run in a slot; false: it is filtered, or does not hold still. */
bool krp_display_view(const struct krp_display *d, void *total, uint32_t slot);
/* Whose run it is. */
json_object *krp_view_json(const struct krp_view *v);

#endif /* KRP_LIB_DISPLAY_H */
