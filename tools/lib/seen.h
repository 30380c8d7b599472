/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The runs that a source of events has told of, live or in a recording, and how much of each: a table
 * of runs that is fed by their events alone. A run has a slot until the tool drops it.
 */
#ifndef KRP_LIB_SEEN_H
#define KRP_LIB_SEEN_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "../../bpf/slot.h"
#include "environment.h"
#include "recording.h"
#include "source.h"

/* What one event tells of an iteration. */
struct krp_rec {
	uint32_t slot;
	uint32_t tid, cpu; /* the thread that told it, or that it interrupted */
	uint32_t flags;	   /* KRPING_PHASE_F_* */
	uint64_t iter;
	uint32_t nr; /* words */
	bool whole;  /* it ends a complete iteration that was seen from its beginning on */
	bool gap;    /* events before this one were lost */
	uint64_t t_begin, t;
	const __u64 *word;
};

/* Events of iterations. */
struct krp_totals {
	uint64_t records; /* events */
	uint64_t ns;	  /* their time */
	uint64_t whole;	  /* complete iterations */
};

struct krp_seen_run {
	struct krp_head head;	 /* "late": its beginning was not seen, and is not in the account */
	uint32_t peer;		 /* the peer's run, if it is on this host */
	bool begun;		 /* t_first is known */
	bool over;		 /* the tool has dropped it */
	uint64_t t_first, t_end; /* what is accounted for; t_end: so far */
	uint64_t told;		 /* the number of its last event */
	uint64_t iter;		 /* of the next iteration */
	uint64_t holes;		 /* how often nobody listened before an event */
	uint64_t unmatched;	 /* iterations out of order */
	struct krp_totals missed; /* events that were lost */
};

enum krp_replay {
	KRP_REPLAY_EVENT,
	KRP_REPLAY_RUN_END, /* an event that ends a run */
	KRP_REPLAY_TICK,    /* an interval is over */
	KRP_REPLAY_END,	    /* of the recording */
};

struct krp_seen {
	struct krp_source source;	 /* not of a recording */
	struct krp_recording *recording; /* NULL: live */
	enum krp_event event;		 /* krping_iter_stages, or another one of iterations */
	uint32_t slots;
	struct krp_seen_run *slot;
	uint32_t next;			      /* where to look for a free slot */
	uint16_t found[4096];		      /* by run: where it was last found */
	uint64_t no_slot;		      /* runs for which there was none */
	uint32_t no_slot_run;		      /* the last of them */
	const struct krp_event_head *pending; /* of a recording, and not taken yet */
	uint64_t now;	 /* of a recording: the time of its last event, or interval */
	uint64_t t_tick; /* of a recording: when its last interval ended */
	uint64_t own_nonce;
	/* Is called for each event of an iteration, in the order of its run. */
	void (*take)(struct krp_seen_run *s, const struct krp_rec *rec);
	/* Is called when a slot is about to be another run's; may be NULL. */
	void (*drop)(uint32_t slot);
	/*
	 * Set before the opening, or NULL: which other events the tool wants, live, and what gets each event but those of
	 * iterations, of which a recording may have more.
	 */
	bool (*also)(const char *event);
	void (*other)(const struct krp_event_head *h);
};

/*
 * Live: attaches to the events, or dies with the cause. With input, the name of a recording: krp_seen_replay()
 * reads it. runs becomes what /proc has, or had.
 */
void krp_seen_open(struct krp_seen *n, enum krp_event event, const char *input,
		   struct krp_runs *runs,
		   void (*take)(struct krp_seen_run *s, const struct krp_rec *rec),
		   void (*drop)(uint32_t slot));
void krp_seen_close(struct krp_seen *n);
/* Reads all events that there are, live. */
void krp_seen_read(struct krp_seen *n);
/* No more events come: reads the rest. */
void krp_seen_end(struct krp_seen *n);
/* Goes on in a recording: to its next event, which is taken, or to the end of an interval, which comes before that event. */
enum krp_replay krp_seen_replay(struct krp_seen *n, uint64_t interval_ns);
/* The time of the source, of the monotonic clock and of the one on the wall. */
uint64_t krp_seen_now(const struct krp_seen *n);
time_t krp_seen_clock(const struct krp_seen *n);
struct krp_lost krp_seen_lost(const struct krp_seen *n);
/* Was the recording not whole? Says so, unless with -j: then the last object has to. */
bool krp_seen_damaged(const struct krp_seen *n);

/* The run in a slot, unless it was dropped; NULL: none. */
struct krp_seen_run *krp_seen_slot(struct krp_seen *n, uint32_t slot);
/* The slot of a run that is there; -1: none. */
int krp_seen_find(struct krp_seen *n, uint32_t run);
/* Fills "slots", which has room for all of them, with those that have a run. Returns how many these are. */
uint32_t krp_seen_slots(struct krp_seen *n, uint32_t *slots);
void krp_seen_drop(struct krp_seen *n, uint32_t slot);
static inline bool krp_seen_ended(struct krp_seen *n, uint32_t slot)
{
	return krp_seen_slot(n, slot) && n->slot[slot].head.state == KRP_SLOT_ENDED;
}

/*
 * Live, reads /proc/krping_runs, unless all runs in slots are known and have made iterations: from then on only a
 * run's counters change until it ends. If events were lost, a run may have ended unseen: /proc says so.
 */
void krp_seen_info(struct krp_seen *n, struct krp_runs *runs);
/* Live, notes on which CPUs the threads of new runs are. */
void krp_seen_environment(struct krp_seen *n, struct krp_runs *runs,
			  struct krp_environment *environment);

#endif /* KRP_LIB_SEEN_H */
