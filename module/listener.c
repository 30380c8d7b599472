// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A listener lets clients in as long as it has places, and refuses the others. Each client that was
 * let in waits until the listener's thread hands it over to a run. The handler of rdma_cm has to
 * answer a client before it returns, and allocates nothing, since it runs in a work queue that all
 * of rdma_cm shares.
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

	krping_priv_fill(&priv, listener->cm.rec->id, listener->cm.params, KRPING_PRIV_REJECT);
	priv.why = cpu_to_be16(differs ? KRPING_WHY_DIFFERS : KRPING_WHY_BUSY);
	if (differs)
		strscpy(priv.option, differs, sizeof(priv.option));
	if (differs && size_max && !strcmp(differs, "size")) {
		priv.size = cpu_to_be32(size_max);
		priv.can |= KRPING_PRIV_SIZE_MAX;
	}
	if (differs && peer->magic)
		krping_differs(values, sizeof(values), listener->cm.params, peer, differs);
	/* A client before version 3 shows the option's name alone. */
	if (differs && !strcmp(differs, "version") && peer->version < 3)
		snprintf(priv.option, sizeof(priv.option), "version %u vs. %u", priv.version,
			 peer->version);
	krping_dbg(listener->cm.rec->id, "refused a client: %s%s%s", differs ?: "busy",
		   differs ? " differs" : "", values);
	krping_trace(reject, listener->cm.rec->id, krping_trace_now(reject), err,
		     be32_to_cpu(peer->run));
	atomic_inc(&listener->cm.rec->rejects);
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

/* Settle the options with a client: NULL, or the option that differs. */
static const char *krping_request_settle(struct krping_request *request,
					 const struct krping_priv *priv)
{
	const struct krping_params *offer = request->listener->cm.params;
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
	/* The server of these tests READs the client's memory. */
	if (!request->peer.read_depth &&
	    (agreed->test == KRPING_TEST_RPING || agreed->test == KRPING_TEST_BLOCK))
		return "read_depth";
	if (agreed->size > krping_cm_size_max(agreed, id->device))
		return "size";
	return NULL;
}

/* A client that was let in leaves, or loses its device, before a run has its id. */
static int krping_request_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_request *request = id->context;

	krping_cm_trace(request->listener->cm.rec, event, "child");
	/* A change of an address does not end the connection; the run is told what does. */
	if (!request->left && event->event != RDMA_CM_EVENT_ADDR_CHANGE) {
		request->left = true;
		request->event.event = event->event;
		request->event.status = event->status;
	}
	return 0;
}

/* The client may leave from now on. */
static void krping_request_take(struct krping_request *request, struct rdma_cm_id *id,
				const struct krping_priv *priv, const struct rdma_conn_param *conn)
{
	/*
	 * MPA revision 1 has no fields for READs at a time, and iw_cm then gives 0 for both:
	 * such a client is taken to make, and answer, one.
	 */
	bool mpa1 = rdma_protocol_iwarp(id->device, id->port_num) && !conn->responder_resources &&
		    !conn->initiator_depth;

	krping_priv_peer(&request->peer, priv);
	request->peer.resources = max_t(u8, mpa1, conn->responder_resources);
	request->peer.read_depth = max_t(u8, mpa1, conn->initiator_depth);
	request->left = false;
	id->context = request;
	id->event_handler = krping_request_handler;
	/* Pairs with krping_request_came(). */
	smp_store_release(&request->id, id);
}

/* A client that has a run makes another connection of the run, if the run expects that. */
static bool krping_listener_more(struct krping_listener *listener, struct rdma_cm_id *id,
				 const struct krping_priv *priv, const struct rdma_conn_param *conn)
{
	struct krping_request *request;
	bool found = false;

	spin_lock(&listener->lock);
	list_for_each_entry(request, &listener->expected, list) {
		found = be16_to_cpu(priv->queue) == request->queue &&
			request->peer.run == be32_to_cpu(priv->run) &&
			request->peer.nonce == be64_to_cpu(priv->nonce);
		if (!found)
			continue;
		list_del_init(&request->list);
		krping_request_take(request, id, priv, conn);
		krping_wake(request->verdict);
		break;
	}
	spin_unlock(&listener->lock);
	return found;
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
	u32 max;

	if (priv.queue) {
		if (krping_listener_more(listener, id, &priv, conn))
			return 0;
		return krping_refuse(listener, id, "queues", 0, &priv);
	}
	request = krping_must_end(listener->cm.verdict) || READ_ONCE(listener->shut) ?
			  NULL :
			  krping_take_first(listener, &listener->empty);
	/* Busy wins over options that differ. */
	if (!request)
		return krping_refuse(listener, id, NULL, 0, &priv);

	krping_request_take(request, id, &priv, conn);
	request->classic = !ours;
	differs = krping_request_settle(request, &priv);
	if (differs) {
		max = krping_cm_size_max(&request->agreed, id->device);
		if (request->agreed.size <= max)
			max = 0;
		krping_listener_free_slot(listener, request);
		return krping_refuse(listener, id, differs, max, &priv);
	}
	krping_put_last(listener, &listener->waiting, request);
	krping_wake(request->verdict);
	return 0;
}

