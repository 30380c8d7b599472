/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A listener: a bound id, what it offers, and the clients that it has let in.
 */
#ifndef KRPING_LISTENER_H
#define KRPING_LISTENER_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/rdma_cm.h>
#include "command.h"
#include "device.h"

struct krping_record;
struct krping_verdict;
struct krping_writer;
struct net;

/**
 * struct krping_request - a client that was let in
 * @list:	entry in one of the listener's lists; in none once a run has @id
 * @listener:	whose client it is
 * @id:		the connection
 * @agreed:	the options that both ends agreed on
 * @classic:	the client sent no private data of ours
 * @peer_run:	the client's run id
 * @peer_nonce:	nonce of the client's module load
 * @peer_can:	KRPING_PRIV_CAN_*
 * @resources:	READs that the client makes at a time, at most 1
 * @read_depth:	READs that the client answers at a time, at most 1
 * @left:	the client left before a run had @id
 * @event:	how the client left
 */
struct krping_request {
	struct list_head list;
	struct krping_listener *listener;
	struct rdma_cm_id *id;
	struct krping_params agreed;
	bool classic;
	u32 peer_run;
	u64 peer_nonce;
	u8 peer_can;
	u8 resources;
	u8 read_depth;
	bool left;
	struct rdma_cm_event event;
};

/**
 * struct krping_second - the second connection of a run, which its client makes
 * @list:	entry in the listener's list, until the run waits no longer
 * @verdict:	of the run
 * @peer_run:	the client's run id
 * @peer_nonce:	nonce of the client's module load
 * @request:	the connection, if it is @there; its id is NULL once the run has it
 * @there:	it came
 */
struct krping_second {
	struct list_head list;
	struct krping_verdict *verdict;
	u32 peer_run;
	u64 peer_nonce;
	struct krping_request request;
	bool there;
};

/**
 * struct krping_listener - a bound id, and the clients that have come
 * @rec:	record of the command that listens; counts the clients that are refused
 * @verdict:	of the command: woken by each client, and stops the listener
 * @offer:	the options of the command
 * @net:	network namespace, referenced by the command
 * @writer:	who wrote the command, and makes calls in its name
 * @device:	this listener as a user of a device, or of all
 * @places:	how many clients may be let in
 * @all:	that many requests; NULL before the listener is opened
 * @id:		the bound id
 * @lock:	guards the lists
 * @empty:	requests for clients to come
 * @waiting:	clients that wait for their runs
 * @seconds:	second connections that runs wait for
 * @shut:	no more clients are let in; never cleared
 */
struct krping_listener {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	const struct krping_params *offer;
	struct net *net;
	struct krping_writer *writer;
	struct krping_device_user device;
	unsigned int places;
	struct krping_request *all;
	struct rdma_cm_id *id;
	spinlock_t lock;
	struct list_head empty;
	struct list_head waiting;
	struct list_head seconds;
	bool shut;
};

int krping_listener_open(struct krping_listener *listener);
bool krping_listener_is_open(const struct krping_listener *listener);
struct krping_request *krping_listener_wait(struct krping_listener *listener);
bool krping_listener_has_client(struct krping_listener *listener);
struct krping_request *krping_listener_take(struct krping_listener *listener);
void krping_listener_free_slot(struct krping_listener *listener, struct krping_request *request);
void krping_listener_reject(struct krping_listener *listener, struct krping_request *request);
void krping_listener_shut(struct krping_listener *listener);
void krping_listener_expect(struct krping_listener *listener, struct krping_second *second);
void krping_listener_forget(struct krping_listener *listener, struct krping_second *second);
void krping_listener_close(struct krping_listener *listener);

#endif /* KRPING_LISTENER_H */
