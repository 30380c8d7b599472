/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One iteration of a pair of runs, chosen from all that were seen, with the
 * events of both ends. Everything here is pure: events go in, a choice and a
 * drawing come out, and memory is bounded however long the runs are.
 */
#ifndef KRP_TRACE_LADDER_H
#define KRP_TRACE_LADDER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../lib/events.h"
#include "../lib/runs.h"

/* Columns, from the left. */
enum krp_side {
	KRP_CLIENT,
	KRP_SERVER,
	KRP_NR_SIDES,
};

extern const char *const krp_side_names[KRP_NR_SIDES];

/* One end of a connection; run is 0 if it is not on this host. */
struct krp_end {
	uint32_t run, qp, port, size;
	char dev[KRP_ESCAPED(KRPING_DEV_NAME_MAX)];
};

struct krp_pair {
	struct krp_end end[KRP_NR_SIDES];
	enum krp_side own; /* whose iterations are looked at */
	char test[16];
};

/*
 * Finds the pair of a connected run: by its krping_conn event, given the nonce
 * of the module and what is known of the run; or, if the run was connected
 * before we attached, by the lines of /proc/krping_runs. The peer is on this
 * host if the nonce says so or, in the latter case, if its line names this run
 * and the addresses of both fit. own becomes the client if that is on this
 * host, unless the run itself is wanted. false: not connected, or not known.
 */
bool krp_pair_of_conn(struct krp_pair *pair, const struct krp_event_rec *conn,
		      const struct krp_run_info *info, uint64_t nonce, bool wanted);
bool krp_pair_of_runs(struct krp_pair *pair, const struct krp_runs *runs, uint32_t run,
		      bool wanted);
/* The side of a run; -1: the run is not in this pair. */
int krp_pair_side(const struct krp_pair *pair, uint32_t run);

enum krp_pick {
	KRP_PICK_MEDIAN,
	KRP_PICK_SLOWEST,
	KRP_PICK_FASTEST,
	KRP_PICK_NUMBER,
};

/* An event of one of the ends. */
struct krp_ladder_event {
	struct krp_event_head head;
	uint64_t args[KRP_MAX_ARGS];
	uint64_t message; /* joins a SEND and its RECV; 0: none */
	uint8_t side;
};

/* An iteration with all events of both ends from its beginning to its end. */
struct krp_iteration {
	uint64_t iter, t_begin, t_end;
	size_t nr;
	struct krp_ladder_event *event;
	/*
	 * The phase event of the other end before the iteration began, and the
	 * next one after the iteration.
	 */
	struct krp_ladder_event before, after;
	bool has_before, has_after;
	uint32_t bucket; /* of its duration */
};

struct krp_ladder_stats {
	uint64_t seen;	   /* complete iterations */
	uint64_t aborted;  /* cut short */
	uint64_t holes;	   /* iterations with missing events, which are never chosen */
	uint64_t too_long; /* iterations of more events than are kept */
	uint64_t fastest, median, slowest;
	/* The rank of the chosen iteration; 1 is the fastest. */
	uint64_t rank;
	bool exact; /* median and rank are exact: see KRP_LADDER_DURATIONS */
};

/* The largest number of events that an iteration can have. */
#define KRP_LADDER_EVENTS    8192
/* The largest number of events of all iterations together that are kept for the median. */
#define KRP_LADDER_KEPT	     65536
/* Durations that are kept, of the first iterations. */
#define KRP_LADDER_DURATIONS (1U << 20)

struct krp_ladder;

/* number is for KRP_PICK_NUMBER. */
struct krp_ladder *krp_ladder_new(enum krp_pick pick, uint64_t number, const struct krp_pair *pair);
void krp_ladder_free(struct krp_ladder *l);
/* Takes events of the pair, in the order of their times; ignores other events. */
void krp_ladder_feed(struct krp_ladder *l, const struct krp_event_rec *rec);
/* A run has ended whose krping_run_end was not seen. */
void krp_ladder_run_ended(struct krp_ladder *l, uint32_t run);
/* True if no later event can change the choice any more. */
bool krp_ladder_is_settled(const struct krp_ladder *l);
/* True if both ends, or the only end that is on this host, have ended. */
bool krp_ladder_has_ended(const struct krp_ladder *l);
const struct krp_pair *krp_ladder_pair(const struct krp_ladder *l);
/* The iteration that was picked from all so far; NULL: there is none. */
const struct krp_iteration *krp_ladder_choice(struct krp_ladder *l, struct krp_ladder_stats *stats);

/* What happens on a line of the drawing. */
enum krp_step_what {
	KRP_STEP_PHASE,
	KRP_STEP_POST,
	KRP_STEP_COMPLETION,
	KRP_STEP_WAIT,
	KRP_STEP_MAP,
	KRP_STEP_INVALIDATED,
	KRP_STEP_OTHER,
};

/* An arrow; where it leads depends on the side. */
enum krp_arrow {
	KRP_ARROW_NONE,
	KRP_ARROW_SEND, /* a message leaves */
	KRP_ARROW_RECV, /* a message has arrived */
	KRP_ARROW_PUT,	/* data go to the peer's memory */
	KRP_ARROW_GET,	/* data come from the peer's memory */
};

struct krp_step {
	int64_t t; /* nanoseconds since the iteration began */
	enum krp_side side;
	enum krp_step_what what;
	enum krp_arrow arrow;
	uint64_t message;
	uint32_t key;	  /* of the peer's memory, with PUT and GET */
	int64_t duration; /* of a phase; -1: unknown, or no phase */
	const struct krp_ladder_event *event;
	char text[96];
};

struct krp_steps {
	struct krp_step *v;
	size_t nr, room;
};

/* The steps of an iteration, in the order of their times. */
void krp_steps_make(struct krp_steps *s, const struct krp_pair *pair,
		    const struct krp_iteration *it);
void krp_steps_free(struct krp_steps *s);
/* Members for a step's object: t_ns, side, what, and those of its kind. */
json_object *krp_step_json(const struct krp_step *s);
/* Nanoseconds that a step took; negative if that is unknown, or if the step is a point in time. */
int64_t krp_step_duration(const struct krp_step *s);

/* Draws in ASCII, in less than 80 columns. */
void krp_ladder_draw(FILE *f, const struct krp_pair *pair, const struct krp_iteration *it,
		     const struct krp_steps *s);

#endif /* KRP_TRACE_LADDER_H */
