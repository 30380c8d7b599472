// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bandwidth: one end keeps as many WRITEs into the other end's memory in flight as txdepth=
 * says, with bw the client, with duplex both ends, and with fast the server. The other end
 * waits until it is told that this is over.
 *
 * An iteration is the wait for the oldest WRITE, or with signal= for so many, of which only the
 * last one has a completion; and the posting of those for which there is room then.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include "bench.h"
#include "cause.h"
#include "run.h"
#include "test.h"
#include "wait.h"

/* Private data of bw and fast. */
struct bw {
	struct krping_bench bench;
	u64 posted;	 /* WRITEs */
	u32 unsignalled; /* those of them behind the last one that is signalled */
	u32 first;	 /* number of the first one in the send queue: all follow it */
};

static struct bw *bw(const struct krping_run *run)
{
	return run->priv;
}

/* WRITEs of an iteration. */
static u32 bw_signal(const struct krping_run *run)
{
	return max(run->params.signal, 1U);
}

/* How many WRITEs there will be in the end; without a count all that make an iteration whole. */
static u64 bw_total(const struct krping_run *run, bool more)
{
	u64 turns = (u64)run->params.warmup + run->params.count;
	u32 rest = bw(run)->unsignalled;

	if (more)
		return run->params.count ? turns * bw_signal(run) : U64_MAX;
	return bw(run)->posted + (rest ? bw_signal(run) - rest : 0);
}

static u64 bw_in_flight(const struct krping_run *run)
{
	return bw(run)->posted - run->phases.turn * bw_signal(run);
}

/*
 * How many WRITEs to post with the next call; 0: none now. A list waits until there
 * is room for all of it, unless what this end would wait for is in the list.
 */
static u32 bw_next(const struct krping_run *run, bool more)
{
	u32 depth = run->params.txdepth ?: KRPING_TXDEPTH;
	u32 list = max(run->params.post_list, 1U);
	u64 left = bw_total(run, more) - bw(run)->posted;
	u64 in_flight = bw_in_flight(run);
	u64 nr = depth > in_flight ? depth - in_flight : 0;

	nr = min3(nr, left, (u64)list);
	if (nr < list && nr < left && in_flight >= bw_signal(run))
		return 0;
	return nr;
}

/* Post so many WRITEs with one call. */
static int bw_post(struct krping_run *run, u32 nr)
{
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret = krping_chain_begin(&run->conn.ep, &chain, nr);

	for (; !ret && nr; nr--) {
		wr = krping_bench_add(run, &chain);
		if (!bw(run)->posted++)
			bw(run)->first = wr->seq;
		if (++bw(run)->unsignalled == bw_signal(run))
			bw(run)->unsignalled = 0;
		else
			wr->send.send_flags &= ~IB_SEND_SIGNALED;
	}
	return ret ?: krping_post(&run->conn.ep, &chain);
}

static int bw_fill(struct krping_run *run, bool more, u32 nr)
{
	int ret = 0;

	krping_enter(&run->phases, KRPING_PHASE_FILL_QUEUE, run->params.size,
		     bw(run)->bench.peer.rkey);
	for (; nr && !ret; nr = bw_next(run, more)) {
		ret = bw_post(run, nr);
		/* A deep queue takes long to fill. */
		if (!ret && krping_must_end(&run->verdict))
			ret = krping_end_errno(&run->verdict);
		cond_resched();
	}
	return ret;
}

static int bw_reap(struct krping_run *run)
{
	u32 n = bw_signal(run);
	u32 seq = bw(run)->first + (u32)run->phases.turn * n + n - 1;
	const struct krping_wr *wr = krping_sq_slot(&run->conn.ep, seq);

	krping_enter(&run->phases, KRPING_PHASE_WAIT_COMPLETION, wr->len, wr->rdma.rkey);
	run->conn.ep.rdma = wr;
	return krping_wait_done(&run->conn.ep, wr);
}

/* A test that is asked to end posts no more, and waits for what it has posted. */
static int bw_loop(struct krping_run *run)
{
	int more = 1, ret = 0;
	u32 nr;

	while (!ret) {
		if (more > 0)
			more = krping_bench_next(run);
		if (more < 0)
			return more;
		nr = bw_next(run, more);
		if (!nr && !bw_in_flight(run))
			return 0;
		krping_iter_begin(&run->phases);
		if (nr)
			ret = bw_fill(run, more, nr);
		if (!ret)
			ret = bw_reap(run);
		if (!ret)
			krping_iter_end(&run->phases);
	}
	return ret;
}

static int bw_end(struct krping_run *run)
{
	return krping_bench_end(run, bw(run)->bench.active ? bw_loop(run) : 0);
}

const struct krping_test krping_test_bw = {
	.classic = "bw",
	.kind = KRPING_WR_RDMA_WRITE,
	.posts = BIT(KRPING_ROLE_CLIENT),
	.moves = 1,
	.txdepth = KRPING_TXDEPTH,
	.priv_size = sizeof(struct bw),
	KRPING_BENCH_TEST,
	.client = bw_end,
	.server = bw_end,
};

const struct krping_test krping_test_fast = {
	.kind = KRPING_WR_RDMA_WRITE,
	.posts = BIT(KRPING_ROLE_SERVER),
	.moves = 1,
	.txdepth = KRPING_TXDEPTH,
	.priv_size = sizeof(struct bw),
	KRPING_BENCH_TEST,
	.client = bw_end,
	.server = bw_end,
};
