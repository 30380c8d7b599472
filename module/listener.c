// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A listener lets clients in and refuses the others, as long as it is open. It
 * is no run: each client that it has let in is handed to one.
 *
 * Its handler decides at once who is let in, since it has to answer before it
 * returns; it allocates nothing, since it runs in the work queue that all of
 * rdma_cm shares. All else is done by the thread that waits for clients.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include "agree.h"
#include "cm.h"
#include "dbg.h"
#include "krping_trace.h"
#include "listener.h"
#include "registry.h"
#include "verdict.h"
#include "writer.h"

#define KRPING_BACKLOG 8     /* requests that wait to be refused */
#define KRPING_BACK_MS 10000 /* for a client that is expected to come back */

/*
 * Tell a client which option differs; without one there is no place for it. A size that
 * is too large for this end comes with the largest one, size_max, which is else 0.
 */
static int krping_refuse(struct krping_listener *listener,
			 struct rdma_cm_id *id, const char *differs,
			 u32 size_max, const struct krping_priv *peer)
{
	int err = differs ? -EPROTO : -EBUSY;
	char values[KRPING_VALUES] = "";
	struct krping_priv priv;

	krping_priv_fill(&priv, listener->rec->id, listener->offer,
			 KRPING_PRIV_REJECT);
	priv.why = cpu_to_be16(differs ? KRPING_WHY_DIFFERS : KRPING_WHY_BUSY);
	if (differs)
		strscpy(priv.option, differs, sizeof(priv.option));
	if (differs && size_max && !strcmp(differs, "size")) {
		priv.size = cpu_to_be32(size_max);
		priv.can |= KRPING_PRIV_SIZE_MAX;
	}
	if (differs && peer->magic)
		krping_differs(values, sizeof(values), listener->offer, peer,
			       differs);
	/* A client before version 3 shows the option, and knows no values of this one. */
	if (differs && !strcmp(differs, "version") && peer->version < 3)
		snprintf(priv.option, sizeof(priv.option), "version %u vs. %u",
			 priv.version, peer->version);
	krping_dbg(listener->rec->id, "refused a client: %s%s%s",
		   differs ?: "busy", differs ? " differs" : "", values);
	krping_trace(reject, listener->rec->id, krping_trace_now(reject), err,
		     be32_to_cpu(peer->run));
	atomic_inc(&listener->rec->rejects);
	rdma_reject(id, &priv, sizeof(priv), IB_CM_REJ_CONSUMER_DEFINED);
	/* Non-zero: rdma_cm destroys the id. */
	return err;
}

/* Take the first request of one of the lists, if there is one. */
static struct krping_request *krping_take_first(
	struct krping_listener *listener, struct list_head *list)
{
	struct krping_request *request;

	spin_lock(&listener->lock);
	request = list_first_entry_or_null(list, struct krping_request, list);
	if (request)
		list_del_init(&request->list);
	spin_unlock(&listener->lock);
	return request;
}

/* Is the listener there for another client than this one? */
static bool krping_listener_has_other(struct krping_listener *listener,
				      bool ours, const struct krping_priv *priv)
{
	bool other;

	spin_lock(&listener->lock);
	other = listener->expects &&
		(!ours || be32_to_cpu(priv->run) != listener->only_run ||
		 be64_to_cpu(priv->nonce) != listener->only_nonce);
	spin_unlock(&listener->lock);
	return other;
}

/*
 * How many READs at a time the client makes, and how many it answers: at most one. MPA
 * revision 1 has no fields for these numbers, and iw_cm then gives 0 for both: such a
 * client is taken to make READs, and to answer them.
 */
static void krping_request_depths(const struct rdma_cm_id *id,
				  const struct rdma_conn_param *conn,
				  u8 *resources, u8 *read_depth)
{
	bool told = !rdma_protocol_iwarp(id->device, id->port_num) ||
		    conn->responder_resources || conn->initiator_depth;

	*resources = told ? min_t(u8, conn->responder_resources, 1) : 1;
	*read_depth = told ? min_t(u8, conn->initiator_depth, 1) : 1;
}

/*
 * A client asks for a connection. As many clients as there are places are let in
 * if their options fit; the others are told at once why they are not. Two
 * clients can ask at the same time, on two devices.
 */
