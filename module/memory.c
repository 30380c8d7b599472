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
 * krping_memory_step - something happens to a key
 * @at: where the run's thread is
 * @step: what
 * @state: see KRPING_STEP()
 * @pages: see KRPING_STEP()
 * @key: see KRPING_STEP()
 *
 * Context: the run's thread; somebody asks for it.
 */
void krping_memory_step(struct krping_phases *at, enum krping_step step,
			u32 state, u32 pages, u32 key)
{
	krping_line_word(at, KRPING_STEP(step, state, pages, key));
}

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
static void krping_memory_cost(struct krping_ep *ep, const struct krping_wr *wr,
			       u64 t, u32 flags)
{
	struct krping_phases *at = ep->phases;
	u32 kind = wr->kind, pages = 0;

	if (!t || !wr->t_post)
		return;
	if (kind == KRPING_WR_REG_MR) {
		pages = krping_ep_pages(ep, wr->len);
		if (wr->map_ns)
			krping_line_word(at, KRPING_COST(kind, KRPING_COST_MAP,
							 0, pages, wr->map_ns));
	}
	krping_line_word(at, KRPING_COST(kind, KRPING_COST_POST, 0, pages,
					 wr->t_posted - wr->t_post));
	krping_line_word(at, KRPING_COST(kind, KRPING_COST_DONE, flags, pages,
					 t - wr->t_post));
}

/*
 * The time of the completion that retired a request: its own one, or that of the next
 * request that asked for one. When the queue is flushed the others complete, too. 0:
 * there is none before @end, or nobody asked for its time.
 */
static u64 krping_memory_time(struct krping_ep *ep, u32 seq, u32 end,
			      bool flushed)
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

static void krping_memory_tell(struct krping_ep *ep, u32 end, bool flushed)
{
	u32 flags = flushed ? KRPING_COST_F_FAILED : 0;
	const struct krping_wr *wr;

	for (; ep->sq_costed != end; ep->sq_costed++) {
		wr = krping_sq_slot(ep, ep->sq_costed);
		if (BIT(wr->kind) & KRPING_OF_MRS)
			krping_memory_cost(ep, wr,
					   krping_memory_time(ep, wr->seq, end,
							      flushed),
					   flags);
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
	if (!krping_wants(memory) || !ep->sq)
		return;
	__krping_memory_costs(ep);
	krping_memory_tell(ep, ep->sq_posted, true);
}
