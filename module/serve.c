// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A server of several clients: its run listens, and each client has a run of its
 * own, in a kernel thread.
 *
 * The run of the command only begins the others, waits for them, and frees them;
 * so it lives longer than each of them. Whatever they come to is not its result.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include "cpu.h"
#include "life.h"
#include "link.h"
#include "registry.h"
#include "run.h"
#include "serve.h"

/* The run of a client. */
struct krping_child {
	struct list_head list;
	struct llist_node over;
	struct krping_server *server;
	struct krping_run *run;
	struct krping_job job;
};

struct krping_server {
	struct krping_run *run; /* of the command */
	bool persistent;	/* a place is used again and again */
	struct list_head children;
	unsigned int nr;
	struct llist_head over; /* children with a result, as their threads say */
};

/* The client may be back as soon as this end leaves it, so its place is free before. */
static void krping_child_test(struct krping_run *run)
{
	krping_run_test(run);
	if (krping_option_given(&run->parent->params, KRPING_OPT_PERSISTENT))
		krping_listener_free_slot(&run->parent->listener, run->request);
}

static void krping_child_live(void *data)
{
	struct krping_child *child = data;
	struct krping_server *server = child->server;

	krping_run_live(child->run, krping_child_test);
	llist_add(&child->over, &server->over);
	krping_wake(&server->run->verdict);
}

/* The run has its result, and nobody is in it any more. */
static void krping_child_free(struct krping_child *child)
{
	struct krping_server *server = child->server;
	struct krping_record *rec = server->run->rec;

	WRITE_ONCE(rec->served, rec->served + 1);
	if (child->run->verdict.err)
		WRITE_ONCE(rec->failed, rec->failed + 1);
	krping_run_free(child->run);
	list_del(&child->list);
	server->nr--;
	kfree(child);
}

/* A client that cannot have a run is refused, and the server goes on. */
static void krping_child_begin(struct krping_server *server, struct krping_request *request)
{
	struct krping_listener *listener = &server->run->listener;
	struct krping_child *child = kzalloc_obj(*child);
	struct krping_run *run = child ? krping_run_create(server->run) : ERR_PTR(-ENOMEM);

	if (IS_ERR(run)) {
		kfree(child);
		krping_listener_reject(listener, request);
		atomic_inc(&listener->cm.rec->rejects);
		return;
	}
	run->request = request;
	run->params = request->agreed;
	/* These are the command's. */
	run->params.timeout_ns = 0;
	run->params.clients = 0;
	krping_record_set(run->rec->params, run->params);
	krping_conn_adopt(&run->conn, request);
	child->server = server;
	child->run = run;
	list_add_tail(&child->list, &server->children);
	server->nr++;
	if (!krping_job_start(&child->job, run, krping_child_live, child))
		return;
	krping_record_result(run->rec);
	krping_cm_destroy(&run->conn.cm);
	if (server->persistent)
		krping_listener_free_slot(listener, request);
	krping_child_free(child);
}

static void krping_server_reap(struct krping_server *server)
{
	struct llist_node *over = llist_del_all(&server->over);
	struct krping_child *child;

	while (over) {
		child = llist_entry(over, struct krping_child, over);
		over = over->next;
		wait_for_completion(&child->job.done);
		krping_child_free(child);
	}
}

/*
 * Is there a client, and room for its run? A place is free as soon as a test is over, and
 * the run has yet to be torn down: so there may be twice as many runs as places.
 */
static bool krping_server_has_work(struct krping_server *server)
{
	return server->nr < 2 * server->run->listener.places &&
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
		if (!server->persistent && server->run->rec->served == listener->places)
			return 0;
		krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
			     krping_server_has_work(server) || !llist_empty(&server->over) ||
				     krping_must_end(verdict) || READ_ONCE(verdict->asked));
		if (krping_must_end(verdict))
			return krping_end_errno(verdict);
		if (krping_is_asked_to_end(verdict))
			return 0;
		if (!krping_server_has_work(server))
			continue;
		request = krping_listener_take(listener);
		if (request)
			krping_child_begin(server, request);
	}
}

/* Pass on to the clients' runs why the server ends, and wait for them. */
static void krping_server_end(struct krping_server *server)
{
	struct krping_verdict *verdict = &server->run->verdict;
	const char *reason = "interrupted";
	struct krping_child *child;
	bool killed = false;
	int err = -EINTR;

	/* Pairs with krping_ask_to_end(). */
	if (smp_load_acquire(&verdict->asked)) {
		err = verdict->asked_err;
		reason = verdict->asked_reason;
	} else if (krping_must_end(verdict) && verdict->err) {
		err = verdict->err;
		reason = verdict->reason;
	}
	list_for_each_entry(child, &server->children, list)
		krping_run_ask(child->run, err, reason);
	for (krping_server_reap(server); server->nr; krping_server_reap(server)) {
		krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
			     !llist_empty(&server->over) ||
				     (READ_ONCE(verdict->killed) && !killed));
		if (!READ_ONCE(verdict->killed) || killed)
			continue;
		/* Of a server that is killed no run finishes its iteration. */
		killed = true;
		list_for_each_entry(child, &server->children, list)
			krping_kill(&child->run->verdict);
	}
}

/* What the run of a server of several clients does, from its first phase on. */
void krping_serve(struct krping_run *run)
{
	struct krping_server server = {
		.run = run,
		.persistent = krping_option_given(&run->params, KRPING_OPT_PERSISTENT),
		.children = LIST_HEAD_INIT(server.children),
	};
	int ret;

	run->srqs.places = run->params.clients;
	ret = krping_link_open(run, run->params.clients);
	if (!ret) {
		WRITE_ONCE(run->verdict.endless, server.persistent);
		ret = krping_server_loop(&server);
	}
	/* What comes from now on does not change the result. */
	if (!ret)
		krping_set_good(&run->verdict);
	krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
	krping_listener_shut(&run->listener);
	krping_server_end(&server);
}
