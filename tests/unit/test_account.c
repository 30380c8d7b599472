// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages' account of a run: the intervals add up to the account of all
 * the time, even if the kernel side has summed up iterations; and pieces that
 * are too long for their words. This test plays the kernel side.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/stages/breakdown.h"

#define RUN 7
#define MAX 6000

/* --- functions that replace those of the tool's library and of libbpf --- */

struct krp_probe probe = { .nr_slots = 1 };
static struct stages_run slot;
static struct krp_hist hists[STG_NR_DISTS];
static bool torn;
static uint32_t asleep;
static ring_buffer_sample_fn take;
static struct stg_iter queue[MAX];
static unsigned int nr_queued;

const struct krp_head *krp_slot_head(const struct krp_probe *p, uint32_t n)
{
	(void)p;
	assert_int_equal(n, 0);
	return &slot.head;
}

bool krp_slot_read(const struct krp_probe *p, uint32_t n, void *to, size_t size)
{
	(void)p;
	(void)n;
	memcpy(to, &slot, size);
	return !torn;
}

const struct krp_hist *krp_slot_hist(const struct krp_probe *p, uint32_t n, uint32_t hist)
{
	(void)p;
	(void)n;
	return &hists[hist];
}

void krp_die(const char *fmt, ...)
{
	fail_msg("%s", fmt);
	abort();
}

int bpf_object__find_map_fd_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj;
	(void)name;
	return 3;
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn fn, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	(void)fd;
	(void)ctx;
	(void)opts;
	take = fn;
	return (struct ring_buffer *)queue;
}

int ring_buffer__consume(struct ring_buffer *rb)
{
	unsigned int i, n = nr_queued;

	(void)rb;
	for (i = 0; i < n; i++)
		take(NULL, &queue[i], sizeof(queue[i]));
	nr_queued = 0;
	return n;
}

int ring_buffer__epoll_fd(const struct ring_buffer *rb)
{
	(void)rb;
	return -1;
}

void ring_buffer__free(struct ring_buffer *rb)
{
	(void)rb;
}

/* --- the kernel side --- */

static uint64_t now;

static void begin(void)
{
	memset(&slot, 0, sizeof(slot));
	memset(hists, 0, sizeof(hists));
	now = 1000000;
	slot.head.state = KRP_SLOT_RUNNING;
	slot.head.run = RUN;
	slot.head.t_first = now;
	slot.head.t_last = now;
	account_open(&asleep);
}

static void spill(const uint64_t *seg, bool complete, uint64_t t_begin)
{
	struct stg_account *a = &slot.spilled;
	uint64_t at = t_begin;
	unsigned int dist;

	slot.spilled_ns += now - t_begin;
	if (!complete) {
		stg_once(a, (const __u64 *)seg, t_begin, now);
		return;
	}
	for (; *seg; seg++) {
		dist = a->dist_of[KRPING_SEG_WHAT(*seg)] ?: stg_new_dist(a, *seg);
		krp_dist_begin(a->dist, dist & (STG_NR_DISTS - 1));
		krp_dist_put(a->dist, hists[0].bucket, STG_NR_DISTS * KRP_HIST_BUCKETS,
			     dist & (STG_NR_DISTS - 1), KRPING_SEG_NS(*seg));
		if (!(dist & STG_SUM))
			at += KRPING_SEG_NS(*seg);
	}
	stg_check(a, at, now);
	krp_dist_begin(a->dist, STG_DIST_ITER);
	krp_dist_put(a->dist, hists[0].bucket, STG_NR_DISTS * KRP_HIST_BUCKETS, STG_DIST_ITER,
		     now - t_begin);
}

/* Tells the words, whose time is ns in total: through the ring or, without room there, in sums. */
static void tell(const uint64_t *seg, bool complete, uint64_t ns, bool room)
{
	uint64_t t_begin = now;
	struct stg_iter *it;

	now += ns;
	slot.head.t_last = now;
	if (!room) {
		spill(seg, complete, t_begin);
		return;
	}
	assert_true(nr_queued < MAX);
	it = &queue[nr_queued++];
	memset(it, 0, sizeof(*it));
	it->run = RUN;
	it->complete = complete;
	it->t_begin = t_begin;
	it->t_end = now;
	it->spilled_ns = slot.spilled_ns;
	memcpy(it->seg, seg, sizeof(it->seg));
	slot.told++;
}

