/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A recording of events, as krping-record writes it: docs/recording.md. The reader believes nothing that a
 * file says: sizes are bounded by what was read, and an event has the arguments and words that it needs. It
 * also reads what trace-cmd has written (tracedat.h): who reads events does not know which of them it is.
 */
#ifndef KRP_LIB_RECORDING_H
#define KRP_LIB_RECORDING_H

#include <json-c/json.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "events.h"
#include "lost.h"
#include "runs.h"
#include "tracedat.h"

#define KRP_RECORDING_MAGIC "krping record 1\n"

/* clang-format off */

/* What a chunk has. A reader skips those that it does not know. */
enum krp_chunk_kind {
	KRP_CHUNK_TABLE = 1,	/* text: a line for each event, by its number: its name and its arguments */
	KRP_CHUNK_ABOUT,	/* text, JSON: the environment, host, version */
	KRP_CHUNK_EVENT,	/* struct krp_event_head and what is behind it */
	KRP_CHUNK_CLOCK,	/* struct krp_clock */
	KRP_CHUNK_LOST,		/* struct krp_chunk_lost: so far */
	KRP_CHUNK_RUNS,		/* text: /proc/krping_runs */
	KRP_CHUNK_END,		/* empty: the recording is whole */
};

/* clang-format on */

struct krp_chunk {
	__u32 kind;
	__u32 size; /* of the bytes that follow; the next chunk is at the next multiple of 8 */
};

/* Both clocks at one time, in nanoseconds. */
struct krp_clock {
	__u64 mono, real;
};

struct krp_chunk_lost {
	__u64 missed, failed, dropped;
};

/* The largest chunk: /proc/krping_runs of many runs. */
#define KRP_CHUNK_MAX (16U << 20)

/* The table of this version, as a recording has it. */
char *krp_recording_table(void);

struct krp_recording {
	const char *name; /* of the file */
	FILE *f;
	struct krp_tracedat *tracedat; /* NULL: it is krping-record's */
	void *chunk;
	size_t room;
	/* By the number of an event in the recording: the number here + 1, or 0; and where its arguments go. */
	struct krp_recording_event {
		unsigned int event;
		unsigned int nr_args;
		int to[KRP_MAX_ARGS], words, text, label;
	} event[256];
	unsigned int nr_events;
	bool same; /* the table is that of this version */
	struct krp_clock clock;
	struct krp_lost lost;
	struct krp_runs *runs; /* as the recording has them, so far */
	json_object *about;    /* an object, which is empty as long as nothing is known */
	bool has_last;	       /* runs and about are the last ones */
	/* Is called for what is not an event, behind the members; may be NULL. The chunk may be changed. */
	void (*other)(struct krp_recording *r, const struct krp_chunk *c);
	bool whole;	    /* its end was read */
	const char *damage; /* NULL: none */
	union krp_event_copy copy;
};

/*
 * Begins to read the file, which the recording closes. What it has of /proc/krping_runs goes to runs, which stay the
 * caller's. Returns what is wrong with it, or NULL.
 */
const char *krp_recording_open(struct krp_recording *r, FILE *f, struct krp_runs *runs);
/* The same of the file with that name, "-" for stdin; dies if it cannot be read. */
void krp_recording_input(struct krp_recording *r, const char *input, struct krp_runs *runs);
/*
 * The next event, in the form of this version, valid until the next call, and its size; NULL: there is none, since it is whole, or
 * damaged. What comes between events is in the members.
 */
const struct krp_event_head *krp_recording_next(struct krp_recording *r, size_t *size);
/*
 * Takes over the last list of runs that the file has, and the last that it says of itself, wherever these are; not
 * if it is no file. Else what is known of a run is what was known when the recording began.
 */
void krp_recording_last_runs(struct krp_recording *r);
/* How much of the file was read, from 0 to 1; negative: its size is not known. */
double krp_recording_position(const struct krp_recording *r);
void krp_recording_close(struct krp_recording *r);

#endif /* KRP_LIB_RECORDING_H */
