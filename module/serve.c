// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A server of several clients: its run listens, and each client has a run of its
 * own, in a kernel thread.
 *
 * The run of the command only begins the others, waits for them, and frees them;
 * so it lives longer than each of them. Whatever they come to is not its result.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/slab.h>
#include "cpu.h"
#include "life.h"
#include "link.h"
#include "registry.h"
#include "run.h"
#include "serve.h"

/**
 * struct krping_child - room for the run of a client
 * @server:	the server
 * @run:	the client's run; NULL: there is none
 * @job:	its thread
 * @has_thread:	it was started
 * @over:	the run has its result, and nobody is in it any more; set by the thread
 */
struct krping_child {
	struct krping_server *server;
	struct krping_run *run;
	struct krping_job job;
	bool has_thread;
	bool over;
};

/**
 * struct krping_server - a server of several clients
 * @run:	the run of its command
 * @children:	room for runs
 * @room:	for how many; twice as many as the listener has places, since a place is
 *		free as soon as the test is over, and the run has yet to be torn down
 * @persistent:	a place is used again and again
 * @begun:	how many clients have got a run
 * @freed:	how many of these runs are gone
 * @nr_over:	how many of these runs are over; counted by their threads
 */
struct krping_server {
	struct krping_run *run;
	struct krping_child *children;
	unsigned int room;
	bool persistent;
	unsigned int begun;
	unsigned int freed;
	atomic_t nr_over;
};

/* Does a command ask for a run for each client? */
bool krping_serves_many(const struct krping_run *run)
{
	return run->params.clients;
}

/*
 * A client's run, in a thread of its own
 */

static void krping_child_over(struct krping_child *child)
{
	struct krping_server *server = child->server;

	/* Pairs with krping_server_reap(). */
	smp_store_release(&child->over, true);
	/* Who sees the number sees @over. */
	atomic_inc_return_release(&server->nr_over);
	krping_wake(&server->run->verdict);
}

/* Before it leaves its client, who may be back at once. */
static void krping_child_test(struct krping_run *run)
{
	krping_run_test(run);
	if (krping_option_given(&run->parent->params, KRPING_OPT_PERSISTENT))
		krping_listener_let_in(&run->parent->listener, run->request);
}

static void krping_child_live(void *data)
{
	struct krping_child *child = data;

	krping_run_live(child->run, krping_child_test);
	krping_child_over(child);
}

static int krping_child_start(struct krping_child *child)
{
	int ret = krping_cpu_check(child->run) ?:
			  krping_job_start(&child->job, child->run);

	child->has_thread = !ret;
	return ret;
}

/* A client that cannot have a run is refused, and the server goes on. */
static void krping_child_begin(struct krping_server *server,
			       struct krping_request *request)
{
	struct krping_listener *listener = &server->run->listener;
	struct krping_run *run = krping_run_create(server->run);
	struct krping_child *child = server->children;

	if (IS_ERR(run)) {
		krping_listener_turn_away(listener, request);
		krping_listener_let_in(listener, request);
		atomic_inc(&listener->rec->rejects);
		return;
	}
	while (child->run)
		child++;
	run->request = request;
	run->params = request->agreed;
	/* These are the command's. */
	run->params.timeout_ns = 0;
	run->params.clients = 0;
	krping_record_parsed(run->rec, &run->params);
	child->server = server;
	child->run = run;
	child->job.fn = krping_child_live;
	child->job.data = child;
	child->over = false;
	server->begun++;
	if (krping_child_start(child)) {
		krping_run_settle(run);
		krping_child_over(child);
	}
}

static void krping_child_free(struct krping_server *server,
			      struct krping_child *child)
{
	struct krping_listener *listener = &server->run->listener;
	struct krping_record *rec = server->run->rec;
	struct krping_request *request = child->run->request;

	if (child->has_thread) {
		wait_for_completion(&child->job.done);
	} else {
		krping_listener_turn_away(listener, request);
		if (server->persistent)
			krping_listener_let_in(listener, request);
	}
	WRITE_ONCE(rec->served, rec->served + 1);
	if (child->run->verdict.err)
		WRITE_ONCE(rec->failed, rec->failed + 1);
	krping_run_free(child->run);
	child->run = NULL;
	server->freed++;
}

/*
 * The server
 */

