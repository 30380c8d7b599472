// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Latency of one WRITE (wlat), and of one READ (rlat).
 *
 * wlat is a ping without any message: each end writes into the other end's memory
 * and looks at its own until the last byte has the number of the iteration. As a
 * rule a device writes in the order of addresses, so that byte is the last one to
 * come; nothing but the time depends on it. Both ends measure; an iteration is
 * there and back.
 *
 * rlat is the client's alone: it reads the server's memory and waits.
 */
#include <linux/err.h>
#include "bench.h"
#include "cause.h"
#include "run.h"
#include "test.h"
#include "wait.h"

/**
 * struct lat - private data of wlat and rlat
 * @bench:	what every benchmark has
 * @sent:	wlat: the WRITE before, which must be complete before its source may
 *		change; NULL: there is none
 */
struct lat {
	struct krping_bench bench;
	const struct krping_wr *sent;
};

static struct lat *lat(const struct krping_run *run)
{
	return run->priv;
}

static int wlat_alloc(struct krping_run *run)
{
	return krping_bench_alloc(run, KRPING_WR_RDMA_WRITE, true, true);
}

static int rlat_alloc(struct krping_run *run)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;

	return krping_bench_alloc(run, KRPING_WR_RDMA_READ, client, !client);
}

static int lat_wait(struct krping_run *run, enum krping_phase phase,
		    const struct krping_wr *wr)
{
	krping_enter(&run->phases, phase, wr->len, wr->rdma.rkey);
	return krping_wait_done(&run->ep, wr);
}

/* The memory is zero at first, so the numbers begin with 1. */
static u8 wlat_number(const struct krping_run *run)
{
	return run->phases.turn + 1;
}

/* Wait for the WRITE before, if there is one. */
static int wlat_settle(struct krping_run *run, enum krping_phase phase)
{
	const struct krping_wr *wr = lat(run)->sent;

	lat(run)->sent = NULL;
	return wr ? lat_wait(run, phase, wr) : 0;
}

static int wlat_send(struct krping_run *run)
{
	u32 size = run->params.size;
	struct krping_wr *wr;
	int ret = wlat_settle(run, KRPING_PHASE_WAIT_COMPLETION);

	if (ret)
		return ret;
	krping_enter(&run->phases, KRPING_PHASE_POST, size, 0);
	krping_buf_poke(&run->ep, &lat(run)->bench.local, size - 1,
			wlat_number(run));
	wr = krping_bench_post(run);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	krping_ep_moves(&run->ep, wr);
	lat(run)->sent = wr;
	return 0;
}

static bool wlat_is_there(struct krping_run *run)
{
	return krping_buf_peek(&run->ep, &lat(run)->bench.target,
			       run->params.size - 1) == wlat_number(run);
}

/*
 * Returns 1; 0: the peer, or who asked this end to stop, ends a test without a
 * count; or a negative errno.
 */
static int wlat_wait(struct krping_run *run)
{
	int ret = 0;

	krping_enter(&run->phases, KRPING_PHASE_WAIT_PEER, run->params.size, 0);
	while (!wlat_is_there(run)) {
		if (ret)
			return ret;
		/* What the peer wrote before its message is there, too. */
		if (!run->params.count && krping_recv_is_there(&run->ep))
			return wlat_is_there(run);
		ret = krping_spin(&run->ep);
	}
	return 1;
}

/* The last WRITE has to be over, too. */
static int wlat_end(struct krping_run *run, int ret)
{
	if (!ret) {
		krping_iter_abort(&run->phases);
		ret = wlat_settle(run, KRPING_PHASE_WAIT_END);
	}
	return krping_bench_end(run, ret);
}

static int wlat_client(struct krping_run *run)
{
	int ret;

	while ((ret = krping_bench_next(run)) > 0) {
		krping_iter_begin(&run->phases);
		ret = wlat_send(run) ?: wlat_wait(run);
		if (ret <= 0)
			break;
		krping_iter_end(&run->phases);
	}
	return wlat_end(run, ret);
}

static int wlat_server(struct krping_run *run)
{
	int ret;

	while ((ret = krping_bench_next(run)) > 0) {
		krping_iter_begin(&run->phases);
		ret = wlat_wait(run);
		if (ret > 0)
			ret = wlat_send(run) ?: 1;
		if (ret <= 0)
			break;
		krping_iter_end(&run->phases);
	}
	return wlat_end(run, ret);
}

static int rlat_client(struct krping_run *run)
{
	struct krping_wr *wr;
	int ret;

	while ((ret = krping_bench_next(run)) > 0) {
		krping_iter_begin(&run->phases);
		krping_enter(&run->phases, KRPING_PHASE_POST, run->params.size,
			     0);
		krping_cq_arm_early(&run->ep.scq);
		wr = krping_bench_post(run);
		ret = PTR_ERR_OR_ZERO(wr);
		if (ret)
			break;
		krping_ep_moves(&run->ep, wr);
		ret = lat_wait(run, KRPING_PHASE_WAIT_COMPLETION, wr);
		if (ret)
			break;
		krping_iter_end(&run->phases);
	}
	return krping_bench_end(run, ret);
}

static int rlat_server(struct krping_run *run)
{
	return krping_bench_end(run, 0);
}

const struct krping_test krping_test_wlat = {
	.moves = 2, /* there and back */
	.requests = KRPING_BENCH_REQUESTS,
	.priv_size = sizeof(struct lat),
	.alloc = wlat_alloc,
	.free = krping_bench_free,
	.exchange = krping_bench_exchange,
	.client = wlat_client,
	.server = wlat_server,
};

const struct krping_test krping_test_rlat = {
	.moves = 1,
	.requests = KRPING_BENCH_REQUESTS,
	.priv_size = sizeof(struct lat),
	.alloc = rlat_alloc,
	.free = krping_bench_free,
	.exchange = krping_bench_exchange,
	.client = rlat_client,
	.server = rlat_server,
};
