// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A listener lets clients in as long as it has places, and refuses the others. Each
 * client that was let in waits until the listener's thread hands it over to a run.
 *
 * The handler of rdma_cm has to answer a client before it returns, and allocates
 * nothing, since it runs in a work queue that all of rdma_cm shares. All else is done by
 * the thread that waits for clients.
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

/*
 * Requests that wait to be refused. When more come at once, siw forgets one, and is late for all
 * later ones (docs/upstream/siw-lost-accept.md).
 */
#define KRPING_BACKLOG 128

/*
 * Tell a client which option differs, or, without an option, that there is no place. A
 * size that is too large for this end comes with the largest one, size_max, else 0.
 */
static int krping_refuse(struct krping_listener *listener, struct rdma_cm_id *id,
			 const char *differs, u32 size_max, const struct krping_priv *peer)
{
	int err = differs ? -EPROTO : -EBUSY;
	char values[KRPING_VALUES] = "";
	struct krping_priv priv;

	krping_priv_fill(&priv, listener->rec->id, listener->offer, KRPING_PRIV_REJECT);
	priv.why = cpu_to_be16(differs ? KRPING_WHY_DIFFERS : KRPING_WHY_BUSY);
	if (differs)
		strscpy(priv.option, differs, sizeof(priv.option));
	if (differs && size_max && !strcmp(differs, "size")) {
		priv.size = cpu_to_be32(size_max);
		priv.can |= KRPING_PRIV_SIZE_MAX;
	}
	if (differs && peer->magic)
		krping_differs(values, sizeof(values), listener->offer, peer, differs);
	/* A client before version 3 shows the option's name alone. */
	if (differs && !strcmp(differs, "version") && peer->version < 3)
		snprintf(priv.option, sizeof(priv.option), "version %u vs. %u", priv.version,
			 peer->version);
	krping_dbg(listener->rec->id, "refused a client: %s%s%s", differs ?: "busy",
		   differs ? " differs" : "", values);
	krping_trace(reject, listener->rec->id, krping_trace_now(reject), err,
		     be32_to_cpu(peer->run));
	atomic_inc(&listener->rec->rejects);
	rdma_reject(id, &priv, sizeof(priv), IB_CM_REJ_CONSUMER_DEFINED);
	/* Non-zero: rdma_cm destroys the id. */
	return err;
}

/* Take the first request of one of the lists, if there is one. */
static struct krping_request *krping_take_first(struct krping_listener *listener,
						struct list_head *list)
{
	struct krping_request *request;

	spin_lock(&listener->lock);
	request = list_first_entry_or_null(list, struct krping_request, list);
	if (request)
		list_del_init(&request->list);
	spin_unlock(&listener->lock);
	return request;
}

static void krping_put_last(struct krping_listener *listener, struct list_head *list,
			    struct krping_request *request)
{
	spin_lock(&listener->lock);
	list_add_tail(&request->list, list);
	spin_unlock(&listener->lock);
}

/*
 * Settle the options with a client: NULL, or the option that differs. A client makes,
 * and answers, one READ at a time at most. MPA revision 1 has no fields for these
 * numbers, and iw_cm then gives 0 for both: such a client is taken to do both.
 */
static const char *krping_request_settle(struct krping_request *request,
					 const struct krping_params *offer,
					 const struct krping_priv *priv)
{
	const struct rdma_cm_id *id = request->id;
	struct krping_params *agreed = &request->agreed;
	const char *differs;

	*agreed = *offer;
	differs = request->classic ? krping_params_classic(agreed) :
				     krping_priv_agree(agreed, priv);
	if (differs)
		return differs;
	/* A server's own read_inv fails its run with EOPNOTSUPP instead. */
	if (~offer->flags & agreed->flags & KRPING_RUN_F_READ_INV &&
	    !rdma_cap_read_inv(id->device, id->port_num))
		return "read_inv";
	/* The server of this test READs the client's memory. */
	if (!request->read_depth && agreed->test == KRPING_TEST_RPING)
		return "read_depth";
	if (agreed->size > krping_cm_size_max(agreed, id->device))
		return "size";
	return NULL;
}

/* A client that was let in leaves, or loses its device, before a run has its id. */
static int krping_request_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_request *request = id->context;
	u32 run = request->listener->rec->id;

	krping_dbg(run, "cma_event type %d cma_id child", event->event);
	krping_trace(cm_event, run, krping_trace_now(cm_event), event->event, event->status);
	/* A change of an address does not end the connection; the run is told what does. */
	if (!request->left && event->event != RDMA_CM_EVENT_ADDR_CHANGE) {
		request->left = true;
		request->event.event = event->event;
		request->event.status = event->status;
	}
	return 0;
}

