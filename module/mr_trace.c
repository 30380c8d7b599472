// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What krping_iter_memory tells of memory regions: each step in the life of a key, and what
 * registrations and invalidations cost. The completion handler writes the time into a request
 * before it publishes that the request has retired, and only the thread uses the place in the
 * send queue again: so the thread finds all costs there, with no lock.
 */
#include "mr_trace.h"

/* All costs of a request that was done at t, or none if it was posted before the event was on. */
static void krping_memory_cost(const struct krping_ep *ep, const struct krping_wr *wr, u64 t,
			       u32 flags)
{
	u32 kind = wr->kind, pages = 0;
	u64 t_post = wr->t_post;

	if (unlikely(!t || !t_post))
		return;
	if (kind == KRPING_WR_REG_MR)
		pages = krping_ep_pages(ep, wr->len);
	if (wr->map_ns)
		krping_memory_word(ep, KRPING_COST(kind, KRPING_COST_MAP, 0, pages, wr->map_ns));
	krping_memory_word(ep,
			   KRPING_COST(kind, KRPING_COST_POST, 0, pages, wr->t_posted - t_post));
	krping_memory_word(ep, KRPING_COST(kind, KRPING_COST_DONE, flags, pages, t - t_post));
}

/* The request whose completion retired this one: itself, or the next that asked for one. */
static const struct krping_wr *krping_sq_retirer(struct krping_ep *ep, u32 seq, u32 end,
						 bool flushed)
{
	for (; seq != end; seq++) {
		const struct krping_wr *wr = krping_sq_slot(ep, seq);

		/* When the queue is flushed all complete. */
		if (flushed ? wr->t_wc != 0 : wr->send.send_flags & IB_SEND_SIGNALED)
			return wr;
	}
	return NULL;
}

static void krping_memory_tell(struct krping_ep *ep, u32 end, bool flushed)
{
	const struct krping_wr *by = NULL;
	u32 seq = ep->sq_costed;

	ep->sq_costed = end;
	for (; seq != end; seq++) {
		const struct krping_wr *wr = krping_sq_slot(ep, seq);

		if (!(BIT(wr->kind) & KRPING_OF_MRS))
			continue;
		/* One completion retires all of a chain, as a rule. */
		if (!by || (s32)(seq - by->seq) > 0)
			by = krping_sq_retirer(ep, seq, end, flushed);
		if (unlikely(!by))
			return;
		krping_memory_cost(ep, wr, by->t_wc, flushed ? KRPING_COST_F_FAILED : 0);
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
