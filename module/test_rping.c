// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ping/pong that krping is known for, and that user-space rping speaks:
 *
 *	client					server
 *	fill the source, register it
 *	SEND its address, key and length  --->
 *						READ the source
 *				   <---  SEND "go ahead"
 *	register the sink
 *	SEND its address, key and length  --->
 *						WRITE the data to the sink
 *				   <---  SEND "go ahead"
 *	compare source and sink
 *
 * Each end has one memory region and moves it from buffer to buffer with fast registration,
 * under a new key each time. With mem_mode=dma one key has all memory, and the phases that
 * register are left out; so is that of the WRITE with local_dma_lkey.
 */
#include <linux/err.h>
#include <linux/random.h>
#include "agree.h"
#include "bench.h"
#include "cause.h"
#include "dbg.h"
#include "krping_trace.h"
#include "mr.h"
#include "pattern.h"
#include "registry.h"
#include "run.h"
#include "split.h"
#include "sq.h"
#include "test.h"
#include "wait.h"
#include "wants.h"

/* Private data of an rping run. */
struct rping {
	struct krping_buf start; /* client: the source of its pings */
	struct krping_buf rdma;	 /* client: their sink; server: in between */
	struct krping_mr mr;	 /* none with mem_mode=dma */
	struct krping_key key;	 /* of what is registered now */
	u32 len;		 /* of the ping that is under way; server: 0 until it has come */
};

#define RPING_SHOWN 64 /* bytes that verbose prints */

static struct rping *rping(const struct krping_run *run)
{
	return run->conn.priv;
}

static int rping_alloc(struct krping_run *run, struct krping_conn *conn)
{
	bool client = run->params.role == KRPING_ROLE_CLIENT;
	size_t size = run->params.size;
	int ret;

	/* A classic client does not say how much it will send, which is no more. */
	if (!client && run->conn.classic && !krping_option_given(&run->params, KRPING_OPT_SIZE))
		size = KRPING_SIZE_CONTIGUOUS;

	if (client) {
		ret = krping_buf_alloc(&run->conn.ep, &rping(run)->start, size, DMA_TO_DEVICE);
		if (ret)
			return ret;
	}
	ret = krping_buf_alloc(&run->conn.ep, &rping(run)->rdma, size,
			       client ? DMA_FROM_DEVICE : DMA_BIDIRECTIONAL);
	if (!ret && run->params.mem_mode != KRPING_MEM_DMA)
		ret = krping_mr_alloc(&run->conn.ep, &rping(run)->mr, size);
	return ret;
}

static void rping_free(struct krping_run *run, struct krping_conn *conn)
{
	krping_mr_free(&run->conn.ep, &rping(run)->mr);
	krping_buf_free(&run->conn.ep, &rping(run)->rdma);
	krping_buf_free(&run->conn.ep, &rping(run)->start);
}

static void rping_print(struct krping_run *run, const char *who, u32 len)
{
	char text[RPING_SHOWN];
	size_t size = min_t(u32, len, sizeof(text));

	/* The peer may still write to the buffer: look at a copy alone. */
	memcpy(text, rping(run)->rdma.addr, size);
	barrier();
	/* A peer sent this: print it escaped, and only up to its NUL. */
	pr_info("%sping data (64B max): |%*pE|\n", who, (int)strnlen(text, size), text);
}

static bool rping_looks(const struct krping_run *run)
{
	return run->params.flags & (KRPING_RUN_F_VALIDATE | KRPING_RUN_F_VERBOSE);
}

