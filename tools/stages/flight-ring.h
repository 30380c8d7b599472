/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads the ring of a CPU of the flight recorder while it is written. */
#ifndef KRP_STAGES_FLIGHT_RING_H
#define KRP_STAGES_FLIGHT_RING_H

#include "cause.h"

/* If an event of the ring is just being written, it is one of this many newest events. */
#define KRP_RING_NEWEST 8

/* Copies the event whose member seq is that; false: it has been overwritten, or is being written. */
bool krp_ring_event(const struct rec_event *from, uint32_t seq, struct rec_event *to);

/*
 * Copies the events that were going on between t and t_end, or shortly before.
 * size is a power of two, head the number of events that were made. The caller
 * frees to->v. true: there were more events, which were overwritten
 * already.
 */
bool krp_recorded_copy(struct krp_cpu_events *to, const struct rec_event *ring, uint32_t size,
		       uint32_t head, uint64_t t, uint64_t t_end);

#endif /* KRP_STAGES_FLIGHT_RING_H */
