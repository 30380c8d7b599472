// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA CM: from an address to a connection, and back.
 *
 * The handler only notes what rdma_cm says and wakes the thread; the thread
 * makes the calls. So rdma_connect(), which blocks on siw, and everything that
 * allocates stay out of the work queue that all of rdma_cm shares. The handler
 * decides only one thing, which client a server lets in, because it has to
 * answer before it returns.
 */
#include <linux/err.h>
#include <linux/inetdevice.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include "agree.h"
#include "calls.h"
#include "cause.h"
#include "connect.h"
#include "dbg.h"
#include "krping_trace.h"
#include "phase.h"
#include "registry.h"
#include "verdict.h"

#define KRPING_RESOLVE_MS 2000 /* for the address, and again for the route */
#define KRPING_BACKLOG	  8    /* requests that wait to be refused */
#define KRPING_LEAVE_MS	  5000 /* for the peer to leave first */

/* Note who the peer is. Called before the thread may read it. */
static void krping_note_peer(struct krping_conn *conn, bool ours,
			     const struct krping_priv *priv)
{
	conn->classic = !ours;
	if (!ours)
		return;
	conn->peer_run = be32_to_cpu(priv->run);
	conn->peer_nonce = be64_to_cpu(priv->nonce);
}

/*
 * The handler's part
 */

static void krping_cm_set(struct krping_conn *conn, enum krping_cm_seen bit)
{
	/* A thread that sees the bit sees what the handler wrote before it. */
	smp_mb__before_atomic();
	set_bit(bit, &conn->seen);
	wake_up(&conn->verdict->wq);
}

static int krping_refuse(struct krping_conn *conn, struct rdma_cm_id *id,
			 const char *differs, u32 peer_run)
{
	int err = differs ? -EPROTO : -EBUSY;
	struct krping_priv priv;

	krping_priv_fill(&priv, conn->rec->id, conn->params,
			 KRPING_PRIV_REJECT);
	priv.why = cpu_to_be16(differs ? KRPING_WHY_DIFFERS : KRPING_WHY_BUSY);
	if (differs)
		strscpy(priv.option, differs, sizeof(priv.option));
	krping_trace(reject, conn->rec->id, err, peer_run);
	atomic_inc(&conn->rec->rejects);
	rdma_reject(id, &priv, sizeof(priv), IB_CM_REJ_CONSUMER_DEFINED);
	/* Non-zero: rdma_cm destroys the id. */
	return err;
}

/*
 * A client asks for a connection. The first client whose options fit is taken,
 * the others are told why not; the listener stays so that they are told at
 * once. Two clients can ask at the same time, on two devices: nothing of a
 * client is written to the run before that client is taken.
 */
static int krping_cm_request(struct krping_conn *conn, struct rdma_cm_id *id,
			     const struct rdma_cm_event *event)
{
	struct krping_params agreed = conn->offer;
	const char *differs;
	struct krping_priv priv;
	bool ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
	u32 peer_run = ours ? be32_to_cpu(priv.run) : 0;

	if (krping_is_stopping(conn->verdict) || test_bit(0, &conn->taken))
		return krping_refuse(conn, id, NULL, peer_run);
	differs = ours ? krping_priv_agree(&agreed, &priv) : NULL;
	if (differs)
		return krping_refuse(conn, id, differs, peer_run);
	if (test_and_set_bit(0, &conn->taken))
		return krping_refuse(conn, id, NULL, peer_run);

	krping_note_peer(conn, ours, &priv);
	conn->agreed = agreed;
	conn->resources = min_t(u8, event->param.conn.initiator_depth, 1);
	conn->id = id;
	krping_cm_set(conn, KRPING_CM_REQUEST);
	return 0;
}