/* --- the values that were told, by kind --- */

enum kind {
	ITER,
	FILL,
	WAIT,
	WIRE,
	ALLOC,
	NR_KINDS,
};

struct values {
	uint64_t v[MAX];
	unsigned int nr, begin; /* begin: the interval's first value */
};

static struct values values[NR_KINDS];
static bool spilled; /* the kernel side summed up something in the interval */

static void add(enum kind k, uint64_t v)
{
	struct values *a = &values[k];

	assert_true(a->nr < MAX);
	a->v[a->nr++] = v;
}

static uint64_t words[KRPING_SEGS_MAX + 1];

/* An iteration: a fill phase, and a wait phase with the stage wire only; the wait is its sum. */
static void iteration(uint64_t fill, uint64_t wire, bool room)
{
	memset(words, 0, sizeof(words));
	words[0] = KRPING_SEG(KRPING_PHASE_FILL, 0, 0, fill);
	words[1] = KRPING_SEG(KRPING_PHASE_WAIT_READ, KRPING_STAGE_WIRE, 0, wire);
	words[2] = KRPING_SEG(KRPING_PHASE_WAIT_READ, 0, KRPING_SEG_F_SUM, wire);
	tell(words, true, fill + wire, room);
	add(ITER, fill + wire);
	add(FILL, fill);
	add(WAIT, wire);
	add(WIRE, wire);
	spilled |= !room;
}

static void set_up(uint64_t ns, bool room)
{
	memset(words, 0, sizeof(words));
	words[0] = KRPING_SEG(KRPING_PHASE_ALLOC, 0, 0, ns);
	tell(words, false, ns, room);
	add(ALLOC, ns);
	spilled |= !room;
}

static const struct krp_sum *sum_of(const struct view *v, enum kind k, int *dist)
{
	static const struct krp_sum none;
	unsigned int i;

	*dist = -1;
	if (k == ALLOC)
		return &v->a.once[KRPING_PHASE_ALLOC];
	if (k == ITER)
		*dist = STG_DIST_ITER;
	for (i = 0; i < v->a.nr_phases && (k == FILL || k == WAIT); i++) {
		if (v->a.phase_of[i] == (k == FILL ? KRPING_PHASE_FILL : KRPING_PHASE_WAIT_READ))
			*dist = STG_DIST_PHASE(i);
	}
	if (k == WIRE && v->a.nr_waits)
		*dist = STG_DIST_STAGE(0, KRPING_STAGE_WIRE);
	return *dist < 0 ? &none : &v->a.dist[*dist].s;
}

/* Checks that the view has the values from "from" on. */
static void check_view(const struct view *v, enum kind k, unsigned int from, bool exact)
{
	uint64_t sum = 0, min = UINT64_MAX, max = 0;
	const struct values *a = &values[k];
	const struct krp_sum *s;
	unsigned int i;
	int dist;

	for (i = from; i < a->nr; i++) {
		sum += a->v[i];
		min = a->v[i] < min ? a->v[i] : min;
		max = a->v[i] > max ? a->v[i] : max;
	}
	s = sum_of(v, k, &dist);
	assert_int_equal(s->count, a->nr - from);
	assert_int_equal(s->sum, sum);
	if (dist >= 0)
		assert_int_equal(krp_hist_total(account_hist(v, dist)), a->nr - from);
	if (!s->count)
		return;
	if (exact) {
		assert_int_equal(s->min, min);
		assert_int_equal(s->max, max);
	} else if (dist >= 0) {
		assert_true(s->min <= min && s->min >= min - min / 32);
		assert_true(s->max >= max && s->max <= max + max / 32);
	} else {
		assert_true(s->min == min || s->min == KRP_NS_UNKNOWN);
		assert_true(s->max == max || s->max == KRP_NS_UNKNOWN);
	}
}

/* Prints a line, of the interval and of all the time; returns the interval's watched time. */
static uint64_t line(void)
{
	struct view total, since;
	unsigned int k;
	uint64_t ns;

	memset(&total, 0, sizeof(total));
	account_read();
	assert_true(account_view(&total, 0));
	account_since(&since, &total, 0);
	assert_true(since.since);
	assert_false(total.since);
	for (k = 0; k < NR_KINDS; k++) {
		check_view(&since, k, values[k].begin, !spilled);
		check_view(&total, k, 0, true);
		values[k].begin = values[k].nr;
	}
	assert_int_equal(total.window, total.tiled);
	assert_int_equal(since.window, since.tiled);
	ns = since.window;
	account_mark(0, &total);
	account_view_free(&since);
	account_view_free(&total);
	spilled = false;
	return ns;
}