/* Look at the data that have come; else a server sends them back unseen by the CPU. */
static int rping_look(struct krping_run *run, const char *who, u32 len)
{
	/* The server knows only what the text of a ping is. */
	const void *source = rping(run)->start.addr;
	struct krping_buf *buf = &rping(run)->rdma;
	struct krping_diff diff = { .at = -1 };

	krping_buf_for_cpu(&run->conn.ep, buf);
	if (run->params.flags & KRPING_RUN_F_VERBOSE)
		rping_print(run, who, len);
	if (run->params.flags & KRPING_RUN_F_VALIDATE) {
		diff = source ? krping_pattern_compare(buf->addr, source, len) :
				krping_pattern_check(buf->addr, len, run->phases.turn);
		krping_trace(validate, run->rec->id, run->phases.iter, len, diff.at);
	}
	if (unlikely(diff.at >= 0))
		return krping_fail(&run->verdict, -EBADMSG,
				   "data %s in ping %llu at byte %lld of %u",
				   diff.changed ? "changed while they were compared," : "differ",
				   run->phases.iter, diff.at, len);
	krping_buf_for_device(&run->conn.ep, buf);
	return 0;
}

static bool rping_chains(const struct krping_run *run)
{
	return run->params.flags & KRPING_RUN_F_CHAIN;
}

/* Has a buffer to be registered for this use? A WRITE's source needs no right. */
static bool rping_registers(const struct krping_run *run, int access)
{
	return run->params.mem_mode != KRPING_MEM_DMA &&
	       (access || !(run->params.flags & KRPING_RUN_F_LOCAL_DMA_LKEY));
}

/*
 * Name len bytes of a buffer. The registration, if the buffer takes one, is appended to a
 * chain; without a chain it is a call, and a phase, of its own.
 */
static int rping_name(struct krping_run *run, struct krping_chain *chain, enum krping_phase phase,
		      struct krping_buf *buf, u32 len, int access)
{
	struct krping_key *key = &rping(run)->key;
	struct krping_mr *mr = &rping(run)->mr;
	struct krping_chain own;

	if (unlikely(!rping_registers(run, access))) {
		krping_buf_key(&run->conn.ep, buf, access, key);
		return 0;
	}
	if (chain)
		return krping_mr_chain_reg(&run->conn.ep, mr, chain, buf, len, access, key);
	krping_enter(&run->phases, phase, len, 0);
	return krping_chain_begin(&run->conn.ep, &own, 2)				   ?:
		       krping_mr_chain_reg(&run->conn.ep, mr, &own, buf, len, access, key) ?:
		       krping_post(&run->conn.ep, &own);
}

/* One half of the client's ping: register buf, advertise it, wait for the server's go-ahead. */
static int rping_offer(struct krping_run *run, struct krping_buf *buf, int access,
		       enum krping_phase reg, enum krping_phase send, enum krping_phase wait)
{
	const struct krping_key *key = &rping(run)->key;
	bool inv = run->params.flags & KRPING_RUN_F_SERVER_INV;
	u32 split = run->split.on ? KRPING_MSG_SPLIT : 0;
	bool chains = rping_chains(run);
	u32 size = rping(run)->len;
	struct krping_chain chain;
	struct krping_msg msg;
	struct krping_wr *wr;
	int ret;

	ret = chains ? 0 : rping_name(run, NULL, reg, buf, size, access);
	if (ret)
		return ret;
	krping_enter(&run->phases, send, size, chains ? 0 : key->rkey);
	ret = krping_chain_begin(&run->conn.ep, &chain, chains ? 3 : 1);
	if (!ret && chains)
		ret = rping_name(run, &chain, send, buf, size, access);
	if (ret)
		return ret;
	wr = krping_chain_msg(&run->conn.msgs, &chain, key->addr, key->rkey, size | split);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	krping_cq_arm_early(&run->conn.ep.rcq);
	krping_split_out(&run->split);
	chain.leaves = true;
	ret = krping_post(&run->conn.ep, &chain);
	if (ret)
		return ret;

	krping_enter(&run->phases, wait, size, key->rkey);
	ret = inv ? krping_recv_msg(&run->conn.msgs, &msg) :
		    krping_recv_plain(&run->conn.msgs, &msg);
	if (ret)
		return ret;
	krping_split_in(&run->split, &run->conn.ep, &run->conn.ep.rcq);
	krping_split_peer(&run->split, msg.addr);
	return inv ? krping_mr_remote_inv(&run->conn.ep, &rping(run)->mr, &msg) : 0;
}

