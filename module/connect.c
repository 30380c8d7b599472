// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA CM: from an address to a connection, and back.
 *
 * The handler only notes what rdma_cm says and wakes the thread; the thread
 * makes the calls. So rdma_connect(), which blocks on siw, and everything that
 * allocates stay out of the work queue that all of rdma_cm shares.
 */
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <rdma/rdma_cm.h>
#include "agree.h"
#include "cause.h"
#include "cm.h"
#include "connect.h"
#include "dbg.h"
#include "krping_trace.h"
#include "listener.h"
#include "phase.h"
#include "registry.h"
#include "verdict.h"
#include "writer.h"

#define KRPING_RESOLVE_MS 2000 /* for the address, and again for the route */
#define KRPING_LEAVE_MS	  5000 /* for the peer to leave first */

/* Note who the peer is. Called before the thread may read it. */
static void krping_note_peer(struct krping_conn *conn, bool ours, const struct krping_priv *priv)
{
	conn->classic = !ours;
	if (!ours)
		return;
	conn->peer_run = be32_to_cpu(priv->run);
	conn->peer_nonce = be64_to_cpu(priv->nonce);
	conn->peer_can = priv->can;
}

/*
 * The handler's part
 */

static void krping_cm_set(struct krping_conn *conn, enum krping_cm_seen bit)
{
	/* A thread that sees the bit sees what the handler wrote before it. */
	smp_mb__before_atomic();
	set_bit(bit, &conn->seen);
	krping_wake(conn->verdict);
}

/* The peer, or its host, rejected the connection. */
static void krping_cm_rejected(struct krping_conn *conn, const struct rdma_cm_event *event)
{
	char values[KRPING_VALUES];
	struct krping_priv priv;
	char *c;

	/* A peer that gives up, or dies, can also do so by a reject. */
	if (conn->params->role == KRPING_ROLE_SERVER ||
	    test_bit(KRPING_CM_ESTABLISHED, &conn->seen)) {
		krping_fail(conn->verdict, -ECONNRESET,
			    "the peer gave up the connection (status %d)", event->status);
		return;
	}
	/*
	 * rdma_consumer_reject_data() is of no use here: it recognizes a
	 * consumer's reject by the status, which siw reports as -ECONNRESET.
	 */
	if (!krping_priv_get(&priv, event, KRPING_PRIV_REJECT)) {
		krping_fail(conn->verdict, -ECONNREFUSED, "connection refused (status %d)",
			    event->status);
		return;
	}
	priv.option[sizeof(priv.option) - 1] = '\0';
	/* The reason is read in a terminal, so the peer's text must not get there unfiltered. */
	for (c = priv.option; *c; c++)
		if (!isascii(*c) || !isprint(*c) || *c == '"' || *c == '\\')
			*c = '?';
	switch (be16_to_cpu(priv.why)) {
	case KRPING_WHY_DIFFERS:
		krping_differs(values, sizeof(values), conn->params, &priv, priv.option);
		krping_fail(conn->verdict, -EPROTO, "the server refused: %s differs%s", priv.option,
			    values);
		break;
	case KRPING_WHY_BUSY:
		krping_fail(conn->verdict, -EBUSY, "the server serves another client");
		break;
	default:
		krping_fail(conn->verdict, -ECONNREFUSED, "the server refused: reason %u",
			    be16_to_cpu(priv.why));
	}
}

static void krping_cm_established(struct krping_conn *conn, const struct rdma_cm_event *event)
{
	const char *differs = NULL;
	char values[KRPING_VALUES];
	struct krping_priv priv;
	bool ours;

	if (conn->params->role == KRPING_ROLE_CLIENT) {
		ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
		krping_note_peer(conn, ours, &priv);
		/* A server agrees to all that it was asked for, or refuses. */
		if (ours)
			differs = krping_priv_same(conn->params, &priv);
		if (differs) {
			krping_differs(values, sizeof(values), conn->params, &priv, differs);
			krping_fail(conn->verdict, -EPROTO, "the server answered: %s differs%s",
				    differs, values);
		}
	}
	krping_cm_set(conn, KRPING_CM_ESTABLISHED);
}

/* Some events have an errno, others a number that only their sender knows. */
static int krping_cm_errno(const struct rdma_cm_event *event)
{
	if (IS_ERR_VALUE((long)event->status))
		return event->status;
	return event->event == RDMA_CM_EVENT_CONNECT_ERROR ? -ECONNRESET : -EHOSTUNREACH;
}