static int krping_listener_request(struct krping_listener *listener,
				   struct rdma_cm_id *id,
				   const struct rdma_cm_event *event)
{
	struct krping_params agreed = *listener->offer;
	struct krping_request *request;
	const char *differs;
	struct krping_priv priv;
	bool ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
	u8 resources, read_depth;
	u32 max;

	if (!ours)
		memset(&priv, 0, sizeof(priv));
	/* Busy wins over options that differ. */
	if (krping_is_stopping(listener->verdict) ||
	    READ_ONCE(listener->shut) || list_empty_careful(&listener->empty) ||
	    krping_listener_has_other(listener, ours, &priv))
		return krping_refuse(listener, id, NULL, 0, &priv);
	differs = ours ? krping_priv_agree(&agreed, &priv) :
			 krping_params_classic(&agreed);
	/* A server's own read_inv fails its run with EOPNOTSUPP instead. */
	if (!differs &&
	    ~listener->offer->flags & agreed.flags & KRPING_RUN_F_READ_INV &&
	    !rdma_cap_read_inv(id->device, id->port_num))
		differs = "read_inv";
	/* The server of these tests READs the client's memory. */
	krping_request_depths(id, &event->param.conn, &resources, &read_depth);
	if (!differs && !read_depth &&
	    (agreed.test == KRPING_TEST_RPING ||
	     agreed.test == KRPING_TEST_PROTECT))
		differs = "read_depth";
	max = krping_cm_size_max(&agreed, id->device);
	if (!differs && agreed.size > max)
		differs = "size";
	if (differs)
		return krping_refuse(listener, id, differs,
				     agreed.size > max ? max : 0, &priv);
	request = krping_take_first(listener, &listener->empty);
	if (!request)
		return krping_refuse(listener, id, NULL, 0, &priv);

	request->id = id;
	request->agreed = agreed;
	request->classic = !ours;
	request->peer_run = be32_to_cpu(priv.run);
	request->peer_nonce = be64_to_cpu(priv.nonce);
	request->peer_can = priv.can;
	request->resources = resources;
	request->read_depth = read_depth;
	spin_lock(&listener->lock);
	list_add_tail(&request->list, &listener->waiting);
	spin_unlock(&listener->lock);
	krping_wake(listener->verdict);
	return 0;
}

static void krping_note_left(struct list_head *list,
			     const struct rdma_cm_id *id,
			     const struct rdma_cm_event *event)
{
	struct krping_request *request;

	list_for_each_entry(request, list, list) {
		if (request->id != id || request->left)
			continue;
		request->left = true;
		request->event = event->event;
		request->status = event->status;
	}
}

/* A client that was let in leaves, or loses its device, before a run has its id. */
static void krping_listener_left(struct krping_listener *listener,
				 const struct rdma_cm_id *id,
				 const struct rdma_cm_event *event)
{
	spin_lock(&listener->lock);
	krping_note_left(&listener->waiting, id, event);
	krping_note_left(&listener->taken, id, event);
	spin_unlock(&listener->lock);
}

static int krping_listener_handler(struct rdma_cm_id *id,
				   struct rdma_cm_event *event)
{
	struct krping_listener *listener = id->context;

	krping_dbg(listener->rec->id, "cma_event type %d cma_id %s",
		   event->event,
		   id == READ_ONCE(listener->id) ? "parent" : "child");
	krping_trace(cm_event, listener->rec->id, krping_trace_now(cm_event),
		     event->event, event->status);

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return krping_listener_request(listener, id, event);
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
		krping_listener_left(listener, id, event);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* A listener on all addresses goes on without one device. */
		if (id != READ_ONCE(listener->id))
			krping_listener_left(listener, id, event);
		else
			krping_fail(listener->verdict, -ENODEV,
				    "the device was removed");
		break;
	default:
		/* ADDR_CHANGE: it is only traced. */
		break;
	}
	return 0;
}

/* The device goes away, or the last one of all. */
static void krping_listener_removed(struct krping_device_user *user,
				    struct ib_device *dev)
{
	struct krping_listener *listener =
		container_of(user, struct krping_listener, device);

	krping_cm_removed(listener->verdict, dev_name(&dev->dev));
	krping_writer_withdraw(listener->writer);
}

static void krping_listener_renamed(struct krping_device_user *user,
				    struct ib_device *dev)
{
	krping_record_device(container_of(user, struct krping_listener, device)
				     ->rec,
			     dev_name(&dev->dev));
}

/*
 * rdma_cm also returns -EADDRNOTAVAIL if one of two listeners on a port is for
 * all addresses. If the address is ours, the port is the one that is taken.
 */
static int krping_bind_errno(const struct krping_listener *listener,
			     const struct sockaddr_storage *addr, int err)
{
	if (err != -EADDRNOTAVAIL)
		return err;
	if (krping_address_is_any(&listener->offer->addr) ||
	    krping_cm_is_own(listener->net, addr))
		return -EADDRINUSE;
	return err;
}