/* The ping is complete, which has moved so many bytes. */
static void rping_end(struct krping_run *run, u32 bytes)
{
	struct krping_record *rec = run->rec;

	if (likely(!run->phases.warm))
		WRITE_ONCE(rec->moved, rec->moved + bytes);
	krping_iter_end(&run->phases);
}

/* Until the server has answered this half, it may be between two pings. */
static int rping_client_source(struct krping_run *run)
{
	u32 size = rping(run)->len;

	krping_enter(&run->phases, KRPING_PHASE_FILL, size, 0);
	krping_set_state(run->rec, KRPING_STATE_RDMA_READ_ADV);
	krping_buf_for_cpu(&run->conn.ep, &rping(run)->start);
	krping_pattern_fill(rping(run)->start.addr, size, run->phases.turn);
	krping_buf_for_device(&run->conn.ep, &rping(run)->start);

	return rping_offer(run, &rping(run)->start, IB_ACCESS_REMOTE_READ, KRPING_PHASE_REG_SOURCE,
			   KRPING_PHASE_SEND_SOURCE, KRPING_PHASE_WAIT_READ);
}

static int rping_client_sink(struct krping_run *run)
{
	int ret;

	krping_set_state(run->rec, KRPING_STATE_RDMA_WRITE_ADV);
	ret = rping_offer(run, &rping(run)->rdma, IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE,
			  KRPING_PHASE_REG_SINK, KRPING_PHASE_SEND_SINK, KRPING_PHASE_WAIT_WRITE);
	if (ret)
		return ret;
	krping_set_state(run->rec, KRPING_STATE_RDMA_WRITE_COMPLETE);

	if (!rping_looks(run))
		return 0;
	krping_enter(&run->phases, KRPING_PHASE_VALIDATE, rping(run)->len, 0);
	return rping_look(run, "", rping(run)->len);
}

static int rping_client(struct krping_run *run)
{
	bool splits;
	int ret = 0;

	run->conn.msgs.may_split = run->conn.peer.can & KRPING_PRIV_CAN_SPLIT;
	while (!krping_is_asked_to_end(&run->verdict) && (ret = krping_run_next(run)) > 0) {
		rping(run)->len = run->params.size;
		if (unlikely(run->params.flags & KRPING_RUN_F_RANDOM_SIZE))
			rping(run)->len = 1 + get_random_u32() % run->params.size;
		krping_iter_begin(&run->phases);
		/* Does somebody want to know whose time this iteration is? */
		splits = run->params.flags & KRPING_RUN_F_SPLIT ||
			 trace_krping_iter_split_enabled();
		krping_split_begin(&run->split, &run->conn.ep, splits && run->conn.msgs.may_split);
		ret = rping_client_source(run);
		if (krping_run_peer_may_leave(run, ret))
			return 0;
		if (!ret)
			ret = rping_client_sink(run);
		if (ret)
			return ret;
		krping_split_end(&run->split, &run->phases);
		rping_end(run, 2 * rping(run)->len);
	}
	return ret;
}

/* An advertisement is checked before anything is posted for it. */
static int rping_check_adv(struct krping_run *run, const struct krping_msg *msg)
{
	struct krping_params *params = &run->params;
	u32 size = 0, most;

	/* Adopt the size that the first message of a classic client shows. */
	if (run->conn.classic && !krping_option_given(params, KRPING_OPT_SIZE) &&
	    !run->phases.turn && !rping(run)->len && msg->len &&
	    msg->len <= min_not_zero(params->accept_size, (u32)rping(run)->rdma.size)) {
		params->size = msg->len;
		krping_record_set(run->rec->params.size, msg->len);
	}
	/*
	 * A classic client may send less than the server was told, and never more than it accepts.
	 * With random_size the sink of a ping is as long as its source.
	 */
	if (!run->conn.classic)
		size = unlikely(params->flags & KRPING_RUN_F_RANDOM_SIZE) ? rping(run)->len :
									    params->size;
	most = min_not_zero(params->accept_size, params->size);
	if (!msg->len || msg->len > most || (size && msg->len != size))
		return krping_fail(&run->verdict, -EPROTO, "%u bytes advertised, %u agreed",
				   msg->len, size ?: most);
	return 0;
}

