// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of runs that is fed by their events: what a run has told, and what of that was lost. */
#include "unit.h"
#include "tools/lib/seen.h"
#include "tools/lib/tool.h"
#include "events.h"

#define COMMIT KRPING_PHASE_F_COMMIT
#define PART   KRPING_PHASE_F_PART

static struct krp_seen seen;
static struct krp_runs runs;
static unsigned int taken, gaps, dropped_slots, nr_words;

static void take(UNUSED struct krp_seen_run *s, const struct krp_rec *rec)
{
	taken++;
	nr_words = rec->nr;
	gaps += rec->gap;
}

static void drop(UNUSED uint32_t slot)
{
	dropped_slots++;
}

SETUP()
{
	taken = gaps = dropped_slots = nr_proc = 0;
	memset(raised, 0, sizeof(raised));
	krp_seen_open(&seen, KRP_EV_iter_stages, NULL, &runs, take, drop);
}

TEARDOWN()
{
	krp_seen_close(&seen);
}

/* "records ns whole, holes unmatched, window ended" of a run. */
static void run_is(uint32_t run, const char *want)
{
	int slot = krp_seen_find(&seen, run);
	const struct krp_seen_run *s = &seen.slot[slot];

	assert_true(slot >= 0);
	are(want, s->missed.records, s->missed.ns, s->missed.whole, s->holes, s->unmatched,
	    s->t_end - s->t_first, s->head.state == KRP_SLOT_ENDED);
}

TEST(whole)
{
	start(1);
	tell(1, 0, 0, 10, NULL, 0, true);
	tell(1, 0, COMMIT, 20, NULL, 0, true);
	tell(1, 1, COMMIT, 30, NULL, 0, true);
	finish(1, 2, true);
	krp_seen_read(&seen);
	run_is(1, "0 0 0 0 0 60 1");
	assert_int_equal(taken, 3);
	assert_int_equal(seen.slot[0].head.late, 0);
	assert_int_equal(seen.slot[0].head.tid, 101);
}

TEST(lost)
{
	start(1);
	tell(1, 0, COMMIT, 20, NULL, 0, true);
	tell(1, 1, COMMIT, 30, NULL, 0, false);
	tell(1, 2, COMMIT, 40, NULL, 0, false);
	tell(1, 3, COMMIT, 50, NULL, 0, true);
	krp_seen_read(&seen);
	run_is(1, "2 70 2 0 0 140 0");
	assert_int_equal(gaps, 1);
	/* And at the end: at least one. */
	tell(1, 4, COMMIT, 60, NULL, 0, false);
	finish(1, 5, true);
	krp_seen_read(&seen);
	run_is(1, "3 130 3 0 0 200 1");
}

/* The end itself is lost: /proc says that it is over. */
TEST(lost_end)
{
	start(1);
	tell(1, 0, COMMIT, 20, NULL, 0, true);
	tell(1, 1, COMMIT, 30, NULL, 0, false);
	finish(1, 2, false);
	proc[0] = (struct krp_run_info){
		.id = 1, .start_ns = now - 50, .elapsed_ns = 50, .iters = 2
	};
	strcpy(proc[0].state, "RDMA_READ_ADV");
	nr_proc = 1;
	krp_seen_info(&seen, &runs);
	run_is(1, "0 0 0 0 0 20 0");
	strcpy(proc[0].state, "DONE");
	krp_seen_info(&seen, &runs);
	run_is(1, "1 30 1 0 0 50 1");
}

/* A run that began before us: its account begins with the first event, or behind it if that is of a part. */
TEST(late)
{
	raised[1] = 7;
	tell(1, 5, COMMIT, 20, NULL, 0, true);
	tell(1, 6, COMMIT, 30, NULL, 0, true);
	raised[2] = 3;
	tell(2, 5, COMMIT | PART, 20, NULL, 0, true);
	tell(2, 6, COMMIT, 30, NULL, 0, true);
	krp_seen_read(&seen);
	run_is(1, "0 0 0 0 0 50 0");
	run_is(2, "0 0 0 0 0 30 0");
	assert_int_equal(taken, 3);
	assert_int_equal(seen.slot[0].head.late, 1);
}

/* Nobody listened for a while, and an iteration that is not the next one. */
TEST(holes)
{
	start(1);
	tell(1, 0, COMMIT, 20, NULL, 0, true);
	now += 5;
	tell(1, 1, COMMIT, 20, NULL, 0, true);
	tell(1, 3, COMMIT, 20, NULL, 0, true);
	krp_seen_read(&seen);
	run_is(1, "0 0 0 1 1 65 0");
}

/* A slot is used again when the run in it was dropped, and not before. */
TEST(slots)
{
	start(1);
	start(2);
	start(3);
	tell(3, 0, COMMIT, 20, NULL, 0, true);
	krp_seen_read(&seen);
	assert_true(seen.no_slot == 1 && krp_seen_find(&seen, 3) < 0);
	finish(1, 0, true);
	krp_seen_read(&seen);
	assert_true(krp_seen_ended(&seen, 0) && !krp_seen_ended(&seen, 1));
	krp_seen_drop(&seen, 0);
	assert_true(!krp_seen_slot(&seen, 0) && krp_seen_find(&seen, 1) < 0);
	start(4);
	krp_seen_read(&seen);
	assert_int_equal(krp_seen_find(&seen, 4), 0);
	assert_int_equal(dropped_slots, 1);
	/* What still comes of a run that has ended is nobody's. */
	tell(1, 0, COMMIT, 20, NULL, 0, true);
	krp_seen_read(&seen);
	assert_true(seen.no_slot == 1 && !taken);
}

/* The programs copy no more words than this version knows of, whatever a newer module tells. */
TEST(words)
{
	start(1);
	tell(1, 0, COMMIT, 20, NULL, 0, true);
	queue[nr_queued - 1].args[KRP_ARG_iter_stages_nr] = KRP_WORDS_MAX + 1;
	krp_seen_read(&seen);
	assert_int_equal(nr_words, KRP_WORDS_MAX);
}

/* What a recording says may be forged: numbers that go back, and a run without a number. */
TEST(forged)
{
	start(1);
	tell(1, 5, COMMIT, 20, NULL, 0, true);
	raised[1] = 0;
	tell(1, 2, COMMIT, 20, NULL, 0, true);
	finish(1, 1, true);
	raise(0, KRP_EV_run_end, true);
	krp_seen_read(&seen);
	run_is(1, "0 0 0 0 1 40 1");
	assert_true(krp_seen_find(&seen, 0) < 0);
}