/* All may come at once. */
static int krping_listen(void *data)
{
	struct krping_listener *listener = data;

	return rdma_listen(listener->id, listener->places + KRPING_BACKLOG);
}

/**
 * krping_listener_open - begin to let clients in
 * @listener: the listener, zeroed but for rec, verdict, offer, net, writer and
 *	places, which is at least 1
 *
 * Context: the thread that listens; sleeps.
 * Return: 0, or a negative errno that is also the cause; in either case
 * krping_listener_close() has to be called.
 */
int krping_listener_open(struct krping_listener *listener)
{
	struct krping_verdict *verdict = listener->verdict;
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	unsigned int i;
	int ret;

	listener->all =
		kcalloc(listener->places, sizeof(*listener->all), GFP_KERNEL);
	if (!listener->all)
		return krping_fail(verdict, -ENOMEM,
				   "allocating places for clients");
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->empty);
	INIT_LIST_HEAD(&listener->waiting);
	INIT_LIST_HEAD(&listener->taken);
	for (i = 0; i < listener->places; i++)
		list_add_tail(&listener->all[i].list, &listener->empty);
	listener->device.all = true;
	listener->device.removed = krping_listener_removed;
	listener->device.renamed = krping_listener_renamed;
	krping_device_enter(&listener->device);

	id = rdma_create_id(listener->net, krping_listener_handler, listener,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return krping_fail(verdict, PTR_ERR(id),
				   "creating a cm_id: error %pe", id);
	krping_dbg(listener->rec->id, "created cm_id");
	WRITE_ONCE(listener->id, id);

	ret = krping_cm_addr(verdict, listener->net, "addr6",
			     &listener->offer->addr, listener->offer->port,
			     &addr);
	if (ret)
		return ret;
	ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (ret)
		return krping_cm_failed(verdict, "binding the address",
					krping_bind_errno(listener, &addr,
							  ret));
	krping_dbg(listener->rec->id, "rdma_bind_addr successful");
	if (!id->device && !krping_device_is_any())
		return krping_fail(verdict, -ENODEV, "there is no RDMA device");
	if (id->device) {
		ret = krping_cm_device(listener->rec, verdict, listener->net,
				       &listener->device, id->device);
		if (!ret)
			ret = krping_cm_can(listener->rec, verdict,
					    listener->offer, id);
		if (!ret &&
		    krping_option_given(listener->offer, KRPING_OPT_SIZE))
			ret = krping_cm_size(listener->rec, verdict,
					     listener->offer, id->device);
		if (ret)
			return ret;
	}
	ret = krping_writer_call(listener->writer, verdict, krping_listen,
				 listener);
	if (ret)
		return krping_cm_failed(verdict, "listening", ret);
	/* Scripts wait for this: from now on a client can connect. */
	krping_record_listens(listener->rec, &id->route.addr.src_addr);
	krping_dbg(listener->rec->id, "rdma_listen");
	return 0;
}

/* Was the listener opened, and not closed? */
bool krping_listener_is_open(const struct krping_listener *listener)
{
	return listener->all;
}

/**
 * krping_listener_wait - wait for a client
 * @listener: the listener, open
 *
 * Context: the thread that listens; sleeps.
 * Return: the first client that was let in, for krping_listener_give(); NULL:
 * the listener is stopping, and has a cause; or a client that is expected did not
 * come back in time, which is then the cause.
 */
struct krping_request *krping_listener_wait(struct krping_listener *listener)
{
	long timeout = listener->expects ? msecs_to_jiffies(KRPING_BACK_MS) :
					   MAX_SCHEDULE_TIMEOUT;
	struct krping_verdict *verdict = listener->verdict;
	struct krping_request *request;

	krping_sleep(verdict, timeout,
		     krping_listener_has_client(listener) ||
			     krping_is_stopping(verdict));
	if (krping_is_stopping(verdict))
		return NULL;
	request = krping_listener_take(listener);
	if (!request)
		krping_fail(verdict, -ETIMEDOUT,
			    "the client did not come back within %d s",
			    KRPING_BACK_MS / 1000);
	return request;
}

/**
 * krping_listener_has_client - does a client wait for its run?
 * @listener: the listener, open
 *
 * Context: the thread that listens; does not sleep.
 */
bool krping_listener_has_client(struct krping_listener *listener)
{
	return !list_empty_careful(&listener->waiting);
}

