// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A reader waits until reserved records of a ring buffer are committed, but not for ever. */
#include "unit.h"
#include "tools/trace/drain.h"

/* Readers get as far as the first record that is not committed. */
struct ring {
	unsigned long consumer, producer;
	unsigned long committed;
	unsigned int looks, commit_at, reserve_at;
};

static void look(void *arg)
{
	struct ring *r = arg;

	r->looks++;
	if (r->looks == r->commit_at)
		r->committed = r->producer;
	r->consumer = r->committed;
	/* Another CPU reserves a record meanwhile. */
	if (r->looks == r->reserve_at)
		r->producer += 8;
}

static bool drain(struct ring *r, unsigned int ms)
{
	struct krp_ring_pos pos = { .consumer = &r->consumer, .producer = &r->producer };

	return krp_ring_drain(&pos, look, r, ms);
}

TEST(all_there)
{
	struct ring r = { .consumer = 16, .producer = 64, .committed = 64 };

	assert_true(drain(&r, 1000));
	are("1 64", r.looks, r.consumer);
}

TEST(late)
{
	struct ring r = { .consumer = 16, .producer = 64, .committed = 32, .commit_at = 5 };

	assert_true(drain(&r, 1000));
	are("5 64", r.looks, r.consumer);

	r = (struct ring){ .producer = 8, .committed = 8, .reserve_at = 1, .commit_at = 7 };
	assert_true(drain(&r, 1000));
	are("7 16", r.looks, r.consumer);
}

TEST(never)
{
	struct ring r = { .consumer = 16, .producer = 64, .committed = 32 };

	assert_false(drain(&r, 3));
	are("4 32", r.looks, r.consumer);
}
