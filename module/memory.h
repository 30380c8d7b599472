/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What krping_iter_memory tells of memory regions.
 */
#ifndef KRPING_MEMORY_H
#define KRPING_MEMORY_H

#include <linux/types.h>
#include "ep.h"
#include "krping_abi.h"
#include "krping_trace.h"

void krping_memory_step(const struct krping_ep *ep, enum krping_step step,
			u32 state, u32 pages, u32 key);
void krping_memory_map_failed(const struct krping_ep *ep, u32 pages, u64 ns);
void __krping_memory_costs(struct krping_ep *ep);
void krping_memory_end(struct krping_ep *ep);

/**
 * krping_memory_costs - tell what the requests have cost that are done
 * @ep: the endpoint
 *
 * Context: the run's thread, between two iterations.
 */
static inline void krping_memory_costs(struct krping_ep *ep)
{
	if (trace_krping_iter_memory_enabled() &&
	    READ_ONCE(ep->sq_done) != ep->sq_costed)
		__krping_memory_costs(ep);
}

/**
 * krping_memory_room - tell what requests have cost before others take their places
 * @ep: the endpoint
 * @room: how many requests are going to be posted at most
 *
 * A place in the send queue is used again by the request that comes as many behind as
 * the queue has places.
 *
 * Context: the run's thread; so many requests have retired that there is room.
 */
static inline void krping_memory_room(struct krping_ep *ep, u32 room)
{
	if (trace_krping_iter_memory_enabled() &&
	    unlikely(ep->sq_posted + room - ep->sq_costed > ep->sq_mask + 1))
		__krping_memory_costs(ep);
}

#endif /* KRPING_MEMORY_H */