/* The peer, or its host, rejected the connection. */
static void krping_cm_rejected(struct krping_conn *conn,
			       const struct rdma_cm_event *event)
{
	char values[KRPING_VALUES];
	struct krping_priv priv;

	/* A peer that gives up, or dies, can also do so by a reject. */
	if (conn->params->role == KRPING_ROLE_SERVER ||
	    test_bit(KRPING_CM_ESTABLISHED, &conn->seen)) {
		krping_fail(conn->verdict, -ECONNRESET,
			    "the peer gave up the connection (status %d)",
			    event->status);
		return;
	}
	/*
	 * rdma_consumer_reject_data() is of no use here: it recognizes a
	 * consumer's reject by the status, which siw reports as -ECONNRESET.
	 */
	if (!krping_priv_get(&priv, event, KRPING_PRIV_REJECT)) {
		krping_fail(conn->verdict, -ECONNREFUSED,
			    "connection refused (status %d)", event->status);
		return;
	}
	priv.option[sizeof(priv.option) - 1] = '\0';
	switch (be16_to_cpu(priv.why)) {
	case KRPING_WHY_DIFFERS:
		krping_differs(values, sizeof(values), conn->params, &priv,
			       priv.option);
		krping_fail(conn->verdict, -EPROTO,
			    "the server refused: %s differs%s", priv.option,
			    values);
		break;
	case KRPING_WHY_BUSY:
		krping_fail(conn->verdict, -EBUSY,
			    "the server serves another client");
		break;
	default:
		krping_fail(conn->verdict, -ECONNREFUSED,
			    "the server refused: reason %u",
			    be16_to_cpu(priv.why));
	}
}

static void krping_cm_established(struct krping_conn *conn,
				  const struct rdma_cm_event *event)
{
	struct krping_params mine = *conn->params;
	const char *differs = NULL;
	char values[KRPING_VALUES];
	struct krping_priv priv;
	bool ours;

	if (conn->params->role == KRPING_ROLE_CLIENT) {
		ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
		krping_note_peer(conn, ours, &priv);
		/* A server agrees to all that it was asked for, or refuses. */
		mine.given = ~0ULL;
		if (ours)
			differs = krping_priv_agree(&mine, &priv);
		if (differs) {
			krping_differs(values, sizeof(values), conn->params,
				       &priv, differs);
			krping_fail(conn->verdict, -EPROTO,
				    "the server answered: %s differs%s",
				    differs, values);
		}
	}
	krping_cm_set(conn, KRPING_CM_ESTABLISHED);
}

static int krping_errno(int status, int otherwise)
{
	return status < 0 && status > -MAX_ERRNO ? status : otherwise;
}

/* The words are those of the older module. */
static const char *krping_cm_whose(const struct krping_conn *conn,
				   const struct rdma_cm_id *id)
{
	if (id == conn->listen_id || conn->params->role == KRPING_ROLE_CLIENT)
		return "parent";
	return "child";
}

static int krping_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_conn *conn = id->context;
	int ret = 0;

	krping_dbg(conn->rec->id, "cma_event type %d cma_id %s", event->event,
		   krping_cm_whose(conn, id));
	krping_trace(cm_event, conn->rec->id, event->event, event->status);

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		krping_cm_set(conn, KRPING_CM_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		krping_cm_set(conn, KRPING_CM_ROUTE);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		krping_fail(conn->verdict,
			    krping_errno(event->status, -EHOSTUNREACH),
			    "resolving the address: error %pe",
			    ERR_PTR(krping_errno(event->status,
						 -EHOSTUNREACH)));
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		krping_fail(conn->verdict,
			    krping_errno(event->status, -EHOSTUNREACH),
			    "resolving the route: error %pe",
			    ERR_PTR(krping_errno(event->status,
						 -EHOSTUNREACH)));
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		ret = krping_cm_request(conn, id, event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		krping_fail(conn->verdict,
			    krping_errno(event->status, -ECONNRESET),
			    "connecting: error %pe",
			    ERR_PTR(krping_errno(event->status, -ECONNRESET)));
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		krping_fail(conn->verdict,
			    krping_errno(event->status, -EHOSTUNREACH),
			    "the peer does not answer (status %d)",
			    event->status);
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
	return ret;
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
	return krping_is_stopping(conn->verdict) ||
	       READ_ONCE(conn->ep->disconnected);
}

static int krping_wait_cm(struct krping_conn *conn, enum krping_cm_seen bit)
{
	long ret = wait_event_interruptible(conn->verdict->wq,
					    test_bit(bit, &conn->seen) ||
					    krping_cm_is_over(conn));

	if (krping_is_stopping(conn->verdict))
		return krping_stopped(conn->verdict);
	if (test_bit(bit, &conn->seen)) {
		/* Pairs with krping_cm_set(): see what the handler wrote. */
		smp_rmb();
		return 0;
	}
	if (ret)
		return krping_fail(conn->verdict, -EINTR, "interrupted");
	return krping_fail(conn->verdict, -ECONNRESET,
			   "the connection was closed before it was made");
}

/* A call of rdma_cm was interrupted, or failed with err. */
static int krping_cm_failed(struct krping_conn *conn, const char *what, int err)
{
	if (err == -ERESTARTSYS || err == -EINTR || signal_pending(current))
		return krping_fail(conn->verdict, -EINTR, "interrupted");
	if (err == -ECONNREFUSED)
		return krping_fail(conn->verdict, err, "connection refused");
	return krping_fail(conn->verdict, err, "%s: error %pe", what,
			   ERR_PTR(err));
}

static struct rdma_cm_id *krping_create_id(struct krping_conn *conn)
{
	struct rdma_cm_id *id =
		krping_rdma_create_id(conn->net, krping_cm_handler, conn);

	if (IS_ERR(id)) {
		krping_fail(conn->verdict, PTR_ERR(id),
			    "creating a cm_id: error %pe", id);
		return NULL;
	}
	krping_dbg(conn->rec->id, "created cm_id");
	return id;
}

static struct sockaddr *krping_sockaddr(const struct krping_conn *conn,
					struct sockaddr_storage *ss)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = conn->params->addr;
	sin->sin_port = cpu_to_be16(conn->params->port);
	return (struct sockaddr *)ss;
}

