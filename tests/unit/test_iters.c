// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Records of iterations are read while they are written: each is handed over whole and once, or
 * not at all; those of several CPUs come in the order of time; and a reader that is too late goes
 * on with the records that are still there. This test plays the kernel side.
 */
#include <pthread.h>

#include "unit.h"
#include "tools/lib/iters.h"

#define CPUS 3
#define SIZE 4096UL

static char *rings;
static uint64_t told[CPUS];
static uint64_t now;

/* What the reader calls instead of memcpy(): something may happen in the middle of a copy. */
static void (*while_copying)(void);

void *krp_test_memcpy(void *to, const void *from, size_t size)
{
	void (*f)(void) = while_copying;
	size_t half = size / 2;

	memmove(to, from, half);
	while_copying = NULL;
	if (f)
		f();
	memmove((char *)to + half, (const char *)from + half, size - half);
	return to;
}

static struct krp_ring *ring_of(unsigned int cpu)
{
	return (struct krp_ring *)(rings + KRP_RING_STRIDE(SIZE) * cpu);
}

/* As krp_iter() in bpf/krping_iter.bpf.c does it. Each record has a number, from which all its words follow. */
static void begin(unsigned int cpu, unsigned int nr)
{
	struct krp_ring *ring = ring_of(cpu);
	struct krp_rec *rec = (struct krp_rec *)(ring->data + ring->head % SIZE);
	unsigned int i;

	__atomic_store_n(&ring->begun, ring->head + KRP_REC_BYTES(nr), __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	rec->run = cpu + 1;
	rec->slot = cpu;
	rec->nr = nr;
	rec->records = ++told[cpu];
	rec->t = ++now;
	for (i = 0; i < nr; i++)
		rec->word[i] = rec->records * 1000 + i;
}

static void end(unsigned int cpu, unsigned int nr)
{
	struct krp_ring *ring = ring_of(cpu);
	uint64_t from = ring->head, to = from + KRP_REC_BYTES(nr);
	unsigned int is = KRP_BLOCK(to, SIZE);

	if (is != KRP_BLOCK(from, SIZE))
		__atomic_store_n(&ring->first[is], to, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->head, to, __ATOMIC_RELEASE);
}

static void put(unsigned int cpu, unsigned int nr)
{
	begin(cpu, nr);
	end(cpu, nr);
}

static uint64_t last[CPUS], seen[CPUS], last_t;

static void take(UNUSED void *ctx, const struct krp_rec *rec)
{
	unsigned int cpu = rec->slot, i;

	assert_true(cpu < CPUS && rec->run == cpu + 1);
	assert_true(rec->records > last[cpu] && rec->nr <= KRPING_WORDS_MAX);
	for (i = 0; i < rec->nr; i++)
		assert_int_equal(rec->word[i], rec->records * 1000 + i);
	assert_true(rec->t > last_t);
	last_t = rec->t;
	last[cpu] = rec->records;
	seen[cpu]++;
}

static struct krp_iters it;

SETUP()
{
	rings = calloc(CPUS, KRP_RING_STRIDE(SIZE));
	assert_non_null(rings);
	memset(told, 0, sizeof(told));
	memset(last, 0, sizeof(last));
	memset(seen, 0, sizeof(seen));
	now = last_t = 0;
	while_copying = NULL;
	srand(7);
	assert_int_equal(krp_iters_init(&it, rings, SIZE, CPUS), 0);
}

TEARDOWN()
{
	krp_iters_free(&it);
	free(rings);
}

/* Many rounds of the rings, and a reader that is always in time. */
TEST(in_time)
{
	unsigned int i, cpu, n;

	for (i = 0; i < 5000; i++) {
		for (n = rand() % 8; n; n--)
			put(rand() % CPUS, rand() % (KRPING_WORDS_MAX + 1));
		krp_iters_read(&it, take, NULL);
		for (cpu = 0; cpu < CPUS; cpu++)
			assert_int_equal(last[cpu], told[cpu]);
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(seen[cpu], told[cpu]);
	are("0 0", it.overtaken, krp_iters_behind(&it));
	assert_true(ring_of(0)->head > 100 * SIZE);
}

/* A reader that begins later has nothing of what was before. */
TEST(begins)
{
	put(0, 5);
	krp_iters_free(&it);
	assert_int_equal(krp_iters_init(&it, rings, SIZE, CPUS), 0);
	assert_int_equal(krp_iters_read(&it, take, NULL), 0);
	put(0, 6);
	put(1, 0);
	assert_int_equal(krp_iters_read(&it, take, NULL), 2);
	assert_int_equal(last[0], 2);
}

/* What is not complete is not handed over. */
TEST(incomplete)
{
	put(0, 3);
	begin(0, 4);
	assert_int_equal(krp_iters_read(&it, take, NULL), 1);
	end(0, 4);
	assert_int_equal(krp_iters_read(&it, take, NULL), 1);
	assert_int_equal(last[0], 2);
}

/* The writer is rounds ahead: the newest records are still there, all but those in the blocks next to be overwritten. */
TEST(overtaken)
{
	uint64_t before, bytes;
	unsigned int i, n;

	for (i = 0; i < 500; i++) {
		before = seen[0];
		bytes = 0;
		for (n = 0; bytes < SIZE + 64 + rand() % (3 * SIZE); n++) {
			unsigned int nr = rand() % (KRPING_WORDS_MAX + 1);

			put(0, nr);
			bytes += KRP_REC_BYTES(nr);
		}
		assert_true(krp_iters_behind(&it) > 100);
		krp_iters_read(&it, take, NULL);
		/* The newest one is among them, and those that are not, are before all that are. */
		assert_int_equal(last[0], told[0]);
		assert_in_range(seen[0] - before, (SIZE - 4 * SIZE / KRP_BLOCKS) / KRP_REC_MAX,
				n - 1);
	}
	assert_int_equal(it.overtaken, 500);
}

static void overwrite_it(void)
{
	unsigned int i;

	for (i = 0; i < SIZE / KRP_REC_BYTES(20) + 1; i++)
		put(0, 20);
}

static void overwrite_a_part(void)
{
	/* This one is only begun. */
	while (ring_of(0)->head + KRP_REC_BYTES(20) <= SIZE)
		put(0, 20);
	begin(0, 20);
}

/* A record is overwritten while it is copied. */
TEST(torn)
{
	put(0, 20);
	while_copying = overwrite_it;
	assert_int_equal(krp_iters_read(&it, take, NULL), 0);
	assert_int_equal(it.overtaken, 1);
	/* Those that have overwritten it are read now. */
	krp_iters_read(&it, take, NULL);
	assert_int_equal(last[0], told[0]);
}

/* It is not complete yet that overwrites it. */
TEST(torn_by_a_part)
{
	put(0, 20);
	while_copying = overwrite_a_part;
	assert_int_equal(krp_iters_read(&it, take, NULL), 0);
	assert_int_equal(it.overtaken, 1);
}

/* The last record of a round lies behind the end of the ring, and is whole. */
TEST(behind_the_end)
{
	while (ring_of(0)->head + KRP_REC_BYTES(1) < SIZE) {
		put(0, 1);
		krp_iters_read(&it, take, NULL);
	}
	assert_true(ring_of(0)->head < SIZE);
	put(0, KRPING_WORDS_MAX);
	assert_true(ring_of(0)->head > SIZE);
	put(0, 2);
	assert_int_equal(krp_iters_read(&it, take, NULL), 2);
	assert_int_equal(seen[0], told[0]);
}

/* A writer that never waits. */
static void *write_on(UNUSED void *arg)
{
	unsigned int i;

	for (i = 0; i < 400000; i++)
		put(0, i % (KRPING_WORDS_MAX + 1));
	return NULL;
}

TEST(at_once)
{
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, write_on, NULL), 0);
	while (last[0] < 300000)
		krp_iters_read(&it, take, NULL);
	pthread_join(writer, NULL);
	krp_iters_read(&it, take, NULL);
	assert_true(last[0] == told[0] && seen[0] <= told[0]);
}