static void end(void)
{
	account_close();
	memset(values, 0, sizeof(values));
}

/* Iterations come through the ring, which may be full; lines are printed at random times. */
static void test_intervals(void **state)
{
	unsigned int i, n, lines = 0;
	bool room, full;
	uint64_t watched, fill;

	(void)state;
	srand(3);
	for (full = false;; full = true) {
		begin();
		watched = 0;
		set_up(5000, true);
		for (i = 0; i < 200; i++) {
			for (n = rand() % 20; n; n--) {
				room = !full || rand() % 3;
				fill = 100 + rand() % (1 << rand() % 20);
				iteration(fill, 1000 + rand() % 100000, room);
			}
			if (rand() % 20 == 0)
				set_up(1 + rand() % 1000000, !full || rand() % 2);
			/* The last one uses the ring: it says how much was summed up so far. */
			iteration(77, 88, true);
			watched += line();
			lines++;
		}
		/* Nothing between two lines. */
		assert_int_equal(line(), 0);
		slot.head.state = KRP_SLOT_ENDED;
		watched += line();
		assert_int_equal(watched, now - slot.head.t_first);
		end();
		if (full)
			break;
	}
	assert_int_equal(lines, 400);
}

/* The kernel side numbers phases when it first sees them, in another order than the tool. */
static void test_numbers(void **state)
{
	(void)state;
	begin();
	memset(words, 0, sizeof(words));
	words[0] = KRPING_SEG(KRPING_PHASE_WAIT_READ, KRPING_STAGE_WIRE, 0, 500);
	words[1] = KRPING_SEG(KRPING_PHASE_WAIT_READ, 0, KRPING_SEG_F_SUM, 500);
	tell(words, true, 500, false);
	add(ITER, 500);
	add(WAIT, 500);
	add(WIRE, 500);
	spilled = true;
	/* A piece that takes no time comes through the ring: it says how much was summed up. */
	memset(words, 0, sizeof(words));
	tell(words, false, 0, true);
	line();
	iteration(200, 300, true);
	iteration(250, 350, true);
	assert_int_equal(line(), 1100);
	end();
}

/* A server that listens for a little more than 104 days, which is too long for a word. */
static void test_too_long(void **state)
{
	static const bool rooms[] = { true, false };
	uint64_t ns = (1ULL << KRPING_SEG_NS_BITS) + 123456;
	struct view v;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin();
		memset(words, 0, sizeof(words));
		words[0] = KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, ns);
		tell(words, false, ns, rooms[i]);
		iteration(100, 200, rooms[i]);
		slot.head.state = KRP_SLOT_ENDED;
		account_read();
		memset(&v, 0, sizeof(v));
		assert_true(account_view(&v, 0));
		assert_int_equal(v.window, ns + 300);
		assert_int_equal(v.tiled, v.window);
		assert_int_equal(v.a.too_long_ns, 1ULL << KRPING_SEG_NS_BITS);
		assert_int_equal(v.a.anomalies, 1);
		account_view_free(&v);
		end();
	}
}

/* Time that is missing for another reason stays missing. */
static void test_missing(void **state)
{
	struct view v;

	(void)state;
	begin();
	memset(words, 0, sizeof(words));
	words[0] = KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, 1000);
	tell(words, false, 1500, true);
	slot.head.state = KRP_SLOT_ENDED;
	account_read();
	memset(&v, 0, sizeof(v));
	assert_true(account_view(&v, 0));
	assert_int_equal(v.window - v.tiled, 500);
	assert_int_equal(v.a.anomalies, 1);
	account_view_free(&v);
	end();
}

/* A torn copy yields no view. */
static void test_torn(void **state)
{
	struct view v;

	(void)state;
	begin();
	memset(&v, 0, sizeof(v));
	torn = true;
	assert_false(account_view(&v, 0));
	torn = false;
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_too_long),  cmocka_unit_test(test_missing),
		cmocka_unit_test(test_torn),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL) ? 1 : 0;
}
