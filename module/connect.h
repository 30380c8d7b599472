/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RDMA CM: from an address to a connection, and back.
 */
#ifndef KRPING_CONNECT_H
#define KRPING_CONNECT_H

#include <linux/types.h>
#include <rdma/rdma_cm.h>
#include "command.h"

struct krping_run;

/* What rdma_cm has told us; bits of krping_cm.seen. */
enum krping_cm_seen {
	KRPING_CM_ADDR,
	KRPING_CM_ROUTE,
	KRPING_CM_REQUEST,
	KRPING_CM_ESTABLISHED,
	KRPING_CM_DISCONNECTED,
};

/**
 * struct krping_cm - the connection of a run
 * @listen_id:	server: the listener
 * @id:		the connection: the client's own id, or the accepted child
 * @taken:	server: bit 0 is set by the first request that is let in
 * @seen:	bits of enum krping_cm_seen, set by the CM handler
 * @connecting:	thread: in rdma_connect()
 * @connected:	thread: there is something to disconnect
 * @classic:	the peer sent no private data of ours
 * @offer:	server: what it was asked to serve, unchanged while it listens
 * @agreed:	server: the same, settled with the client that was let in
 * @peer_run:	the peer's run id
 * @peer_nonce:	nonce of the peer's module load
 * @resources:	server: the client's initiator depth, ours as responder
 *
 * The handler writes agreed, classic, peer* and resources before it sets
 * REQUEST or ESTABLISHED, which the thread waits for before it reads them.
 */
struct krping_cm {
	struct rdma_cm_id *listen_id;
	struct rdma_cm_id *id;
	unsigned long taken;
	unsigned long seen;
	bool connecting;
	bool connected;
	bool classic;
	struct krping_params offer;
	struct krping_params agreed;
	u32 peer_run;
	u64 peer_nonce;
	u8 resources;
};

int krping_connect_client(struct krping_run *run);
int krping_connect_server(struct krping_run *run);
void krping_cm_interrupt(struct krping_run *run);
bool krping_cm_may_stall(const struct krping_run *run);
void krping_disconnect(struct krping_run *run);
void krping_destroy_ids(struct krping_run *run);
bool krping_device_is_there(struct ib_device *dev);
int krping_cm_init(void);
void krping_cm_exit(void);

#endif /* KRPING_CONNECT_H */
