// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast registration and nothing else: the client registers a random part of its buffer under a
 * new key and invalidates the key, in one post, again and again. The server only waits until
 * the client has done; a classic server never learns what it is for.
 *
 * As many chains are in flight as the send queue has room for, each with a memory region of its
 * own, since a region must not be mapped again before its last request has completed.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/random.h>
#include "cause.h"
#include "flood.h"
#include "mr.h"
#include "run.h"
#include "sq.h"
#include "test.h"
#include "wait.h"

/* A chain has REG_MR and LOCAL_INV. */
#define FR_REQUESTS 2

/* Private data of an fr client. The connection's lock guards all but the buffer. */
struct fr {
	struct krping_buf buf;
	struct krping_mr *mr; /* of each chain in turn: they complete in the order of their posts */
	u32 chains;
	u64 posted;
	u64 done;
};

static struct fr *fr(const struct krping_conn *conn)
{
	return conn->priv;
}

static int fr_alloc(struct krping_run *run, struct krping_conn *conn)
{
	size_t size = run->params.size;
	struct fr *f = fr(conn);
	unsigned int i;
	int ret;

	if (run->params.role == KRPING_ROLE_SERVER)
		return 0;
	f->chains = conn->ep.sq_depth / FR_REQUESTS;
	f->mr = kvcalloc(f->chains, sizeof(*f->mr), GFP_KERNEL);
	if (!f->mr)
		return krping_fail(&run->verdict, -ENOMEM, "allocating %u regions", f->chains);
	ret = krping_buf_alloc(&conn->ep, &f->buf, size, DMA_BIDIRECTIONAL);
	for (i = 0; i < f->chains && !ret; i++)
		ret = krping_mr_alloc(&conn->ep, &f->mr[i], size);
	return ret;
}

static void fr_free(struct krping_run *run, struct krping_conn *conn)
{
	struct fr *f = fr(conn);
	unsigned int i;

	for (i = 0; f->mr && i < f->chains; i++)
		krping_mr_free(&conn->ep, &f->mr[i]);
	kvfree(f->mr);
	f->mr = NULL;
	krping_buf_free(&conn->ep, &f->buf);
}

static void fr_done(struct krping_ep *ep, struct krping_wr *wr, int err);

/* Register and invalidate, if a region is free: its last request has retired, so nothing sleeps. */
static bool fr_pump(struct krping_conn *conn)
{
	const int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	u32 len = 1 + get_random_u32() % conn->cm.params->size;
	struct fr *f = fr(conn);
	struct krping_mr *mr = &f->mr[f->posted % f->chains];
	struct krping_chain chain;
	struct krping_key key;
	struct krping_wr *wr;

	if (f->posted - f->done == f->chains || !krping_flood_may_post(conn) ||
	    !krping_flood_take(conn))
		return false;
	if (f->posted++ == f->done)
		krping_cq_ask(&conn->ep.scq);
	krping_chain_begin_again(&chain, FR_REQUESTS);
	if (krping_mr_chain_reg(&conn->ep, mr, &chain, &f->buf, len, access, &key))
		return false;
	wr = krping_mr_chain_inv(&conn->ep, mr, &chain, false);
	krping_wr_await(&chain, wr);
	wr->done = fr_done;
	return !krping_post(&conn->ep, &chain) && f->posted - f->done < f->chains;
}

static void fr_done(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);

	/* The thread has been told that the queue pair is down. */
	if (err)
		return;
	spin_lock_bh(&conn->lock);
	fr(conn)->done++;
	krping_flood_count(conn, wr);
	while (fr_pump(conn))
		;
	spin_unlock_bh(&conn->lock);
}

/* The server, which gets no other message meanwhile, ends a client that does not begin. */
static int fr_exchange(struct krping_run *run)
{
	struct krping_msg msg;

	if (run->conn.classic)
		return 0;
	krping_enter(&run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	return run->params.role == KRPING_ROLE_CLIENT ? krping_say(&run->conn.msgs, 0, 0, 0, NULL) :
							krping_recv_plain(&run->conn.msgs, &msg);
}

static int fr_client(struct krping_run *run)
{
	int ret = krping_is_asked_to_end(&run->verdict) ? 0 : krping_flood(run, fr_pump);

	if (krping_run_peer_may_leave(run, ret))
		return 0;
	if (ret)
		return ret;
	krping_iter_abort(&run->phases);
	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
	/* A server that is krping waits for a message, a classic one for our leaving. */
	return run->conn.classic ? 0 : krping_say(&run->conn.msgs, 0, 0, 0, NULL);
}

static int fr_server(struct krping_run *run)
{
	struct krping_msg msg;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
	ret = krping_recv_plain(&run->conn.msgs, &msg);
	if (krping_run_peer_may_leave(run, ret) ||
	    (krping_is_asked_to_end(&run->verdict) && !READ_ONCE(run->verdict.err)))
		return 0;
	return ret;
}

/* clang-format off */
const struct krping_test krping_test_fr = {
	/* Eight chains, if txdepth= does not ask for more. */
	.requests = 8 * FR_REQUESTS,
	.priv_size = sizeof(struct fr),
	.alloc = fr_alloc,
	.free = fr_free,
	.exchange = fr_exchange,
	.client = fr_client,
	.server = fr_server,
};