static void krping_mapped_addr(const struct sockaddr_storage *ss, u64 *hi,
			       u64 *lo, u32 *port)
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
	u64 src_hi, src_lo, dst_hi, dst_lo, t = 0;
	u32 flags = conn->params->flags;
	u32 src_port, dst_port;

	krping_record_connected(rec, conn->params, conn->classic,
				conn->peer_run, conn->id->port_num,
				&conn->id->route.addr);
	krping_set_state(rec, KRPING_STATE_CONNECTED, 0);

	if (trace_krping_addr_enabled()) {
		krping_mapped_addr(&rec->src, &src_hi, &src_lo, &src_port);
		krping_mapped_addr(&rec->dst, &dst_hi, &dst_lo, &dst_port);
		krping_trace(addr, rec->id, src_hi, src_lo, dst_hi, dst_lo,
			     src_port, dst_port);
	}
	if (conn->classic)
		flags |= KRPING_RUN_F_CLASSIC;
	if (trace_krping_conn_enabled())
		t = ktime_get_ns();
	krping_trace(conn, rec->id, t, rec->cq, rec->qp, rec->dev, rec->port,
		     conn->params->size, conn->params->count, flags,
		     conn->peer_run, conn->peer_nonce);
	krping_dbg(conn->rec->id, "ESTABLISHED");
}

static void krping_conn_param(const struct krping_conn *conn,
			      struct rdma_conn_param *param,
			      struct krping_priv *priv, u8 responder_resources)
{
	krping_priv_fill(priv, conn->rec->id, conn->params, KRPING_PRIV_HELLO);
	memset(param, 0, sizeof(*param));
	param->responder_resources = responder_resources;
	param->initiator_depth = 1;
	param->retry_count = 7;	    /* the maximum */
	param->rnr_retry_count = 7; /* retry without end */
	param->private_data = priv;
	param->private_data_len = sizeof(*priv);
}

/*
 * iWARP connects its TCP socket in rdma_connect(), which takes minutes when
 * nobody answers. A signal ends that, and so does krping_conn_interrupt().
 */
static int krping_call_connect(struct krping_conn *conn, struct rdma_cm_id *id,
			       struct rdma_conn_param *param)
{
	int ret;

	WRITE_ONCE(conn->connecting, true);
	/* Pairs with krping_conn_interrupt(): one sees the other's store. */
	smp_mb();
	if (krping_is_stopping(conn->verdict))
		ret = krping_stopped(conn->verdict);
	else
		ret = krping_rdma_connect(id, param);
	WRITE_ONCE(conn->connecting, false);
	return ret;
}