/* What the client tells of itself; it may leave from now on. */
static void krping_request_take(struct krping_request *request, struct rdma_cm_id *id,
				const struct krping_priv *priv, const struct rdma_conn_param *conn,
				bool mpa1)
{
	request->id = id;
	request->peer_run = be32_to_cpu(priv->run);
	request->peer_nonce = be64_to_cpu(priv->nonce);
	request->peer_can = priv->can;
	request->resources = mpa1 || conn->responder_resources;
	request->read_depth = mpa1 || conn->initiator_depth;
	request->left = false;
	id->context = request;
	id->event_handler = krping_request_handler;
}

/* A client that has a run makes the second connection of the run. */
static int krping_listener_second(struct krping_listener *listener, struct rdma_cm_id *id,
				  const struct krping_priv *priv,
				  const struct rdma_conn_param *conn, bool mpa1)
{
	struct krping_second *second;

	spin_lock(&listener->lock);
	list_for_each_entry(second, &listener->seconds, list) {
		if (second->there || be16_to_cpu(priv->queue) != 1 ||
		    second->peer_run != be32_to_cpu(priv->run) ||
		    second->peer_nonce != be64_to_cpu(priv->nonce))
			continue;
		second->request.listener = listener;
		krping_request_take(&second->request, id, priv, conn, mpa1);
		/* Pairs with the acquire of who waits. */
		smp_store_release(&second->there, true);
		krping_wake(second->verdict);
		spin_unlock(&listener->lock);
		return 0;
	}
	spin_unlock(&listener->lock);
	return krping_refuse(listener, id, "queues", 0, priv);
}

/* A client asks for a connection. Two can do so at the same time, on two devices. */
static int krping_listener_request(struct krping_listener *listener, struct rdma_cm_id *id,
				   const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct krping_request *request;
	const char *differs;
	struct krping_priv priv;
	bool ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
	bool mpa1 = rdma_protocol_iwarp(id->device, id->port_num) && !conn->responder_resources &&
		    !conn->initiator_depth;
	u32 max;

	if (!ours)
		memset(&priv, 0, sizeof(priv));
	if (priv.queue)
		return krping_listener_second(listener, id, &priv, conn, mpa1);
	/* Busy wins over options that differ. */
	if (krping_is_stopping(listener->verdict) || READ_ONCE(listener->shut))
		return krping_refuse(listener, id, NULL, 0, &priv);
	request = krping_take_first(listener, &listener->empty);
	if (!request)
		return krping_refuse(listener, id, NULL, 0, &priv);

	krping_request_take(request, id, &priv, conn, mpa1);
	request->classic = !ours;
	differs = krping_request_settle(request, listener->offer, &priv);
	if (differs) {
		max = krping_cm_size_max(&request->agreed, id->device);
		if (request->agreed.size <= max)
			max = 0;
		krping_listener_free_slot(listener, request);
		return krping_refuse(listener, id, differs, max, &priv);
	}
	krping_put_last(listener, &listener->waiting, request);
	krping_wake(listener->verdict);
	return 0;
}

static int krping_listener_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_listener *listener = id->context;

	krping_dbg(listener->rec->id, "cma_event type %d cma_id %s", event->event,
		   event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? "child" : "parent");
	krping_trace(cm_event, listener->rec->id, krping_trace_now(cm_event), event->event,
		     event->status);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return krping_listener_request(listener, id, event);
	/* A listener on all addresses goes on without one device. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && id == listener->id)
		krping_fail(listener->verdict, -ENODEV, "the device was removed");
	return 0;
}

/* The device goes away, or the last one of all. */
static void krping_listener_removed(struct krping_device_user *user, struct ib_device *dev)
{
	struct krping_listener *listener = container_of(user, struct krping_listener, device);

	krping_cm_removed(listener->verdict, dev_name(&dev->dev));
	krping_writer_withdraw(listener->writer);
}

static void krping_listener_renamed(struct krping_device_user *user, struct ib_device *dev)
{
	krping_record_device(container_of(user, struct krping_listener, device)->rec,
			     dev_name(&dev->dev));
}

/*
 * rdma_cm also returns -EADDRNOTAVAIL if one of two listeners on a port is for all
 * addresses. If the address is ours, which has an interface, the port is taken.
 */