static void krping_server_reap(struct krping_server *server)
{
	struct krping_child *child = server->children;
	unsigned int i;

	if (atomic_read(&server->nr_over) == server->freed)
		return;
	for (i = 0; i < server->room; i++, child++)
		/* Pairs with krping_child_over(). */
		if (child->run && smp_load_acquire(&child->over))
			krping_child_free(server, child);
}

/* Is there a client, and room for its run? */
static bool krping_server_has_work(struct krping_server *server)
{
	return server->begun - server->freed < server->room &&
	       krping_listener_has_client(&server->run->listener);
}

/* Serve until there is nobody left to serve, or a reason not to: 0, or that. */
static int krping_server_loop(struct krping_server *server)
{
	struct krping_listener *listener = &server->run->listener;
	struct krping_verdict *verdict = &server->run->verdict;
	struct krping_request *request;

	for (;;) {
		krping_server_reap(server);
		if (!server->persistent && server->freed == listener->places)
			return 0;
		krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
			     krping_server_has_work(server) ||
				     atomic_read(&server->nr_over) !=
					     server->freed ||
				     krping_is_stopping(verdict) ||
				     READ_ONCE(verdict->told));
		if (krping_is_stopping(verdict))
			return krping_stopped(verdict);
		if (krping_is_asked(verdict))
			return 0;
		if (!krping_server_has_work(server))
			continue;
		request = krping_listener_take(listener);
		if (request)
			krping_child_begin(server, request);
	}
}

/* Pass on to the clients' runs why the server ends. */
static void krping_server_ask(struct krping_server *server)
{
	const struct krping_verdict *verdict = &server->run->verdict;
	const char *reason = "interrupted";
	int err = -EINTR;
	unsigned int i;

	if (READ_ONCE(verdict->told)) {
		err = verdict->told_err;
		reason = verdict->told_reason;
	} else if (krping_is_stopping(verdict) && verdict->err) {
		err = verdict->err;
		reason = verdict->reason;
	}
	for (i = 0; i < server->room; i++)
		if (server->children[i].run)
			krping_run_ask(server->children[i].run, err, reason);
}

/* No run finishes its iteration. */
static void krping_server_kill(struct krping_server *server)
{
	unsigned int i;

	for (i = 0; i < server->room; i++)
		if (server->children[i].run)
			krping_kill(&server->children[i].run->verdict);
}

static bool krping_server_is_left(const struct krping_server *server)
{
	return atomic_read_acquire(&server->nr_over) == server->begun;
}

/* All of them end soon now, as a run of its own does that is asked to end. */
static void krping_server_wait(struct krping_server *server)
{
	struct krping_verdict *verdict = &server->run->verdict;

	krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_server_is_left(server) ||
			     READ_ONCE(verdict->killed));
	if (READ_ONCE(verdict->killed)) {
		krping_server_kill(server);
		krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
			     krping_server_is_left(server));
	}
	krping_server_reap(server);
}

static int krping_server_open(struct krping_server *server)
{
	struct krping_run *run = server->run;
	unsigned int places = run->params.clients;
	int ret = krping_cpu_check(run);

	if (ret)
		return ret;
	server->room = 2 * places;
	run->srqs.places = places;
	server->children =
		kvcalloc(server->room, sizeof(*server->children), GFP_KERNEL);
	if (!server->children)
		return krping_fail(&run->verdict, -ENOMEM,
				   "allocating places for clients");
	ret = krping_link_open(run, places);
	if (!ret)
		WRITE_ONCE(run->verdict.endless, server->persistent);
	return ret;
}

/**
 * krping_serve - what the run of a server of several clients does
 * @run: the run, in its first phase
 *
 * Context: the run's thread; sleeps.
 */
void krping_serve(struct krping_run *run)
{
	struct krping_server server = {
		.run = run,
		.persistent = krping_option_given(&run->params,
						  KRPING_OPT_PERSISTENT),
	};
	int ret = krping_server_open(&server);

	if (!ret) {
		ret = krping_server_loop(&server);
		/* What comes now does not change the result. */
		if (!ret)
			krping_set_good(&run->verdict);
		krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
		krping_listener_shut(&run->listener);
		krping_server_ask(&server);
		krping_server_wait(&server);
	} else {
		krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
	}
	kvfree(server.children);
}
