// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Latency of one WRITE. There is no message: each end writes into the other end's memory and
 * looks at its own until the last byte has the number of the iteration. As a rule a device
 * writes that byte last; nothing but the time depends on it. Both ends measure; an iteration is
 * there and back.
 */
#include "bench.h"
#include "cause.h"
#include "run.h"
#include "test.h"
#include "wait.h"

/* Private data of wlat. */
struct wlat {
	struct krping_bench bench;
	const struct krping_wr *posted; /* the WRITE whose buffer is in use, or NULL */
};

static struct wlat *wlat(const struct krping_run *run)
{
	return run->conn.priv;
}

/* Write all of the peer's target. */
static int wlat_post(struct krping_run *run)
{
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret = krping_chain_begin(&run->conn.ep, &chain, 1);

	if (ret)
		return ret;
	wr = krping_bench_add(&run->conn, &chain);
	/* The thread leaves its phase with this post, or ends its iteration. */
	chain.leaves = true;
	ret = krping_post(&run->conn.ep, &chain);
	if (ret)
		return ret;
	run->conn.ep.rdma = wr;
	wlat(run)->posted = wr;
	return 0;
}

/* Wait for the WRITE, if there is one. */
static int wlat_wait_posted(struct krping_run *run, enum krping_phase phase)
{
	const struct krping_wr *wr = wlat(run)->posted;

	wlat(run)->posted = NULL;
	if (!wr)
		return 0;
	krping_enter(&run->phases, phase, wr->len, wr->rdma.rkey);
	return krping_wait_done(&run->conn.ep, wr);
}

/* The memory is zero at first, so the numbers begin with 1. */
static u8 wlat_number(const struct krping_run *run)
{
	return run->phases.turn + 1;
}

static int wlat_send(struct krping_run *run)
{
	int ret = wlat_wait_posted(run, KRPING_PHASE_WAIT_COMPLETION);

	if (ret)
		return ret;
	krping_enter(&run->phases, KRPING_PHASE_POST, run->params.size, 0);
	krping_buf_poke_last(&run->conn.ep, &wlat(run)->bench.local.buf, wlat_number(run));
	return wlat_post(run);
}

static bool wlat_is_there(struct krping_run *run)
{
	return krping_buf_peek_last(&run->conn.ep, &wlat(run)->bench.target.buf) ==
	       wlat_number(run);
}

/* Returns 1; 0: the peer ends a test without a count; or a negative errno. */
static int wlat_wait(struct krping_run *run)
{
	int ret = 0;

	krping_enter(&run->phases, KRPING_PHASE_WAIT_PEER, run->params.size, 0);
	while (!wlat_is_there(run)) {
		if (ret)
			return ret;
		/* What the peer wrote before its message is there, too. */
		if (!run->params.count && krping_recv_is_there(&run->conn.ep))
			return wlat_is_there(run);
		ret = krping_spin(&run->conn.ep);
	}
	return 1;
}

static int wlat_turn(struct krping_run *run)
{
	int ret;

	if (run->params.role == KRPING_ROLE_CLIENT)
		return wlat_send(run) ?: wlat_wait(run);
	ret = wlat_wait(run);
	return ret > 0 ? wlat_send(run) ?: 1 : ret;
}

static int wlat_loop(struct krping_run *run)
{
	int ret;

	while ((ret = krping_bench_next(run)) > 0) {
		krping_iter_begin(&run->phases);
		ret = wlat_turn(run);
		if (ret <= 0)
			break;
		krping_iter_end(&run->phases);
	}
	/* The last WRITE has to be over, too. */
	if (!ret) {
		krping_iter_abort(&run->phases);
		ret = wlat_wait_posted(run, KRPING_PHASE_WAIT_END);
	}
	return krping_bench_end(run, ret);
}

const struct krping_test krping_test_wlat = {
	.classic = "wlat",
	.kind = KRPING_WR_RDMA_WRITE,
	.posts = KRPING_BOTH_POST,
	.moves = 2, /* there and back */
	.priv_size = sizeof(struct wlat),
	KRPING_BENCH_TEST,
	.client = wlat_loop,
	.server = wlat_loop,
};
