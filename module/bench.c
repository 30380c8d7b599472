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
 * The client speaks first, as iWARP asks of the end that connects (RFC 5044, 7.1),
 * and the server last, as in rping: so both know when they may leave. With
 * server_inv its last message invalidates the key of the client's target. A server that
 * has to end the test says so with one more "done" before the client's: where it
 * alone posts, and where it is asked to end a test that has no count.
 */
#include <linux/err.h>
#include "bench.h"
#include "msg.h"
#include "run.h"
#include "sq.h"
#include "wait.h"

static struct krping_bench *bench(const struct krping_run *run)
{
	return run->priv;
}

static bool bench_is_client(const struct krping_run *run)
{
	return run->params.role == KRPING_ROLE_CLIENT;
}

/* Is the local buffer registered, and the target? */
static bool bench_local_has_mr(const struct krping_run *run)
{
	return bench(run)->active && run->params.mem_mode != KRPING_MEM_DMA &&
	       !(run->params.flags & KRPING_RUN_F_LOCAL_DMA_LKEY);
}

static bool bench_target_has_mr(const struct krping_run *run)
{
	return bench(run)->passive && run->params.mem_mode != KRPING_MEM_DMA;
}

/**
 * krping_bench_alloc - make the buffers and memory regions of this end
 * @run: the run, whose private data begins with a struct krping_bench
 * @kind: what is posted, KRPING_WR_RDMA_READ or KRPING_WR_RDMA_WRITE
 * @active: this end posts
 * @passive: this end has memory for what the peer posts
 *
 * On an error everything made so far stays for krping_bench_free().
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_bench_alloc(struct krping_run *run, enum krping_wr_kind kind,
		       bool active, bool passive)
{
	bool writes = kind == KRPING_WR_RDMA_WRITE;
	size_t size = run->params.size;
	struct krping_bench *b = bench(run);
	int ret = 0;

	b->kind = kind;
	b->active = active;
	b->passive = passive;
	if (active)
		ret = krping_buf_alloc(&run->ep, &b->local, size,
				       writes ? DMA_TO_DEVICE :
						DMA_FROM_DEVICE);
	if (!ret && bench_local_has_mr(run))
		ret = krping_mr_alloc(&run->ep, &b->local_mr, size);
	if (!ret && passive)
		ret = krping_buf_alloc(&run->ep, &b->target, size,
				       writes ? DMA_FROM_DEVICE :
						DMA_TO_DEVICE);
	if (!ret && bench_target_has_mr(run))
		ret = krping_mr_alloc(&run->ep, &b->target_mr, size);
	return ret;
}

/**
 * krping_bench_free - undo krping_bench_alloc(), wherever it has stopped
 * @run: the run
 *
 * Context: the run's thread; sleeps.
 */
void krping_bench_free(struct krping_run *run)
{
	struct krping_bench *b = bench(run);

	krping_mr_free(&run->ep, &b->target_mr);
	krping_buf_free(&run->ep, &b->target);
	krping_mr_free(&run->ep, &b->local_mr);
	krping_buf_free(&run->ep, &b->local);
}

/* Name this end's buffers, and append the registrations that this takes. */
static int bench_chain_keys(struct krping_run *run, struct krping_chain *chain)
{
	struct krping_bench *b = bench(run);
	bool writes = b->kind == KRPING_WR_RDMA_WRITE;
	u32 size = run->params.size;
	int access, ret = 0;

	if (b->active) {
		/* The source of a WRITE is only read locally. */
		access = writes ? 0 : IB_ACCESS_LOCAL_WRITE;
		/* iWARP writes a READ's answer like a peer's WRITE (RFC 5040, 5.4). */
		if (!writes && run->ep.iwarp)
			access |= IB_ACCESS_REMOTE_WRITE;
		if (bench_local_has_mr(run))
			ret = krping_mr_chain_reg(&run->ep, &b->local_mr, chain,
						  &b->local, size, access,
						  &b->local_key);
		else
			krping_buf_key(&run->ep, &b->local, access,
				       &b->local_key);
	}
	if (!ret && b->passive) {
		access = writes ? IB_ACCESS_LOCAL_WRITE |
					  IB_ACCESS_REMOTE_WRITE :
				  IB_ACCESS_REMOTE_READ;
		if (bench_target_has_mr(run))
			ret = krping_mr_chain_reg(&run->ep, &b->target_mr,
						  chain, &b->target, size,
						  access, &b->target_key);
		else
			krping_buf_key(&run->ep, &b->target, access,
				       &b->target_key);
	}
	return ret;
}

