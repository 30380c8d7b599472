// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>

#include "../lib/alloc.h"
#include "order.h"

/* An entry of the heap. It has the slot of an event, and the event stays where it is. */
struct entry {
	uint64_t t, seq;
	uint32_t slot;
};

struct krp_order {
	uint32_t room, nr;
	uint64_t seq, t_taken, late;
	struct krp_event_rec *recs;
	struct entry *heap; /* the slots behind nr are free */
};

struct krp_order *krp_order_new(uint32_t room)
{
	struct krp_order *o = krp_new(1, sizeof(*o));
	uint32_t i;

	o->room = room;
	o->recs = krp_resize(NULL, room, sizeof(*o->recs));
	o->heap = krp_resize(NULL, room, sizeof(*o->heap));
	for (i = 0; i < room; i++)
		o->heap[i].slot = i;
	return o;
}

void krp_order_free(struct krp_order *o)
{
	if (!o)
		return;
	free(o->recs);
	free(o->heap);
	free(o);
}

bool krp_order_full(const struct krp_order *o)
{
	return o->nr == o->room;
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->t != b->t ? a->t < b->t : a->seq < b->seq;
}

static void swap(struct entry *a, struct entry *b)
{
	struct entry e = *a;

	*a = *b;
	*b = e;
}

void krp_order_put(struct krp_order *o, const struct krp_event_rec *rec)
{
	uint32_t i = o->nr++;

	o->recs[o->heap[i].slot] = *rec;
	o->heap[i].t = rec->head.t;
	o->heap[i].seq = o->seq++;
	if (rec->head.t < o->t_taken)
		o->late++;
	for (; i && before(&o->heap[i], &o->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&o->heap[i], &o->heap[(i - 1) / 2]);
}

const struct krp_event_rec *krp_order_take(struct krp_order *o, uint64_t t)
{
	uint32_t i = 0, child;

	if (!o->nr || o->heap[0].t > t)
		return NULL;
	if (o->heap[0].t > o->t_taken)
		o->t_taken = o->heap[0].t;
	swap(&o->heap[0], &o->heap[--o->nr]);
	while ((child = 2 * i + 1) < o->nr) {
		if (child + 1 < o->nr && before(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!before(&o->heap[child], &o->heap[i]))
			break;
		swap(&o->heap[child], &o->heap[i]);
		i = child;
	}
	return &o->recs[o->heap[o->nr].slot];
}

uint64_t krp_order_late(const struct krp_order *o)
{
	return o->late;
}