/**
 * krping_conn_interrupt - get the thread out of a connect that nobody answers
 * @conn: the connection; krping_fail() has told the thread to stop
 *
 * There is no call to cancel rdma_connect(). But it sleeps interruptibly, and a
 * task that has to return to user mode soon looks interrupted to it; that is how
 * io_uring and live patching get tasks out of system calls. Only a task in an
 * interruptible sleep is woken: the thread may have left rdma_connect().
 *
 * Context: process.
 */
void krping_conn_interrupt(struct krping_conn *conn)
{
	struct wait_queue_entry sleeper = { .private = conn->task };

	/* Pairs with krping_call_connect(). */
	smp_mb();
	if (!READ_ONCE(conn->connecting))
		return;
	set_tsk_thread_flag(conn->task, TIF_NOTIFY_SIGNAL);
	default_wake_function(&sleeper, TASK_INTERRUPTIBLE, 0, NULL);
}

/* The device goes away. A good run keeps its result, but waits no longer. */
static void krping_conn_removed(struct krping_device_user *user,
				struct ib_device *dev)
{
	struct krping_conn *conn =
		container_of(user, struct krping_conn, device);

	krping_fail(conn->verdict, -ENODEV, "device %s was removed",
		    dev_name(&dev->dev));
	krping_conn_interrupt(conn);
}

/**
 * krping_conn_device - the connection has found its device
 * @conn: the connection
 * @dev: the device
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or the run's cause: -ENODEV, the device is being removed;
 * -EOPNOTSUPP, it has no fast registration, or does not work in the run's
 * network namespace.
 */
int krping_conn_device(struct krping_conn *conn, struct ib_device *dev)
{
	bool there = krping_device_use(&conn->device, dev);

	krping_record_device(conn->rec, dev_name(&dev->dev));
	if (!there)
		return krping_fail(conn->verdict, -ENODEV,
				   "device %s was removed", conn->rec->dev);
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return krping_fail(conn->verdict, -EOPNOTSUPP,
				   "%s has no fast registration",
				   conn->rec->dev);
	if (!krping_device_works_in(dev, conn->net))
		return krping_fail(conn->verdict, -EOPNOTSUPP,
				   "%s works only in the initial network namespace with this kernel",
				   conn->rec->dev);
	return 0;
}

/**
 * krping_conn_init - prepare a connection that is going to be made
 * @conn: the connection, zeroed but for rec, verdict, params, ep and net
 *
 * Context: the run's thread; sleeps.
 */
void krping_conn_init(struct krping_conn *conn)
{
	conn->task = get_task_struct(current);
	conn->device.all = conn->params->role == KRPING_ROLE_SERVER;
	conn->device.removed = krping_conn_removed;
	krping_device_enter(&conn->device);
}

/**
 * krping_conn_exit - release a connection of which nothing else is left
 * @conn: the connection; its ids are destroyed
 *
 * Context: process; sleeps.
 */
void krping_conn_exit(struct krping_conn *conn)
{
	krping_device_leave(&conn->device);
	put_task_struct(conn->task);
}

/**
 * krping_resolve - a client finds its way to the server
 * @conn: the connection, in phase RESOLVE_ADDR
 *
 * Context: the run's thread; sleeps, interruptible.
 * Return: 0, and the connection has a device; or a negative errno that is also
 * the run's cause.
 */
int krping_resolve(struct krping_conn *conn)
{
	struct sockaddr_storage dst;
	struct rdma_cm_id *id;
	int ret;

	id = krping_create_id(conn);
	if (!id)
		return conn->verdict->err;
	conn->id = id;

	ret = krping_rdma_resolve_addr(id, krping_sockaddr(conn, &dst),
				       KRPING_RESOLVE_MS);
	if (ret)
		return krping_cm_failed(conn, "resolving the address", ret);
	ret = krping_wait_cm(conn, KRPING_CM_ADDR);
	if (ret)
		return ret;
	krping_set_state(conn->rec, KRPING_STATE_ADDR_RESOLVED, 0);

	krping_enter(conn->ep->phases, KRPING_PHASE_RESOLVE_ROUTE, 0, 0);
	ret = krping_rdma_resolve_route(id, KRPING_RESOLVE_MS);
	if (ret)
		return krping_cm_failed(conn, "resolving the route", ret);
	ret = krping_wait_cm(conn, KRPING_CM_ROUTE);
	if (ret)
		return ret;
	krping_set_state(conn->rec, KRPING_STATE_ROUTE_RESOLVED, 0);
	return 0;
}