/* Send a message behind what the chain has already. */
static int bench_send(struct krping_run *run, struct krping_chain *chain,
		      const struct krping_key *key, u32 len)
{
	struct krping_wr *wr =
		krping_chain_msg(&run->msgs, chain, key->addr, key->rkey, len);

	return IS_ERR(wr) ? PTR_ERR(wr) : krping_post(&run->ep, chain);
}

/* Register the buffers, and advertise the target if there is one. */
static int bench_offer(struct krping_run *run)
{
	static const struct krping_key nothing;
	struct krping_bench *b = bench(run);
	struct krping_chain chain;
	int ret = krping_chain_begin(&run->ep, &chain, KRPING_BENCH_REQUESTS);

	if (!ret)
		ret = bench_chain_keys(run, &chain);
	if (ret)
		return ret;
	if (b->passive)
		return bench_send(run, &chain, &b->target_key,
				  run->params.size);
	if (bench_is_client(run))
		return bench_send(run, &chain, &nothing, 0);
	if (!chain.nr)
		return 0;
	/* The peer waits for no message; something has to retire the request. */
	krping_wr_await(&chain, chain.last);
	return krping_post(&run->ep, &chain);
}

/*
 * Receive a message that advertises so many bytes; 0: nothing. One that invalidates
 * has to do so with the target's key.
 */
static int bench_recv(struct krping_run *run, struct krping_msg *msg, u32 len,
		      bool invalidates)
{
	int ret = invalidates ? krping_recv_msg(&run->msgs, msg) :
				krping_recv_plain(&run->msgs, msg);

	if (ret)
		return ret;
	if (msg->len != len)
		return krping_fail(&run->verdict, -EPROTO,
				   "%u bytes advertised, %u agreed", msg->len,
				   len);
	if (!invalidates)
		return 0;
	return krping_mr_remote_inv(&run->ep, &bench(run)->target_mr, msg->cid,
				    msg->has_inv, msg->inv_key);
}

static int bench_take(struct krping_run *run)
{
	struct krping_bench *b = bench(run);
	struct krping_msg msg;
	int ret =
		bench_recv(run, &msg, b->active ? run->params.size : 0, false);

	if (ret)
		return ret;
	b->peer_addr = msg.addr;
	b->peer_rkey = msg.rkey;
	return 0;
}

/**
 * krping_bench_exchange - register the buffers, and tell the peer of the target
 * @run: the run, connected
 *
 * Context: the run's thread, before the test's loop; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_bench_exchange(struct krping_run *run)
{
	int ret;

	if (run->conn.classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	krping_enter(&run->phases, KRPING_PHASE_EXCHANGE, run->params.size, 0);
	if (!bench_is_client(run))
		return bench_take(run) ?: bench_offer(run);
	ret = bench_offer(run);
	return ret || !bench(run)->active ? ret : bench_take(run);
}

/**
 * krping_bench_next - may the end that posts begin another iteration?
 * @run: the run
 *
 * A test without a count is over when this end is asked to end, or the peer says
 * that it is done.
 *
 * Context: the run's thread, between two iterations; may sleep.
 * Return: 1; 0: the loop is over; or a negative errno that is also the run's cause.
 */
int krping_bench_next(struct krping_run *run)
{
	int ret = krping_run_may_go_on(run);

	if (ret)
		return ret;
	if (!krping_run_more(run) || krping_is_asked(&run->verdict))
		return 0;
	return run->params.count || !krping_recv_is_there(&run->ep);
}

/**
 * krping_bench_add - append a request that reads or writes all of the peer's target
 * @run: the run
 * @chain: the chain, which has room for it
 *
 * Context: the run's thread.
 * Return: the request, signalled.
 */
struct krping_wr *krping_bench_add(struct krping_run *run,
				   struct krping_chain *chain)
{
	const struct krping_bench *b = bench(run);
	struct krping_wr *wr = krping_chain_add(&run->ep, chain, b->kind);

