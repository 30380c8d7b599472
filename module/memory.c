// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What krping_iter_memory tells of memory regions: each step in the life of a key, and what
 * registrations and invalidations cost.
 *
 * A request is done when a completion tells so, which the run's thread may not see: a
 * softirq or a work may poll. But the completion handler writes its time into the
 * request, before it publishes that the request has retired; and only the thread uses
 * the request's place in the send queue again. So the thread has all that it needs when
 * it is about to do that, with no lock, and no cost is lost.
 */
#include "ep.h"
#include "memory.h"
#include "phase.h"

static void krping_memory_word(const struct krping_ep *ep, u64 word)
{
	struct krping_line *line = &ep->phases->line;
	struct krping_words *words = &line->words[KRPING_LINE_MEMORY];

	/* The event is on since this phase began. */
	if (unlikely(!line->t))
		return;
	if (unlikely(words->nr == KRPING_WORDS_MAX))
		krping_line_more(line, ep->rec);
	words->word[words->nr++] = word;
}

/**
 * krping_memory_step - something happens to a key
 * @ep: the endpoint
 * @step: what
 * @state: see KRPING_STEP()
 * @pages: see KRPING_STEP()
 * @key: see KRPING_STEP()
 *
 * Context: the run's thread.
 */
void krping_memory_step(const struct krping_ep *ep, enum krping_step step,
			u32 state, u32 pages, u32 key)
{
	if (trace_krping_iter_memory_enabled())
		krping_memory_word(ep, KRPING_STEP(step, state, pages, key));
}

/**
 * krping_memory_map_failed - a buffer could not be mapped onto a region
 * @ep: the endpoint
 * @pages: of the buffer
 * @ns: how long the call took
 *
 * Context: the run's thread.
 */
void krping_memory_map_failed(const struct krping_ep *ep, u32 pages, u64 ns)
{
	if (trace_krping_iter_memory_enabled())
		krping_memory_word(ep, KRPING_COST(KRPING_WR_REG_MR,
						   KRPING_COST_MAP,
						   KRPING_COST_F_FAILED, pages,
						   ns));
}

/*
 * What a request has cost: all words, or none, if somebody began to ask only after it was
 * posted.
 */
static void krping_memory_cost(const struct krping_ep *ep,
			       const struct krping_wr *wr, u64 t, u32 flags)
{
	u32 kind = wr->kind, pages = 0;
	u64 t_post = wr->t_post;

	if (unlikely(!t || !t_post))
		return;
	/* Only a registration has a mapping. */
	if (kind == KRPING_WR_REG_MR) {
		pages = krping_ep_pages(ep, wr->len);
		if (wr->map_ns)
			krping_memory_word(ep,
					   KRPING_COST(kind, KRPING_COST_MAP, 0,
						       pages, wr->map_ns));
	}
	krping_memory_word(ep, KRPING_COST(kind, KRPING_COST_POST, 0, pages,
					   wr->t_posted - t_post));
	krping_memory_word(ep, KRPING_COST(kind, KRPING_COST_DONE, flags, pages,
					   t - t_post));
}

/*
 * Some requests of the send queue, one behind the other. Each ping walks over all of its
 * requests, and a step to the next place is much less than krping_sq_slot().
 */
struct krping_sq_part {
	const struct krping_wr *wr; /* the first of them */
	u32 nr;
	const struct krping_wr *
		first; /* places of the queue: behind the last comes the first */
	const struct krping_wr *last;
};

static __always_inline void krping_sq_part_next(struct krping_sq_part *part)
{
	part->wr = unlikely(part->wr == part->last) ? part->first :
						      part->wr + 1;
	part->nr--;
}

/*
 * The request whose completion retired a request: itself, or the next one that asked for
 * a completion. When the queue is flushed the others complete, too. NULL: there is none.
 */
static __always_inline const struct krping_wr *krping_sq_part_retirer(
	struct krping_sq_part part, bool flushed)
{
	for (; part.nr; krping_sq_part_next(&part))
		if (flushed ? part.wr->t_wc != 0 :
			      part.wr->flags & KRPING_POST_F_SIGNALED)
			return part.wr;
	return NULL;
}

static void krping_memory_tell(struct krping_ep *ep, u32 end, bool flushed)
{
	u32 flags = flushed ? KRPING_COST_F_FAILED : 0;
	struct krping_sq_part part = {
		.wr = krping_sq_slot(ep, ep->sq_costed),
		.nr = end - ep->sq_costed,
		.first = ep->sq,
		.last = ep->sq + ep->sq_mask,
	};
	const struct krping_wr *by = NULL;

	ep->sq_costed = end;
	for (; part.nr; krping_sq_part_next(&part)) {
		if (!(BIT(part.wr->kind) & KRPING_OF_MRS))
			continue;
		/* One completion retires all of a chain, as a rule. */
		if (!by || (s32)(part.wr->seq - by->seq) > 0)
			by = krping_sq_part_retirer(part, flushed);
		if (unlikely(!by))
			return;
		krping_memory_cost(ep, part.wr, by->t_wc, flags);
	}
}

/**
 * __krping_memory_costs - krping_memory_costs() with somebody asking
 * @ep: the endpoint
 *
 * Context: the run's thread.
 */
void __krping_memory_costs(struct krping_ep *ep)
{
	/* Pairs with the release in krping_send_done(). */
	u32 done = smp_load_acquire(&ep->sq_done);

	/* Nobody asked for a while: their places may have been used again. */
	if (ep->sq_posted - ep->sq_costed > ep->sq_mask + 1)
		ep->sq_costed = done;
	krping_memory_tell(ep, done, false);
}

/**
 * krping_memory_end - the endpoint goes: tell what is not told yet
 * @ep: the endpoint, drained: no completion comes any more
 *
 * Context: the run's thread, while the requests of the send queue are still there.
 */
void krping_memory_end(struct krping_ep *ep)
{
	if (!trace_krping_iter_memory_enabled() || !ep->sq)
		return;
	__krping_memory_costs(ep);
	krping_memory_tell(ep, ep->sq_posted, true);
}
