// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast registration and nothing else: the client registers a random part of its buffer under a
 * new key and invalidates the key, in one post, again and again. The server only waits until
 * the client has done; a classic server never learns what it is for.
 *
 * Several chains are in flight, each with a memory region of its own, since a region must not
 * be mapped again before its last request has completed.
 */
#include <linux/err.h>
#include <linux/random.h>
#include "cause.h"
#include "mr.h"
#include "run.h"
#include "sq.h"
#include "test.h"
#include "wait.h"

#define FR_CHAINS 8

/* Private data of an fr client. */
struct fr {
	struct krping_buf buf;
	struct krping_mr mr[FR_CHAINS];
	struct krping_wr *last[FR_CHAINS]; /* completes the region's last chain */
};

static struct fr *fr(const struct krping_run *run)
{
	return run->conn.priv;
}

static int fr_alloc(struct krping_run *run, struct krping_conn *conn)
{
	size_t size = run->params.size;
	unsigned int i;
	int ret;

	if (run->params.role == KRPING_ROLE_SERVER)
		return 0;
	ret = krping_buf_alloc(&run->conn.ep, &fr(run)->buf, size, DMA_BIDIRECTIONAL);
	for (i = 0; i < FR_CHAINS && !ret; i++)
		ret = krping_mr_alloc(&run->conn.ep, &fr(run)->mr[i], size);
	return ret;
}

static void fr_free(struct krping_run *run, struct krping_conn *conn)
{
	unsigned int i;

	for (i = 0; i < FR_CHAINS; i++)
		krping_mr_free(&run->conn.ep, &fr(run)->mr[i]);
	krping_buf_free(&run->conn.ep, &fr(run)->buf);
}

static int fr_register(struct krping_run *run, unsigned int i)
{
	const int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	u32 len = 1 + get_random_u32() % run->params.size;
	struct krping_mr *mr = &fr(run)->mr[i];
	struct krping_chain chain;
	struct krping_key key;
	struct krping_wr *wr;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_MAP, len, 0);
	ret = krping_chain_begin(&run->conn.ep, &chain, 2);
	if (!ret)
		ret = krping_mr_chain_reg(&run->conn.ep, mr, &chain, &fr(run)->buf, len, access,
					  &key);
	if (ret)
		return ret;
	wr = krping_mr_chain_inv(&run->conn.ep, mr, &chain, false);
	krping_wr_await(&chain, wr);
	fr(run)->last[i] = wr;
	/* The next wait is for an older chain: softirqs' work for this one is of this phase. */
	krping_enter(&run->phases, KRPING_PHASE_POST, len, key.rkey);
	return krping_post(&run->conn.ep, &chain);
}

/* A wait that finds its completion looks neither for the peer nor for a RECV that failed. */
static int fr_is_stopped(struct krping_run *run)
{
	return krping_wait_must_end(&run->conn.ep) ? krping_wait_errno(&run->conn.ep, 0) : 0;
}

/* Wait for the newest chain, and so for all of them; each of them has to be good. */
static int fr_wait_last(struct krping_run *run, const struct krping_wr *newest)
{
	int ret;

	if (!newest)
		return 0;
	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
	ret = krping_wait_done(&run->conn.ep, newest);
	/* A message that nobody asked for stays unread. */
	if (!ret && !krping_recv_is_there(&run->conn.ep))
		ret = fr_is_stopped(run);
	return ret;
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

static int fr_loop(struct krping_run *run)
{
	unsigned int i = 0, newest = 0;
	int ret = 0;

	while (!krping_is_asked_to_end(&run->verdict) && (ret = krping_run_next(run)) > 0) {
		krping_iter_begin(&run->phases);
		newest = i;
		i = (i + 1) % FR_CHAINS;
		ret = fr_register(run, newest);
		if (!ret && fr(run)->last[i]) {
			krping_enter(&run->phases, KRPING_PHASE_WAIT_COMPLETION, 0, 0);
			ret = krping_wait_done(&run->conn.ep, fr(run)->last[i]);
		}
		ret = ret ?: fr_is_stopped(run);
		if (ret)
			return ret;
		krping_iter_end(&run->phases);
	}
	return ret ?: fr_wait_last(run, fr(run)->last[newest]);
}

static int fr_client(struct krping_run *run)
{
	int ret = fr_loop(run);

	if (krping_run_peer_may_leave(run, ret))
		return 0;
	/* A server that is krping waits for a message, a classic one for our leaving. */
	return ret || run->conn.classic ? ret : krping_say(&run->conn.msgs, 0, 0, 0, NULL);
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
	/* A chain has REG_MR and LOCAL_INV. A message waits until there is room. */
	.requests = 2 * FR_CHAINS,
	.priv_size = sizeof(struct fr),
	.alloc = fr_alloc,
	.free = fr_free,
	.exchange = fr_exchange,
	.client = fr_client,
	.server = fr_server,
};
