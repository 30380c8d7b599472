/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the events that are on want from the code paths of a ping. If no event
 * wants anything, these paths have a jump that is not taken, and neither read
 * the clock nor call a function: the code for events is in functions that are
 * not inlined.
 */
#ifndef KRPING_WANTS_H
#define KRPING_WANTS_H

#include <linux/jump_label.h>

/* The time of each boundary between phases; the time line of these times. */
DECLARE_STATIC_KEY_FALSE(krping_phases_key);
DECLARE_STATIC_KEY_FALSE(krping_lines_key);
/* The stages of phases that wait. */
DECLARE_STATIC_KEY_FALSE(krping_stages_key);
/* All calls that post work requests; completions; the provider's signals. */
DECLARE_STATIC_KEY_FALSE(krping_posts_key);
DECLARE_STATIC_KEY_FALSE(krping_completions_key);
DECLARE_STATIC_KEY_FALSE(krping_signals_key);

/**
 * krping_wants - does an event that is on want this?
 * @what: phases, lines, stages, posts, completions or signals
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

#endif /* KRPING_WANTS_H */
