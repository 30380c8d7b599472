// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The keys of wants.h, and the functions that turn them: a tracepoint calls these when its
 * first reader comes and when its last reader goes, with the tracepoints' mutex held.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include "krping_trace.h"
#include "wants.h"

DEFINE_STATIC_KEY_ARRAY_FALSE(krping_want_keys, KRPING_NR_WANTS);
u32 krping_line_gens[KRPING_NR_LINE_EVENTS];
u64 krping_requests_since;

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
	KRPING_IN_FLIGHT = BIT(KRPING_WANTS_requests) | BIT(KRPING_WANTS_stages) | KRPING_POSTS |
			   KRPING_COMPLETIONS,
	KRPING_COSTS = KRPING_REGIONS | KRPING_POSTS | KRPING_COMPLETIONS,
};

/*
 * While the generation of an event is odd, all that the event wants is there. On may follow
 * on: where the tracepoint has no memory for its first reader, nobody calls off.
 */
static int krping_want(unsigned int keys, int event, bool on)
{
	u32 *gen = event < 0 ? NULL : &krping_line_gens[event];
	unsigned int i;

	/* With the first reader that wants requests their times begin, and with the last one they end. */
	if (keys & BIT(KRPING_WANTS_requests) &&
	    static_key_count(&krping_want_keys[KRPING_WANTS_requests].key) == !on)
		WRITE_ONCE(krping_requests_since, on ? ktime_get_ns() : U64_MAX);
	if (gen && !on)
		WRITE_ONCE(*gen, *gen + 1);
	for (i = 0; i < KRPING_NR_WANTS; i++) {
		if (!(keys & BIT(i)))
			continue;
		if (on)
			static_branch_inc(&krping_want_keys[i]);
		else
			static_branch_dec(&krping_want_keys[i]);
	}
	if (gen && on)
		WRITE_ONCE(*gen, (*gen + 1) | 1);
	return 0;
}

/* clang-format off */
#define KRPING_WANT(name, keys, event)					\
int krping_want_##name(void)						\
{									\
	return krping_want(keys, event, true);				\
}									\
									\
void krping_unwant_##name(void)						\
{									\
	krping_want(keys, event, false);				\
}

KRPING_WANT(iter, KRPING_LINES, KRPING_LINE_ITER)
KRPING_WANT(iter_phases, KRPING_LINES | KRPING_PHASES, KRPING_LINE_PHASES)
KRPING_WANT(iter_stages, KRPING_LINES | KRPING_STAGES | KRPING_IN_FLIGHT, KRPING_LINE_STAGES)
KRPING_WANT(iter_memory, KRPING_LINES | KRPING_COSTS, KRPING_LINE_MEMORY)
KRPING_WANT(phases, KRPING_PHASES, -1)
KRPING_WANT(stages, KRPING_STAGES, -1)
KRPING_WANT(request, KRPING_IN_FLIGHT, -1)
KRPING_WANT(posts, KRPING_POSTS, -1)
KRPING_WANT(completions, KRPING_COMPLETIONS, -1)
KRPING_WANT(regions, KRPING_REGIONS, -1)
KRPING_WANT(costs, KRPING_COSTS, -1)
/* clang-format on */
#endif
