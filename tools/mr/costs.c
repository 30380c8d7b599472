// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/tool.h"
#include "costs.h"

_Static_assert(MR_COST_KIND(KRPING_COST(0xf, 0x3, KRPING_COST_F_FAILED, 0, 0)) ==
			       MR_COST_KINDS - 1 &&
		       !MR_COST_KIND(KRPING_COST(0, 0, 0, ~0ULL, ~0ULL)),
	       "a kind is something else");

/* A bucket's number is above its count. */
#define COUNT_BITS 54
#define COUNT(v)   ((v) & ((1ULL << COUNT_BITS) - 1))
/* So many places more at a time. */
#define ROOM	   8

_Static_assert(KRP_HIST_BUCKETS <= 1 << (64 - COUNT_BITS), "no room for the number of a bucket");

static void hist_add(struct cost_hist *h, uint64_t bucket, uint64_t n)
{
	uint32_t low = 0, high = h->nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (h->v[mid] >> COUNT_BITS < bucket)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == h->nr || h->v[low] >> COUNT_BITS != bucket) {
		if (!(h->nr % ROOM))
			h->v = krp_resize(h->v, h->nr + ROOM, sizeof(*h->v));
		memmove(h->v + low + 1, h->v + low, (h->nr++ - low) * sizeof(*h->v));
		h->v[low] = bucket << COUNT_BITS;
	}
	h->v[low] += n;
}

void costs_hist(struct krp_hist *to, const struct cost_hist *from)
{
	uint32_t i;

	memset(to, 0, sizeof(*to));
	for (i = 0; i < from->nr; i++)
		to->bucket[from->v[i] >> COUNT_BITS] = COUNT(from->v[i]);
}

static struct cost *cost_of(struct costs *c, uint32_t pages)
{
	struct cost *v;
	size_t i;

	for (i = 0; i < c->nr && c->v[i].pages < pages; i++)
		;
	if (i < c->nr && c->v[i].pages == pages)
		return &c->v[i];
	c->v = v = krp_resize(c->v, c->nr + 1, sizeof(*v));
	/* The array may have moved, and then all places are wrong. */
	memset(c->place, 0, sizeof(c->place));
	memmove(v + i + 1, v + i, (c->nr - i) * sizeof(*v));
	memset(v + i, 0, sizeof(*v));
	v[i].pages = pages;
	c->nr++;
	return &v[i];
}

/* What a request invalidates, as enum mr_inv; MR_NR_INVS if it invalidates nothing. */
static unsigned int inv_of(unsigned int kind)
{
	switch (kind) {
	case KRPING_WR_LOCAL_INV:
		return MR_INV_LOCAL;
	case KRPING_WR_SEND_INV:
		return MR_INV_SEND;
	case KRPING_WR_READ_INV:
		return MR_INV_READ;
	default:
		return MR_NR_INVS;
	}
}

/* Where a word is counted; nowhere, if it failed. */
static struct cost_place find_place(struct costs *c, uint64_t word)
{
	unsigned int kind = KRPING_COST_KIND(word), what = KRPING_COST_WHAT(word),
		     inv = inv_of(kind);
	struct cost_place found = { .pages = KRPING_COST_PAGES(word) };
	struct cost *cost;

	if (word & KRPING_COST_F_FAILED)
		return found;
	if (kind == KRPING_WR_REG_MR && what < MR_NR_COSTS) {
		cost = cost_of(c, found.pages);
		found.sum = &cost->sum[what];
		found.hist = &cost->hist[what];
	} else if (inv < MR_NR_INVS && what == MR_COST_POST) {
		found.sum = &c->inv_post[inv];
	} else if (inv < MR_NR_INVS && what == MR_COST_DONE) {
		found.sum = &c->inv_done[inv];
	}
	return found;
}

static inline void count(const struct cost_place *place, uint64_t ns)
{
	krp_sum_add(place->sum, ns);
	if (place->hist)
		hist_add(place->hist, krp_hist_index(ns), 1);
}

/* The word is of another kind, or has other pages, than those before it. Out of line, since that is rare. */
static __attribute__((noinline)) void take_other(struct costs *c, uint64_t word)
{
	struct cost_place found = find_place(c, word);

	/* find_place() may have cleared all places, so this one is written behind it. */
	c->place[MR_COST_KIND(word)] = found;
	if (found.sum)
		count(&found, KRPING_COST_NS(word));
}

void costs_take(struct costs *c, uint64_t word)
{
	const struct cost_place *place = &c->place[MR_COST_KIND(word)];

	/* A ping makes some twenty calls of this. */
	if (place->sum && place->pages == KRPING_COST_PAGES(word))
		count(place, KRPING_COST_NS(word));
	else
		take_other(c, word);
}

void costs_move(struct costs *to, struct costs *from)
{
	struct cost *cost;
	unsigned int k;
	size_t i, n;

	for (i = 0; i < from->nr; i++) {
		cost = cost_of(to, from->v[i].pages);
		for (k = 0; k < MR_NR_COSTS; k++) {
			const struct cost_hist *h = &from->v[i].hist[k];

			krp_sum_merge(&cost->sum[k], &from->v[i].sum[k]);
			for (n = 0; n < h->nr; n++)
				hist_add(&cost->hist[k], h->v[n] >> COUNT_BITS, COUNT(h->v[n]));
		}
	}
	for (k = 0; k < MR_NR_INVS; k++) {
		krp_sum_merge(&to->inv_post[k], &from->inv_post[k]);
		krp_sum_merge(&to->inv_done[k], &from->inv_done[k]);
	}
	costs_free(from);
}

void costs_free(struct costs *c)
{
	unsigned int k;
	size_t i;

	for (i = 0; i < c->nr; i++) {
		for (k = 0; k < MR_NR_COSTS; k++)
			free(c->v[i].hist[k].v);
	}
	free(c->v);
	memset(c, 0, sizeof(*c));
}