/**
 * krping_connect - a client connects
 * @conn: the connection, resolved, and its endpoint is ready
 *
 * Context: the run's thread; sleeps, interruptible.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_connect(struct krping_conn *conn)
{
	struct rdma_conn_param param;
	struct krping_priv priv;
	int ret;

	krping_enter(conn->ep->phases, KRPING_PHASE_CONNECT, 0, 0);
	krping_conn_param(conn, &param, &priv, 1);
	ret = krping_call_connect(conn, conn->id, &param);
	if (ret)
		return krping_cm_failed(conn, "connecting", ret);
	conn->connected = true;
	ret = krping_wait_cm(conn, KRPING_CM_ESTABLISHED);
	if (ret)
		return ret;
	krping_connected(conn);
	return 0;
}

/*
 * rdma_cm also returns -EADDRNOTAVAIL if one of two listeners on a port is for
 * all addresses. If the address is ours, the port is the one that is taken.
 */
static int krping_bind_errno(struct krping_conn *conn, int err)
{
	struct net_device *ndev;

	if (err != -EADDRNOTAVAIL)
		return err;
	if (!conn->params->addr)
		return -EADDRINUSE;
	ndev = ip_dev_find(conn->net, conn->params->addr);
	if (!ndev)
		return err;
	dev_put(ndev);
	return -EADDRINUSE;
}

static int krping_bind_listen(struct krping_conn *conn)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	id = krping_create_id(conn);
	if (!id)
		return conn->verdict->err;
	WRITE_ONCE(conn->listen_id, id);

	ret = krping_rdma_bind_addr(id, krping_sockaddr(conn, &addr));
	if (ret)
		return krping_cm_failed(conn, "binding the address",
					krping_bind_errno(conn, ret));
	krping_dbg(conn->rec->id, "rdma_bind_addr successful");
	if (!id->device && !krping_device_is_any())
		return krping_fail(conn->verdict, -ENODEV,
				   "there is no RDMA device");
	if (id->device) {
		ret = krping_conn_device(conn, id->device);
		if (ret)
			return ret;
	}
	ret = krping_rdma_listen(id, KRPING_BACKLOG);
	if (ret)
		return krping_cm_failed(conn, "listening", ret);
	/* Scripts wait for this: from now on a client can connect. */
	krping_record_listens(conn->rec, &id->route.addr.src_addr);
	krping_dbg(conn->rec->id, "rdma_listen");
	return 0;
}

/* The client's first message can overtake the last message of the handshake. */
static int krping_wait_established(struct krping_conn *conn)
{
	long ret = wait_event_interruptible(conn->verdict->wq,
			test_bit(KRPING_CM_ESTABLISHED, &conn->seen) ||
			READ_ONCE(conn->ep->rq_done) || krping_cm_is_over(conn));

	if (krping_is_stopping(conn->verdict))
		return krping_stopped(conn->verdict);
	if (test_bit(KRPING_CM_ESTABLISHED, &conn->seen) ||
	    READ_ONCE(conn->ep->rq_done))
		return 0;
	if (ret)
		return krping_fail(conn->verdict, -EINTR, "interrupted");
	return krping_fail(conn->verdict, -ECONNRESET,
			   "the client left before the connection was made");
}

/**
 * krping_listen - a server waits for its client
 * @conn: the connection, in phase LISTEN
 *
 * Context: the run's thread; sleeps, interruptible.
 * Return: 0, and the connection has a device and the options that were agreed;
 * or a negative errno that is also the run's cause.
 */
int krping_listen(struct krping_conn *conn)
{
	int ret;

	conn->offer = *conn->params;
	ret = krping_bind_listen(conn) ?:
					 krping_wait_cm(conn, KRPING_CM_REQUEST);
	if (ret)
		return ret;
	krping_set_state(conn->rec, KRPING_STATE_CONNECT_REQUEST, 0);
	*conn->params = conn->agreed;
	return 0;
}

