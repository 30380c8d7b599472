// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The keys of wants.h, and the functions that turn them: a tracepoint calls these when its
 * first reader comes and when its last reader goes, with the tracepoints' mutex held.
 */
#include <linux/bits.h>
#include "krping_trace.h"
#include "wants.h"

DEFINE_STATIC_KEY_ARRAY_FALSE(krping_want_keys, KRPING_NR_WANTS);
u32 krping_line_turns[KRPING_NR_LINE_EVENTS];

#ifndef NOTRACE
enum {
	KRPING_PHASES = BIT(KRPING_WANTS_phases),
	KRPING_LINES = BIT(KRPING_WANTS_lines),
	KRPING_REGIONS = BIT(KRPING_WANTS_regions),
	KRPING_POSTS = BIT(KRPING_WANTS_posts),
	KRPING_COMPLETIONS = BIT(KRPING_WANTS_completions),
	/* A stage lies between the times of two of these. */
	KRPING_STAGES = BIT(KRPING_WANTS_stages) | KRPING_PHASES | KRPING_POSTS |
			KRPING_COMPLETIONS,
	KRPING_COSTS = KRPING_REGIONS | KRPING_POSTS | KRPING_COMPLETIONS,
};

static void krping_keys_set(unsigned int keys, bool on)
{
	unsigned int i;

	for (i = 0; i < KRPING_NR_WANTS; i++) {
		if (!(keys & BIT(i)))
			continue;
		if (on)
			static_branch_inc(&krping_want_keys[i]);
		else
			static_branch_dec(&krping_want_keys[i]);
	}
}

/* Twice on without an off: the tracepoint had no memory for its first reader. */
static void krping_line_turn(enum krping_line_event event, bool on)
{
	u32 turn = krping_line_turns[event] + 1;

	WRITE_ONCE(krping_line_turns[event], on ? turn | 1 : turn);
}

/* clang-format off */
#define KRPING_WANT(name, keys)						\
int krping_want_##name(void)						\
{									\
	krping_keys_set(keys, true);					\
	return 0;							\
}									\
									\
void krping_unwant_##name(void)						\
{									\
	krping_keys_set(keys, false);					\
}

/* While the number is odd, all that the event wants is there. */
#define KRPING_WANT_LINE(name, keys, event)				\
int krping_want_##name(void)						\
{									\
	krping_keys_set(KRPING_LINES | (keys), true);			\
	krping_line_turn(event, true);					\
	return 0;							\
}									\
									\
void krping_unwant_##name(void)						\
{									\
	krping_line_turn(event, false);					\
	krping_keys_set(KRPING_LINES | (keys), false);			\
}

KRPING_WANT_LINE(iter, 0, KRPING_LINE_ITER)
KRPING_WANT_LINE(iter_phases, KRPING_PHASES, KRPING_LINE_PHASES)
KRPING_WANT_LINE(iter_stages, KRPING_STAGES, KRPING_LINE_STAGES)
KRPING_WANT_LINE(iter_memory, KRPING_COSTS, KRPING_LINE_MEMORY)
KRPING_WANT(phases, KRPING_PHASES)
KRPING_WANT(stages, KRPING_STAGES)
KRPING_WANT(posts, KRPING_POSTS)
KRPING_WANT(completions, KRPING_COMPLETIONS)
KRPING_WANT(regions, KRPING_REGIONS)
KRPING_WANT(costs, KRPING_COSTS)
/* clang-format on */
#endif
