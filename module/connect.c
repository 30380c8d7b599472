// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA CM: from an address to a connection, and back.
 *
 * The handler only notes what rdma_cm says and wakes the thread; the thread
 * makes the calls. So rdma_connect(), which blocks on siw, and everything that
 * allocates stay out of the work queue that all of rdma_cm shares. The one
 * thing that the handler decides is whom a server lets in, because it has to
 * answer before it returns.
 *
 * Two krpings agree by private data in the REQ and the REP. "No private data"
 * means that our magic is not there, never that it is short: RoCE pads it.
 */
#include <linux/err.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include "calls.h"
#include "run.h"

#define KRPING_RESOLVE_MS 2000 /* each of address and route */
#define KRPING_BACKLOG	  8    /* requests that wait to be refused */
#define KRPING_LEAVE_MS	  5000 /* for the peer to leave first */
#define KRPING_VALUES	  48   /* room for what krping_differs() says */

#define KRPING_PRIV_MAGIC   0x4b525047 /* "KRPG" */
#define KRPING_PRIV_VERSION 1

enum krping_priv_type { KRPING_PRIV_HELLO, KRPING_PRIV_REJECT };

/* Numbers of the wire: errnos differ between architectures. */
enum krping_priv_why { KRPING_WHY_BUSY = 1, KRPING_WHY_DIFFERS = 2 };

/*
 * Private data, in all directions. At most 56 bytes fit everywhere (what RoCE
 * leaves of a REQ). A REJECT has the reason and, where two options differ,
 * which.
 */
struct krping_priv {
	__be32 magic;
	u8 version;
	u8 type;
	u8 test;
	u8 flags;
	__be32 size;
	__be32 count;
	__be64 nonce;
	__be32 run;
	__be16 why;
	char option[16];
} __packed;

static_assert(sizeof(struct krping_priv) <= 56);

/* How many RDMA devices there are; for a server that listens on all. */
static atomic_t krping_nr_devices = ATOMIC_INIT(0);

/*
 * Private data
 */

static void krping_priv_fill(struct krping_priv *priv,
			     const struct krping_run *run,
			     enum krping_priv_type type)
{
	memset(priv, 0, sizeof(*priv));
	priv->magic = cpu_to_be32(KRPING_PRIV_MAGIC);
	priv->version = KRPING_PRIV_VERSION;
	priv->type = type;
	priv->test = run->params.test;
	/* Of the flags only what both ends have to know. */
	priv->flags = run->params.flags & KRPING_RUN_F_SERVER_INV;
	priv->size = cpu_to_be32(run->params.size);
	priv->count = cpu_to_be32(run->params.count);
	priv->nonce = cpu_to_be64(krping_nonce);
	priv->run = cpu_to_be32(run->rec->id);
}

/*
 * True if the event carries private data of ours, then copied to *priv. RoCE
 * pads what is short with zeroes, so that is how it looks on iWARP, too.
 */
static bool krping_priv_get(struct krping_priv *priv,
			    const struct rdma_cm_event *event,
			    enum krping_priv_type type)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	memset(priv, 0, sizeof(*priv));
	if (conn->private_data)
		memcpy(priv, conn->private_data,
		       min_t(size_t, conn->private_data_len, sizeof(*priv)));
	return be32_to_cpu(priv->magic) == KRPING_PRIV_MAGIC &&
	       priv->type == type;
}

/* Who the peer is; called before the thread may look. */
static void krping_note_peer(struct krping_run *run, bool ours,
			     const struct krping_priv *priv)
{
	run->cm.classic = !ours;
	if (!ours)
		return;
	run->cm.peer_run = be32_to_cpu(priv->run);
	run->cm.peer_nonce = be64_to_cpu(priv->nonce);
}

/*
 * Settle the options with a peer; NULL, or the name of the one that differs.
 * What a peer sends is checked like a command.
 */
