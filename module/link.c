// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The link of a run to its peer: its connections, and the memory of its test.
 *
 * A client makes its connections one after the other. Their private data have the number of the
 * run, how many connections there are, and which of these each is, so that the server can let the
 * first one in as a new client, and then expects the others.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include "cause.h"
#include "deadline.h"
#include "link.h"
#include "registry.h"
#include "run.h"
#include "test.h"
#include "verdict.h"

/* So long a server without idle= waits for a connection behind the first one. */
#define KRPING_MORE_NS (10ULL * NSEC_PER_SEC)

/*
 * Begin to listen for so many clients. The options are those of the command until a
 * client has been let in.
 */
int krping_link_open(struct krping_run *run, unsigned int places)
{
	const struct krping_test *test = krping_test_find(run->params.test);
	int ret = test->open ? test->open(run) : 0;

	run->offer = run->params;
	run->listener.places = places;
	return ret ?: krping_listener_open(&run->listener);
}

static int krping_link_listen(struct krping_run *run)
{
	struct krping_request *request;
	int ret = krping_link_open(run, 1);

	if (ret)
		return ret;
	krping_sleep(&run->verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_listener_has_client(&run->listener) || krping_must_end(&run->verdict));
	if (krping_must_end(&run->verdict))
		return krping_end_errno(&run->verdict);
	request = krping_listener_take(&run->listener);
	run->params = request->agreed;
	krping_conn_adopt(&run->conn, request);
	return 0;
}

/* The connection has a device: make its endpoint, and what the test needs on it. */
static int krping_link_alloc(struct krping_run *run, struct krping_conn *conn)
{
	const struct krping_test *test = krping_test_find(run->params.test);
	struct krping_srqs *srqs = run->parent ? &run->parent->srqs : &run->srqs;
	const struct ib_device_attr *attrs = &conn->cm.id->device->attrs;
	u32 depth = run->params.txdepth ?: test->txdepth;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_ALLOC, run->params.size, 0);
	conn->ep.offset = run->params.offset;
	conn->ep.msg_size = max_t(u32, test->msg_size, KRPING_MSG_SIZE);
	conn->ep.max_sge = 1 + !!test->msg_data;
	if (run->params.role == KRPING_ROLE_SERVER)
		conn->ep.msg_data = test->msg_data;
	conn->ep.rq_depth = KRPING_RQ_DEPTH;
	if (test->msg_size)
		conn->ep.rq_depth = roundup_pow_of_two(depth + KRPING_RQ_DEPTH);
	if (test->msg_size && conn->queue)
		conn->ep.pd_owner = &run->conn.ep;
	conn->ep.reads = 1;
	if (test->msg_size)
		conn->ep.reads = clamp(min(attrs->max_qp_rd_atom, attrs->max_qp_init_rd_atom), 1,
				       KRPING_READS_MAX);
	if (conn->queue && conn->cm.id->device != run->conn.ep.dev)
		return krping_fail(&run->verdict, -ENODEV, "connection %u is on another device",
				   conn->queue + 1);
	/* A test has the room that it needs, whatever the option says. */
	ret = krping_conn_alloc(conn, max(test->requests, depth * max(test->sq_each, 1U)),
				run->params.flags & KRPING_RUN_F_SRQ && !conn->queue ? srqs : NULL);
	if (ret)
		return ret;
	conn->priv = kvzalloc(test->priv_size, GFP_KERNEL);
	if (!conn->priv)
		return krping_fail(&run->verdict, -ENOMEM, "allocating the test's own memory");
	run->test = test;
	return test->alloc(run, conn);
}

/* Make ready for the connections behind the first one, before the client can make the second. */
static int krping_link_prepare(struct krping_run *run)
{
	struct krping_listener *listener = &(run->parent ?: run)->listener;
	unsigned int i, nr = run->params.queues - 1;
	struct krping_more *more;

	if (!nr)
		return 0;
	run->more = kvcalloc(nr, sizeof(*more), GFP_KERNEL);
	if (!run->more)
		return krping_fail(&run->verdict, -ENOMEM, "allocating the connections");
	run->nr_more = nr;
	for (i = 0; i < nr; i++) {
		more = &run->more[i];
		krping_conn_init(&more->conn, run, run->rec, &run->verdict, &run->phases,
				 &run->params, run->net);
		more->conn.cm.writer = run->conn.cm.writer;
		more->conn.queue = i + 1;
		/* A run's events tell its requests apart by this number. */
		more->conn.ep.next_cid = more->conn.queue << 16;
		more->request.verdict = &run->verdict;
		more->request.queue = more->conn.queue;
		more->request.peer = run->conn.peer;
		if (run->params.role == KRPING_ROLE_SERVER)
			krping_listener_expect(listener, &more->request);
	}
	return 0;
}

