// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bandwidth: one end keeps as many WRITEs into the other end's memory in flight as txdepth=
 * says, with bw the client, with duplex both ends, and with fast the server. And latency of a
 * READ: with rlat the client has one of them in flight on each connection. The other end waits
 * until it is told that this is over.
 *
 * An iteration is a request, or with signal= so many, of which only the last one has a
 * completion. Its handler posts those for which there is room then.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include "bench.h"
#include "flood.h"
#include "run.h"
#include "test.h"

/* A connection of such a test. Its lock guards all but the first member. */
struct bw {
	struct krping_bench bench;
	u64 posted;	 /* requests */
	u64 done;	 /* iterations */
	u32 left;	 /* requests of iterations that have begun, not posted yet */
	u32 unsignalled; /* requests posted behind the last one that is signalled */
	u64 t_queued;	 /* when their iteration was taken, if requests are wanted */
};

static struct bw *bw(const struct krping_conn *conn)
{
	return conn->priv;
}

/* Requests of an iteration. */
static u32 bw_signal(const struct krping_conn *conn)
{
	return max(conn->cm.params->signal, 1U);
}

/* How many requests may be in flight. */
static u32 bw_depth(const struct krping_conn *conn)
{
	u32 depth = conn->run->test->txdepth;

	return depth ? conn->cm.params->txdepth ?: depth : 1;
}

static u32 bw_in_flight(const struct krping_conn *conn)
{
	return bw(conn)->posted - bw(conn)->done * bw_signal(conn);
}

/*
 * How many requests to post with the next call; 0: none now. A list waits until there
 * is room for all of it, unless what this end would wait for is in the list.
 */
static u32 bw_next(struct krping_conn *conn)
{
	u32 depth = bw_depth(conn);
	u32 list = max(conn->cm.params->post_list, 1U);
	u32 in_flight = bw_in_flight(conn);
	u32 room = depth - min(depth, in_flight);

	if (room < list && in_flight >= bw_signal(conn) &&
	    (bw(conn)->left > room || krping_flood_has_more(conn->run)))
		return 0;
	while (bw(conn)->left < min(room, list) && krping_flood_take(conn))
		bw(conn)->left += bw_signal(conn);
	return min3(room, list, bw(conn)->left);
}

static void bw_done(struct krping_ep *ep, struct krping_wr *wr, int err);

/* Post so many requests with one call. */
static int bw_post(struct krping_conn *conn, u32 nr)
{
	struct krping_chain chain;
	struct krping_wr *wr;

	if (!bw_in_flight(conn))
		krping_cq_ask(&conn->ep.scq);
	krping_chain_begin_again(&chain, nr);
	bw(conn)->posted += nr;
	bw(conn)->left -= nr;
	for (; nr; nr--) {
		wr = krping_bench_add(conn, &chain);
		/* The rest of an iteration may have waited for room, and others were taken since. */
		if (krping_wants(requests) && bw(conn)->unsignalled)
			wr->t_queued = bw(conn)->t_queued;
		else if (krping_wants(requests))
			bw(conn)->t_queued = wr->t_queued;
		if (++bw(conn)->unsignalled < bw_signal(conn)) {
			wr->send.send_flags &= ~IB_SEND_SIGNALED;
		} else {
			wr->done = bw_done;
			bw(conn)->unsignalled = 0;
		}
	}
	return krping_post(&conn->ep, &chain);
}

static bool bw_pump(struct krping_conn *conn)
{
	u32 nr;

	if (!krping_flood_may_post(conn))
		return false;
	nr = bw_next(conn);
	return nr && !bw_post(conn, nr) && bw_in_flight(conn) < bw_depth(conn);
}

static void bw_done(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);

	/* The thread has been told that the queue pair is down. */
	if (err)
		return;
	spin_lock_bh(&conn->lock);
	bw(conn)->done++;
	krping_flood_count(conn, wr);
	while (bw_pump(conn))
		;
	spin_unlock_bh(&conn->lock);
}

static int bw_loop(struct krping_run *run)
{
	int ret = krping_bench_next(run);

	return ret > 0 ? krping_flood(run, bw_pump) : ret;
}

static int bw_end(struct krping_run *run)
{
	return krping_bench_end(run, bw(&run->conn)->bench.active ? bw_loop(run) : 0);
}

const struct krping_test krping_test_rlat = {
	.classic = "rlat",
	.kind = KRPING_WR_RDMA_READ,
	.posts = BIT(KRPING_ROLE_CLIENT),
	.moves = 1,
	.priv_size = sizeof(struct bw),
	KRPING_BENCH_TEST,
	.client = bw_end,
	.server = bw_end,
};

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