static const char *krping_priv_agree(struct krping_params *agreed,
				     const struct krping_priv *priv)
{
	struct krping_params peer = {
		.test = priv->test,
		.size = be32_to_cpu(priv->size),
		.count = be32_to_cpu(priv->count),
		.flags = priv->flags & KRPING_RUN_F_SERVER_INV,
	};

	if (priv->version != KRPING_PRIV_VERSION)
		return "version";
	if (peer.test >= KRPING_NR_TESTS)
		return "test";
	if (!peer.size || peer.size > KRPING_SIZE_MAX)
		return "size";
	if (peer.count > KRPING_COUNT_MAX)
		return "count";
	return krping_params_agree(agreed, &peer);
}

/*
 * The handler's part
 */

static void krping_cm_set(struct krping_run *run, enum krping_cm_seen bit)
{
	/* What the handler wrote before this is there for who sees the bit. */
	smp_mb__before_atomic();
	set_bit(bit, &run->cm.seen);
	wake_up(&run->wq);
}

static int krping_refuse(struct krping_run *run, struct rdma_cm_id *id,
			 const char *differs, u32 peer_run)
{
	int err = differs ? -EPROTO : -EBUSY;
	struct krping_priv priv;

	krping_priv_fill(&priv, run, KRPING_PRIV_REJECT);
	priv.why = cpu_to_be16(differs ? KRPING_WHY_DIFFERS : KRPING_WHY_BUSY);
	if (differs)
		strscpy(priv.option, differs, sizeof(priv.option));
	krping_trace(reject, run->rec->id, err, peer_run);
	atomic_inc(&run->rec->rejects);
	rdma_reject(id, &priv, sizeof(priv), IB_CM_REJ_CONSUMER_DEFINED);
	/* Non-zero: rdma_cm destroys the id. */
	return err;
}

/*
 * A client wants in. The first one whose options fit is taken, the others are
 * told why not; the listener stays so that they are told at once. Two can come
 * at the same time, on two devices: nothing of a client is written to the run
 * before it is the one.
 */
static int krping_cm_request(struct krping_run *run, struct rdma_cm_id *id,
			     const struct rdma_cm_event *event)
{
	struct krping_cm *cm = &run->cm;
	struct krping_params agreed = cm->offer;
	const char *differs;
	struct krping_priv priv;
	bool ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
	u32 peer_run = ours ? be32_to_cpu(priv.run) : 0;

	if (krping_is_stopping(run) || test_bit(0, &cm->taken))
		return krping_refuse(run, id, NULL, peer_run);
	differs = ours ? krping_priv_agree(&agreed, &priv) : NULL;
	if (differs)
		return krping_refuse(run, id, differs, peer_run);
	if (test_and_set_bit(0, &cm->taken))
		return krping_refuse(run, id, NULL, peer_run);

	krping_note_peer(run, ours, &priv);
	cm->agreed = agreed;
	cm->resources = min_t(u8, event->param.conn.initiator_depth, 1);
	cm->id = id;
	krping_cm_set(run, KRPING_CM_REQUEST);
	return 0;
}

/*
 * What the two ends have of an option that differs, to follow on its name;
 * empty for what is not a number, or a flag, that travels.
 */
static void krping_differs(char *text, size_t size,
			   const struct krping_run *run,
			   const struct krping_priv *priv, const char *option)
{
	bool inv = priv->flags & KRPING_RUN_F_SERVER_INV;

	text[0] = '\0';
	if (!strcmp(option, "size"))
		scnprintf(text, size, ": %u there, %u here",
			  be32_to_cpu(priv->size), run->params.size);
	else if (!strcmp(option, "count"))
		scnprintf(text, size, ": %u there, %u here",
			  be32_to_cpu(priv->count), run->params.count);
	else if (!strcmp(option, "server_inv"))
		scnprintf(text, size,
			  inv ? ": there, not here" : ": here, not there");
}

