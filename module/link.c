// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All that a run needs to exchange messages with its peer: made, undone, and
 * made anew.
 */
#include <linux/slab.h>
#include <linux/string.h>
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
		.requests = max(test->requests,
				run->params.txdepth ?: test->txdepth),
		.inline_size = run->params.inline_size,
		.poll_ctx = run->params.poll_ctx,
		.comp_vector = krping_option_given(&run->params,
						   KRPING_OPT_COMP_VECTOR) ?
				       (int)run->params.comp_vector :
				       -1,
		.dma_key = run->params.mem_mode == KRPING_MEM_DMA,
		.offset = run->params.offset,
		.srqs = !srq	    ? NULL :
			run->parent ? &run->parent->srqs :
				      &run->srqs,
	};
	int ret;

	if (run->test && run->test != test)
		return krping_fail(&run->verdict, -EPROTO,
				   "another client came, with another test");
	krping_enter(&run->phases, KRPING_PHASE_ALLOC, run->params.size, 0);
	ret = krping_conn_device(&run->conn, run->conn.id->device);
	if (!ret)
		ret = krping_cm_size(run->rec, &run->verdict, &run->params,
				     run->conn.id->device);
	if (!ret)
		ret = krping_ep_create(&run->ep, run->conn.id, &needs);
	if (!ret)
		ret = krping_msgs_create(&run->msgs, &run->ep);
	if (ret)
		return ret;
	if (!run->priv)
		run->priv = kvzalloc(test->priv_size, GFP_KERNEL);
	if (!run->priv)
		return krping_fail(&run->verdict, -ENOMEM,
				   "allocating the test's own memory");
	run->test = test;
	/* signal= is not agreed: each end that posts has its own. */
	WRITE_ONCE(run->rec->moves, test->moves * max(run->params.signal, 1U));
	return test->alloc(run);
}

/**
 * krping_link_open - begin to listen for clients
 * @run: the run
 * @places: how many may be let in
 *
 * The options are those of the command until a client has been let in.
 *
 * Context: as krping_listener_open().
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_link_open(struct krping_run *run, unsigned int places)
{
	run->offer = run->params;
	run->listener.places = places;
	return krping_listener_open(&run->listener);
}

/* The client that the parent has for this run. */
static int krping_link_parents(struct krping_run *run)
{
	krping_set_state(run->rec, KRPING_STATE_CONNECT_REQUEST);
	return krping_is_stopping(&run->verdict) ?
		       krping_stopped(&run->verdict) :
		       0;
}

static int krping_link_listen(struct krping_run *run)
{
	struct krping_request *request;
	int ret;

	if (!krping_listener_is_open(&run->listener)) {
		ret = krping_link_open(run, 1);
		if (ret)
			return ret;
	}
	request = krping_listener_wait(&run->listener);
	if (!request)
		return krping_stopped(&run->verdict);
	krping_set_state(run->rec, KRPING_STATE_CONNECT_REQUEST);
	run->params = request->agreed;
	krping_conn_adopt(&run->conn, request);
	ret = krping_is_stopping(&run->verdict) ?
		      krping_stopped(&run->verdict) :
		      0;
	/*
	 * The client of such a run may be back before this end has left its connection,
	 * so it is let in from now on.
	 */
	if (!ret && run->params.test == KRPING_TEST_PROTECT)
		krping_listener_expect(&run->listener, request);
	return ret;
}

/**
 * krping_link_begin - enter the first phase of krping_link_up()
 * @run: the run
 *
 * Context: the run's thread.
 */
void krping_link_begin(struct krping_run *run)
{
	krping_enter(&run->phases,
		     run->params.role == KRPING_ROLE_CLIENT ?
			     KRPING_PHASE_RESOLVE_ADDR :
			     KRPING_PHASE_LISTEN,
		     0, 0);
}

/* The set-up is over. A link that was made anew needs no warming up. */
static void krping_link_loop(struct krping_run *run)
{
	if (!run->phases.turn)
		run->phases.warm = run->params.warmup;
	krping_phases_loop(&run->phases);
}

/**
 * krping_link_up - find the peer, make everything, and connect
 * @run: the run, in the phase of krping_link_begin()
 *
 * On an error everything made so far stays for krping_link_down().
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_link_up(struct krping_run *run)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	struct krping_conn *conn = &run->conn;
	int ret;

	if (client)
		ret = krping_resolve(conn);
	else if (run->parent)
		ret = krping_link_parents(run);
	else
		ret = krping_link_listen(run);
	if (!ret && !client)
		krping_idle_start(run);
	if (!ret)
		ret = krping_link_alloc(run);
	if (!ret)
		ret = client ? krping_connect(conn) : krping_accept(conn);
	if (!ret && run->test->exchange)
		ret = run->test->exchange(run);
	if (!ret)
		krping_link_loop(run);
	return ret;
}

/**
 * krping_link_down - undo krping_link_up(), wherever it has stopped
 * @run: the run
 * @peer_first: let the peer leave first
 * @phases: the run is not over yet, and enters the phases of its tear-down
 *
 * First ends the connection, then waits for all requests, then destroys the
 * objects that refer to memory, then frees the memory. The last message of a
 * good run has left before that. The run's listener stays. Afterwards
 * krping_link_up() can be called again.
 *
 * Context: the run's thread; sleeps.
 */
void krping_link_down(struct krping_run *run, bool peer_first, bool phases)
{
	if (run->conn.connected && !krping_is_stopping(&run->verdict))
		krping_wait_sends(&run->msgs);
	krping_disconnect(&run->conn, peer_first);
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
}

/**
 * krping_link_renew - give everything up, and make it anew with the same peer
 * @run: the run, in phase DISCONNECT; the peer does so, too
 * @peer_first: let the peer leave first
 *
 * For a test that breaks its connection on purpose. Nothing is left of the
 * endpoint and its keys, and of the test's private data only what it keeps; the
 * counters go on.
 *
 * Context: as krping_link_up(), between two iterations.
 * Return: as krping_link_up().
 */
int krping_link_renew(struct krping_run *run, bool peer_first)
{
	krping_idle_stop(run);
	krping_link_down(run, peer_first, true);
	krping_ep_clear(&run->ep);
	krping_conn_clear(&run->conn);
	memset(run->priv + run->test->priv_kept, 0,
	       run->test->priv_size - run->test->priv_kept);
	krping_link_begin(run);
	return krping_link_up(run);
}