static void krping_cm_error(struct krping_conn *conn, const char *what,
			    const struct rdma_cm_event *event)
{
	int err = krping_cm_errno(event);

	krping_fail(conn->verdict, err, "%s: error %pe", what, ERR_PTR(err));
}

static void krping_cm_event(struct krping_conn *conn, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		krping_cm_set(conn, KRPING_CM_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		krping_cm_set(conn, KRPING_CM_ROUTE);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		krping_cm_error(conn, "resolving the address", event);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		krping_cm_error(conn, "resolving the route", event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		krping_cm_error(conn, "connecting", event);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		krping_fail(conn->verdict, krping_cm_errno(event),
			    "the peer does not answer (status %d)", event->status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		krping_cm_rejected(conn, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		krping_cm_established(conn, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		krping_ep_disconnected(conn->ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		krping_fail(conn->verdict, -ENODEV, "the device was removed");
		break;
	default:
		/* ADDR_CHANGE, TIMEWAIT_EXIT: these are only traced. */
		break;
	}
}

static int krping_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_conn *conn = id->context;

	/* The words are those of the older module. */
	krping_dbg(conn->rec->id, "cma_event type %d cma_id %s", event->event,
		   conn->params->role == KRPING_ROLE_CLIENT ? "parent" : "child");
	krping_trace(cm_event, conn->rec->id, krping_trace_now(cm_event), event->event,
		     event->status);
	krping_cm_event(conn, event);
	return 0;
}

/*
 * The thread's part
 */

/*
 * Unlike krping_must_stop() this does not end on flushed RECVs: iWARP flushes
 * them as soon as a connection is refused, before rdma_cm says by whom and why.
 */
static bool krping_cm_is_over(const struct krping_conn *conn)
{
	return krping_is_stopping(conn->verdict) || READ_ONCE(conn->ep->disconnected);
}

static int krping_wait_cm(struct krping_conn *conn, enum krping_cm_seen bit)
{
	krping_sleep(conn->verdict, MAX_SCHEDULE_TIMEOUT,
		     test_bit(bit, &conn->seen) || krping_cm_is_over(conn));
	if (krping_is_stopping(conn->verdict))
		return krping_stopped(conn->verdict);
	if (test_bit(bit, &conn->seen)) {
		/* Pairs with krping_cm_set(): see what the handler wrote. */
		smp_rmb();
		return 0;
	}
	return krping_fail(conn->verdict, -ECONNRESET,
			   "the connection was closed before it was made");
}

static struct rdma_cm_id *krping_create_id(struct krping_conn *conn)
{
	struct rdma_cm_id *id =
		rdma_create_id(conn->net, krping_cm_handler, conn, RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id)) {
		krping_fail(conn->verdict, PTR_ERR(id), "creating a cm_id: error %pe", id);
		return NULL;
	}
	krping_dbg(conn->rec->id, "created cm_id");
	return id;
}

static void krping_mapped_addr(const struct sockaddr_storage *ss, u64 *hi, u64 *lo, u32 *port)
{
	const struct sockaddr_in6 *sin6 = (const void *)ss;
	const struct sockaddr_in *sin = (const void *)ss;
	struct in6_addr addr;

	if (ss->ss_family == AF_INET6)
		addr = sin6->sin6_addr;
	else
		ipv6_addr_set_v4mapped(sin->sin_addr.s_addr, &addr);
	memcpy(hi, &addr.s6_addr[0], 8);
	memcpy(lo, &addr.s6_addr[8], 8);
	*port = be16_to_cpu(sin->sin_port);
}

/* The connection is made: record the peer and the agreed options. */
static void krping_connected(struct krping_conn *conn)
{
	struct krping_record *rec = conn->rec;
	u64 src_hi, src_lo, dst_hi, dst_lo, t = 0, t_real = 0;
	u32 flags = conn->params->flags | KRPING_RUN_F_POLL(conn->params->poll_ctx);
	u32 src_port, dst_port;

	mutex_lock(&krping_registry_lock);
	rec->params = *conn->params;
	rec->classic = conn->classic;
	rec->peer_run = conn->peer_run;
	rec->port = conn->id->port_num;
	rec->src = conn->id->route.addr.src_addr;
	rec->dst = conn->id->route.addr.dst_addr;
	mutex_unlock(&krping_registry_lock);
	krping_set_state(rec, KRPING_STATE_CONNECTED);

	if (trace_krping_addr_enabled()) {
		krping_mapped_addr(&rec->src, &src_hi, &src_lo, &src_port);
		krping_mapped_addr(&rec->dst, &dst_hi, &dst_lo, &dst_port);
		krping_trace(addr, rec->id, src_hi, src_lo, dst_hi, dst_lo, src_port, dst_port);
	}
	if (conn->classic)
		flags |= KRPING_RUN_F_CLASSIC;
	if (trace_krping_conn_enabled()) {
		t = ktime_get_ns();
		t_real = ktime_to_ns(ktime_mono_to_real(t));
	}
	krping_trace(conn, rec->id, t, rec->cq, rec->qp, rec->dev, rec->port, conn->params->size,
		     flags, conn->peer_run, conn->peer_nonce, conn->params->test, t_real);
	krping_dbg(conn->rec->id, "ESTABLISHED");
}

static void krping_conn_param(const struct krping_conn *conn, struct rdma_conn_param *param,
			      struct krping_priv *priv, u8 responder_resources, u8 initiator_depth)
{
	krping_priv_fill(priv, conn->rec->id, conn->params, KRPING_PRIV_HELLO);
	priv->queue = cpu_to_be16(conn->queue);
	memset(param, 0, sizeof(*param));
	param->responder_resources = responder_resources;
	param->initiator_depth = initiator_depth;
	param->retry_count = 7;	    /* the maximum */
	param->rnr_retry_count = 7; /* retry without end */
	param->private_data = priv;
	param->private_data_len = sizeof(*priv);
}

/*
 * iWARP connects its TCP socket in rdma_connect(), which takes minutes when
 * nobody answers. A signal to the writer ends that, and so does
 * krping_conn_interrupt().
 */
static int krping_call_connect(void *data)
{
	struct krping_conn *conn = data;
	struct rdma_conn_param param;
	struct krping_priv priv;
	int ret;

	krping_conn_param(conn, &param, &priv, 1, 1);
	WRITE_ONCE(conn->writer->connecting, true);
	/* Pairs with krping_conn_interrupt(): one sees the other's store. */
	smp_mb();
	if (krping_is_stopping(conn->verdict))
		ret = krping_stopped(conn->verdict);
	else
		ret = rdma_connect(conn->id, &param);
	WRITE_ONCE(conn->writer->connecting, false);
	return ret;
}

/*
 * Get the thread out of a call of its writer: of a connect that nobody answers, or for a
 * writer that is away. krping_fail() has told the run to stop. Any context.
 */
void krping_conn_interrupt(struct krping_conn *conn)
{
	/* Pairs with krping_call_connect(). */
	smp_mb();
	if (conn->writer && READ_ONCE(conn->writer->connecting))
		krping_writer_interrupt(conn->writer);
	else if (conn->writer)
		krping_writer_withdraw(conn->writer);
}

/* The device goes away. A good run keeps its result, but waits no longer. */
static void krping_conn_removed(struct krping_device_user *user, struct ib_device *dev)
{
	struct krping_conn *conn = container_of(user, struct krping_conn, device);

	krping_cm_removed(conn->verdict, dev_name(&dev->dev));
	krping_conn_interrupt(conn);
}

static void krping_conn_renamed(struct krping_device_user *user, struct ib_device *dev)
{
	krping_record_device(container_of(user, struct krping_conn, device)->rec,
			     dev_name(&dev->dev));
}

/* The connection has found its device: 0, or the run's cause. */
int krping_conn_device(struct krping_conn *conn)
{
	return krping_cm_device(conn->rec, conn->verdict, conn->params, conn->net, &conn->device,
				conn->id);
}

/**
 * krping_conn_init - prepare a connection that is going to be made
 * @conn: the connection; rec, verdict, params, ep, net and writer are set
 */
void krping_conn_init(struct krping_conn *conn)
{
	conn->device.removed = krping_conn_removed;
	conn->device.renamed = krping_conn_renamed;
	krping_device_enter(&conn->device);
}

/* Of the connection nothing is left but its device. */
void krping_conn_exit(struct krping_conn *conn)
{
	krping_device_leave(&conn->device);
}

/*
 * The address to start from, if the command has one, and the one to go to.
 * Link-local addresses of two interfaces cannot meet, and rdma_cm would take the
 * one of the interface that it starts from.
 */
static int krping_resolve_from_to(struct krping_conn *conn, struct sockaddr_storage *src,
				  struct sockaddr_storage *dst)
{
	const struct sockaddr_in6 *from = (const void *)src;
	const struct sockaddr_in6 *to = (const void *)dst;
	const struct krping_params *params = conn->params;
	int ret;

	ret = krping_cm_addr(conn->verdict, conn->net, "addr6", &params->addr, params->port, dst);
	if (ret || !params->bind.family)
		return ret;
	ret = krping_cm_addr(conn->verdict, conn->net, "bind", &params->bind, 0, src);
	if (!ret && params->addr.scope[0] && params->bind.scope[0] &&
	    from->sin6_scope_id != to->sin6_scope_id)
		ret = krping_fail(conn->verdict, -EINVAL,
				  "bind: %s is not the interface of the server's address",
				  params->bind.scope);
	return ret;
}

/* The address to start from is looked up at once, all else later. */
static int krping_resolve_failed(struct krping_conn *conn, const struct sockaddr_storage *src,
				 int err)
{
	if (conn->params->bind.family && err == -EADDRNOTAVAIL)
		return krping_fail(conn->verdict, err, "bind: %pISc is no address of this host",
				   src);
	if (conn->params->bind.family && err == -ENODEV)
		return krping_fail(conn->verdict, err, "bind: no RDMA device has the address %pISc",
				   src);
	return krping_cm_failed(conn->verdict, "resolving the address", err);
}

/* A client finds its way to the server, and its device. */
int krping_resolve(struct krping_conn *conn)
{
	struct sockaddr_storage src, dst;
	bool from = conn->params->bind.family;
	struct rdma_cm_id *id;
	int ret;

	ret = krping_resolve_from_to(conn, &src, &dst);
	if (ret)
		return ret;
	/* Whoever waits for a peer that does not answer sees which peer that is. */
	krping_record_set(conn->rec->dst, dst);
	id = krping_create_id(conn);
	if (!id)
		return conn->verdict->err;
	conn->id = id;
	/* Given and 0 is not what the core has, which can be configured. */
	if (krping_option_given(conn->params, KRPING_OPT_TOS))
		rdma_set_service_type(id, conn->params->tos);

	ret = rdma_resolve_addr(id, from ? (struct sockaddr *)&src : NULL, (struct sockaddr *)&dst,
				KRPING_RESOLVE_MS);
	if (ret)
		return krping_resolve_failed(conn, &src, ret);
	ret = krping_wait_cm(conn, KRPING_CM_ADDR);
	if (ret)
		return ret;
	krping_set_state(conn->rec, KRPING_STATE_ADDR_RESOLVED);

	krping_enter(conn->ep->phases, KRPING_PHASE_RESOLVE_ROUTE, 0, 0);
	ret = rdma_resolve_route(id, KRPING_RESOLVE_MS);
	if (ret)
		return krping_cm_failed(conn->verdict, "resolving the route", ret);
	ret = krping_wait_cm(conn, KRPING_CM_ROUTE);
	if (ret)
		return ret;
	krping_set_state(conn->rec, KRPING_STATE_ROUTE_RESOLVED);
	return 0;
}

/* A client connects, with an endpoint that is ready. */
int krping_connect(struct krping_conn *conn)
{
	int ret;

	krping_enter(conn->ep->phases, KRPING_PHASE_CONNECT, 0, 0);
	ret = krping_writer_call(conn->writer, conn->verdict, krping_call_connect, conn);
	if (ret)
		return krping_cm_failed(conn->verdict, "connecting", ret);
	conn->connected = true;
	ret = krping_wait_cm(conn, KRPING_CM_ESTABLISHED);
	if (ret)
		return ret;
	krping_connected(conn);
	return 0;
}

/* The client's first message may overtake the handshake, and tells as much. */
static int krping_wait_established(struct krping_conn *conn)
{
	krping_sleep(conn->verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_cq_is_ready(&conn->ep->rcq,
					test_bit(KRPING_CM_ESTABLISHED, &conn->seen) ||
						READ_ONCE(conn->ep->rq_done) ||
						krping_cm_is_over(conn)));
	if (krping_is_stopping(conn->verdict))
		return krping_stopped(conn->verdict);
	if (test_bit(KRPING_CM_ESTABLISHED, &conn->seen) || READ_ONCE(conn->ep->rq_done))
		return 0;
	return krping_fail(conn->verdict, -ECONNRESET,
			   "the client left before the connection was made");
}

/**
 * krping_conn_adopt - from here on the connection of a client is that of a run
 * @conn: the connection, which has no id
 * @request: the client
 *
 * The client may have given up, which then is the run's cause.
 */
void krping_conn_adopt(struct krping_conn *conn, struct krping_request *request)
{
	struct rdma_cm_id *id = request->id;

	conn->classic = request->classic;
	conn->peer_run = request->peer_run;
	conn->peer_nonce = request->peer_nonce;
	conn->peer_can = request->peer_can;
	conn->resources = request->resources;
	conn->read_depth = request->read_depth;
	conn->id = id;
	krping_record_set(conn->rec->dst, id->route.addr.dst_addr);
	rdma_lock_handler(id);
	id->context = conn;
	id->event_handler = krping_cm_handler;
	if (request->left)
		krping_cm_event(conn, &request->event);
	rdma_unlock_handler(id);
}

/* A server accepts its client, with an endpoint that is ready. */
int krping_accept(struct krping_conn *conn)
{
	struct rdma_cm_id *id = conn->id;
	struct rdma_conn_param param;
	struct krping_priv priv;
	int ret;

	krping_enter(conn->ep->phases, KRPING_PHASE_ACCEPT, 0, 0);
	krping_dbg(conn->rec->id, "accepting client connection request");
	krping_conn_param(conn, &param, &priv, conn->resources, conn->read_depth);
	/* rdma_accept() must not race with events of the id. */
	rdma_lock_handler(id);
	ret = rdma_accept(id, &param);
	rdma_unlock_handler(id);
	if (ret)
		return krping_cm_failed(conn->verdict, "accepting", ret);
	conn->connected = true;
	ret = krping_wait_established(conn);
	if (ret)
		return ret;
	krping_connected(conn);
	return 0;
}

/*
 * Can leaving the connection take long? iw_cm waits for the answer to a connect before it
 * lets go of the connection, and nothing interrupts that.
 */
bool krping_cm_may_stall(const struct krping_conn *conn)
{
	return conn->params->role == KRPING_ROLE_CLIENT && conn->connected &&
	       !test_bit(KRPING_CM_ESTABLISHED, &conn->seen) &&
	       rdma_protocol_iwarp(conn->id->device, conn->id->port_num);
}

/*
 * Is the network device of a connection up?
 *
 * siw closes its connections when its network device goes down, and rdma_cm then says
 * that the peer has left. siw does so under the RTNL, before the device counts as down:
 * so the answer is read under the RTNL, too.
 *
 * A driver may hold the RTNL while it waits until this run has let go of the RDMA
 * device. So the RTNL is only tried for, until the RDMA device goes; the caller looks
 * for that afterwards.
 */
bool krping_conn_is_up(const struct krping_conn *conn)
{
	const struct rdma_dev_addr *addr = &conn->id->route.addr.dev_addr;
	struct net_device *dev;
	bool up;

	if (!addr->bound_dev_if)
		return true;
	while (!rtnl_trylock()) {
		if (READ_ONCE(conn->device.going))
			return true;
		fsleep(1000);
	}
	dev = __dev_get_by_index(addr->net, addr->bound_dev_if);
	up = dev && netif_running(dev) && netif_carrier_ok(dev);
	rtnl_unlock();
	return up;
}

/*
 * Is it this end that has to leave first?
 *
 * The last message of a run is the server's. Who has to leave first so that the message is
 * not lost depends on the transport. On InfiniBand and RoCE the server knows from the
 * completion that the message has arrived, whereas a client that leaves may take back the
 * acknowledgement (and rxe may then repeat the message into every RECV, see do_complete()
 * in rxe_resp.c). On iWARP the completion says only that the message is on its way, and
 * the end of the stream may overtake the message at the client. A classic peer expects
 * the client to leave first.
 */
bool krping_leaves_first(const struct krping_conn *conn)
{
	enum krping_role first = KRPING_ROLE_SERVER;

	if (conn->classic || rdma_protocol_iwarp(conn->id->device, conn->id->port_num))
		first = KRPING_ROLE_CLIENT;
	return conn->params->role == first;
}

/**
 * krping_disconnect - leave the connection, if there is one
 * @conn: the connection; the queue pair is still there
 * @peer_first: let the peer leave first, for a few seconds; but not in a run that is told
 *	to stop, or asked to end
 */
void krping_disconnect(struct krping_conn *conn, bool peer_first)
{
	if (!conn->connected)
		return;
	if (peer_first)
		krping_sleep(conn->verdict, msecs_to_jiffies(KRPING_LEAVE_MS),
			     krping_cm_is_over(conn) || READ_ONCE(conn->verdict->told));
	rdma_disconnect(conn->id);
	krping_dbg(conn->rec->id, "disconnected!");
}

/* After this no CM event arrives. The queue pair is gone. */
void krping_destroy_id(struct krping_conn *conn)
{
	if (conn->id)
		rdma_destroy_id(conn->id);
	WRITE_ONCE(conn->id, NULL);
}