static int krping_listener_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_listener *listener = id->context;

	krping_cm_trace(listener->cm.rec, event,
			event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? "child" : "parent");
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return krping_listener_request(listener, id, event);
	/* A listener on all addresses goes on without one device. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && id == listener->cm.id)
		krping_fail(listener->cm.verdict, -ENODEV, "the device was removed");
	return 0;
}

/* All may come at once. */
static int krping_listen(void *data)
{
	struct krping_listener *listener = data;

	return rdma_listen(listener->cm.id, listener->places + KRPING_BACKLOG);
}

/* Begin to let clients in; krping_listener_close() is for after an error, too. */
int krping_listener_open(struct krping_listener *listener)
{
	const struct krping_params *params = listener->cm.params;
	struct krping_verdict *verdict = listener->cm.verdict;
	struct krping_cm *cm = &listener->cm;
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
	INIT_LIST_HEAD(&listener->expected);
	for (i = 0; i < listener->places; i++) {
		listener->all[i].listener = listener;
		listener->all[i].verdict = verdict;
		list_add_tail(&listener->all[i].list, &listener->empty);
	}

	ret = krping_cm_create_id(cm, krping_listener_handler, listener);
	if (!ret)
		ret = krping_cm_addr(cm, "addr6", &params->addr, params->port, &addr);
	if (ret)
		return ret;
	id = cm->id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	/*
	 * rdma_cm also returns -EADDRNOTAVAIL if one of two listeners on a port is for all
	 * addresses. If the address is ours, which has an interface, the port is taken.
	 */
	if (ret == -EADDRNOTAVAIL &&
	    (krping_address_is_any(&params->addr) || id->route.addr.dev_addr.bound_dev_if))
		ret = -EADDRINUSE;
	if (ret)
		return krping_cm_failed(cm, "binding the address", ret);
	krping_dbg(cm->rec->id, "rdma_bind_addr successful");
	ret = krping_cm_device(cm);
	if (!ret && id->device && krping_option_given(params, KRPING_OPT_SIZE))
		ret = krping_cm_size(cm);
	if (ret)
		return ret;
	ret = krping_writer_call(cm->writer, verdict, krping_listen, listener);
	if (ret)
		return krping_cm_failed(cm, "listening", ret);
	/* Scripts wait for this: from now on a client can connect. */
	krping_record_set(cm->rec->src, *krping_sockaddr(&id->route.addr.src_addr));
	krping_dbg(cm->rec->id, "rdma_listen");
	return 0;
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

/* Another client may come in the place of one whose connection is a run's. */
void krping_listener_free_slot(struct krping_listener *listener, struct krping_request *request)
{
	krping_put_last(listener, &listener->empty, request);
}

/* There is no run for a client that krping_listener_take() gave. */
void krping_listener_reject(struct krping_listener *listener, struct krping_request *request)
{
	rdma_destroy_id(request->id);
	request->id = NULL;
	krping_listener_free_slot(listener, request);
}

/*
 * Let no more clients in, but keep the port, if there is one. A client that comes at this very
 * moment is left to krping_listener_close().
 */
void krping_listener_shut(struct krping_listener *listener)
{
	struct krping_request *request;

	if (!listener->all)
		return;
	WRITE_ONCE(listener->shut, true);
	while ((request = krping_listener_take(listener)))
		krping_listener_reject(listener, request);
}

/* Let a connection of a run in, once: @verdict, @queue, and the run and nonce of @peer are set. */
void krping_listener_expect(struct krping_listener *listener, struct krping_request *request)
{
	request->listener = listener;
	krping_put_last(listener, &listener->expected, request);
}

bool krping_request_came(const struct krping_request *request)
{
	/* Pairs with krping_request_take(). */
	return smp_load_acquire(&request->id);
}

/* A run expects this connection no more, which may have come without being taken. */
void krping_request_forget(struct krping_request *request)
{
	if (!request->listener)
		return;
	spin_lock(&request->listener->lock);
	list_del_init(&request->list);
	spin_unlock(&request->listener->lock);
	if (request->id)
		rdma_destroy_id(request->id);
	request->id = NULL;
}

/* Give the port back, whether krping_listener_open() has failed or not, or was not called. */
void krping_listener_close(struct krping_listener *listener)
{
	if (!listener->all)
		return;
	/* The listening id goes first, since it can still make a child; the device is let go of last. */
	if (listener->cm.id)
		rdma_destroy_id(listener->cm.id);
	listener->cm.id = NULL;
	krping_listener_shut(listener);
	krping_cm_destroy(&listener->cm);
	kfree(listener->all);
	listener->all = NULL;
}
