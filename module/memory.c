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

/* Puts what a request cost where word is, and returns where the next word goes. */
static __always_inline u64 *krping_memory_cost(const struct krping_ep *ep,
					       const struct krping_wr *wr,
					       u64 t, u32 flags, u64 *word)
{
	u64 post = wr->t_posted - wr->t_post, done = t - wr->t_post, map = 0;
	u32 kind = wr->kind, pages = 0;

	if (kind == KRPING_WR_REG_MR) {
		map = wr->map_ns;
		pages = min_t(u32, krping_ep_pages(ep, wr->len),
			      KRPING_COST_PAGES_MAX);
	}
	if (unlikely((map | post | done) >= KRPING_COST_NS_MAX)) {
		map = min_t(u64, map, KRPING_COST_NS_MAX);
		post = min_t(u64, post, KRPING_COST_NS_MAX);
		done = min_t(u64, done, KRPING_COST_NS_MAX);
	}
	if (map)
		*word++ =
			KRPING_COST_SHORT(kind, KRPING_COST_MAP, 0, pages, map);
	word[0] = KRPING_COST_SHORT(kind, KRPING_COST_POST, 0, pages, post);
	word[1] = KRPING_COST_SHORT(kind, KRPING_COST_DONE, flags, pages, done);
	return word + 2;
}

/**
 * struct krping_retired - requests that one completion retired
 * @seq:	the last one of them, which has the time
 * @t:		when that was; 0: nobody asked for the time
 */
struct krping_retired {
	u32 seq;
	u64 t;
};

/*
 * What retired a request: its own completion, or that of the next request that asked for
 * one. When the queue is flushed the others complete, too. false: nothing has before @end.
 */
static __always_inline bool krping_memory_retired(const struct krping_wr *sq,
						  u32 mask,
						  struct krping_retired *by,
						  u32 seq, u32 end,
						  bool flushed)
{
	const struct krping_wr *wr;

	for (; seq != end; seq++) {
		wr = &sq[seq & mask];
		if (flushed ? wr->t_wc != 0 :
			      wr->flags & KRPING_POST_F_SIGNALED) {
			by->seq = seq;
			by->t = wr->t_wc;
			return true;
		}
	}
	return false;
}

static __always_inline void krping_memory_tell(struct krping_ep *ep, u32 end,
					       bool flushed)
{
	const u32 flags = flushed ? KRPING_COST_F_FAILED : 0;
	/* Or the compiler reads them again after each word. */
	const struct krping_wr *sq = ep->sq, *wr;
	u32 mask = ep->sq_mask, seq = ep->sq_costed;
	/* The first request is looked up, whatever its number. */
	struct krping_retired by = { .seq = seq - 1 };
	struct krping_phases *at = ep->phases;
	u64 *word = NULL;

	for (; seq != end; seq++) {
		wr = &sq[seq & mask];
		if (!(BIT(wr->kind) & KRPING_OF_MRS))
			continue;
		if ((s32)(seq - by.seq) > 0 &&
		    !krping_memory_retired(sq, mask, &by, seq, end, flushed))
			break;
		/*
		 * All of a request, or nothing, if somebody began to ask only
		 * after it was posted.
		 */
		if (!by.t || !wr->t_post)
			continue;
		if (!word || !krping_line_fits(at, word, KRPING_NR_COSTS)) {
			if (word)
				krping_line_added(at, word);
			/* Only a registration has a mapping. */
			word = krping_line_room(at,
						wr->kind == KRPING_WR_REG_MR ?
							KRPING_NR_COSTS :
							KRPING_NR_COSTS - 1);
			if (!word)
				continue;
		}
		word = krping_memory_cost(ep, wr, by.t, flags, word);
	}
	if (word)
		krping_line_added(at, word);
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