/**
 * krping_listener_take - take the first client that waits for its run
 * @listener: the listener, open
 *
 * Context: the thread that listens.
 * Return: the client, for krping_listener_give() or krping_listener_turn_away();
 * NULL: there is none.
 */
struct krping_request *krping_listener_take(struct krping_listener *listener)
{
	struct krping_request *request;

	spin_lock(&listener->lock);
	request = list_first_entry_or_null(&listener->waiting,
					   struct krping_request, list);
	/* In a list, so that its handler can tell that it left. */
	if (request)
		list_move_tail(&request->list, &listener->taken);
	spin_unlock(&listener->lock);
	return request;
}

/**
 * krping_listener_turn_away - there is no run for a client
 * @listener: the listener
 * @request: the client, from krping_listener_take()
 *
 * Nothing happens if a run has taken it. Its place stays taken, see
 * krping_listener_let_in().
 *
 * Context: the thread that listens; sleeps until handlers have returned.
 */
void krping_listener_turn_away(struct krping_listener *listener,
			       struct krping_request *request)
{
	if (list_empty_careful(&request->list))
		return;
	rdma_destroy_id(request->id);
	spin_lock(&listener->lock);
	list_del_init(&request->list);
	spin_unlock(&listener->lock);
}

/**
 * krping_listener_shut - let no more clients in, but keep the port
 * @listener: the listener, open
 *
 * Clients that no run has taken are turned away, as krping_listener_close() does
 * with one that comes at this very moment.
 *
 * Context: the thread that listens; sleeps until handlers have returned.
 */
void krping_listener_shut(struct krping_listener *listener)
{
	struct krping_request *request;

	WRITE_ONCE(listener->shut, true);
	while ((request = krping_listener_take(listener)))
		krping_listener_turn_away(listener, request);
}

/**
 * krping_listener_give - give the connection of a client away
 * @listener: the listener
 * @request: the client, from krping_listener_wait() or krping_listener_take()
 * @handler: from here on gets the events of the id, which the caller has to
 *	destroy
 * @context: for @handler
 *
 * The request stays readable, and does not change any more, until the listener
 * is closed or krping_listener_let_in() is called.
 *
 * Context: the thread that listens, or the client's run; sleeps.
 */
void krping_listener_give(struct krping_listener *listener,
			  struct krping_request *request,
			  rdma_cm_event_handler handler, void *context)
{
	struct rdma_cm_id *id = request->id;

	rdma_lock_handler(id);
	spin_lock(&listener->lock);
	list_del_init(&request->list);
	spin_unlock(&listener->lock);
	id->context = context;
	id->event_handler = handler;
	rdma_unlock_handler(id);
}

/**
 * krping_listener_let_in - let another client in
 * @listener: the listener
 * @request: a client that was given away; its place is free from here on
 *
 * Context: the thread that listens, or the client's run.
 */
void krping_listener_let_in(struct krping_listener *listener,
			    struct krping_request *request)
{
	request->left = false;
	spin_lock(&listener->lock);
	list_add_tail(&request->list, &listener->empty);
	spin_unlock(&listener->lock);
}

/**
 * krping_listener_expect - let a client in again when it comes back, and no other
 * @listener: the listener
 * @request: the client, krping, which was given away; its place is free from here on
 *
 * Context: the thread that listens.
 */
void krping_listener_expect(struct krping_listener *listener,
			    struct krping_request *request)
{
	spin_lock(&listener->lock);
	listener->expects = true;
	listener->only_run = request->peer_run;
	listener->only_nonce = request->peer_nonce;
	spin_unlock(&listener->lock);
	krping_listener_let_in(listener, request);
}

/**
 * krping_listener_close - let no more clients in
 * @listener: the listener, whether krping_listener_open() failed or not; or
 *	zeroed
 *
 * Clients that no run has taken are turned away.
 *
 * Context: the thread that listens; sleeps until handlers have
 * returned.
 */
void krping_listener_close(struct krping_listener *listener)
{
	struct krping_request *request;

	if (!listener->all)
		return;
	/* The listening id goes first, since it can still make a child. */
	if (listener->id)
		rdma_destroy_id(listener->id);
	WRITE_ONCE(listener->id, NULL);
	while ((request = krping_take_first(listener, &listener->waiting)))
		rdma_destroy_id(request->id);
	/* A run that ended before it had its id. */
	while ((request = krping_take_first(listener, &listener->taken)))
		rdma_destroy_id(request->id);
	krping_device_leave(&listener->device);
	kfree(listener->all);
	listener->all = NULL;
}