/* A server waits for another connection of its client. */
static int krping_link_let_in(struct krping_run *run, struct krping_more *more)
{
	u64 ns = run->params.idle_ns ?: KRPING_MORE_NS;

	krping_enter(&run->phases, KRPING_PHASE_LISTEN, 0, 0);
	if (!krping_sleep(&run->verdict, nsecs_to_jiffies(ns),
			  krping_request_came(&more->request) ||
				  krping_wait_must_end(&run->conn.ep)))
		return krping_fail(&run->verdict, -ETIMEDOUT,
				   "the client did not make connection %u of %u",
				   more->conn.queue + 1, run->nr_more + 1);
	if (!krping_request_came(&more->request))
		return krping_wait_errno(&run->conn.ep, 0);
	krping_conn_adopt(&more->conn, &more->request);
	return krping_must_end(&run->verdict) ? krping_end_errno(&run->verdict) : 0;
}

/* Make a connection behind the first one. */
static int krping_link_add(struct krping_run *run, struct krping_more *more)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	struct krping_conn *conn = &more->conn;
	int ret;

	krping_phases_part(&run->phases, conn->queue);
	if (client) {
		krping_enter(&run->phases, KRPING_PHASE_RESOLVE_ADDR, 0, 0);
		ret = krping_resolve(conn);
	} else {
		ret = krping_link_let_in(run, more);
	}
	if (ret)
		return ret;
	ret = krping_link_alloc(run, conn);
	if (!ret)
		ret = client ? krping_connect(conn) : krping_accept(conn);
	if (!ret &&
	    (conn->peer.run != run->conn.peer.run || conn->peer.nonce != run->conn.peer.nonce))
		ret = krping_fail(&run->verdict, -EPROTO, "connection %u is another peer's",
				  conn->queue + 1);
	return ret;
}

static int krping_link_connect(struct krping_run *run)
{
	unsigned int i;
	int ret;

	ret = run->params.role == KRPING_ROLE_CLIENT ? krping_connect(&run->conn) :
						       krping_accept(&run->conn);
	if (!ret && run->nr_more && run->conn.classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	for (i = 0; i < run->nr_more && !ret; i++)
		ret = krping_link_add(run, &run->more[i]);
	return ret;
}

/*
 * Find the peer, make everything, and connect. On an error everything made so far stays
 * for krping_link_down(). Returns 0, or a negative errno; -ECONNRESET and -EINTR may be without a
 * cause on record.
 */
int krping_link_up(struct krping_run *run)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	int ret = 0;

	if (client)
		ret = krping_resolve(&run->conn);
	else if (!run->parent)
		ret = krping_link_listen(run);
	if (!ret && !client) {
		krping_set_state(run->rec, KRPING_STATE_CONNECT_REQUEST);
		/* The client may have given up. */
		if (krping_must_end(&run->verdict))
			return krping_end_errno(&run->verdict);
		krping_idle_start(run);
	}
	if (!ret)
		ret = krping_link_alloc(run, &run->conn);
	if (!ret)
		ret = krping_link_prepare(run);
	if (!ret)
		ret = krping_link_connect(run);
	if (!ret && run->test->exchange)
		ret = run->test->exchange(run);
	if (ret)
		return ret;
	/* signal= is not agreed: each end that posts has its own. */
	WRITE_ONCE(run->rec->moves, run->test->moves * max(run->params.signal, 1U));
	run->phases.warm = run->params.warmup;
	krping_phases_loop(&run->phases);
	return 0;
}

/* Can leaving a connection take long? */
bool krping_link_may_stall(const struct krping_run *run)
{
	bool may = krping_cm_may_stall(&run->conn);
	unsigned int i;

	for (i = 0; i < run->nr_more; i++)
		may |= krping_cm_may_stall(&run->more[i].conn);
	return may;
}

/* Free the test's memory. On iWARP a connection may be left, and its endpoint go, much later. */
void krping_link_free_test(struct krping_run *run)
{
	unsigned int i;

	if (!run->test)
		return;
	for (i = run->nr_more; i--;)
		if (run->more[i].conn.priv)
			run->test->free(run, &run->more[i].conn);
	run->test->free(run, &run->conn);
}

static void krping_link_free_conn(struct krping_conn *conn)
{
	kvfree(conn->priv);
	conn->priv = NULL;
	krping_conn_free(conn);
}

/*
 * The only way to tear a run down, wherever krping_link_up() has stopped. The last message of a
 * good run has left before that. Without @phases the run has its result already.
 */
void krping_link_down(struct krping_run *run, bool phases)
{
	bool peer_first = run->verdict.good && run->conn.connected &&
			  !krping_leaves_first(&run->conn);
	unsigned int peer_ms = peer_first ? KRPING_LEAVE_MS : 0;
	unsigned long until = jiffies + msecs_to_jiffies(KRPING_LEAVE_MS);
	unsigned int i;

	for (i = 0; i < run->nr_more; i++) {
		krping_request_forget(&run->more[i].request);
		krping_conn_leave(&run->more[i].conn, peer_ms, phases);
		/* A peer that lets each connection wait is waited for no more. */
		if (time_after(jiffies, until))
			krping_ask_to_end(&run->verdict, -ETIMEDOUT, "the peer does not leave");
	}
	krping_conn_leave(&run->conn, peer_ms, phases);
	krping_link_free_test(run);
	krping_listener_close(&run->listener);
	for (i = 0; i < run->nr_more; i++)
		krping_link_free_conn(&run->more[i].conn);
	krping_link_free_conn(&run->conn);
	kvfree(run->more);
	run->more = NULL;
	run->nr_more = 0;
}
