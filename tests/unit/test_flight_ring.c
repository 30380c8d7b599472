// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reading the flight recorder's ring: tools/stages/flight-ring.c. */
#include "unit.h"
#include "tools/stages/flight-ring.h"

#define SIZE 64
#define MS   1000000ULL

static struct rec_event ring[SIZE];
static uint32_t head;
static struct krp_cpu_events got;

static void begin(uint32_t first)
{
	memset(ring, 0, sizeof(ring));
	head = first;
}

static void put(enum rec_kind kind, uint64_t t, uint64_t t_end, uint32_t id)
{
	struct rec_event *e = &ring[head & (SIZE - 1)];

	*e = (struct rec_event){ .kind = kind, .t = t, .t_end = t_end, .id = id };
	e->seq = ++head;
}

static int copy(uint64_t t, uint64_t t_end)
{
	free(got.v);
	return krp_recorded_copy(&got, ring, SIZE, head, t, t_end);
}

static bool seen(uint32_t id)
{
	size_t i;

	for (i = 0; i < got.nr; i++) {
		if (got.v[i].id == id)
			return true;
	}
	return false;
}

TEST(empty)
{
	begin(0);
	assert_int_equal(copy(100 * MS, 200 * MS), 0);
	assert_int_equal(got.nr, 0);
	/* The recorder began in the middle of the window. */
	put(REC_TASK, 150 * MS, 160 * MS, 1);
	assert_int_equal(copy(100 * MS, 200 * MS), 0);
	assert_int_equal(got.nr, 1);
}

/* Events that overlap the bounds of the window, and events that are only near them. */
TEST(bounds)
{
	uint32_t i;

	begin(0);
	for (i = 0; i < 40; i++)
		put(REC_TASK, 10 * i * MS, 10 * (i + 1) * MS, 100 + i);
	assert_int_equal(copy(205 * MS, 215 * MS), 0);
	are("1 1", seen(120), seen(121));
	/* Events up to 5 ms before the window are wanted, older ones are not. */
	are("1 0 0", seen(119), seen(118), seen(122));
}

/* A task that spans the end of the window is recorded behind the softirqs in it. */
TEST(spans_end)
{
	uint32_t i;

	begin(0);
	put(REC_TASK, 0, 80 * MS, 1);
	for (i = 0; i < 20; i++)
		put(REC_SOFTIRQ, (101 + 2 * i) * MS, (102 + 2 * i) * MS, 3);
	put(REC_TASK, 80 * MS, 150 * MS, 2);
	put(REC_TASK, 150 * MS, 160 * MS, 4);
	assert_int_equal(copy(90 * MS, 100 * MS), 0);
	are("1 0 0", seen(2), seen(3), seen(4));
}

/* An event that is just being written, and a counter that wraps around. */
TEST(unfinished)
{
	uint32_t i;

	begin(-20U);
	for (i = 0; i < 50; i++)
		put(REC_TASK, 10 * i * MS, 10 * (i + 1) * MS, 100 + i);
	ring[(head - 2) & (SIZE - 1)].seq = 0;
	for (i = 5; i < 50; i++) {
		assert_int_equal(copy((10 * i + 6) * MS, (10 * i + 7) * MS), 0);
		assert_int_equal(seen(100 + i), i != 48);
		assert_false(seen(100 + i - 2));
	}
}

/* Random tasks with softirqs in them: the result is compared with a search through all events. */
TEST(random)
{
	static struct rec_event all[1000];
	unsigned int seed, nr, i, lost;
	uint64_t t, from, to;
	int more;

	for (seed = 1; seed <= 500; seed++) {
		srand(seed);
		begin(seed % 3 ? 0 : -(uint32_t)(rand() % 500));
		t = 50 * MS;
		for (nr = 0; nr < 400;) {
			uint64_t begins = t, ends = t + MS / 100 + rand() % (20 * MS);
			unsigned int inner = rand() % 4;

			while (inner-- && t + MS / 50 < ends) {
				put(REC_SOFTIRQ, t, t + MS / 100, nr);
				all[nr++] = ring[(head - 1) & (SIZE - 1)];
				t += MS / 50;
			}
			put(REC_TASK, begins, ends, nr);
			all[nr++] = ring[(head - 1) & (SIZE - 1)];
			t = ends;
		}
		lost = nr - SIZE;
		for (i = 0; i < 50; i++) {
			unsigned int k;

			from = t - rand() % (1000 * MS);
			to = from + rand() % (30 * MS);
			more = copy(from, to);
			for (k = 0; k < nr; k++) {
				if (all[k].t_end <= from || all[k].t > to)
					continue;
				/* Each event of the window is there, or more is 1. */
				if (k >= lost)
					assert_true(seen(all[k].id));
				else if (head > SIZE)
					assert_int_equal(more, 1);
			}
			/* If none can be missing, the result is 0. */
			if (all[lost].t <= from)
				assert_int_equal(more, 0);
		}
	}
	free(got.v);
	got.v = NULL;
}