static int krping_bind_errno(const struct krping_listener *listener, int err)
{
	const struct rdma_dev_addr *addr = &listener->id->route.addr.dev_addr;

	if (err == -EADDRNOTAVAIL &&
	    (krping_address_is_any(&listener->offer->addr) || addr->bound_dev_if))
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
 * @listener: the listener, zeroed but for rec, verdict, offer, net, writer and places
 *
 * After an error, too, krping_listener_close() has to be called.
 */
int krping_listener_open(struct krping_listener *listener)
{
	struct krping_verdict *verdict = listener->verdict;
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	unsigned int i;
	int ret;

	listener->all = kcalloc(listener->places, sizeof(*listener->all), GFP_KERNEL);
	if (!listener->all)
		return krping_fail(verdict, -ENOMEM, "allocating places for clients");
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->empty);
	INIT_LIST_HEAD(&listener->waiting);
	INIT_LIST_HEAD(&listener->seconds);
	for (i = 0; i < listener->places; i++) {
		listener->all[i].listener = listener;
		list_add_tail(&listener->all[i].list, &listener->empty);
	}
	listener->device.all = true;
	listener->device.removed = krping_listener_removed;
	listener->device.renamed = krping_listener_renamed;
	krping_device_enter(&listener->device);

	id = rdma_create_id(listener->net, krping_listener_handler, listener, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return krping_fail(verdict, PTR_ERR(id), "creating a cm_id: error %pe", id);
	krping_dbg(listener->rec->id, "created cm_id");
	listener->id = id;

	ret = krping_cm_addr(verdict, listener->net, "addr6", &listener->offer->addr,
			     listener->offer->port, &addr);
	if (ret)
		return ret;
	ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (ret)
		return krping_cm_failed(verdict, "binding the address",
					krping_bind_errno(listener, ret));
	krping_dbg(listener->rec->id, "rdma_bind_addr successful");
	if (!id->device && !krping_device_is_any())
		return krping_fail(verdict, -ENODEV, "there is no RDMA device");
	if (id->device) {
		ret = krping_cm_device(listener->rec, verdict, listener->offer, listener->net,
				       &listener->device, id);
		if (!ret && krping_option_given(listener->offer, KRPING_OPT_SIZE))
			ret = krping_cm_size(listener->rec, verdict, listener->offer, id->device);
		if (ret)
			return ret;
	}
	ret = krping_writer_call(listener->writer, verdict, krping_listen, listener);
	if (ret)
		return krping_cm_failed(verdict, "listening", ret);
	/* Scripts wait for this: from now on a client can connect. */
	krping_record_set(listener->rec->src, id->route.addr.src_addr);
	krping_dbg(listener->rec->id, "rdma_listen");
	return 0;
}

bool krping_listener_is_open(const struct krping_listener *listener)
{
	return listener->all;
}

/**
 * krping_listener_wait - wait for a client, which is then the caller's
 * @listener: the listener, open
 *
 * Return: the client; NULL: the run is stopping, and has a cause.
 */
struct krping_request *krping_listener_wait(struct krping_listener *listener)
{
	struct krping_verdict *verdict = listener->verdict;

	krping_sleep(verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_listener_has_client(listener) || krping_is_stopping(verdict));
	return krping_is_stopping(verdict) ? NULL : krping_listener_take(listener);
}

bool krping_listener_has_client(struct krping_listener *listener)
{
	return !list_empty_careful(&listener->waiting);
}

/* Take the first client that waits for its run: NULL, or the client. */
struct krping_request *krping_listener_take(struct krping_listener *listener)
{
	return krping_take_first(listener, &listener->waiting);
}

/**
 * krping_listener_free_slot - another client may come in the place of one
 * @listener: the listener
 * @request: the client, whose connection is a run's
 */
void krping_listener_free_slot(struct krping_listener *listener, struct krping_request *request)
{
	krping_put_last(listener, &listener->empty, request);
}

/**
 * krping_listener_reject - there is no run for a client
 * @listener: the listener
 * @request: the client, from krping_listener_take()
 */
void krping_listener_reject(struct krping_listener *listener, struct krping_request *request)
{
	rdma_destroy_id(request->id);
	krping_listener_free_slot(listener, request);
}

/**
 * krping_listener_shut - let no more clients in, but keep the port
 * @listener: the listener, open
 *
 * A client that comes at this very moment is left to krping_listener_close().
 */
void krping_listener_shut(struct krping_listener *listener)
{
	struct krping_request *request;

	WRITE_ONCE(listener->shut, true);
	while ((request = krping_listener_take(listener)))
		krping_listener_reject(listener, request);
}

/* Let the second connection of a run in, once: verdict, peer_run and peer_nonce are set. */
void krping_listener_expect(struct krping_listener *listener, struct krping_second *second)
{
	spin_lock(&listener->lock);
	list_add(&second->list, &listener->seconds);
	spin_unlock(&listener->lock);
}

/* A run waits no longer for its second connection, which may have come meanwhile. */
void krping_listener_forget(struct krping_listener *listener, struct krping_second *second)
{
	spin_lock(&listener->lock);
	list_del(&second->list);
	spin_unlock(&listener->lock);
	if (second->request.id)
		rdma_destroy_id(second->request.id);
}

/**
 * krping_listener_close - give the port back
 * @listener: the listener, whether krping_listener_open() failed or not; or zeroed
 */
void krping_listener_close(struct krping_listener *listener)
{
	if (!listener->all)
		return;
	/* The listening id goes first, since it can still make a child. */
	if (listener->id)
		rdma_destroy_id(listener->id);
	listener->id = NULL;
	krping_listener_shut(listener);
	krping_device_leave(&listener->device);
	kfree(listener->all);
	listener->all = NULL;
}
