/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The live source of events that a tool reads: a test raises events, which the next reading hands over; or loses them. It replaces
 * the ring buffer, /proc, krp_die() and krp_error(). Include this behind unit.h and tools/lib/seen.h.
 */
#ifndef KRPING_TEST_EVENTS_H
#define KRPING_TEST_EVENTS_H

#define SLOTS 2

static uint64_t now = 1000;
static uint64_t raised[SLOTS + 8]; /* by run: events of iterations */
static uint64_t dropped;
static struct krp_run_info proc[4];
static unsigned int nr_proc;

void krp_error(const char *fmt, ...)
{
	fail_msg("%s", fmt);
}

struct krp_tool krp_tool = { .opts = { .max_runs = SLOTS } };

/* No test has threads to look at. */
bool krp_environment_has(UNUSED const struct krp_environment *e, UNUSED uint32_t run)
{
	return true;
}

void krp_environment_thread(UNUSED struct krp_environment *e, UNUSED uint32_t run,
			    UNUSED uint32_t tid)
{
}

bool krp_has_filter(void)
{
	return false;
}

bool krp_shows(UNUSED uint32_t run, UNUSED const struct krp_run_info *info)
{
	return true;
}

int krp_test_runs_read(struct krp_runs *runs);
int krp_test_runs_read(struct krp_runs *runs)
{
	*runs = (struct krp_runs){ .v = proc, .nr = nr_proc, .nonce = 42 };
	return 0;
}

static int (*take_event)(void *ctx, void *data, size_t size);
static void *take_ctx;
static struct queued {
	struct krp_event_head head;
	__u64 args[KRP_MAX_ARGS + KRP_WORDS_MAX];
} queue[4000];
static unsigned int nr_queued;

void krp_source_open(UNUSED struct krp_source *s, bool (*event)(const char *), UNUSED uint32_t run,
		     UNUSED uint32_t ring, UNUSED uint32_t wake,
		     int (*take)(void *ctx, void *data, size_t size), void *ctx)
{
	assert_true(event("run_start") && event("conn") && event("run_end") && !event("wc"));
	take_event = take;
	take_ctx = ctx;
	nr_queued = 0;
	dropped = 0;
}

void krp_source_read(UNUSED struct krp_source *s)
{
	unsigned int i;

	for (i = 0; i < nr_queued; i++)
		take_event(take_ctx, &queue[i], sizeof(queue[i]));
	nr_queued = 0;
}

void krp_source_end(UNUSED struct krp_source *s)
{
}

void krp_source_close(UNUSED struct krp_source *s)
{
}

struct krp_lost krp_source_lost(UNUSED const struct krp_source *s)
{
	return (struct krp_lost){ .dropped = dropped };
}

/* Raises an event of a run, which is lost without room. Returns its arguments. */
static __u64 *raise(uint32_t run, enum krp_event event, bool room)
{
	static struct queued none;
	struct queued *q = room ? &queue[nr_queued++] : &none;

	assert_true(nr_queued <= NR(queue));
	dropped += !room;
	*q = (struct queued){ .head = { .t = now, .run = run, .event = event, .tid = 100 + run } };
	return q->args;
}

static void start(uint32_t run)
{
	__u64 *args;

	now++;
	raised[run] = 0;
	args = raise(run, KRP_EV_run_start, true);
	args[KRP_ARG_run_start_size] = 64;
}

/* An event of an iteration, which takes ns. */
static void tell(uint32_t run, uint64_t iter, uint32_t flags, uint64_t ns, const __u64 *words,
		 unsigned int nr, bool room)
{
	__u64 *args;

	now += ns;
	args = raise(run, KRP_EV_iter_stages, room);
	args[KRP_ARG_iter_stages_iter] = iter;
	args[KRP_ARG_iter_stages_flags] = flags;
	args[KRP_ARG_iter_stages_t_begin] = now - ns;
	args[KRP_ARG_iter_stages_nr] = nr;
	args[KRP_ARG_iter_stages_told] = ++raised[run];
	if (nr)
		memcpy(args + KRP_NR_ARGS_iter_stages, words, nr * sizeof(*words));
}

static void finish(uint32_t run, uint64_t iters, bool room)
{
	raise(run, KRP_EV_run_end, room)[KRP_ARG_run_end_iters] = iters;
}

#endif /* KRPING_TEST_EVENTS_H */
