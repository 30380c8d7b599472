/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RDMA CM: from an address to a connection, and back. */
#ifndef KRPING_CONNECT_H
#define KRPING_CONNECT_H

#include "agree.h"
#include "cm.h"
#include "ep.h"
#include "msg.h"

struct krping_request;
struct krping_run;
struct krping_srqs;

#define KRPING_LEAVE_MS 5000 /* for a peer that has to leave first */

/* How far rdma_cm is with a connection. */
enum krping_cm_stage {
	KRPING_CM_NONE,
	KRPING_CM_ADDR,
	KRPING_CM_ROUTE,
	KRPING_CM_ESTABLISHED,
};

/* A connection of a run. */
struct krping_conn {
	struct krping_cm cm;
	struct krping_ep ep;
	struct krping_msgs msgs;
	u16 queue; /* its number among the connections of the run */
	struct krping_run *run;
	void *priv;		    /* the test's own; NULL before its alloc() */
	spinlock_t lock;	    /* of requests that are posted by whoever handles completions */
	enum krping_cm_stage stage; /* published by the CM handler */
	bool connected;		    /* there is a connection to disconnect */
	/*
	 * Of a client's connection the handler writes these before ESTABLISHED, and of a
	 * server's the thread does in krping_conn_adopt().
	 */
	bool classic; /* the peer sent no private data of ours */
	struct krping_peer peer;
};

void krping_conn_init(struct krping_conn *conn, struct krping_run *run, struct krping_record *rec,
		      struct krping_verdict *verdict, struct krping_phases *phases,
		      const struct krping_params *params, struct net *net);
int krping_conn_alloc(struct krping_conn *conn, u32 requests, struct krping_srqs *srqs);
int krping_resolve(struct krping_conn *conn);
int krping_connect(struct krping_conn *conn);
void krping_conn_adopt(struct krping_conn *conn, struct krping_request *request);
int krping_accept(struct krping_conn *conn);
bool krping_cm_may_stall(const struct krping_conn *conn);
bool krping_conn_is_up(const struct krping_conn *conn);
bool krping_leaves_first(const struct krping_conn *conn);
void krping_conn_leave(struct krping_conn *conn, unsigned int peer_ms, bool phases);
void krping_conn_free(struct krping_conn *conn);

#endif /* KRPING_CONNECT_H */
