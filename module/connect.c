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
#include "connect.h"
#include "dbg.h"
#include "drain.h"
#include "krping_trace.h"
#include "listener.h"
#include "mr_trace.h"
#include "msg.h"
#include "phase.h"
#include "qp.h"
#include "registry.h"
#include "verdict.h"
#include "writer.h"

#define KRPING_RESOLVE_MS 2000 /* for the address, and again for the route */

static void krping_cm_reach(struct krping_conn *conn, enum krping_cm_stage stage)
{
	/* Pairs with krping_has_reached(). */
	smp_store_release(&conn->stage, stage);
	krping_wake(conn->cm.verdict);
}

static bool krping_has_reached(const struct krping_conn *conn, enum krping_cm_stage stage)
{
	/* Pairs with krping_cm_reach(): see what the handler wrote before. */
	return smp_load_acquire(&conn->stage) >= stage;
}

/* The peer, or its host, rejected the connection. */
static void krping_cm_rejected(struct krping_conn *conn, const struct rdma_cm_event *event)
{
	const struct krping_params *params = conn->cm.params;
	struct krping_verdict *verdict = conn->cm.verdict;
	char values[KRPING_VALUES], *c;
	struct krping_priv priv;
	u16 why;

	/* A peer that gives up, or dies, can also do so by a reject. */
	if (params->role == KRPING_ROLE_SERVER || krping_has_reached(conn, KRPING_CM_ESTABLISHED)) {
		krping_fail(verdict, -ECONNRESET, "the peer gave up the connection (status %d)",
			    event->status);
		return;
	}
	/*
	 * rdma_consumer_reject_data() is of no use here: it recognizes a
	 * consumer's reject by the status, which siw reports as -ECONNRESET.
	 */
	if (!krping_priv_get(&priv, event, KRPING_PRIV_REJECT)) {
		krping_fail(verdict, -ECONNREFUSED, "connection refused (status %d)",
			    event->status);
		return;
	}
	priv.option[sizeof(priv.option) - 1] = '\0';
	/* The reason is read in a terminal, so the peer's text must not get there unfiltered. */
	for (c = priv.option; *c; c++)
		if (!isascii(*c) || !isprint(*c) || *c == '"' || *c == '\\')
			*c = '?';
	why = be16_to_cpu(priv.why);
	if (why == KRPING_WHY_DIFFERS) {
		krping_differs(values, sizeof(values), params, &priv, priv.option);
		krping_fail(verdict, -EPROTO, "the server refused: %s differs%s", priv.option,
			    values);
	} else if (why == KRPING_WHY_BUSY) {
		krping_fail(verdict, -EBUSY, "the server serves another client");
	} else {
		krping_fail(verdict, -ECONNREFUSED, "the server refused: reason %u", why);
	}
}

/* A server has accepted: who is the server, and does it agree to all that it was asked for? */
static void krping_cm_accepted(struct krping_conn *conn, const struct rdma_cm_event *event)
{
	char values[KRPING_VALUES];
	struct krping_priv priv;
	const char *differs;

	conn->classic = !krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
	krping_priv_peer(&conn->peer, &priv);
	differs = conn->classic ? NULL : krping_priv_same(conn->cm.params, &priv);
	if (!differs)
		return;
	krping_differs(values, sizeof(values), conn->cm.params, &priv, differs);
	krping_fail(conn->cm.verdict, -EPROTO, "the server answered: %s differs%s", differs,
		    values);
}

