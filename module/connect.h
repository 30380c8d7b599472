/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RDMA CM: from an address to a connection, and back.
 */
#ifndef KRPING_CONNECT_H
#define KRPING_CONNECT_H

#include <linux/types.h>
#include <rdma/rdma_cm.h>
#include "command.h"
#include "device.h"

struct krping_ep;
struct krping_record;
struct krping_request;
struct krping_verdict;
struct krping_writer;
struct net;

/* The events that rdma_cm has reported; bits of krping_conn.seen. */
enum krping_cm_seen {
	KRPING_CM_ADDR,
	KRPING_CM_ROUTE,
	KRPING_CM_ESTABLISHED,
};

/**
 * struct krping_conn - a connection of a run
 * @rec:	record of the run
 * @verdict:	how the run ends
 * @params:	the run's options; a server with a client has the agreed options
 * @ep:		the endpoint that is connected
 * @net:	network namespace, referenced by the run
 * @writer:	who wrote the command, and makes calls in its name; NULL: the run has a
 *		parent
 * @device:	this connection as a user of its device, which can be removed
 * @queue:	its number among the connections of the run
 * @id:		the connection: the client's own id, or the accepted child
 * @seen:	bits of enum krping_cm_seen, set by the CM handler
 * @connected:	thread: there is a connection to disconnect
 * @classic:	the peer sent no private data of ours
 * @peer_run:	the peer's run id
 * @peer_nonce:	nonce of the peer's module load
 * @peer_can:	KRPING_PRIV_CAN_*
 * @resources:	server: READs of the client that this end answers at a time, at most 1
 * @read_depth:	server: READs that the client answers at a time, at most 1
 *
 * A client's handler writes classic and peer* before it sets ESTABLISHED, which
 * the thread waits for before it reads them. A server's thread writes them in
 * krping_conn_adopt().
 */
struct krping_conn {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	struct krping_params *params;
	struct krping_ep *ep;
	struct net *net;
	struct krping_writer *writer;
	struct krping_device_user device;

	u16 queue;
	struct rdma_cm_id *id;
	unsigned long seen;
	bool connected;
	bool classic;
	u32 peer_run;
	u64 peer_nonce;
	u8 peer_can;
	u8 resources;
	u8 read_depth;
};

void krping_conn_init(struct krping_conn *conn);
void krping_conn_exit(struct krping_conn *conn);
void krping_conn_interrupt(struct krping_conn *conn);
int krping_conn_device(struct krping_conn *conn);
int krping_resolve(struct krping_conn *conn);
int krping_connect(struct krping_conn *conn);
void krping_conn_adopt(struct krping_conn *conn, struct krping_request *request);
int krping_accept(struct krping_conn *conn);
bool krping_cm_may_stall(const struct krping_conn *conn);
bool krping_conn_is_up(const struct krping_conn *conn);
bool krping_leaves_first(const struct krping_conn *conn);
void krping_disconnect(struct krping_conn *conn, bool peer_first);
void krping_destroy_id(struct krping_conn *conn);

#endif /* KRPING_CONNECT_H */
