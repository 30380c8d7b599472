// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raises the events of one run on each of two CPUs, without any RDMA, and so
 * more of them than soft providers ever could: what do the readers of iterations
 * lose, and do they know it? For tests/guest/outrun.t.
 *
 * Nothing may be attached or detached meanwhile: how the kernel protects that differs between
 * versions, and is not repeated here. insmod returns when all are raised.
 */
#include "plant.h"

#include <linux/math64.h>

#include "krping_abi.h"
#include "krping_trace.h"

#define OUTRUN_RUN   3000000000U /* runs that no command of a test reaches */
#define OUTRUN_WORDS 8

PLANT_PARAM(uint, rate, 0, 0444,
	    "iterations a second, both runs together; 0: as many as there can be");
PLANT_PARAM(uint, count, 100000, 0444, "iterations of each run");
PLANT_COUNTER(ns, "how long the slower run took");

struct outrun_run {
	unsigned int run;
	u64 ns;
};

/* The events of the words that krping-top, krping-stages and krping-mr read. */
static const char *const iters[] = { "krping_iter_phases", "krping_iter_stages",
				     "krping_iter_memory" };
static struct tracepoint *tp_start, *tp_iter[ARRAY_SIZE(iters)], *tp_end;

/* An iteration from t_begin to now; returns its end. */
static u64 outrun_iteration(const struct outrun_run *f, u64 iter, u64 t_begin)
{
	u64 t = ktime_get_ns(), words[OUTRUN_WORDS], part, left;
	unsigned int i;

	left = t - t_begin;
	part = div_u64(left, OUTRUN_WORDS);
	for (i = 0; i < OUTRUN_WORDS; i++) {
		if (i == OUTRUN_WORDS - 1)
			part = left;
		words[i] = KRPING_SEG(KRPING_PHASE_MAP + i % 3, 0, 0, part);
		left -= part;
	}
	for (i = 0; i < ARRAY_SIZE(iters); i++)
		PLANT_RAISE(tp_iter[i], krping_iter_phases, f->run, t, iter, KRPING_PHASE_F_COMMIT,
			    t_begin, OUTRUN_WORDS, words, iter + 1);
	return t;
}

static int outrun_thread(void *data)
{
	struct outrun_run *f = data;
	u64 start = ktime_get_ns(), t = start, due = count;
	unsigned int i = 0;

	PLANT_RAISE(tp_start, krping_run_start, f->run, start, 0, KRPING_ROLE_CLIENT,
		    KRPING_TEST_BW, 64, count, 0, current->pid, current->comm, "outrun",
		    ktime_get_real_ns());
	while (i < count) {
		if (rate)
			due = div_u64((ktime_get_ns() - start) * rate,
				      PLANT_THREADS * NSEC_PER_SEC);
		for (; i < count && i < due; i++) {
			t = outrun_iteration(f, i, t);
			if (!(i % 1024))
				cond_resched();
		}
		if (i < count)
			usleep_range(200, 400);
	}
	f->ns = t - start;
	PLANT_RAISE(tp_end, krping_run_end, f->run, t, count, 0, f->ns, KRPING_PHASE_NONE, 0);
	complete(&plant_done);
	return 0;
}

static int __init outrun_begin(void)
{
	struct outrun_run runs[PLANT_THREADS] = { { .run = OUTRUN_RUN },
						  { .run = OUTRUN_RUN + 1 } };
	void *data[PLANT_THREADS] = { &runs[0], &runs[1] };
	unsigned int i;
	int err;

	tp_start = plant_tracepoint("krping_run_start");
	tp_end = plant_tracepoint("krping_run_end");
	if (!tp_start || !tp_end)
		return -ENOENT;
	for (i = 0; i < ARRAY_SIZE(iters); i++) {
		tp_iter[i] = plant_tracepoint(iters[i]);
		if (!tp_iter[i])
			return -ENOENT;
	}
	err = plant_threads(outrun_thread, data);
	ns = max(runs[0].ns, runs[1].ns);
	return err;
}

PLANT_MODULE(outrun_begin, plant_no_end, "Many events for the test suite; of no other use");
