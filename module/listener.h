/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A listener: a bound id, what it offers, and the clients that it has let in. */
#ifndef KRPING_LISTENER_H
#define KRPING_LISTENER_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include "agree.h"
#include "cm.h"
#include "command.h"

/* A client that was let in, or another connection that a run expects of its client. */
struct krping_request {
	struct list_head list; /* in one of the listener's; in none while a run uses it */
	struct krping_listener *listener;
	struct krping_verdict *verdict; /* of the run that is woken */
	struct rdma_cm_id *id;		/* NULL: the client has yet to come, or a run has its id */
	struct krping_params agreed;
	bool classic; /* the client sent no private data of ours */
	struct krping_peer peer;
	u16 queue; /* the number of the connection in its run */
	/* The client left before a run had the id, by this event. */
	bool left;
	struct rdma_cm_event event;
};

struct krping_listener {
	struct krping_cm cm;
	unsigned int places;	    /* clients that may be let in */
	struct krping_request *all; /* so many; NULL before the listener is opened */
	bool shut;		    /* no more clients are let in; never cleared */
	spinlock_t lock;	    /* of the lists */
	struct list_head empty;	    /* for clients to come */
	struct list_head waiting;   /* clients that wait for their runs */
	struct list_head expected;  /* connections behind the first of a run */
};

int krping_listener_open(struct krping_listener *listener);
bool krping_listener_has_client(struct krping_listener *listener);
struct krping_request *krping_listener_take(struct krping_listener *listener);
void krping_listener_free_slot(struct krping_listener *listener, struct krping_request *request);
void krping_listener_reject(struct krping_listener *listener, struct krping_request *request);
void krping_listener_shut(struct krping_listener *listener);
void krping_listener_expect(struct krping_listener *listener, struct krping_request *request);
bool krping_request_came(const struct krping_request *request);
void krping_request_forget(struct krping_request *request);
void krping_listener_close(struct krping_listener *listener);

#endif /* KRPING_LISTENER_H */
