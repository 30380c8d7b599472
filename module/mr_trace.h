/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_iter_memory tells of memory regions. Called as mr.h's functions are. */
#ifndef KRPING_MR_TRACE_H
#define KRPING_MR_TRACE_H

#include <linux/types.h>
#include "ep.h"
#include "krping_abi.h"
#include "krping_trace.h"
#include "phase.h"

/* Where so many words can be added, which come in one event. */
static __always_inline struct krping_words *krping_memory_words(const struct krping_ep *ep, u32 nr)
{
	struct krping_line *line = &ep->phases->line;
	struct krping_words *words = &line->words[KRPING_LINE_MEMORY];

	if (unlikely(words->nr + nr > KRPING_WORDS_MAX))
		krping_line_more(line, ep->rec);
	return words;
}

/* A KRPING_STEP(), or the KRPING_COST() of a mapping that failed. */
static __always_inline void krping_memory_word(const struct krping_ep *ep, u64 word)
{
	struct krping_words *words;

	/* Or it was turned on in this phase. */
	if (!trace_krping_iter_memory_enabled() || unlikely(!ep->phases->line.t))
		return;
	words = krping_memory_words(ep, 1);
	words->word[words->nr++] = word;
}

void __krping_memory_costs(struct krping_ep *ep);
/* The endpoint goes: its queues are drained, and its requests are still there. */
void krping_memory_end(struct krping_ep *ep);

/* An iteration is over: tell what the requests have cost that are done. */
static inline void krping_memory_costs(struct krping_ep *ep)
{
	if (trace_krping_iter_memory_enabled() && READ_ONCE(ep->sq_done) != ep->sq_costed)
		__krping_memory_costs(ep);
}

/* So many requests are going to be posted, and take the places of older ones: tell of those. */
static inline void krping_memory_room(struct krping_ep *ep, u32 room)
{
	if (trace_krping_iter_memory_enabled() &&
	    unlikely(ep->sq_posted + room - ep->sq_costed > ep->sq_mask + 1))
		__krping_memory_costs(ep);
}

#endif /* KRPING_MR_TRACE_H */
