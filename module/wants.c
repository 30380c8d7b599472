// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The keys of wants.h, and the functions that turn them: a tracepoint calls
 * these when its first reader comes and when its last reader goes, observe.c for
 * each observer.
 */
#include "krping_trace.h"
#include "wants.h"

DEFINE_STATIC_KEY_FALSE(krping_phases_key);
DEFINE_STATIC_KEY_FALSE(krping_line_phases_key);
DEFINE_STATIC_KEY_FALSE(krping_lines_key);
DEFINE_STATIC_KEY_FALSE(krping_stages_key);
DEFINE_STATIC_KEY_FALSE(krping_line_stages_key);
DEFINE_STATIC_KEY_FALSE(krping_regions_key);
DEFINE_STATIC_KEY_FALSE(krping_memory_key);
DEFINE_STATIC_KEY_FALSE(krping_split_key);
DEFINE_STATIC_KEY_FALSE(krping_posts_key);
DEFINE_STATIC_KEY_FALSE(krping_completions_key);
DEFINE_STATIC_KEY_FALSE(krping_messages_key);
DEFINE_STATIC_KEY_FALSE(krping_signals_key);

#ifndef NOTRACE
enum {
	KRPING_PHASES = 0x1,
	KRPING_LINES = 0x2,
	KRPING_POSTS = 0x4,
	KRPING_COMPLETIONS = 0x8,
	KRPING_WAITS = 0x10,
	KRPING_SIGNALS = 0x20,
	KRPING_LINE_STAGES = 0x40,
	KRPING_REGIONS = 0x80,
	KRPING_MEMORY = 0x100,
	KRPING_SPLIT = 0x200,
	KRPING_LINE_PHASES = 0x400,
	KRPING_MESSAGES = 0x800,
	/* A stage lies between the times of two of these. */
	KRPING_STAGES = KRPING_WAITS | KRPING_PHASES | KRPING_POSTS |
			KRPING_COMPLETIONS | KRPING_MESSAGES | KRPING_SIGNALS,
};

static void krping_key_set(struct static_key *key, bool is_meant, bool on)
{
	if (is_meant && on)
		static_key_slow_inc(key);
	else if (is_meant)
		static_key_slow_dec(key);
}

static void krping_keys_set(unsigned int what, bool on)
{
	krping_key_set(&krping_phases_key.key, what & KRPING_PHASES, on);
	krping_key_set(&krping_line_phases_key.key, what & KRPING_LINE_PHASES,
		       on);
	krping_key_set(&krping_lines_key.key, what & KRPING_LINES, on);
	krping_key_set(&krping_posts_key.key, what & KRPING_POSTS, on);
	krping_key_set(&krping_completions_key.key, what & KRPING_COMPLETIONS,
		       on);
	krping_key_set(&krping_messages_key.key, what & KRPING_MESSAGES, on);
	krping_key_set(&krping_stages_key.key, what & KRPING_WAITS, on);
	krping_key_set(&krping_regions_key.key, what & KRPING_REGIONS, on);
	krping_key_set(&krping_memory_key.key, what & KRPING_MEMORY, on);
	krping_key_set(&krping_split_key.key, what & KRPING_SPLIT, on);
	krping_key_set(&krping_line_stages_key.key, what & KRPING_LINE_STAGES,
		       on);
	krping_key_set(&krping_signals_key.key, what & KRPING_SIGNALS, on);
}

/* clang-format off */
/* Called with the tracepoints' mutex held. */
#define KRPING_WANT(name, what)						\
int krping_want_##name(void)						\
{									\
	krping_keys_set(what, true);					\
	return 0;							\
}									\
									\
void krping_unwant_##name(void)						\
{									\
	krping_keys_set(what, false);					\
}

KRPING_WANT(phases, KRPING_PHASES)
KRPING_WANT(lines, KRPING_LINES)
KRPING_WANT(stages, KRPING_STAGES)
KRPING_WANT(posts, KRPING_POSTS)
KRPING_WANT(completions, KRPING_COMPLETIONS | KRPING_MESSAGES)
KRPING_WANT(regions, KRPING_REGIONS)
KRPING_WANT(costs, KRPING_REGIONS | KRPING_POSTS | KRPING_COMPLETIONS)
KRPING_WANT(signals, KRPING_SIGNALS)
/* clang-format on */

static const unsigned int krping_observed[] = {
	[KRPING_OBSERVE_PHASES] = KRPING_PHASES | KRPING_LINE_PHASES,
	[KRPING_OBSERVE_STAGES] = KRPING_STAGES | KRPING_LINE_STAGES |
				  KRPING_LINE_PHASES,
	[KRPING_OBSERVE_MEMORY] = KRPING_MEMORY | KRPING_POSTS |
				  KRPING_COMPLETIONS,
	[KRPING_OBSERVE_SPLIT] = KRPING_SPLIT,
};
#endif

/* An observer asks for something, or takes this back. Sleeps. */
void krping_want_observed(enum krping_observe what, bool on)
{
#ifndef NOTRACE
	krping_keys_set(krping_observed[what], on);
#endif
}