/* The peer, or its host, said no. */
static void krping_cm_rejected(struct krping_run *run,
			       const struct rdma_cm_event *event)
{
	char values[KRPING_VALUES];
	struct krping_priv priv;

	/* A peer that gives up, or dies, can say so by a reject, too. */
	if (run->params.role == KRPING_ROLE_SERVER ||
	    test_bit(KRPING_CM_ESTABLISHED, &run->cm.seen)) {
		krping_fail(run, -ECONNRESET,
			    "the peer gave up the connection (status %d)",
			    event->status);
		return;
	}
	/*
	 * Not rdma_consumer_reject_data(): it knows a consumer's reject by the
	 * status, which siw reports as -ECONNRESET.
	 */
	if (!krping_priv_get(&priv, event, KRPING_PRIV_REJECT)) {
		krping_fail(run, -ECONNREFUSED,
			    "connection refused (status %d)", event->status);
		return;
	}
	priv.option[sizeof(priv.option) - 1] = '\0';
	switch (be16_to_cpu(priv.why)) {
	case KRPING_WHY_DIFFERS:
		krping_differs(values, sizeof(values), run, &priv, priv.option);
		krping_fail(run, -EPROTO, "the server refused: %s differs%s",
			    priv.option, values);
		break;
	case KRPING_WHY_BUSY:
		krping_fail(run, -EBUSY, "the server serves another client");
		break;
	default:
		krping_fail(run, -ECONNREFUSED, "the server refused: reason %u",
			    be16_to_cpu(priv.why));
	}
}

static void krping_cm_established(struct krping_run *run,
				  const struct rdma_cm_event *event)
{
	struct krping_params mine = run->params;
	const char *differs = NULL;
	char values[KRPING_VALUES];
	struct krping_priv priv;
	bool ours;

	if (run->params.role == KRPING_ROLE_CLIENT) {
		ours = krping_priv_get(&priv, event, KRPING_PRIV_HELLO);
		krping_note_peer(run, ours, &priv);
		/* A server agrees to all that it was asked for, or refuses. */
		mine.given = U32_MAX;
		if (ours)
			differs = krping_priv_agree(&mine, &priv);
		if (differs) {
			krping_differs(values, sizeof(values), run, &priv,
				       differs);
			krping_fail(run, -EPROTO,
				    "the server answered: %s differs%s",
				    differs, values);
		}
	}
	krping_cm_set(run, KRPING_CM_ESTABLISHED);
}

static int krping_errno(int status, int otherwise)
{
	return status < 0 && status > -MAX_ERRNO ? status : otherwise;
}

/* In the words of the older module. */
static const char *krping_cm_whose(const struct krping_run *run,
				   const struct rdma_cm_id *id)
{
	if (id == run->cm.listen_id || run->params.role == KRPING_ROLE_CLIENT)
		return "parent";
	return "child";
}

