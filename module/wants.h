/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the events that are on want from the code paths of a ping: who attaches to an event asks
 * for what it costs. If no event is on, these paths neither read the clock nor call a function.
 */
#ifndef KRPING_WANTS_H
#define KRPING_WANTS_H

#include <linux/jump_label.h>
#include <linux/types.h>

/* What more than one event wants; for one event its trace_krping_NAME_enabled() is asked. */
enum krping_want {
	KRPING_WANTS_phases,	  /* the time of each boundary between phases */
	KRPING_WANTS_lines,	  /* a time line of each iteration */
	KRPING_WANTS_stages,	  /* the times that the stages of a wait are made of */
	KRPING_WANTS_regions,	  /* what happens to memory regions */
	KRPING_WANTS_posts,	  /* the calls that post work requests */
	KRPING_WANTS_completions, /* completions */
	KRPING_WANTS_requests,	  /* the times of requests in flight */
	KRPING_NR_WANTS
};

extern struct static_key_false krping_want_keys[KRPING_NR_WANTS];

/* In a module without its tracepoints (see make bench) no event wants anything. */
#ifdef NOTRACE
#define KRPING_TRACED false
#else
#define KRPING_TRACED true
#endif
#define krping_wants(what) \
	(KRPING_TRACED && static_branch_unlikely(&krping_want_keys[KRPING_WANTS_##what]))

/* The events that tell an iteration: those of its words, and krping_iter. */
enum krping_line_event {
	KRPING_LINE_PHASES,
	KRPING_LINE_STAGES,
	KRPING_LINE_MEMORY,
	KRPING_NR_LINE_WORDS,
	KRPING_LINE_ITER = KRPING_NR_LINE_WORDS,
	KRPING_NR_LINE_EVENTS
};

/* Since when requests are wanted without a gap, U64_MAX: they are not. A time before that is an old one. */
extern u64 krping_requests_since;

/* The generation of an event: counts on and off; odd while all that the event wants is there. */
extern u32 krping_line_gens[KRPING_NR_LINE_EVENTS];

#endif /* KRPING_WANTS_H */
