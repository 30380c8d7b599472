// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a tool has seen of each run, and what it has not: in whatever order records come, and when
 * slots become other runs'.
 */
#include "unit.h"
#include "tools/lib/follow.h"
#include "kernel.h"

static void put(const struct krp_rec *rec)
{
	put_words(rec, NULL, 0);
}

static void stop(uint32_t slot)
{
	runs[slot].head.state = KRP_SLOT_ENDED;
}

static struct krp_follow f;
static uint64_t taken[SLOTS]; /* the last record of the run in each slot */
static unsigned int nr_taken, nr_dropped;

static void take(struct krp_followed *s, const struct krp_rec *rec)
{
	const struct krp_totals t = { 1, rec->t - rec->t_begin, !!(rec->flags & KRP_REC_F_WHOLE) };

	assert_true(rec->records > taken[rec->slot]);
	assert_true(s == &f.slot[rec->slot]);
	taken[rec->slot] = rec->records;
	nr_taken++;
	krp_follow_seen(s, &t);
}

static void drop(uint32_t slot)
{
	taken[slot] = 0;
	nr_dropped++;
}

/* The tool starts, not at the time of anything else. */
static void follow(void)
{
	now++;
	krp_follow_open(&f, &programs, take, drop);
	now++;
}

/* Reads what is there. So many records were taken since the test began; returns the run in a slot. */
static struct krp_followed *reads(unsigned int taken_by_now, uint32_t slot)
{
	krp_follow_read(&f);
	assert_int_equal(nr_taken, taken_by_now);
	return krp_follow_slot(&f, slot);
}

/* Of the run these are missing: records, their time, whole iterations. */
static void missed_is(const struct krp_followed *s, const char *want)
{
	const struct krp_totals t = krp_follow_missed(s);

	are(want, t.records, t.ns, t.whole);
}

/* The run ends: then these are missing. */
static void missed_at_end(uint32_t slot, struct krp_followed *s, const char *want)
{
	stop(slot);
	krp_follow_end(s, &runs[slot]);
	missed_is(s, want);
}

SETUP()
{
	memset(runs, 0, sizeof(runs));
	memset(taken, 0, sizeof(taken));
	nr_taken = nr_dropped = nr_portions = 0;
	serials = 0;
}

TEARDOWN()
{
	krp_follow_close(&f);
}

/* A run from its beginning to its end, of which nothing is missing. */
TEST(whole)
{
	struct krp_followed *s;
	unsigned int i;

	follow();
	start(0, 7, false);
	for (i = 0; i < 10; i++)
		put(tell(0, 5, KRP_REC_F_WHOLE));
	s = reads(10, 0);
	are("7 0", s->run, s->late);
	assert_true(s->t_first == runs[0].head.t_first && s->t_end == now);
	missed_is(s, "0 0 0");
	missed_at_end(0, s, "0 0 0");
	s->over = true;
	assert_null(krp_follow_slot(&f, 0));
	assert_int_equal(krp_follow_unseen(&f), 0);
}

/* Some are overwritten: at the beginning, between two, and at the end. */
TEST(missed)
{
	struct krp_followed *s;

	follow();
	start(1, 7, false);
	tell(1, 100, 0);
	put(tell(1, 10, KRP_REC_F_WHOLE));
	tell(1, 1000, KRP_REC_F_WHOLE);
	tell(1, 2000, KRP_REC_F_WHOLE);
	put(tell(1, 20, KRP_REC_F_WHOLE));
	s = reads(2, 1);
	missed_is(s, "3 3100 2");
	tell(1, 7, 0);
	missed_is(s, "3 3100 2");
	missed_at_end(1, s, "4 3107 2");
	assert_int_equal(s->t_end - s->t_first, 3100 + 30 + 7);
}

/* The run's thread has moved: the later record is read first, and its earlier one with the next reading. */
TEST(order)
{
	const struct krp_rec *a, *b;

	follow();
	start(0, 7, false);
	start(1, 8, false);
	put(tell(0, 5, 0));
	a = tell(0, 6, 0);
	b = tell(0, 7, 0);
	put(tell(0, 8, 0));
	put(tell(1, 9, 0));
	put(a);
	put(b);
	portion[0] = 3;
	portion[1] = 1;
	nr_portions = 2;
	nr_readings = 0;
	krp_follow_read(&f);
	are("3 4 1", nr_readings, taken[0], taken[1]);
	missed_is(krp_follow_slot(&f, 0), "0 0 0");
}

/* If the missing one never comes, nobody waits for it for ever. */
TEST(never)
{
	follow();
	start(0, 7, false);
	tell(0, 5, KRP_REC_F_WHOLE);
	put(tell(0, 6, KRP_REC_F_WHOLE));
	missed_is(reads(1, 0), "1 5 1");
	/* Something was overwritten in this reading: then it is not waited for at all. */
	tell(0, 5, KRP_REC_F_WHOLE);
	put(tell(0, 6, KRP_REC_F_WHOLE));
	overtakes = 1;
	nr_readings = 0;
	reads(2, 0);
	assert_int_equal(nr_readings, 1);
}

/* A run that was there before: the programs say so, and have no record from before. */
TEST(late)
{
	struct krp_followed *s;

	follow();
	start(0, 7, true);
	put(tell(0, 3, KRP_REC_F_WHOLE));
	tell(0, 4, KRP_REC_F_WHOLE);
	put(tell(0, 5, KRP_REC_F_WHOLE));
	s = reads(2, 0);
	missed_is(s, "1 4 1");
	are("1 12 0", s->late, s->t_end - s->t_first, krp_follow_unseen(&f));
}

/* Nothing of it was read. */
TEST(silent)
{
	struct krp_followed *s;

	follow();
	start(0, 7, true);
	tell(0, 100, KRP_REC_F_WHOLE);
	s = krp_follow_slot(&f, 0);
	missed_at_end(0, s, "1 100 1");
	are("1 100", s->late, s->t_end - s->t_first);
}

/* Slots are given to other runs before the tool has looked. */
TEST(unseen)
{
	follow();
	start(0, 7, false);
	are("7", krp_follow_slot(&f, 0)->run);
	stop(0);
	/* Its end was not seen; and of the next one nothing. */
	start(0, 8, false);
	stop(0);
	start(0, 9, false);
	are("9", krp_follow_slot(&f, 0)->run);
	are("1 2", nr_dropped, krp_follow_unseen(&f));
	/* A record of a run that has lost its slot is not looked at. */
	put(&(struct krp_rec){ .run = 8, .slot = 0, .records = 1 });
	put(&(struct krp_rec){ .run = 8, .slot = 77, .records = 1 });
	reads(0, 0);
	/* A record may be the first that is seen of a run. */
	krp_follow_slot(&f, 0)->over = true;
	start(0, 10, false);
	put(tell(0, 5, 0));
	are("10", reads(1, 0)->run);
	are("2", krp_follow_unseen(&f));
}

/* A slot that is being written is left to the next look. */
TEST(written)
{
	follow();
	start(0, 7, false);
	runs[0].head.seq = 1;
	assert_null(krp_follow_slot(&f, 0));
	runs[0].head.seq = 2;
	assert_non_null(krp_follow_slot(&f, 0));
}
