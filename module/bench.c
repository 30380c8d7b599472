// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the tests wlat, rlat, bw and fast have in common:
 *
 *	client					server
 *	register the buffers			register the buffers
 *	SEND its target, or nothing   --->
 *				      <---	SEND its target, if it has one
 *	the test's loop				the test's loop
 *	SEND "done"                   --->
 *				      <---	SEND "done"
 *
 * The client speaks first, as iWARP asks of the end that connects (RFC 5044, 7.1), and the
 * server last, so both know when they may leave. With server_inv the last message invalidates
 * the key of the client's target. A server that has to end the test, since it alone posts or
 * was asked to end a test without a count, says one more "done" before the client's.
 */
#include <linux/err.h>
#include "bench.h"
#include "flood.h"
#include "run.h"
#include "test.h"
#include "wait.h"

static struct krping_bench *bench(const struct krping_conn *conn)
{
	return conn->priv;
}

static bool bench_is_client(const struct krping_run *run)
{
	return run->params.role == KRPING_ROLE_CLIENT;
}

static int bench_mem_alloc(struct krping_conn *conn, struct krping_bench_mem *mem,
			   enum dma_data_direction dir, bool registers)
{
	size_t size = conn->cm.params->size;
	int ret = krping_buf_alloc(&conn->ep, &mem->buf, size, dir);

	return ret || !registers ? ret : krping_mr_alloc(&conn->ep, &mem->mr, size);
}

/* Make the buffers and memory regions of this end. */
int krping_bench_alloc(struct krping_run *run, struct krping_conn *conn)
{
	bool registers = run->params.mem_mode != KRPING_MEM_DMA;
	bool lkey = run->params.flags & KRPING_RUN_F_LOCAL_DMA_LKEY;
	bool both = run->params.flags & KRPING_RUN_F_DUPLEX || run->test->posts == KRPING_BOTH_POST;
	int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	bool writes = run->test->kind == KRPING_WR_RDMA_WRITE;
	struct krping_bench *b = bench(conn);
	int ret = 0;

	b->active = both || run->test->posts == BIT(run->params.role);
	b->passive = both || !b->active;
	if (writes) {
		/* The source is only read locally. */
		b->local.access = 0;
		b->target.access = access;
	} else {
		/* iWARP writes a READ's answer like a peer's WRITE (RFC 5040, 5.4). */
		b->local.access = run->conn.ep.iwarp ? access : IB_ACCESS_LOCAL_WRITE;
		b->target.access = IB_ACCESS_REMOTE_READ;
	}
	if (b->active)
		ret = bench_mem_alloc(conn, &b->local, writes ? DMA_TO_DEVICE : DMA_FROM_DEVICE,
				      registers && !lkey);
	if (!ret && b->passive)
		ret = bench_mem_alloc(conn, &b->target, writes ? DMA_FROM_DEVICE : DMA_TO_DEVICE,
				      registers);
	return ret;
}

static void bench_mem_free(struct krping_conn *conn, struct krping_bench_mem *mem)
{
	krping_mr_free(&conn->ep, &mem->mr);
	krping_buf_free(&conn->ep, &mem->buf);
}

void krping_bench_free(struct krping_run *run, struct krping_conn *conn)
{
	bench_mem_free(conn, &bench(conn)->target);
	bench_mem_free(conn, &bench(conn)->local);
}

/* Name memory, and append the registration if this takes one. */
static int bench_chain_key(struct krping_conn *conn, struct krping_chain *chain,
			   struct krping_bench_mem *mem)
{
	if (mem->mr.mr)
		return krping_mr_chain_reg(&conn->ep, &mem->mr, chain, &mem->buf,
					   conn->cm.params->size, mem->access, &mem->key);
	krping_buf_key(&conn->ep, &mem->buf, mem->access, &mem->key);
	return 0;
}

/* Register the buffers, and advertise the target if there is one. */
static int bench_offer(struct krping_conn *conn)
{
	struct krping_bench *b = bench(conn);
	struct krping_wr *wr = NULL;
	struct krping_chain chain;
	int ret = krping_chain_begin(&conn->ep, &chain, KRPING_BENCH_REQUESTS);

	if (!ret && b->active)
		ret = bench_chain_key(conn, &chain, &b->local);
	if (!ret && b->passive)
		ret = bench_chain_key(conn, &chain, &b->target);
	if (ret)
		return ret;
	/* A client without a target advertises nothing. */
	if (b->passive || bench_is_client(conn->run))
		wr = krping_chain_msg(&conn->msgs, &chain, b->target.key.addr, b->target.key.rkey,
				      b->passive ? conn->cm.params->size : 0);
	else if (chain.nr)
		/* The peer waits for no message; something has to retire the request. */
		krping_wr_await(&chain, chain.last);
	else
		return 0;
	return IS_ERR(wr) ? PTR_ERR(wr) : krping_post(&conn->ep, &chain);
}