static int krping_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krping_run *run = id->context;
	int ret = 0;

	krping_dbg(run, "cma_event type %d cma_id %s", event->event,
		   krping_cm_whose(run, id));
	krping_trace(cm_event, run->rec->id, event->event, event->status);

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		krping_cm_set(run, KRPING_CM_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		krping_cm_set(run, KRPING_CM_ROUTE);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		krping_fail(run, krping_errno(event->status, -EHOSTUNREACH),
			    "resolving the address: error %pe",
			    ERR_PTR(krping_errno(event->status,
						 -EHOSTUNREACH)));
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		krping_fail(run, krping_errno(event->status, -EHOSTUNREACH),
			    "resolving the route: error %pe",
			    ERR_PTR(krping_errno(event->status,
						 -EHOSTUNREACH)));
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		ret = krping_cm_request(run, id, event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		krping_fail(run, krping_errno(event->status, -ECONNRESET),
			    "connecting: error %pe",
			    ERR_PTR(krping_errno(event->status, -ECONNRESET)));
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		krping_fail(run, krping_errno(event->status, -EHOSTUNREACH),
			    "the peer does not answer (status %d)",
			    event->status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		krping_cm_rejected(run, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		krping_cm_established(run, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		krping_cm_set(run, KRPING_CM_DISCONNECTED);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		krping_fail(run, -ENODEV, "the device was removed");
		break;
	default:
		/* ADDR_CHANGE, TIMEWAIT_EXIT: traced, and no concern of ours. */
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
static bool krping_cm_is_over(const struct krping_run *run)
{
	return krping_is_stopping(run) ||
	       test_bit(KRPING_CM_DISCONNECTED, &run->cm.seen);
}

static int krping_wait_cm(struct krping_run *run, enum krping_cm_seen bit)
{
	long ret = wait_event_interruptible(run->wq,
					    test_bit(bit, &run->cm.seen) ||
					    krping_cm_is_over(run));

	if (krping_is_stopping(run))
		return krping_stopped(run);
	if (test_bit(bit, &run->cm.seen)) {
		/* Pairs with krping_cm_set(): what the handler wrote is here. */
		smp_rmb();
		return 0;
	}
	if (ret)
		return krping_fail(run, -EINTR, "interrupted");
	return krping_fail(run, -ECONNRESET,
			   "the connection was closed before it was made");
}

/* A call of rdma_cm was interrupted, or failed with this. */
static int krping_cm_failed(struct krping_run *run, const char *what, int err)
{
	if (err == -ERESTARTSYS || err == -EINTR || signal_pending(current))
		return krping_fail(run, -EINTR, "interrupted");
	if (err == -ECONNREFUSED)
		return krping_fail(run, err, "connection refused");
	return krping_fail(run, err, "%s: error %pe", what, ERR_PTR(err));
}

static struct rdma_cm_id *krping_create_id(struct krping_run *run)
{
	struct rdma_cm_id *id =
		krping_rdma_create_id(run->net, krping_cm_handler, run);

	if (IS_ERR(id)) {
		krping_fail(run, PTR_ERR(id), "creating a cm_id: error %pe",
			    id);
		return NULL;
	}
	krping_dbg(run, "created cm_id");
	return id;
}

static struct sockaddr *krping_sockaddr(const struct krping_run *run,
					struct sockaddr_storage *ss)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = run->params.addr;
	sin->sin_port = cpu_to_be16(run->params.port);
	return (struct sockaddr *)ss;
}

static int krping_alloc(struct krping_run *run, struct rdma_cm_id *id)
{
	int ret;

	krping_enter(run, KRPING_PHASE_ALLOC, run->params.size, 0);
	ret = krping_run_device(run, id->device);
	if (!ret)
		ret = krping_ep_create(run, id);
	if (!ret)
		ret = run->test->alloc(run);
	return ret;
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

/* Connected: put down who with, and on what terms. */
static void krping_connected(struct krping_run *run)
{
	struct krping_record *rec = run->rec;
	const struct krping_cm *cm = &run->cm;
	u64 src_hi, src_lo, dst_hi, dst_lo, t = 0;
	u32 flags = run->params.flags;
	u32 src_port, dst_port;

	rec->params = run->params;
	rec->classic = cm->classic;
	rec->peer_run = cm->peer_run;
	rec->port = cm->id->port_num;
	rec->src = cm->id->route.addr.src_addr;
	rec->dst = cm->id->route.addr.dst_addr;
	krping_set_state(run, KRPING_STATE_CONNECTED);

	if (trace_krping_addr_enabled()) {
		krping_mapped_addr(&rec->src, &src_hi, &src_lo, &src_port);
		krping_mapped_addr(&rec->dst, &dst_hi, &dst_lo, &dst_port);
		krping_trace(addr, rec->id, src_hi, src_lo, dst_hi, dst_lo,
			     src_port, dst_port);
	}
	if (cm->classic)
		flags |= KRPING_RUN_F_CLASSIC;
	if (trace_krping_conn_enabled())
		t = ktime_get_ns();
	krping_trace(conn, rec->id, t, rec->cq, rec->qp, rec->dev, rec->port,
		     run->params.size, run->params.count, flags, cm->peer_run,
		     cm->peer_nonce);
	krping_dbg(run, "ESTABLISHED");
}

static void krping_conn_param(const struct krping_run *run,
			      struct rdma_conn_param *param,
			      struct krping_priv *priv, u8 responder_resources)
{
	krping_priv_fill(priv, run, KRPING_PRIV_HELLO);
	memset(param, 0, sizeof(*param));
	param->responder_resources = responder_resources;
	param->initiator_depth = 1;
	param->retry_count = 7;	    /* the most there is */
	param->rnr_retry_count = 7; /* without end */
	param->private_data = priv;
	param->private_data_len = sizeof(*priv);
}

/*
 * iWARP connects its TCP socket in here, which takes minutes when nobody
 * answers. A signal gets the thread out; so does krping_cm_interrupt().
 */
static int krping_call_connect(struct krping_run *run, struct rdma_cm_id *id,
			       struct rdma_conn_param *param)
{
	int ret;

	WRITE_ONCE(run->cm.connecting, true);
	/* Pairs with krping_cm_interrupt(): one of the two sees the other. */
	smp_mb();
	if (krping_is_stopping(run))
		ret = krping_stopped(run);
	else
		ret = krping_rdma_connect(id, param);
	WRITE_ONCE(run->cm.connecting, false);
	return ret;
}

/**
 * krping_cm_interrupt - get a run out of a connect that nobody answers
 * @run: the run; krping_fail() has told it to stop
 *
 * There is no call to cancel rdma_connect(). But it sleeps interruptibly, and
 * a task that has to return to user mode soon looks interrupted to it; that is
 * how io_uring and live patching get tasks out of system calls.
 *
 * Context: process; the caller keeps the run from ending.
 */
void krping_cm_interrupt(struct krping_run *run)
{
	/* Pairs with krping_call_connect(). */
	smp_mb();
	if (!READ_ONCE(run->cm.connecting))
		return;
	set_tsk_thread_flag(run->task, TIF_NOTIFY_SIGNAL);
	wake_up_process(run->task);
}

/**
 * krping_connect_client - from an address to a connection
 * @run: the run, in phase RESOLVE_ADDR
 *
 * Context: the run's thread; sleeps, interruptible.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_connect_client(struct krping_run *run)
{
	struct rdma_conn_param param;
	struct sockaddr_storage dst;
	struct krping_priv priv;
	struct rdma_cm_id *id;
	int ret;

	id = krping_create_id(run);
	if (!id)
		return run->err;
	run->cm.id = id;

	ret = krping_rdma_resolve_addr(id, krping_sockaddr(run, &dst),
				       KRPING_RESOLVE_MS);
	if (ret)
		return krping_cm_failed(run, "resolving the address", ret);
	ret = krping_wait_cm(run, KRPING_CM_ADDR);
	if (ret)
		return ret;
	krping_set_state(run, KRPING_STATE_ADDR_RESOLVED);

	krping_enter(run, KRPING_PHASE_RESOLVE_ROUTE, 0, 0);
	ret = krping_rdma_resolve_route(id, KRPING_RESOLVE_MS);
	if (ret)
		return krping_cm_failed(run, "resolving the route", ret);
	ret = krping_wait_cm(run, KRPING_CM_ROUTE);
	if (ret)
		return ret;
	krping_set_state(run, KRPING_STATE_ROUTE_RESOLVED);

	ret = krping_alloc(run, id);
	if (ret)
		return ret;

	krping_enter(run, KRPING_PHASE_CONNECT, 0, 0);
	krping_conn_param(run, &param, &priv, 1);
	ret = krping_call_connect(run, id, &param);
	if (ret)
		return krping_cm_failed(run, "connecting", ret);
	run->cm.connected = true;
	ret = krping_wait_cm(run, KRPING_CM_ESTABLISHED);
	if (ret)
		return ret;
	krping_connected(run);
	return 0;
}

/*
 * rdma_cm says -EADDRNOTAVAIL also where one of two listeners on a port is for
 * all addresses. If the address is ours it is the port that is taken.
 */
static int krping_bind_errno(struct krping_run *run, int err)
{
	struct net_device *ndev;

	if (err != -EADDRNOTAVAIL)
		return err;
	if (!run->params.addr)
		return -EADDRINUSE;
	ndev = ip_dev_find(run->net, run->params.addr);
	if (!ndev)
		return err;
	dev_put(ndev);
	return -EADDRINUSE;
}

static int krping_listen(struct krping_run *run)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	id = krping_create_id(run);
	if (!id)
		return run->err;
	WRITE_ONCE(run->cm.listen_id, id);

	ret = krping_rdma_bind_addr(id, krping_sockaddr(run, &addr));
	if (ret)
		return krping_cm_failed(run, "binding the address",
					krping_bind_errno(run, ret));
	krping_dbg(run, "rdma_bind_addr successful");
	if (!id->device && !atomic_read(&krping_nr_devices))
		return krping_fail(run, -ENODEV, "there is no RDMA device");
	if (id->device) {
		ret = krping_run_device(run, id->device);
		if (ret)
			return ret;
	}
	ret = krping_rdma_listen(id, KRPING_BACKLOG);
	if (ret)
		return krping_cm_failed(run, "listening", ret);
	/* Scripts wait for this: from now on a client can connect. */
	run->rec->src = id->route.addr.src_addr;
	krping_dbg(run, "rdma_listen");
	return 0;
}

/* The client's first message can come before the last one of the handshake. */
static int krping_wait_established(struct krping_run *run)
{
	long ret = wait_event_interruptible(run->wq,
			test_bit(KRPING_CM_ESTABLISHED, &run->cm.seen) ||
			READ_ONCE(run->ep.rq_done) || krping_cm_is_over(run));

	if (krping_is_stopping(run))
		return krping_stopped(run);
	if (test_bit(KRPING_CM_ESTABLISHED, &run->cm.seen) ||
	    READ_ONCE(run->ep.rq_done))
		return 0;
	if (ret)
		return krping_fail(run, -EINTR, "interrupted");
	return krping_fail(run, -ECONNRESET,
			   "the client left before the connection was made");
}

/**
 * krping_connect_server - from an address to a connection
 * @run: the run, in phase LISTEN
 *
 * Context: the run's thread; sleeps, interruptible.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_connect_server(struct krping_run *run)
{
	struct rdma_conn_param param;
	struct krping_priv priv;
	struct rdma_cm_id *id;
	int ret;

	run->cm.offer = run->params;
	ret = krping_listen(run) ?: krping_wait_cm(run, KRPING_CM_REQUEST);
	if (ret)
		return ret;
	id = run->cm.id;
	krping_set_state(run, KRPING_STATE_CONNECT_REQUEST);
	run->params = run->cm.agreed;

	ret = krping_alloc(run, id);
	if (ret)
		return ret;

	krping_enter(run, KRPING_PHASE_ACCEPT, 0, 0);
	krping_dbg(run, "accepting client connection request");
	krping_conn_param(run, &param, &priv, run->cm.resources);
	/* rdma_accept() must not race with events of the id. */
	rdma_lock_handler(id);
	ret = krping_rdma_accept(id, &param);
	rdma_unlock_handler(id);
	if (ret)
		return krping_cm_failed(run, "accepting", ret);
	run->cm.connected = true;
	ret = krping_wait_established(run);
	if (ret)
		return ret;
	krping_connected(run);
	return 0;
}

/**
 * krping_cm_may_stall - can leaving the connection take long?
 * @run: the run
 *
 * iw_cm waits, deaf to signals, for the answer to a connect before it lets go
 * of the connection.
 *
 * Return: true for a connect on iWARP that has not been answered.
 */
bool krping_cm_may_stall(const struct krping_run *run)
{
	const struct krping_cm *cm = &run->cm;

	return run->params.role == KRPING_ROLE_CLIENT && cm->connected &&
	       !test_bit(KRPING_CM_ESTABLISHED, &cm->seen) &&
	       rdma_protocol_iwarp(cm->id->device, cm->id->port_num);
}

/*
 * The last message of a run is the server's. Who has to leave first so that it
 * is not lost depends on the transport. On InfiniBand and RoCE the server knows
 * from the completion that the message has arrived, whereas a client that
 * leaves may take back the acknowledgement (and rxe may then repeat the message
 * into every RECV, see do_complete() in rxe_resp.c). On iWARP the completion
 * says only that the message is on its way, and the end of the stream may
 * overtake it at the client. A peer of the classic kind expects the client to
 * leave.
 */
static bool krping_leaves_first(const struct krping_run *run)
{
	const struct krping_cm *cm = &run->cm;
	enum krping_role first = KRPING_ROLE_SERVER;

	if (cm->classic ||
	    rdma_protocol_iwarp(cm->id->device, cm->id->port_num))
		first = KRPING_ROLE_CLIENT;
	return run->params.role == first;
}

/**
 * krping_disconnect - leave the connection, if there is one
 * @run: the run; the queue pair is still there
 *
 * Who did what was asked sees its last message off, and lets the other end
 * leave first if that is how it has to be; but not when it is told to stop.
 *
 * Context: the run's thread, or its work; sleeps, a few seconds at most unless
 * krping_cm_may_stall().
 */
void krping_disconnect(struct krping_run *run)
{
	struct krping_cm *cm = &run->cm;

	if (!cm->connected)
		return;
	if (run->good)
		krping_wait_sends(run);
	if (run->good && !krping_leaves_first(run))
		wait_event_interruptible_timeout(run->wq,
			krping_cm_is_over(run),
			msecs_to_jiffies(KRPING_LEAVE_MS));
	rdma_disconnect(cm->id);
	krping_dbg(run, "disconnected!");
}

/**
 * krping_destroy_ids - give the cm_ids back; after it no CM event comes
 * @run: the run; its queue pair is gone
 *
 * The listener first: it is what can still make a child.
 *
 * Context: the run's thread; sleeps until handlers have returned.
 */
void krping_destroy_ids(struct krping_run *run)
{
	struct krping_cm *cm = &run->cm;

	if (cm->listen_id)
		rdma_destroy_id(cm->listen_id);
	WRITE_ONCE(cm->listen_id, NULL);
	if (cm->id)
		rdma_destroy_id(cm->id);
	WRITE_ONCE(cm->id, NULL);
}

/*
 * Devices come and go
 */

static struct ib_client krping_client;

static int krping_add_device(struct ib_device *dev)
{
	atomic_inc(&krping_nr_devices);
	ib_set_client_data(dev, &krping_client, &krping_client);
	return 0;
}

/**
 * krping_device_is_there - can a run still begin to use a device?
 * @dev: the device
 *
 * Context: under the lock that krping_device_removed() takes, so that a run
 * either sees the device gone or is seen on it.
 * Return: false once krping_device_removed() is about to be called for it.
 */
bool krping_device_is_there(struct ib_device *dev)
{
	return ib_get_client_data(dev, &krping_client);
}

/*
 * The core tells its clients in the reverse order of their registration, so
 * this comes before rdma_cm's event, and before a peer on the same device
 * could look like one that just left.
 */
static void krping_remove_device(struct ib_device *dev, void *client_data)
{
	bool last = atomic_dec_and_test(&krping_nr_devices);

	ib_set_client_data(dev, &krping_client, NULL);
	krping_device_removed(dev, last);
}

static struct ib_client krping_client = {
	.name = "krping",
	.add = krping_add_device,
	.remove = krping_remove_device,
};

/**
 * krping_cm_init - begin to follow devices
 *
 * Return: 0, or a negative errno.
 */
int krping_cm_init(void)
{
	return ib_register_client(&krping_client);
}

/**
 * krping_cm_exit - the reverse
 */
void krping_cm_exit(void)
{
	ib_unregister_client(&krping_client);
}