static void krping_cm_event(struct krping_conn *conn, const struct rdma_cm_event *event)
{
	struct krping_verdict *verdict = conn->cm.verdict;
	int err = event->status;

	/* Some events have an errno, others a number that only their sender knows. */
	if (!IS_ERR_VALUE((long)err))
		err = event->event == RDMA_CM_EVENT_CONNECT_ERROR ? -ECONNRESET : -EHOSTUNREACH;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		krping_cm_reach(conn, KRPING_CM_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		krping_cm_reach(conn, KRPING_CM_ROUTE);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		krping_fail(verdict, err, "resolving the address: error %pe", ERR_PTR(err));
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		krping_fail(verdict, err, "resolving the route: error %pe", ERR_PTR(err));
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		krping_fail(verdict, err, "connecting: error %pe", ERR_PTR(err));
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		krping_fail(verdict, err, "the peer does not answer (status %d)", event->status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		krping_cm_rejected(conn, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->cm.params->role == KRPING_ROLE_CLIENT)
			krping_cm_accepted(conn, event);
		krping_cm_reach(conn, KRPING_CM_ESTABLISHED);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		krping_ep_disconnected(&conn->ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		krping_fail(verdict, -ENODEV, "the device was removed");
		break;
	default:
		/* ADDR_CHANGE, TIMEWAIT_EXIT: these are only traced. */
		break;
	}
}

static int krping_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_conn *conn = id->context;

	krping_cm_trace(conn->cm.rec, event,
			conn->cm.params->role == KRPING_ROLE_CLIENT ? "parent" : "child");
	krping_cm_event(conn, event);
	return 0;
}

/*
 * Unlike krping_wait_must_end() this does not end on flushed RECVs: iWARP flushes
 * them as soon as a connection is refused, before rdma_cm says by whom and why.
 */
static bool krping_cm_is_over(const struct krping_conn *conn)
{
	return krping_must_end(conn->cm.verdict) || READ_ONCE(conn->ep.disconnected);
}

static int krping_wait_cm(struct krping_conn *conn, enum krping_cm_stage stage)
{
	krping_sleep(conn->cm.verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_has_reached(conn, stage) || krping_cm_is_over(conn));
	if (krping_must_end(conn->cm.verdict))
		return krping_end_errno(conn->cm.verdict);
	if (krping_has_reached(conn, stage))
		return 0;
	return krping_fail(conn->cm.verdict, -ECONNRESET,
			   "the connection was closed before it was made");
}

static void krping_mapped_addr(const struct sockaddr_in6 *sin6, u64 *hi, u64 *lo, u32 *port)
{
	const struct sockaddr_in *sin = (const void *)sin6;
	struct in6_addr addr;

	if (sin6->sin6_family == AF_INET6)
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
	struct krping_record *rec = conn->cm.rec;
	u64 src_hi, src_lo, dst_hi, dst_lo, t = 0, t_real = 0;
	u32 flags = conn->cm.params->flags | KRPING_RUN_F_POLL(conn->cm.params->poll_ctx);
	u32 src_port, dst_port;

	mutex_lock(&krping_registry_lock);
	rec->params = *conn->cm.params;
	rec->classic = conn->classic;
	rec->peer_run = conn->peer.run;
	rec->port = conn->cm.id->port_num;
	rec->src = *krping_sockaddr(&conn->cm.id->route.addr.src_addr);
	rec->dst = *krping_sockaddr(&conn->cm.id->route.addr.dst_addr);
	mutex_unlock(&krping_registry_lock);
	krping_set_state(rec, KRPING_STATE_CONNECTED);

	if (trace_krping_addr_enabled()) {
		krping_mapped_addr(&rec->src, &src_hi, &src_lo, &src_port);
		krping_mapped_addr(&rec->dst, &dst_hi, &dst_lo, &dst_port);
		krping_trace(addr, rec->id, src_hi, src_lo, dst_hi, dst_lo, src_port, dst_port,
			     krping_nonce);
	}
	if (conn->classic)
		flags |= KRPING_RUN_F_CLASSIC;
	if (trace_krping_conn_enabled()) {
		t = ktime_get_ns();
		t_real = ktime_to_ns(ktime_mono_to_real(t));
	}
	krping_trace(conn, rec->id, t, rec->cq, rec->qp, rec->dev, rec->port, conn->cm.params->size,
		     flags, conn->peer.run, conn->peer.nonce, conn->cm.params->test, t_real);
	krping_dbg(rec->id, "ESTABLISHED");
}

static void krping_conn_param(const struct krping_conn *conn, struct rdma_conn_param *param,
			      struct krping_priv *priv, u8 responder_resources, u8 initiator_depth)
{
	krping_priv_fill(priv, conn->cm.rec->id, conn->cm.params, KRPING_PRIV_HELLO);
	priv->queue = cpu_to_be16(conn->queue);
	*param = (struct rdma_conn_param){
		.responder_resources = responder_resources,
		.initiator_depth = initiator_depth,
		.retry_count = 7,     /* the maximum */
		.rnr_retry_count = 7, /* retry without end */
		.private_data = priv,
		.private_data_len = sizeof(*priv),
	};
}

/*
 * iWARP connects its TCP socket in rdma_connect(), which takes minutes when nobody answers. A
 * signal to the writer ends that, and so does krping_cm_interrupt().
 */
static int krping_call_connect(void *data)
{
	struct krping_conn *conn = data;
	struct rdma_conn_param param;
	struct krping_priv priv;
	int ret;

	krping_conn_param(conn, &param, &priv, conn->ep.reads, conn->ep.reads);
	WRITE_ONCE(conn->cm.writer->connecting, true);
	/* Pairs with krping_cm_interrupt(): one sees the other's store. */
	smp_mb();
	if (krping_must_end(conn->cm.verdict))
		ret = krping_end_errno(conn->cm.verdict);
	else
		ret = rdma_connect(conn->cm.id, &param);
	WRITE_ONCE(conn->cm.writer->connecting, false);
	return ret;
}

void krping_conn_init(struct krping_conn *conn, struct krping_run *run, struct krping_record *rec,
		      struct krping_verdict *verdict, struct krping_phases *phases,
		      const struct krping_params *params, struct net *net)
{
	conn->run = run;
	spin_lock_init(&conn->lock);
	krping_ep_init(&conn->ep, rec, verdict, phases);
	krping_cm_init(&conn->cm, rec, verdict, params, net);
}

/* The completion vectors of a run's connections follow each other, so that CPUs share the work. */
static int krping_conn_vector(const struct krping_conn *conn)
{
	const struct krping_params *params = conn->cm.params;
	bool given = krping_option_given(params, KRPING_OPT_COMP_VECTOR);
	u32 first = given ? params->comp_vector : 0, nr = conn->cm.id->device->num_comp_vectors;

	if (params->queues > 1 && first < nr)
		return (first + conn->queue) % nr;
	return given ? (int)first : -1;
}

/*
 * The connection has found its device, and is going to be made: make its endpoint and its
 * messages. Returns 0, or the run's cause.
 */
int krping_conn_alloc(struct krping_conn *conn, u32 requests, struct krping_srqs *srqs)
{
	struct krping_cm *cm = &conn->cm;
	int ret = krping_cm_device(cm) ?: krping_cm_size(cm);

	if (!ret)
		ret = krping_ep_create(&conn->ep, cm->id, cm->params, krping_conn_vector(conn),
				       requests, srqs);
	return ret ?: krping_msgs_create(&conn->msgs, &conn->ep);
}

/*
 * The address to start from, if the command has one, and the one to go to. Link-local addresses of
 * two interfaces cannot meet, and rdma_cm would take the one of the interface that it starts from.
 */
static int krping_resolve_from_to(struct krping_conn *conn, struct sockaddr_storage *src,
				  struct sockaddr_storage *dst)
{
	const struct sockaddr_in6 *from = (const void *)src;
	const struct sockaddr_in6 *to = (const void *)dst;
	const struct krping_params *params = conn->cm.params;
	int ret;

	ret = krping_cm_addr(&conn->cm, "addr6", &params->addr, params->port, dst);
	if (ret || !params->bind.family)
		return ret;
	ret = krping_cm_addr(&conn->cm, "bind", &params->bind, 0, src);
	if (!ret && params->addr.scope[0] && params->bind.scope[0] &&
	    from->sin6_scope_id != to->sin6_scope_id)
		ret = krping_fail(conn->cm.verdict, -EINVAL,
				  "bind: %s is not the interface of the server's address",
				  params->bind.scope);
	return ret;
}

/* A client finds its way to the server, and its device. */
int krping_resolve(struct krping_conn *conn)
{
	const struct krping_params *params = conn->cm.params;
	struct krping_verdict *verdict = conn->cm.verdict;
	struct sockaddr_storage src, dst;
	bool from = params->bind.family;
	struct rdma_cm_id *id;
	int ret;

	ret = krping_resolve_from_to(conn, &src, &dst);
	if (ret)
		return ret;
	/* Whoever waits for a peer that does not answer sees which peer that is. */
	krping_record_set(conn->cm.rec->dst, *krping_sockaddr(&dst));
	ret = krping_cm_create_id(&conn->cm, krping_cm_handler, conn);
	if (ret)
		return ret;
	id = conn->cm.id;
	/* Given and 0 is not what the core has, which can be configured. */
	if (krping_option_given(params, KRPING_OPT_TOS))
		rdma_set_service_type(id, params->tos);

	ret = rdma_resolve_addr(id, from ? (struct sockaddr *)&src : NULL, (struct sockaddr *)&dst,
				KRPING_RESOLVE_MS);
	/* The address to start from is looked up at once, all else later. */
	if (from && ret == -EADDRNOTAVAIL)
		return krping_fail(verdict, ret, "bind: %pISc is no address of this host", &src);
	if (from && ret == -ENODEV)
		return krping_fail(verdict, ret, "bind: no RDMA device has the address %pISc",
				   &src);
	if (ret)
		return krping_cm_failed(&conn->cm, "resolving the address", ret);
	ret = krping_wait_cm(conn, KRPING_CM_ADDR);
	if (ret)
		return ret;
	krping_set_state(conn->cm.rec, KRPING_STATE_ADDR_RESOLVED);

	krping_enter(conn->ep.phases, KRPING_PHASE_RESOLVE_ROUTE, 0, 0);
	ret = rdma_resolve_route(id, KRPING_RESOLVE_MS);
	if (ret)
		return krping_cm_failed(&conn->cm, "resolving the route", ret);
	ret = krping_wait_cm(conn, KRPING_CM_ROUTE);
	if (!ret)
		krping_set_state(conn->cm.rec, KRPING_STATE_ROUTE_RESOLVED);
	return ret;
}

/* A client connects, with an endpoint that is ready. */
int krping_connect(struct krping_conn *conn)
{
	int ret;

	krping_enter(conn->ep.phases, KRPING_PHASE_CONNECT, 0, 0);
	ret = krping_writer_call(conn->cm.writer, conn->cm.verdict, krping_call_connect, conn);
	if (ret)
		return krping_cm_failed(&conn->cm, "connecting", ret);
	conn->connected = true;
	ret = krping_wait_cm(conn, KRPING_CM_ESTABLISHED);
	if (!ret)
		krping_connected(conn);
	return ret;
}

/* From here on the connection of a client is that of a run. The client may have given up. */
void krping_conn_adopt(struct krping_conn *conn, struct krping_request *request)
{
	struct rdma_cm_id *id = request->id;

	request->id = NULL;
	conn->cm.id = id;
	conn->classic = request->classic;
	conn->peer = request->peer;
	krping_record_set(conn->cm.rec->dst, *krping_sockaddr(&id->route.addr.dst_addr));
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
	struct rdma_cm_id *id = conn->cm.id;
	struct rdma_conn_param param;
	struct krping_priv priv;
	int ret;

	krping_enter(conn->ep.phases, KRPING_PHASE_ACCEPT, 0, 0);
	krping_dbg(conn->cm.rec->id, "accepting client connection request");
	krping_conn_param(conn, &param, &priv, min(conn->peer.resources, conn->ep.reads),
			  min(conn->peer.read_depth, conn->ep.reads));
	/* rdma_accept() must not race with events of the id. */
	rdma_lock_handler(id);
	ret = rdma_accept(id, &param);
	rdma_unlock_handler(id);
	if (ret)
		return krping_cm_failed(&conn->cm, "accepting", ret);
	conn->connected = true;
	/* The client's first message may overtake the handshake, and tells as much. */
	krping_sleep(conn->cm.verdict, MAX_SCHEDULE_TIMEOUT,
		     krping_cq_is_ready(&conn->ep.rcq,
					krping_has_reached(conn, KRPING_CM_ESTABLISHED) ||
						READ_ONCE(conn->ep.rq_done) ||
						krping_cm_is_over(conn)));
	if (krping_must_end(conn->cm.verdict))
		return krping_end_errno(conn->cm.verdict);
	if (!krping_has_reached(conn, KRPING_CM_ESTABLISHED) && !READ_ONCE(conn->ep.rq_done))
		return krping_fail(conn->cm.verdict, -ECONNRESET,
				   "the client left before the connection was made");
	krping_connected(conn);
	return 0;
}

/*
 * Can leaving the connection take long? iw_cm waits for the answer to a connect before it
 * lets go of the connection, and nothing interrupts that.
 */
bool krping_cm_may_stall(const struct krping_conn *conn)
{
	return conn->cm.params->role == KRPING_ROLE_CLIENT && conn->connected &&
	       !krping_has_reached(conn, KRPING_CM_ESTABLISHED) && conn->ep.iwarp;
}

/*
 * Is the network device of a connection up? siw closes its connections when that goes down, and
 * rdma_cm then says that the peer has left. siw does so under the RTNL, before the device counts as
 * down, so the answer is read under the RTNL, too. But a driver may hold the RTNL while it waits
 * until this run has let go of the RDMA device: the RTNL is only tried for until that goes, and the
 * caller looks for that afterwards.
 */
bool krping_conn_is_up(const struct krping_conn *conn)
{
	const struct rdma_dev_addr *addr = &conn->cm.id->route.addr.dev_addr;
	struct net_device *dev;
	bool up;

	if (!addr->bound_dev_if)
		return true;
	while (!rtnl_trylock()) {
		if (READ_ONCE(conn->cm.going))
			return true;
		fsleep(1000);
	}
	dev = __dev_get_by_index(addr->net, addr->bound_dev_if);
	up = dev && netif_running(dev) && netif_carrier_ok(dev);
	rtnl_unlock();
	return up;
}

/*
 * Is it this end that has to leave first, so that the server's last message is not lost? On
 * InfiniBand and RoCE the server knows from the completion that the message has arrived, whereas a
 * client that leaves may take back the acknowledgement (and rxe may then repeat the message into
 * every RECV, see do_complete() in rxe_resp.c). On iWARP the completion says only that the message
 * is on its way, and the end of the stream may overtake the message at the client. A classic peer
 * expects the client to leave first.
 */
bool krping_leaves_first(const struct krping_conn *conn)
{
	enum krping_role first = KRPING_ROLE_SERVER;

	if (conn->classic || conn->ep.iwarp)
		first = KRPING_ROLE_CLIENT;
	return conn->cm.params->role == first;
}

/* Leave the connection, if there is one, after the peer or after so many milliseconds. */
static void krping_disconnect(struct krping_conn *conn, unsigned int peer_ms)
{
	struct krping_verdict *verdict = conn->cm.verdict;

	if (!conn->connected)
		return;
	if (!krping_must_end(verdict))
		krping_let_sends_leave(&conn->msgs);
	krping_sleep(verdict, msecs_to_jiffies(peer_ms),
		     krping_cm_is_over(conn) || READ_ONCE(verdict->asked));
	rdma_disconnect(conn->cm.id);
	conn->connected = false;
	krping_dbg(conn->cm.rec->id, "disconnected!");
}

/*
 * End the connection, wait for all requests, and destroy what refers to memory: the caller
 * then frees its own memory, and calls krping_conn_free(). Either is for whatever
 * krping_conn_alloc() has made, and does nothing the second time. The run enters the phases of
 * this if @phases.
 */
void krping_conn_leave(struct krping_conn *conn, unsigned int peer_ms, bool phases)
{
	struct krping_ep *ep = &conn->ep;

	krping_disconnect(conn, peer_ms);
	if (phases)
		krping_enter(ep->phases, KRPING_PHASE_DRAIN, 0, 0);
	krping_ep_drain(ep);
	if (phases) {
		krping_memory_end(ep);
		krping_enter(ep->phases, KRPING_PHASE_FREE, 0, 0);
	}
	krping_ep_destroy_qp(ep);
}

void krping_conn_free(struct krping_conn *conn)
{
	krping_msgs_destroy(&conn->msgs);
	krping_ep_destroy_pd(&conn->ep);
	krping_cm_destroy(&conn->cm);
}