	wr->len = run->params.size;
	wr->sge.addr = b->local_key.addr;
	wr->sge.length = wr->len;
	wr->sge.lkey = b->local_key.lkey;
	wr->rdma.wr.sg_list = &wr->sge;
	wr->rdma.wr.num_sge = 1;
	wr->rdma.remote_addr = b->peer_addr;
	wr->rdma.rkey = b->peer_rkey;
	/* The answer to a READ cannot come with it. */
	if (wr->len <= run->params.inline_size &&
	    b->kind == KRPING_WR_RDMA_WRITE)
		krping_wr_inline(wr, b->local.addr);
	return wr;
}

/**
 * krping_bench_post - read or write all of the peer's target
 * @run: the run
 *
 * The thread leaves its phase with this, or ends its iteration.
 *
 * Context: the run's thread.
 * Return: the request, signalled; or an ERR_PTR() of a negative errno, of which
 * -ECONNRESET and -EINTR may be without a cause on record.
 */
struct krping_wr *krping_bench_post(struct krping_run *run)
{
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret = krping_chain_begin(&run->ep, &chain, 1);

	if (ret)
		return ERR_PTR(ret);
	wr = krping_bench_add(run, &chain);
	chain.leaves = true;
	ret = krping_post(&run->ep, &chain);
	return ret ? ERR_PTR(ret) : wr;
}

static int bench_say_done(struct krping_run *run, bool invalidates)
{
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret = krping_chain_begin(&run->ep, &chain, 1);

	bench(run)->said_done = true;
	if (ret)
		return ret;
	wr = krping_chain_msg(&run->msgs, &chain, 0, 0, 0);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	if (invalidates)
		krping_wr_invalidates(&chain, wr, bench(run)->peer_rkey);
	return krping_post(&run->ep, &chain);
}

static int bench_wait_done(struct krping_run *run, bool invalidates)
{
	struct krping_msg msg;

	return bench_recv(run, &msg, 0, invalidates);
}

/* Each wait of the end is in a phase of its own. */
static void bench_enter_end(struct krping_run *run)
{
	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
}

/* An end that does not post waits for its peer, or until it is asked to end. */
static int bench_wait_peer(struct krping_run *run)
{
	int ret;

	if (bench(run)->active)
		return 0;
	ret = krping_wait_message(&run->ep);
	bench_enter_end(run);
	return ret;
}

static int bench_end_client(struct krping_run *run)
{
	bool inv = run->params.flags & KRPING_RUN_F_SERVER_INV;
	int ret = bench_wait_peer(run);

	/* The server asked for the end, or has done all that it had to do. */
	if (!ret && krping_recv_is_there(&run->ep)) {
		ret = bench_wait_done(run, false);
		bench_enter_end(run);
	}
	return ret ?: bench_say_done(run, false) ?: bench_wait_done(run, inv);
}

static int bench_end_server(struct krping_run *run)
{
	bool inv = run->params.flags & KRPING_RUN_F_SERVER_INV;
	bool waits = !bench(run)->passive;
	int ret = bench_wait_peer(run);

	/* Does the client wait for this end, or go on until it is told? */
	if (!ret && (waits || krping_is_asked(&run->verdict)) &&
	    !krping_recv_is_there(&run->ep))
		ret = bench_say_done(run, false);
	return ret ?: bench_wait_done(run, false) ?: bench_say_done(run, inv);
}

/**
 * krping_bench_end - agree with the peer that it is over
 * @run: the run
 * @ret: what the test's loop returned
 *
 * Context: the run's thread, after the loop; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_bench_end(struct krping_run *run, int ret)
{
	bool asked;

	if (!ret) {
		krping_iter_abort(&run->phases);
		bench_enter_end(run);
		ret = bench_is_client(run) ? bench_end_client(run) :
					     bench_end_server(run);
	}
	asked = krping_is_asked(&run->verdict);
	/*
	 * A peer that leaves without a word has not done so on purpose. One that
	 * has said that it is done waits a second for what is in flight.
	 */
	if ((asked || bench(run)->said_done ||
	     krping_recv_is_there(&run->ep)) &&
	    krping_run_peer_may_leave(run, ret))
		return 0;
	/* It has waited for the peer for a second. */
	if (ret == -EINTR && asked && !READ_ONCE(run->verdict.err))
		return 0;
	return ret;
}
