// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iters.h"

static const struct krp_rec *rec_of(const struct krp_cursor *c)
{
	return (const struct krp_rec *)c->rec;
}

static uint64_t head_of(const struct krp_ring *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

/* What was read before this call is whole unless it lies before the byte that this returns. */
static uint64_t overwritten(const struct krp_iters *it, const struct krp_ring *ring)
{
	uint64_t begun;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	begun = __atomic_load_n(&ring->begun, __ATOMIC_ACQUIRE);
	return begun > it->size ? begun - it->size : 0;
}

/*
 * The reader was overtaken. Looks for the record to go on with: the first one of a
 * block, and not of the next blocks to be overwritten, or the reader would be
 * overtaken at once.
 */
static void catch_up(struct krp_iters *it, struct krp_cursor *c)
{
	uint64_t safe = overwritten(it, c->ring) + it->size / KRP_BLOCKS * 2, best = c->limit, n;
	unsigned int i;

	it->overtaken++;
	for (i = 0; i < KRP_BLOCKS; i++) {
		n = __atomic_load_n(&c->ring->first[i], __ATOMIC_ACQUIRE);
		if (n >= safe && n > c->pos && n < best)
			best = n;
	}
	c->pos = best;
}

/* Copies the next record; false: there is none up to the limit. */
static bool fetch(struct krp_iters *it, struct krp_cursor *c)
{
	const struct krp_rec *from;
	uint64_t bytes;
	unsigned int nr;

	while (c->pos < c->limit) {
		from = (const struct krp_rec *)(c->ring->data + c->pos % it->size);
		nr = __atomic_load_n(&from->nr, __ATOMIC_RELAXED);
		/* Only of a record that is being overwritten this can be more. */
		bytes = KRP_REC_BYTES(nr > KRPING_WORDS_MAX ? 0 : nr);
		memcpy(c->rec, from, bytes);
		if (overwritten(it, c->ring) > c->pos) {
			catch_up(it, c);
			continue;
		}
		c->pos += bytes;
		return true;
	}
	return false;
}

static bool is_before(const struct krp_rec *a, const struct krp_rec *b)
{
	return a->t != b->t ? a->t < b->t : a->run == b->run && a->records < b->records;
}

/* Puts the cursor, whose record is new, to its place among those from the n-th on. */
static void sort_in(struct krp_iters *it, unsigned int n, struct krp_cursor *c)
{
	while (n + 1 < it->nr_order && is_before(rec_of(it->order[n + 1]), rec_of(c))) {
		it->order[n] = it->order[n + 1];
		n++;
	}
	it->order[n] = c;
}

static void remove_first(struct krp_iters *it)
{
	memmove(it->order, it->order + 1, --it->nr_order * sizeof(*it->order));
}

static void add(struct krp_iters *it, struct krp_cursor *c)
{
	memmove(it->order + 1, it->order, it->nr_order++ * sizeof(*it->order));
	sort_in(it, 0, c);
}

unsigned long krp_iters_read(struct krp_iters *it,
			     void (*take)(void *ctx, const struct krp_rec *rec), void *ctx)
{
	struct krp_cursor *c;
	unsigned long n = 0;

	for (c = it->cpu; c < it->cpu + it->nr; c++)
		c->limit = head_of(c->ring);
	for (c = it->cpu; c < it->cpu + it->nr; c++) {
		if (fetch(it, c))
			add(it, c);
	}
	while (it->nr_order) {
		c = it->order[0];
		take(ctx, rec_of(c));
		n++;
		if (fetch(it, c))
			sort_in(it, 0, c);
		else
			remove_first(it);
	}
	return n;
}

unsigned int krp_iters_behind(const struct krp_iters *it)
{
	const struct krp_cursor *c;
	uint64_t most = 0, n;

	for (c = it->cpu; c < it->cpu + it->nr; c++) {
		n = head_of(c->ring) - c->pos;
		if (n > most)
			most = n;
	}
	return most > 10 * it->size ? 1000 : most * 100 / it->size;
}

int krp_iters_init(struct krp_iters *it, const void *rings, uint64_t size, unsigned int nr)
{
	unsigned int i;

	memset(it, 0, sizeof(*it));
	it->size = size;
	it->cpu = calloc(nr, sizeof(*it->cpu));
	it->order = calloc(nr, sizeof(*it->order));
	if (!it->cpu || !it->order) {
		krp_iters_free(it);
		return -ENOMEM;
	}
	it->nr = nr;
	for (i = 0; i < nr; i++) {
		it->cpu[i].ring =
			(const struct krp_ring *)((const char *)rings + KRP_RING_STRIDE(size) * i);
		it->cpu[i].pos = head_of(it->cpu[i].ring);
	}
	return 0;
}

void krp_iters_free(struct krp_iters *it)
{
	free(it->cpu);
	free(it->order);
	memset(it, 0, sizeof(*it));
}
