/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the events that are on want of the paths that a ping takes. Where nobody
 * wants anything these have a jump that is not taken, and neither read the clock
 * nor call a function: what somebody wants is in functions that are not inlined.
 */
#ifndef KRPING_WANTS_H
#define KRPING_WANTS_H

#include <linux/jump_label.h>

/* The time of each boundary between phases; and the time line that they make. */
DECLARE_STATIC_KEY_FALSE(krping_phases_key);
DECLARE_STATIC_KEY_FALSE(krping_lines_key);
/* What phases that wait do so for. */
DECLARE_STATIC_KEY_FALSE(krping_stages_key);
/* All calls that post; and completions. */
DECLARE_STATIC_KEY_FALSE(krping_posts_key);
DECLARE_STATIC_KEY_FALSE(krping_completions_key);

/**
 * krping_wants - does an event that is on want this?
 * @what: phases, lines, stages, posts or completions
 *
 * The module without its tracepoints (see make bench) has nobody to tell.
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