/*
 * Append a READ or WRITE between our buffer and the peer's. The device does not need our key
 * behind a READ: the READ invalidates the key, or the request behind the READ does.
 */
static struct krping_wr *rping_chain_move(struct krping_run *run, struct krping_chain *chain,
					  bool reads, const struct krping_msg *adv)
{
	bool invalidates = reads && run->params.mem_mode != KRPING_MEM_DMA;
	bool by_itself = invalidates && run->params.flags & KRPING_RUN_F_READ_INV;
	enum krping_wr_kind kind = by_itself ? KRPING_WR_READ_INV :
				   reads     ? KRPING_WR_RDMA_READ :
					       KRPING_WR_RDMA_WRITE;
	struct krping_wr *wr = krping_chain_move(&run->conn.ep, chain, kind, &rping(run)->key, adv);

	if (by_itself)
		krping_mr_read_inv(&run->conn.ep, &rping(run)->mr, wr);
	else if (invalidates)
		krping_mr_chain_inv(&run->conn.ep, &rping(run)->mr, chain, true);
	return wr;
}

/* Post a chain with a READ or WRITE, and wait for that. */
static int rping_move(struct krping_run *run, struct krping_chain *chain,
		      const struct krping_wr *wr)
{
	int ret;

	krping_cq_arm_early(&run->conn.ep.scq);
	krping_split_out(&run->split);
	ret = krping_post(&run->conn.ep, chain);
	if (ret)
		return ret;
	run->conn.ep.rdma = wr;
	ret = krping_wait_done(&run->conn.ep, wr);
	if (!ret)
		krping_split_in(&run->split, &run->conn.ep, &run->conn.ep.scq);
	return ret;
}

/* The go-ahead, behind what the chain has already. */
static int rping_go_ahead(struct krping_run *run, struct krping_chain *chain,
			  const struct krping_msg *adv, bool fence)
{
	struct krping_wr *wr;
	u64 host_ns = 0;

	krping_cq_arm_early(&run->conn.ep.rcq);
	/* A chain has the go-ahead before the READ has begun. */
	if (run->split.on && !rping_chains(run)) {
		krping_split_out(&run->split);
		host_ns = run->split.known ? run->split.host_ns : 0;
	}
	wr = krping_chain_msg(&run->conn.msgs, chain, host_ns, 0, 0);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	if (run->params.flags & KRPING_RUN_F_SERVER_INV)
		krping_wr_invalidates(chain, wr, adv->rkey);
	if (fence)
		wr->send.send_flags |= IB_SEND_FENCE;
	krping_dbg(run->rec->id, "server posted go ahead");
	chain->leaves = true;
	return krping_post(&run->conn.ep, chain);
}

/*
 * READ the client's source, or WRITE to its sink. With chain all of it is one call, and
 * nobody looks at the data in between. Inlined, since most of it is constant.
 */
