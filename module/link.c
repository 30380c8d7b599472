// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way of a run to its peer: the connection, its endpoint, its messages, and the memory of
 * the test.
 */
#include <linux/slab.h>
#include "deadline.h"
#include "link.h"
#include "registry.h"
#include "run.h"
#include "test.h"

/* The options are final now, and the connection has a device. */
static int krping_link_alloc(struct krping_run *run)
{
	const struct krping_test *test = krping_test_find(run->params.test);
	struct krping_srqs *srqs = run->parent ? &run->parent->srqs : &run->srqs;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_ALLOC, run->params.size, 0);
	run->ep.offset = run->params.offset;
	/* A test has the room that it needs, whatever the option says. */
	ret = krping_conn_alloc(&run->conn,
				max(test->requests, run->params.txdepth ?: test->txdepth),
				run->params.flags & KRPING_RUN_F_SRQ ? srqs : NULL);
	if (ret)
		return ret;
	run->priv = kvzalloc(test->priv_size, GFP_KERNEL);
	if (!run->priv)
		return krping_fail(&run->verdict, -ENOMEM, "allocating the test's own memory");
	run->test = test;
	/* signal= is not agreed: each end that posts has its own. */
	WRITE_ONCE(run->rec->moves, test->moves * max(run->params.signal, 1U));
	return test->alloc(run);
}

/*
 * Begin to listen for so many clients. The options are those of the command until a
 * client has been let in.
 */
int krping_link_open(struct krping_run *run, unsigned int places)
{
	run->offer = run->params;
	run->listener.places = places;
	return krping_listener_open(&run->listener);
}

static int krping_link_listen(struct krping_run *run)
{
	struct krping_request *request;
	int ret = krping_link_open(run, 1);

	if (ret)
		return ret;
	krping_sleep(&run->verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_listener_has_client(&run->listener) ||
			     krping_is_stopping(&run->verdict));
	if (krping_is_stopping(&run->verdict))
		return krping_stopped(&run->verdict);
	request = krping_listener_take(&run->listener);
	run->params = request->agreed;
	krping_conn_adopt(&run->conn, request);
	return 0;
}

/*
 * Find the peer, make everything, and connect. On an error everything made so far stays
 * for krping_link_down(). Returns 0, or a negative errno; -ECONNRESET and -EINTR may be without a
 * cause on record.
 */
int krping_link_up(struct krping_run *run)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	struct krping_conn *conn = &run->conn;
	int ret = 0;

	if (client)
		ret = krping_resolve(conn);
	else if (!run->parent)
		ret = krping_link_listen(run);
	if (!ret && !client) {
		krping_set_state(run->rec, KRPING_STATE_CONNECT_REQUEST);
		/* The client may have given up. */
		if (krping_is_stopping(&run->verdict))
			return krping_stopped(&run->verdict);
		krping_idle_start(run);
	}
	if (!ret)
		ret = krping_link_alloc(run);
	if (!ret)
		ret = client ? krping_connect(conn) : krping_accept(conn);
	if (!ret && run->test->exchange)
		ret = run->test->exchange(run);
	if (ret)
		return ret;
	run->phases.warm = run->params.warmup;
	krping_phases_loop(&run->phases);
	return 0;
}

/*
 * The only way to tear a run down, wherever krping_link_up() has stopped. The last message of a
 * good run has left before that. Without @phases the run has its result already.
 */
void krping_link_down(struct krping_run *run, bool phases)
{
	bool peer_first = run->verdict.good && run->conn.connected &&
			  !krping_leaves_first(&run->conn);

	krping_conn_leave(&run->conn, peer_first ? KRPING_LEAVE_MS : 0, phases);
	if (run->test)
		run->test->free(run);
	krping_conn_free(&run->conn);
	krping_listener_close(&run->listener);
}
