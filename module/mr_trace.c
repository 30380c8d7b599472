// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What krping_iter_memory tells of memory regions: each step in the life of a key, and what
 * registrations and invalidations cost. The completion handler writes the time into a request
 * before it publishes that the request has retired, and only who posts uses the place in the
 * send queue again: so the thread finds all costs there, with no lock.
 */
#include "mr_trace.h"

/* All costs of a request that was done at t, or none if it was posted before the event was on. */
static __always_inline void krping_memory_cost(const struct krping_ep *ep,
					       const struct krping_wr *wr, u64 t, u32 flags)
{
	u32 kind = wr->kind, pages = 0, nr;
	u64 t_post = wr->t_post, word;
	struct krping_words *words;

	if (unlikely(!t || !t_post))
		return;
	words = krping_memory_words(ep, 3);
	nr = words->nr;
	if (kind == KRPING_WR_REG_MR)
		pages = wr->pages;
	/* What its costs have in common. */
	word = KRPING_COST(kind, 0, 0, pages, 0);
	if (wr->map_ns)
		words->word[nr++] = word | KRPING_COST(0, KRPING_COST_MAP, 0, 0, wr->map_ns);
	words->word[nr++] = word | KRPING_COST(0, KRPING_COST_POST, 0, 0, wr->t_posted - t_post);
	words->word[nr++] = word | KRPING_COST(0, KRPING_COST_DONE, flags, 0, t - t_post);
	words->nr = nr;
}

/*
 * A completion retires its request and all in front of it that asked for none; but when the queue
 * is flushed all complete. What the peer has answered was done then, although its acknowledgement
 * came after the flush: at the end of the last iteration, with which this time line began.
 */
static __always_inline void krping_memory_tell(struct krping_ep *ep, u32 end, bool flushed)
{
	u32 seq = ep->sq_costed, mask = ep->sq_mask, by, flags;
	u64 t, t_line = ep->phases->line.t;
	const struct krping_wr *sq = ep->sq;

	ep->sq_costed = end;
	/* It was turned on in this iteration. */
	if (unlikely(!t_line))
		return;
	for (by = seq; by != end; by++) {
		const struct krping_wr *last = &sq[by & mask];

		t = last->t_wc;
		flags = flushed ? KRPING_COST_F_FAILED : 0;
		if (flushed && ep->sq_answered - by - 1 <= mask && last->t_posted < t_line) {
			t = t_line;
			flags = 0;
		} else if (flushed ? !t : !(last->send.send_flags & IB_SEND_SIGNALED)) {
			continue;
		}
		for (; seq != by + 1; seq++) {
			const struct krping_wr *wr = &sq[seq & mask];

			if (BIT(wr->kind) & KRPING_OF_MRS)
				krping_memory_cost(ep, wr, t, flags);
		}
	}
}

void __krping_memory_costs(struct krping_ep *ep)
{
	/* Pairs with the release in krping_send_done(). */
	u32 done = smp_load_acquire(&ep->sq_done);

	/* The event was off for a while: their places may have been used again. */
	if (ep->sq_posted - ep->sq_costed > ep->sq_mask + 1)
		ep->sq_costed = done;
	krping_memory_tell(ep, done, false);
}

void krping_memory_end(struct krping_ep *ep)
{
	if (!trace_krping_iter_memory_enabled() || !ep->sq)
		return;
	__krping_memory_costs(ep);
	krping_memory_tell(ep, ep->sq_posted, true);
}
