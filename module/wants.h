/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the events that are on, and the observers that ask, want from the code paths
 * of a ping. If nobody wants anything, these paths have a jump that is not taken, and
 * neither read the clock nor call a function: the code for events is in functions
 * that are not inlined.
 */
#ifndef KRPING_WANTS_H
#define KRPING_WANTS_H

#include <linux/jump_label.h>
#include "krping_abi.h"

/* The time of each boundary between phases; they are to be in the time line. */
DECLARE_STATIC_KEY_FALSE(krping_phases_key);
DECLARE_STATIC_KEY_FALSE(krping_line_phases_key);
/* A time line of each iteration. */
DECLARE_STATIC_KEY_FALSE(krping_lines_key);
/* The stages of phases that wait; they are to be in the time line. */
DECLARE_STATIC_KEY_FALSE(krping_stages_key);
DECLARE_STATIC_KEY_FALSE(krping_line_stages_key);
/* The events of memory regions; what happens to them, and what that costs, is to be in the time line. */
DECLARE_STATIC_KEY_FALSE(krping_regions_key);
DECLARE_STATIC_KEY_FALSE(krping_memory_key);
/* Whose time each iteration is, this host's or the peer's. */
DECLARE_STATIC_KEY_FALSE(krping_split_key);
/* All calls that post work requests; completions of the send queue; messages; the provider's signals. */
DECLARE_STATIC_KEY_FALSE(krping_posts_key);
DECLARE_STATIC_KEY_FALSE(krping_completions_key);
DECLARE_STATIC_KEY_FALSE(krping_messages_key);
DECLARE_STATIC_KEY_FALSE(krping_signals_key);

/**
 * krping_wants - does an event that is on, or an observer, want this?
 * @what: phases, line_phases, lines, stages, line_stages, regions, memory, split, posts,
 *	completions, messages or signals
 *
 * In a module without its tracepoints (see make bench) no event wants anything.
 *
 * Context: any.
 */
#ifdef NOTRACE
#define KRPING_TRACED false
#else
#define KRPING_TRACED true
#endif
#define krping_wants(what) \
	(KRPING_TRACED && static_branch_unlikely(&krping_##what##_key))

void krping_want_observed(enum krping_observe what, bool on);

#endif /* KRPING_WANTS_H */