static __always_inline int rping_server_half(struct krping_run *run, const struct krping_msg *adv,
					     bool reads)
{
	enum krping_phase last = reads ? KRPING_PHASE_GO_AHEAD_READ : KRPING_PHASE_GO_AHEAD_WRITE;
	enum krping_phase move = reads ? KRPING_PHASE_RDMA_READ : KRPING_PHASE_RDMA_WRITE;
	enum krping_phase reg = reads ? KRPING_PHASE_REG_READ : KRPING_PHASE_REG_WRITE;
	bool inv = run->params.flags & KRPING_RUN_F_SERVER_INV;
	/* The source of a WRITE is only read locally, which needs no right. */
	int ret, access = reads ? IB_ACCESS_LOCAL_WRITE : 0;
	struct krping_buf *buf = &rping(run)->rdma;
	bool chains = rping_chains(run);
	struct krping_chain chain;
	struct krping_wr *wr;

	/* iWARP writes a READ's answer like a peer's WRITE (RFC 5040, 5.4). */
	if (reads && run->conn.ep.iwarp)
		access |= IB_ACCESS_REMOTE_WRITE;
	ret = chains ? 0 : rping_name(run, NULL, reg, buf, adv->len, access);
	if (ret)
		return ret;
	krping_enter(&run->phases, chains ? last : move, adv->len, adv->rkey);
	ret = krping_chain_begin(&run->conn.ep, &chain, chains ? 5 : 2);
	if (!ret && chains)
		ret = rping_name(run, &chain, last, buf, adv->len, access);
	if (ret)
		return ret;
	wr = rping_chain_move(run, &chain, reads, adv);
	if (unlikely(chains)) {
		/* The peer may use its memory again when it has the go-ahead. */
		ret = rping_go_ahead(run, &chain, adv, reads);
		if (!ret)
			run->conn.ep.rdma = wr;
		return ret;
	}

	ret = rping_move(run, &chain, wr);
	if (ret)
		return ret;
	krping_set_state(run->rec, reads ? KRPING_STATE_RDMA_READ_COMPLETE :
					   KRPING_STATE_RDMA_WRITE_COMPLETE);
	if (!reads)
		krping_set_state(run->rec, KRPING_STATE_CONNECTED);
	else if (rping_looks(run))
		ret = rping_look(run, "server ", adv->len);
	if (ret)
		return ret;
	krping_enter(&run->phases, last, 0, inv ? adv->rkey : 0);
	return krping_chain_begin(&run->conn.ep, &chain, 1) ?:
							      rping_go_ahead(run, &chain, adv, false);
}

static int rping_server_ping(struct krping_run *run, struct krping_msg *adv)
{
	int ret = rping_check_adv(run, adv);

	if (ret)
		return ret;
	rping(run)->len = adv->len;
	krping_split_serve(&run->split, &run->conn.ep, adv->split);
	krping_set_state(run->rec, KRPING_STATE_RDMA_READ_ADV);
	ret = rping_server_half(run, adv, true);
	if (ret)
		return ret;

	krping_enter(&run->phases, KRPING_PHASE_WAIT_SINK, 0, 0);
	ret = krping_recv_plain(&run->conn.msgs, adv) ?: rping_check_adv(run, adv);
	if (ret)
		return ret;
	krping_split_serve(&run->split, &run->conn.ep, adv->split);
	krping_set_state(run->rec, KRPING_STATE_RDMA_WRITE_ADV);
	return rping_server_half(run, adv, false);
}

static int rping_server(struct krping_run *run)
{
	struct krping_msg adv;
	int ret;

	run->conn.msgs.may_split = run->conn.peer.can & KRPING_PRIV_CAN_SPLIT;
	while ((ret = krping_run_next(run)) > 0) {
		rping(run)->len = 0;
		krping_iter_begin(&run->phases);
		krping_enter(&run->phases, KRPING_PHASE_WAIT_SOURCE, 0, 0);
		ret = krping_recv_plain(&run->conn.msgs, &adv);
		if (krping_run_peer_may_leave(run, ret))
			return 0;
		/* A client that has begun another ping has the last message of the one before. */
		if (krping_is_asked_to_end(&run->verdict) && !READ_ONCE(run->verdict.err))
			return 0;
		if (ret)
			return ret;
		ret = rping_server_ping(run, &adv);
		if (ret)
			return ret;
		rping_end(run, rping(run)->len + adv.len);
	}
	return ret;
}

const struct krping_test krping_test_rping = {
	.moves = 2, /* read by the server, and written back */
	/*
	 * A server posts LOCAL_INV, REG_MR, READ, LOCAL_INV, SEND, REG_MR, WRITE, SEND; of the
	 * iteration before two SENDs may still be in flight.
	 */
	.requests = 8 + 2,
	.priv_size = sizeof(struct rping),
	.alloc = rping_alloc,
	.free = rping_free,
	.client = rping_client,
	.server = rping_server,
};
