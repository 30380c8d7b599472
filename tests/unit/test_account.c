// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages' account of a run: the intervals add up to the account of all the time, also if
 * records were overwritten before they were read; and pieces that are too long for their words.
 */
#include "unit.h"
#include "tools/stages/stages.h"
#include "events.h"

#define RUN 7

static struct krp_runs runs;
static uint64_t iter;

static void begin(void)
{
	iter = 0;
	account_open(UINT64_MAX, NULL, NULL, &runs, NULL);
	start(RUN);
}

/* Tells a record, of so much time; or, without room, it is lost. */
static void record(const __u64 *words, unsigned int nr, unsigned int flags, uint64_t ns, bool room)
{
	tell(RUN, iter, flags, ns, words, nr, room);
	iter += !!(flags & KRPING_PHASE_F_COMMIT);
}

enum kind { ITER, FILL, WAIT, WIRE, ALLOC, REQUEST, NR_KINDS };

struct values {
	uint64_t v[6000];
	unsigned int nr, begin; /* begin: the interval's first value */
};

static struct values values[NR_KINDS];
/* What was not seen: all, and up to the last line. */
static struct krp_totals missed, missed_before;

static void add(enum kind k, uint64_t v)
{
	struct values *a = &values[k];

	assert_true(a->nr < NR(a->v));
	a->v[a->nr++] = v;
}

static void seen(uint64_t fill, uint64_t wire)
{
	add(ITER, fill + wire);
	add(FILL, fill);
	add(WAIT, wire);
	add(WIRE, wire);
	add(REQUEST, 2 * wire);
}

static void not_seen(unsigned int whole, uint64_t ns)
{
	missed = (struct krp_totals){ missed.records + 1, missed.ns + ns, missed.whole + whole };
}

/* An iteration: a fill phase, and a wait phase with the stage wire only; the wait is its sum. */
static void iteration(uint64_t fill, uint64_t wire, bool room)
{
	__u64 words[] = {
		KRPING_SEG(KRPING_PHASE_FILL, 0, 0, fill),
		KRPING_SEG(KRPING_PHASE_WAIT_READ, KRPING_STAGE_WIRE, 0, wire),
		KRPING_REQUEST(KRPING_REQUEST_DONE, 0, 2 * wire),
		/* A word of another kind is skipped. */
		KRPING_STEP(KRPING_STEP_REG, 0, 1, 0xffffffff),
		KRPING_SEG(KRPING_PHASE_WAIT_READ, 0, KRPING_SEG_F_SUM, wire),
		KRPING_COST(KRPING_WR_REG_MR, KRPING_COST_MAP, 0, 1, wire),
	};

	record(words, NR(words), KRPING_PHASE_F_COMMIT, fill + wire, room);
	if (!room) {
		not_seen(1, fill + wire);
		return;
	}
	seen(fill, wire);
}

static void set_up(uint64_t ns, bool room)
{
	const __u64 word = KRPING_SEG(KRPING_PHASE_ALLOC, 0, 0, ns);

	record(&word, 1, 0, ns, room);
	if (room)
		add(ALLOC, ns);
	else
		not_seen(0, ns);
}

static const struct krp_sum *sum_of(const struct view *v, enum kind k, int *dist)
{
	static const struct krp_sum none;
	unsigned int i;

	*dist = -1;
	if (k == ALLOC)
		return &v->a.once[KRPING_PHASE_ALLOC];
	if (k == ITER || k == REQUEST)
		*dist = k == ITER ? STG_DIST_ITER : STG_DIST_REQUEST(KRPING_REQUEST_DONE);
	for (i = 0; i < v->a.nr_phases && (k == FILL || k == WAIT); i++) {
		if (v->a.phase_of[i] == (k == FILL ? KRPING_PHASE_FILL : KRPING_PHASE_WAIT_READ))
			*dist = STG_DIST_PHASE(i);
	}
	if (k == WIRE && v->a.nr_waits)
		*dist = STG_DIST_STAGE(0, KRPING_STAGE_WIRE);
	return *dist < 0 ? &none : &v->a.dist[*dist].s;
}

/* Checks that the view has the values from "from" on. */
static void check_view(const struct view *v, enum kind k, unsigned int from)
{
	uint64_t sum = 0, min = UINT64_MAX, max = 0;
	const struct values *a = &values[k];
	static struct krp_hist hist;
	const struct krp_sum *s;
	unsigned int i;
	int dist;

	memset(&hist, 0, sizeof(hist));
	for (i = from; i < a->nr; i++) {
		hist.bucket[krp_hist_index(a->v[i])]++;
		sum += a->v[i];
		min = a->v[i] < min ? a->v[i] : min;
		max = a->v[i] > max ? a->v[i] : max;
	}
	s = sum_of(v, k, &dist);
	assert_true(s->count == a->nr - from && s->sum == sum);
	if (dist >= 0)
		assert_memory_equal(account_hist(v, dist), &hist, sizeof(hist));
	assert_true(!s->count || (s->min == min && s->max == max));
}

