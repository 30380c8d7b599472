// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What krping_iter tells of memory regions while an observer asks for it: each step in
 * the life of a key, and what registrations and invalidations cost.
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

/**
 * krping_memory_map_failed - a buffer could not be mapped onto a region
 * @at: where the run's thread is
 * @pages: of the buffer
 * @ns: how long the call took
 *
 * Context: the run's thread; somebody asks for it.
 */
void krping_memory_map_failed(struct krping_phases *at, u32 pages, u64 ns)
{
	krping_line_word(at, KRPING_COST(KRPING_WR_REG_MR, KRPING_COST_MAP,
					 KRPING_COST_F_FAILED, pages, ns));
}

/* All of a request, or nothing, if somebody began to ask only after it was posted. */
static __always_inline void krping_memory_cost(struct krping_ep *ep,
					       const struct krping_wr *wr,
					       u64 t, u32 flags)
{
	u32 kind = wr->kind, pages = 0;
	u64 t_post = wr->t_post, *word;

	if (unlikely(!t || !t_post))
		return;
	/* Only a registration has a mapping. */
	word = krping_line_room(ep->phases, kind == KRPING_WR_REG_MR ?
						    KRPING_NR_COSTS :
						    KRPING_NR_COSTS - 1);
	if (unlikely(!word))
		return;
	if (kind == KRPING_WR_REG_MR) {
		pages = krping_ep_pages(ep, wr->len);
		if (wr->map_ns)
			*word++ = KRPING_COST(kind, KRPING_COST_MAP, 0, pages,
					      wr->map_ns);
	}
	*word++ = KRPING_COST(kind, KRPING_COST_POST, 0, pages,
			      wr->t_posted - t_post);
	*word++ = KRPING_COST(kind, KRPING_COST_DONE, flags, pages, t - t_post);
	krping_line_added(ep->phases, word);
}

/*
 * The time of the completion that retired a request: its own one, or that of the next
 * request that asked for one. When the queue is flushed the others complete, too. 0:
 * there is none before @end, or nobody asked for its time.
 */
static __always_inline u64 krping_memory_time(struct krping_ep *ep, u32 seq,
					      u32 end, bool flushed)
{
	const struct krping_wr *wr;

	for (; seq != end; seq++) {
		wr = krping_sq_slot(ep, seq);
		if (flushed ? wr->t_wc != 0 :
			      wr->flags & KRPING_POST_F_SIGNALED)
			return wr->t_wc;
	}
	return 0;
}

static __always_inline void krping_memory_tell(struct krping_ep *ep, u32 end,
					       bool flushed)
{
	u32 flags = flushed ? KRPING_COST_F_FAILED : 0, seq;
	const struct krping_wr *wr;

	for (seq = ep->sq_costed; seq != end; seq++) {
		wr = krping_sq_slot(ep, seq);
		if (BIT(wr->kind) & KRPING_OF_MRS)
			krping_memory_cost(ep, wr,
					   krping_memory_time(ep, seq, end,
							      flushed),
					   flags);
	}
	ep->sq_costed = end;
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
	if (!krping_wants(memory) || !ep->sq)
		return;
	__krping_memory_costs(ep);
	krping_memory_tell(ep, ep->sq_posted, true);
}
