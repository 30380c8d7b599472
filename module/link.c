// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way of a run to its peer and back: the connection, its endpoint, its messages,
 * and the memory of the test.
 */
#include <linux/slab.h>
#include "cm.h"
#include "deadline.h"
#include "drain.h"
#include "link.h"
#include "mr_trace.h"
#include "qp.h"
#include "registry.h"
#include "run.h"
#include "test.h"

/* The options are final now, and the connection has a device. */
static int krping_link_alloc(struct krping_run *run)
{
	const struct krping_test *test = krping_test_find(run->params.test);
	bool srq = run->params.flags & KRPING_RUN_F_SRQ;
	const struct krping_ep_needs needs = {
		/* A test has the room that it needs, whatever the option says. */
		.requests = max(test->requests, run->params.txdepth ?: test->txdepth),
		.inline_size = run->params.inline_size,
		.poll_ctx = run->params.poll_ctx,
		.comp_vector = krping_option_given(&run->params, KRPING_OPT_COMP_VECTOR) ?
				       (int)run->params.comp_vector :
				       -1,
		.dma_key = run->params.mem_mode == KRPING_MEM_DMA,
		.offset = run->params.offset,
		.srqs = !srq	    ? NULL :
			run->parent ? &run->parent->srqs :
				      &run->srqs,
	};
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_ALLOC, run->params.size, 0);
	ret = krping_conn_device(&run->conn);
	if (!ret)
		ret = krping_cm_size(run->rec, &run->verdict, &run->params, run->conn.id->device);
	if (!ret)
		ret = krping_ep_create(&run->ep, run->conn.id, &needs);
	if (!ret)
		ret = krping_msgs_create(&run->msgs, &run->ep);
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
	request = krping_listener_wait(&run->listener);
	if (!request)
		return krping_stopped(&run->verdict);
	krping_set_state(run->rec, KRPING_STATE_CONNECT_REQUEST);
	run->params = request->agreed;
	krping_conn_adopt(&run->conn, request);
	return krping_is_stopping(&run->verdict) ? krping_stopped(&run->verdict) : 0;
}

/* The parent has given this run its client's connection. */
static int krping_link_parents(struct krping_run *run)
{
	krping_set_state(run->rec, KRPING_STATE_CONNECT_REQUEST);
	return krping_is_stopping(&run->verdict) ? krping_stopped(&run->verdict) : 0;
}

/*
 * Find the peer, make everything, and connect. On an error everything made so far stays
 * for krping_link_down(). Returns 0, or a negative errno; -ECONNRESET and -EINTR may be
 * without a cause on record.
 */
int krping_link_up(struct krping_run *run)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	struct krping_conn *conn = &run->conn;
	int ret;

	if (client)
		ret = krping_resolve(conn);
	else
		ret = run->parent ? krping_link_parents(run) : krping_link_listen(run);
	if (!ret && !client)
		krping_idle_start(run);
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
 * The only way to tear a run down, wherever krping_link_up() has stopped: first ends the
 * connection, then waits for all requests, then destroys the objects that refer to memory, then
 * frees the memory. The last message of a good run has left before that. Without @phases the
 * run has its result already.
 */
void krping_link_down(struct krping_run *run, bool phases)
{
	if (run->conn.connected && !krping_is_stopping(&run->verdict))
		krping_let_sends_leave(&run->msgs);
	krping_disconnect(&run->conn, run->verdict.good && run->conn.connected &&
					      !krping_leaves_first(&run->conn));
	if (phases)
		krping_enter(&run->phases, KRPING_PHASE_DRAIN, 0, 0);
	krping_ep_drain(&run->ep);
	if (phases) {
		krping_memory_end(&run->ep);
		krping_enter(&run->phases, KRPING_PHASE_FREE, 0, 0);
	}
	krping_ep_destroy_qp(&run->ep);
	if (run->test)
		run->test->free(run);
	krping_msgs_destroy(&run->msgs);
	krping_ep_destroy_pd(&run->ep);
	krping_destroy_id(&run->conn);
	krping_listener_close(&run->listener);
	krping_conn_exit(&run->conn);
}
