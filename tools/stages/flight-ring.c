// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdbool.h>

#include "../lib/alloc.h"
#include "flight-ring.h"

/* Events that ended less than this before a window may matter to it, too. */
#define BEFORE_NS   5000000ULL
/* Events of interrupts may be out of order by less than this. */
#define DISORDER_NS 1000000ULL

bool krp_ring_event(const struct rec_event *from, uint32_t seq, struct rec_event *to)
{
	if (__atomic_load_n(&from->seq, __ATOMIC_ACQUIRE) != seq)
		return false;
	*to = *from;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq;
}

/*
 * The number of the first event that is there and may have ended at t or later.
 * The ends are in order, except that the event of an interrupt may come
 * slightly before the event of what it interrupts.
 */
static uint32_t first_since(const struct rec_event *ring, uint32_t size, uint32_t head, uint64_t t)
{
	uint32_t base = head - size, low = 0, high = size, mid;
	struct rec_event e;
	bool there;

	while (low != high) {
		mid = low + (high - low) / 2;
		there = krp_ring_event(&ring[(base + mid) & (size - 1)], base + mid + 1, &e);
		/* An event that is missing was overwritten, or was before the recorder began. */
		if (there ? e.t_end + DISORDER_NS < t : mid + KRP_RING_NEWEST < size)
			low = mid + 1;
		else
			high = mid;
	}
	return base + low;
}

bool krp_recorded_copy(struct krp_cpu_events *to, const struct rec_event *ring, uint32_t size,
		       uint32_t head, uint64_t t, uint64_t t_end)
{
	uint32_t i, first;
	uint64_t from = t > BEFORE_NS ? t - BEFORE_NS : 0;
	struct rec_event e;
	size_t room = 0;

	to->nr = 0;
	to->v = NULL;
	first = first_since(ring, size, head, from);
	for (i = first; i != head; i++) {
		if (!krp_ring_event(&ring[i & (size - 1)], i + 1, &e))
			continue;
		if (e.t_end < from)
			continue;
		if (e.t > t_end) {
			/*
			 * A task that began before t_end ended before this task
			 * began, so it cannot come later.
			 */
			if (e.kind == REC_TASK && e.t > t_end + DISORDER_NS)
				break;
			continue;
		}
		if (to->nr == room) {
			room = room ? 2 * room : 256;
			to->v = krp_resize(to->v, room, sizeof(*to->v));
		}
		to->v[to->nr++] = e;
	}
	/*
	 * If the event before the first one is still there, it ended too early,
	 * and nothing is lost.
	 */
	return head > size && (!to->nr || to->v[0].t > t) &&
	       !krp_ring_event(&ring[(first - 1) & (size - 1)], first, &e);
}