static void check_missed(const struct krp_totals *is, const struct krp_totals *from)
{
	assert_true(is->records == missed.records - from->records &&
		    is->ns == missed.ns - from->ns);
	assert_int_equal(is->whole, missed.whole - from->whole);
}

/* Prints a line, of the interval and of all the time; returns the interval's watched time. */
static uint64_t line(bool whole)
{
	static const struct krp_totals none;
	struct view total = { 0 }, since;
	unsigned int k;
	uint64_t ns;

	krp_seen_read(&runs_seen);
	assert_true(account_view(&total, &since, 0, whole));
	are("1 0", since.run.since, total.run.since);
	for (k = 0; k < NR_KINDS; k++) {
		check_view(&since, k, values[k].begin);
		check_view(&total, k, 0);
		values[k].begin = values[k].nr;
	}
	check_missed(&total.st.missed, &none);
	check_missed(&since.st.missed, &missed_before);
	assert_true(total.window == total.tiled && since.window == since.tiled);
	ns = since.window;
	account_line(0, &total);
	account_view_free(&since);
	account_view_free(&total);
	missed_before = missed;
	return ns;
}

static void end(void)
{
	account_close();
	memset(values, 0, sizeof(values));
	memset(&missed, 0, sizeof(missed));
	memset(&missed_before, 0, sizeof(missed_before));
}

/* Records may be overwritten before they are read; lines are printed at random times. */
TEST(intervals)
{
	unsigned int i, n, lines = 0;
	uint64_t watched, fill;
	bool full;

	srand(3);
	for (full = false;; full = true) {
		begin();
		watched = 0;
		set_up(5000, true);
		for (i = 0; i < 200; i++) {
			for (n = rand() % 20; n; n--) {
				/* Any octave may be the first one, and be followed by any other one. */
				fill = rand() % (1 << rand() % 20) + (1ULL << rand() % 42) - 1;
				iteration(fill, 1000 + rand() % 100000, !full || rand() % 3);
			}
			if (rand() % 20 == 0)
				set_up(1 + rand() % 1000000, !full || rand() % 2);
			/* The last record is there: it says how much there was. */
			set_up(1, true);
			watched += line(false);
			lines++;
		}
		/* Nothing between two lines. */
		assert_int_equal(line(false), 0);
		/* What comes last may be missing, too: the end says how much there was. */
		iteration(1000, 2000, false);
		finish(RUN, iter, true);
		watched += line(true);
		assert_int_equal(watched, now - runs_seen.slot[0].t_first);
		assert_true(missed.whole > 0);
		end();
		if (full)
			break;
	}
	assert_int_equal(lines, 400);
}

/* Ends an account: its time, how much of that is in no part or was missed, what was too long for a word, and anomalies. */
static void account_is(const char *want)
{
	struct view v = { 0 };

	finish(RUN, iter, true);
	krp_seen_read(&runs_seen);
	assert_true(account_view(&v, NULL, 0, true));
	are(want, v.window, v.window - v.tiled, v.st.missed.ns, v.a.too_long_ns, v.a.anomalies);
	account_view_free(&v);
	end();
}

/* What is odd about records, one by one. */
TEST(odd)
{
	const uint64_t ns = KRPING_SEG_NS_MAX + 123456;
	const __u64 listen[] = { KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, ns),
				 KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, 1000) };
	const __u64 zero[] = { 0, KRPING_SEG(KRPING_PHASE_FILL, 0, 0, 300) };

	/* A server that listens for a little more than 26 days, which is too long for a word. */
	begin();
	record(&listen[0], 1, 0, ns, true);
	record(&listen[0], 0, 0, 0, true);
	assert_int_equal(ns, 2251799813808703);
	account_is("2251799813808703 0 0 123456 1");
	/* Time that is missing for another reason stays missing. */
	begin();
	record(&listen[1], 1, 0, 1500, true);
	set_up(700, false);
	account_is("2200 500 700 0 1");
	/* A word that says nothing (no phase, no time) is no end of the words. */
	begin();
	record(zero, 2, KRPING_PHASE_F_COMMIT, 300, true);
	account_is("300 0 0 0 0");
}