/* Receive a message that advertises so many bytes, and perhaps invalidates the target's key. */
static int bench_recv(struct krping_conn *conn, struct krping_msg *msg, u32 len, bool invalidates)
{
	int ret = invalidates ? krping_recv_msg(&conn->msgs, msg) :
				krping_recv_plain(&conn->msgs, msg);

	if (ret)
		return ret;
	if (msg->len != len)
		return krping_fail(conn->cm.verdict, -EPROTO, "%u bytes advertised, %u agreed",
				   msg->len, len);
	if (!invalidates)
		return 0;
	return krping_mr_remote_inv(&conn->ep, &bench(conn)->target.mr, msg);
}

static int bench_exchange_on(struct krping_conn *conn)
{
	struct krping_bench *b = bench(conn);
	u32 size = b->active ? conn->cm.params->size : 0;
	int ret;

	krping_phases_part(&conn->run->phases, conn->queue);
	krping_enter(&conn->run->phases, KRPING_PHASE_EXCHANGE, conn->cm.params->size, 0);
	if (!bench_is_client(conn->run))
		return bench_recv(conn, &b->peer, size, false) ?: bench_offer(conn);
	ret = bench_offer(conn);
	return ret || !b->active ? ret : bench_recv(conn, &b->peer, size, false);
}

/* On each connection register the buffers, and tell the peer of the target. */
int krping_bench_exchange(struct krping_run *run)
{
	struct krping_conn *conn;
	unsigned int i;
	int ret = 0;

	if (run->conn.classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	krping_for_each_conn(conn, run, i)
		ret = ret ?: bench_exchange_on(conn);
	return ret;
}

/*
 * May the end that posts begin another iteration? A test without a count is over when this end
 * is asked to end, or the peer says that it is done. Returns as krping_run_next().
 */
int krping_bench_next(struct krping_run *run)
{
	int ret = krping_is_asked_to_end(&run->verdict) ? 0 : krping_run_next(run);

	if (ret <= 0)
		return ret;
	return run->params.count || !krping_recv_is_there(&run->conn.ep);
}

/* Append a request, signalled, that reads or writes all of the peer's target. */
struct krping_wr *krping_bench_add(struct krping_conn *conn, struct krping_chain *chain)
{
	const struct krping_bench *b = bench(conn);
	struct krping_wr *wr =
		krping_chain_move(&conn->ep, chain, conn->run->test->kind, &b->local.key, &b->peer);

	/* The answer to a READ cannot come with it. */
	if (wr->len <= conn->cm.params->inline_size && wr->kind == KRPING_WR_RDMA_WRITE) {
		wr->send.send_flags |= IB_SEND_INLINE;
		wr->sge.addr = (uintptr_t)b->local.buf.addr;
	}
	return wr;
}

static int bench_say_done(struct krping_run *run, bool invalidates)
{
	bench(&run->conn)->said_done = true;
	return krping_say(&run->conn.msgs, 0, 0, 0,
			  invalidates ? &bench(&run->conn)->peer.rkey : NULL);
}

/* Each wait of the end is in a phase of its own. */
static void bench_enter_end(struct krping_run *run)
{
	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
}

static int bench_agree(struct krping_run *run)
{
	bool inv = run->params.flags & KRPING_RUN_F_SERVER_INV;
	struct krping_msg msg;
	int ret = 0;

	bench_enter_end(run);
	/* An end that does not post waits for its peer, or until it is asked to end. */
	if (!bench(&run->conn)->active) {
		ret = krping_flood_wait(run);
		bench_enter_end(run);
		if (ret)
			return ret;
	}
	if (bench_is_client(run)) {
		/* The server asked for the end, or has done all that it had to do. */
		if (krping_recv_is_there(&run->conn.ep)) {
			ret = bench_recv(&run->conn, &msg, 0, false);
			bench_enter_end(run);
			if (ret)
				return ret;
		}
		return bench_say_done(run, false) ?: bench_recv(&run->conn, &msg, 0, inv);
	}
	/* Does the client wait for this end, or go on until it is told? */
	if ((!bench(&run->conn)->passive || krping_is_asked_to_end(&run->verdict)) &&
	    !krping_recv_is_there(&run->conn.ep))
		ret = bench_say_done(run, false);
	return ret ?: bench_recv(&run->conn, &msg, 0, false) ?: bench_say_done(run, inv);
}

/* The test's loop has returned ret: agree with the peer that the test is over. */
int krping_bench_end(struct krping_run *run, int ret)
{
	bool asked;

	if (!ret) {
		krping_iter_abort(&run->phases);
		ret = bench_agree(run);
	}
	asked = krping_is_asked_to_end(&run->verdict);
	/* A peer that leaves without a word has not done so on purpose. */
	if ((asked || bench(&run->conn)->said_done || krping_recv_is_there(&run->conn.ep)) &&
	    krping_run_peer_may_leave(run, ret))
		return 0;
	/* This end has waited for the peer for a second. */
	if (ret == -EINTR && asked && !READ_ONCE(run->verdict.err))
		return 0;
	return ret;
}