/**
 * krping_accept - a server accepts its client
 * @conn: the connection, requested, and its endpoint is ready
 *
 * Context: the run's thread; sleeps, interruptible.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_accept(struct krping_conn *conn)
{
	struct rdma_cm_id *id = conn->id;
	struct rdma_conn_param param;
	struct krping_priv priv;
	int ret;

	krping_enter(conn->ep->phases, KRPING_PHASE_ACCEPT, 0, 0);
	krping_dbg(conn->rec->id, "accepting client connection request");
	krping_conn_param(conn, &param, &priv, conn->resources);
	/* rdma_accept() must not race with events of the id. */
	rdma_lock_handler(id);
	ret = krping_rdma_accept(id, &param);
	rdma_unlock_handler(id);
	if (ret)
		return krping_cm_failed(conn, "accepting", ret);
	conn->connected = true;
	ret = krping_wait_established(conn);
	if (ret)
		return ret;
	krping_connected(conn);
	return 0;
}

/**
 * krping_cm_may_stall - can leaving the connection take long?
 * @conn: the connection
 *
 * iw_cm waits uninterruptibly for the answer to a connect before it lets go of
 * the connection.
 *
 * Return: true for a connect on iWARP that has not been answered.
 */
bool krping_cm_may_stall(const struct krping_conn *conn)
{
	return conn->params->role == KRPING_ROLE_CLIENT && conn->connected &&
	       !test_bit(KRPING_CM_ESTABLISHED, &conn->seen) &&
	       rdma_protocol_iwarp(conn->id->device, conn->id->port_num);
}

/**
 * krping_leaves_first - is it this end that has to leave first?
 * @conn: the connection
 *
 * The last message of a run is the server's. Who has to leave first so that it
 * is not lost depends on the transport. On InfiniBand and RoCE the server knows
 * from the completion that the message has arrived, whereas a client that
 * leaves may take back the acknowledgement (and rxe may then repeat the message
 * into every RECV, see do_complete() in rxe_resp.c). On iWARP the completion
 * says only that the message is on its way, and the end of the stream may
 * overtake it at the client. A peer of the classic kind expects the client to
 * leave first.
 */
bool krping_leaves_first(const struct krping_conn *conn)
{
	enum krping_role first = KRPING_ROLE_SERVER;

	if (conn->classic ||
	    rdma_protocol_iwarp(conn->id->device, conn->id->port_num))
		first = KRPING_ROLE_CLIENT;
	return conn->params->role == first;
}

/**
 * krping_disconnect - leave the connection, if there is one
 * @conn: the connection; the queue pair is still there
 *
 * An end that has done what it was asked for, and whose last message has left,
 * lets the other end leave first if that is how it has to be; but not when it is
 * told to stop, nor by a signal or when its deadline has passed.
 *
 * Context: the run's thread, or its work; sleeps, a few seconds at most unless
 * krping_cm_may_stall().
 */
void krping_disconnect(struct krping_conn *conn)
{
	if (!conn->connected)
		return;
	if (conn->verdict->good && !krping_leaves_first(conn))
		wait_event_interruptible_timeout(conn->verdict->wq,
			krping_cm_is_over(conn) ||
				READ_ONCE(conn->verdict->expired),
			msecs_to_jiffies(KRPING_LEAVE_MS));
	rdma_disconnect(conn->id);
	krping_dbg(conn->rec->id, "disconnected!");
}

/**
 * krping_destroy_ids - destroy the cm_ids; after this no CM event arrives
 * @conn: the connection; its queue pair is gone
 *
 * The listener goes first, since it can still make a child.
 *
 * Context: the run's thread, or its work; sleeps until handlers have returned.
 */
void krping_destroy_ids(struct krping_conn *conn)
{
	if (conn->listen_id)
		rdma_destroy_id(conn->listen_id);
	WRITE_ONCE(conn->listen_id, NULL);
	if (conn->id)
		rdma_destroy_id(conn->id);
	WRITE_ONCE(conn->id, NULL);
}
