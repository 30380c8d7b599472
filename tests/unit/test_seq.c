// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Copies of data that another thread is writing: a copy is either consistent, or refused. */
#include <pthread.h>

#include "unit.h"
#include "tools/lib/seq.h"

#define WORDS 512

struct element {
	uint32_t seq;
	uint32_t word[WORDS];
};

static struct element shared;
static int late_stores, another_write, later_write;

/*
 * The reader calls this instead of memcpy(). With late_stores, stores that arrive after the
 * sequence number are seen only once the first copy was made; with another_write, something was
 * written during the copy.
 */
void *krp_test_memcpy(void *to, const void *from, size_t size)
{
	memmove(to, from, size);
	if (late_stores && late_stores--)
		memset(shared.word, 7, sizeof(shared.word));
	if (another_write && another_write--)
		shared.seq += 2;
	return to;
}

/* The same for memcmp(): with later_write, something was written just behind the comparison. */
int krp_test_memcmp(const void *a, const void *b, size_t size)
{
	int ret = memcmp(a, b, size);

	if (later_write && later_write--)
		shared.seq += 2;
	return ret;
}

static bool read_shared(struct element *to)
{
	return krp_seq_read(&shared.seq, to, sizeof(*to));
}

static void add_one(void)
{
	__atomic_fetch_add(&shared.seq, 1, __ATOMIC_SEQ_CST);
}

/* Writes the same value to all words, one by one: a reader may come between any two of them. */
static void write_words(uint32_t v)
{
	volatile uint32_t *w = shared.word;
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		w[i] = v;
}

struct writer {
	pthread_t thread;
	bool lets_go;
	bool stop;
	uint32_t rounds;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;

	if (!w->lets_go)
		add_one();
	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		if (w->lets_go)
			add_one();
		write_words(w->rounds + 1);
		if (w->lets_go)
			add_one();
		__atomic_fetch_add(&w->rounds, 1, __ATOMIC_RELAXED);
	}
	if (!w->lets_go)
		add_one();
	return NULL;
}

static void begin(struct writer *w, bool lets_go)
{
	memset(w, 0, sizeof(*w));
	memset(&shared, 0, sizeof(shared));
	w->lets_go = lets_go;
	assert_int_equal(pthread_create(&w->thread, NULL, write_on, w), 0);
	/* Wait until the thread writes. */
	while (__atomic_load_n(&w->rounds, __ATOMIC_RELAXED) < 3)
		;
}

static void end(struct writer *w)
{
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(w->thread, NULL), 0);
}

/* A writer that is interrupted for long, or never finishes: no copy is accepted. */
TEST(never_lets_go)
{
	struct element got;
	struct writer w;
	unsigned int i;

	begin(&w, false);
	for (i = 0; i < 20; i++)
		assert_false(read_shared(&got));
	end(&w);
	/* Once the writer has finished, a copy is accepted. */
	assert_true(read_shared(&got));
	assert_int_equal(got.seq, 2);
	assert_int_equal(got.word[0], w.rounds);
}

/* A writer that writes again and again: a copy that is accepted is of a single write. */
TEST(lets_go)
{
	struct element got;
	struct writer w;
	unsigned int i, n;

	begin(&w, true);
	for (n = 0; n < 2000; n++) {
		if (!read_shared(&got))
			continue;
		assert_int_equal(got.seq & 1, 0);
		for (i = 1; i < WORDS; i++)
			assert_int_equal(got.word[i], got.word[0]);
	}
	end(&w);
	assert_true(read_shared(&got));
	assert_int_equal(got.word[WORDS - 1], w.rounds);
}

/* The number says that all is written, but the words arrive later: two copies have to agree. */
TEST(late_stores)
{
	struct element got;

	memset(&shared, 0, sizeof(shared));
	shared.seq = 4;
	late_stores = 1;
	assert_true(read_shared(&got));
	assert_int_equal(got.word[0], 0x07070707);
	assert_int_equal(got.word[WORDS - 1], 0x07070707);
	/* The element is written during the first copy, behind its comparison, and at the moment. */
	another_write = 1;
	assert_true(read_shared(&got));
	are("6", got.seq);
	later_write = 1;
	assert_true(read_shared(&got));
	are("8", got.seq);
	shared.seq = 9;
	assert_false(read_shared(&got));
}
