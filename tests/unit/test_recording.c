// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reading a recording: what was cut off or forged, and what another version has written. */
#include "unit.h"
#include "tools/lib/recording.h"
#include "tools/lib/tool.h"

static char file[1 << 16];
static size_t size;

static void put(const void *data, size_t n)
{
	assert_true(size + n <= sizeof(file));
	memcpy(file + size, data, n);
	size += n;
}

static void chunk(uint32_t kind, const void *data, uint32_t n)
{
	static const char zeroes[8];
	struct krp_chunk c = { kind, n };

	put(&c, sizeof(c));
	put(data, n);
	put(zeroes, -n % 8);
}

static void event(uint32_t nr, uint64_t t, const uint64_t *args, unsigned int n)
{
	struct {
		struct krp_event_head head;
		uint64_t args[40];
	} e = { .head = { .t = t, .run = 3, .event = nr } };

	memcpy(e.args, args, n * sizeof(*args));
	chunk(KRP_CHUNK_EVENT, &e, sizeof(e.head) + n * sizeof(*args));
}

static void begin(const char *table)
{
	size = 0;
	put(KRP_RECORDING_MAGIC, strlen(KRP_RECORDING_MAGIC));
	chunk(KRP_CHUNK_TABLE, table, strlen(table));
}

/* Reads all events; returns how many there are. The last one is in *last. */
static unsigned int read_all(size_t n, const char *damage, uint64_t *last)
{
	struct krp_runs runs = { 0 };
	const struct krp_event_head *h;
	struct krp_recording r;
	unsigned int nr = 0;
	size_t bytes;
	FILE *f = fmemopen(file, n, "r");

	assert_non_null(f);
	assert_null(krp_recording_open(&r, f, &runs));
	for (; (h = krp_recording_next(&r, &bytes)); nr++) {
		assert_true(bytes >= sizeof(*h) && h->event < KRP_NR_EVENTS && h->run == 3);
		memcpy(last, h + 1, bytes - sizeof(*h) < 320 ? bytes - sizeof(*h) : 320);
	}
	assert_true(damage ? r.damage && !strcmp(r.damage, damage) : !r.damage && r.whole);
	krp_recording_close(&r);
	krp_runs_free(&runs);
	return nr;
}

static const uint64_t iter[] = { 3, 500, 9, 1, 400, 2, 0, 10, 0x1111, 0x2222 };

static void whole(void)
{
	char *table = krp_recording_table();

	begin(table);
	free(table);
	event(KRP_EV_iter_stages, 500, iter, NR(iter));
	/* Of a kind that nobody knows. */
	chunk(77, "abc", 3);
	event(KRP_EV_iter_stages, 600, iter, NR(iter));
	chunk(KRP_CHUNK_END, "", 0);
}

TEST(read)
{
	uint64_t last[40];

	whole();
	assert_int_equal(read_all(size, NULL, last), 2);
	assert_true(last[KRP_ARG_iter_stages_iter] == 9 &&
		    last[KRP_NR_ARGS_iter_stages + 1] == 0x2222);
}

/* Cut off at each byte: never more than there is, and always said. */
TEST(cut)
{
	uint64_t last[40];
	size_t n;

	whole();
	for (n = strlen(KRP_RECORDING_MAGIC); n < size; n++)
		assert_true(read_all(n, "its end is missing", last) <= 2);
}

TEST(forged)
{
	static const uint64_t many[] = { 3, 500, 9, 1, 400, 49, 0, 10 };
	uint64_t last[40];
	char *table = krp_recording_table();
	struct krp_chunk huge = { KRP_CHUNK_RUNS, 1U << 31 };

	begin(table);
	event(KRP_EV_iter_stages, 500, many, NR(many));
	assert_int_equal(read_all(size, "an event cannot be read", last), 0);
	begin(table);
	event(KRP_EV_iter_stages, 500, iter, NR(iter) - 1);
	assert_int_equal(read_all(size, "an event cannot be read", last), 0);
	begin(table);
	event(KRP_NR_EVENTS, 500, iter, NR(iter));
	assert_int_equal(read_all(size, "an event cannot be read", last), 0);
	begin(table);
	put(&huge, sizeof(huge));
	assert_int_equal(read_all(size, "a chunk is too large", last), 0);
	begin("iter words:words");
	assert_int_equal(read_all(size, "its end is missing", last), 0);
	begin("iter words:words\n");
	assert_int_equal(read_all(size, "its table of events cannot be read", last), 0);
	free(table);
}

/* Another version has other numbers, arguments in another order, one that is new, and none that are newer than itself. */
TEST(version)
{
	static const uint64_t args[] = { 3, 77, 9, 2, 0, 400, 0x1111, 0x2222 };
	uint64_t last[40] = { 0 };

	begin("of_tomorrow run:u32\niter_stages run:u32 new:u64 iter:u64 nr:u32 words:words t_begin:u64\n");
	event(0, 500, args, 1);
	event(1, 500, args, NR(args));
	chunk(KRP_CHUNK_END, "", 0);
	assert_int_equal(read_all(size, NULL, last), 1);
	assert_int_equal(last[KRP_ARG_iter_stages_run], 3);
	assert_int_equal(last[KRP_ARG_iter_stages_iter], 9);
	assert_int_equal(last[KRP_ARG_iter_stages_t_begin], 400);
	assert_int_equal(last[KRP_ARG_iter_stages_nr], 2);
	assert_int_equal(last[KRP_ARG_iter_stages_told], 0);
	assert_int_equal(last[KRP_NR_ARGS_iter_stages], 0x1111);
	assert_int_equal(last[KRP_NR_ARGS_iter_stages + 1], 0x2222);
}
