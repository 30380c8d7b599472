// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does the provider protect memory? A run makes one case of KRPING_CASES:
 *
 *	client					server
 *	SEND "case"			   --->
 *					   <---	SEND "case"
 *	make a second connection	   --->	let it in
 *	register a part of its buffer		register a part of its buffer
 *					   <---	SEND how the client names that
 *	the access of the case		   ===>
 *	SEND "seen"			   ===>
 *					   <===	SEND "seen"
 *	leave the second connection		leave the second connection
 *	SEND what it saw		   --->
 *					   <---	SEND what it saw
 *
 * A wrong access ends the connection on which it is made, one way or the other, so the
 * access has a connection, a PD and memory of its own (===>). The run's connection
 * stays: both ends learn by it what the other end saw, and its PD is the other PD, with
 * a valid key, that some cases need.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include "cause.h"
#include "drain.h"
#include "krping_trace.h"
#include "mr_trace.h"
#include "mr.h"
#include "protect.h"
#include "qp.h"
#include "registry.h"
#include "run.h"
#include "sq.h"
#include "test.h"
#include "wait.h"

/*
 * The part of the buffer that is registered. It begins and ends inside a page, and one
 * more page is behind it, so that an access beyond it meets this buffer. Where pages are
 * larger than 4096 bytes all is in one page, and past_page is one more past_end.
 */
#define PROTECT_AT    512U
#define PROTECT_LEN   (4096U + 1024)
#define PROTECT_SOME  64U /* bytes of a wrong access */
/* Where the page behind the last one begins. */
#define PROTECT_PAGES (2 * 4096U)

#define PROTECT_REQUESTS 8

/* How long the client waits to see what became of its access. */
#define PROTECT_CLIENT_MS 5000
/* How long the server waits for the client's connection, then to hear it go on or see it leave. */
#define PROTECT_SERVER_MS 15000
/* How long an end lets the other one leave first. */
#define PROTECT_LEAVE_MS  500

/* In the key of a message that advertises nothing, with the case. */
#define PROTECT_CASE 0x70726f00U
#define PROTECT_SEEN 0x73656500U
#define PROTECT_NOTE 0x6e6f7400U

#define PROTECT_RIGHTS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

static_assert(KRPING_NR_CASES <= 0xff);

struct protect_mem {
	struct krping_buf buf;
	struct krping_mr mr;
	struct krping_key key;
};

/* Private data of a run. */
struct protect {
	struct krping_request second; /* server: where @conn comes from */

	/* The second connection, and what is in its PD. */
	bool up;
	struct krping_conn conn;
	struct krping_ep ep;
	struct krping_msgs msgs;
	struct protect_mem mem;

	struct protect_mem spare; /* in the PD of the run's connection */
	bool offered;		  /* the access may come */
	struct krping_protect found;
};

static struct protect *protect(const struct krping_run *run)
{
	return run->priv;
}

static bool protect_is_client(const struct krping_run *run)
{
	return run->params.role == KRPING_ROLE_CLIENT;
}

static enum krping_wr_kind protect_verb(const struct krping_run *run)
{
	return krping_case_verb(run->params.case_nr);
}

static enum krping_wrong protect_wrong(const struct krping_run *run)
{
	return krping_case_wrong(run->params.case_nr);
}

static struct krping_note *protect_own(const struct krping_run *run)
{
	struct krping_protect *found = &protect(run)->found;

	return protect_is_client(run) ? &found->client : &found->server;
}

static struct krping_note *protect_peers(const struct krping_run *run)
{
	struct krping_protect *found = &protect(run)->found;

	return protect_is_client(run) ? &found->server : &found->client;
}

static struct krping_listener *protect_listener(struct krping_run *run)
{
	return run->parent ? &run->parent->listener : &run->listener;
}

/*
 * Memory. All bytes of the client differ from all of the server, so that each byte
 * that moves shows, wherever it comes from.
 */

static u8 protect_byte(const struct krping_run *run, size_t at, bool client)
{
	u8 byte = at * 7 + run->params.case_nr * 31 + 13;

	return client ? byte | 0x80 : byte & 0x7f;
}

static int protect_mem_alloc(struct krping_run *run, struct krping_ep *ep, struct protect_mem *mem)
{
	struct krping_buf *buf = &mem->buf;
	u8 *bytes;
	size_t i;
	int ret;

	ret = krping_buf_alloc(ep, buf, KRPING_PROTECT_SIZE - ep->offset, DMA_BIDIRECTIONAL);
	if (ret)
		return ret;
	krping_buf_for_cpu(ep, buf);
	bytes = buf->base;
	for (i = 0; i < buf->bytes; i++)
		bytes[i] = protect_byte(run, i, protect_is_client(run));
	krping_buf_for_device(ep, buf);
	return krping_mr_alloc(ep, &mem->mr, PROTECT_LEN);
}

static void protect_mem_free(struct krping_ep *ep, struct protect_mem *mem)
{
	krping_mr_free(ep, &mem->mr);
	krping_buf_free(ep, &mem->buf);
}

/* Does the access move data to this end, if the provider lets it? */
static bool protect_is_sink(const struct krping_run *run)
{
	enum krping_wr_kind verb = protect_verb(run);

	if (protect_wrong(run))
		return false;
	if (!protect_is_client(run))
		return verb == KRPING_WR_RDMA_WRITE;
	return verb == KRPING_WR_RDMA_READ || (verb == KRPING_WR_READ_INV && run->ep.iwarp);
}

/* Count what is not as it was; all of the part has to be the peer's if @sink. */
static void protect_compare(struct krping_run *run, struct krping_ep *ep, struct krping_buf *buf,
			    bool sink)
{
	struct krping_note *note = protect_own(run);
	bool client = protect_is_client(run);
	const u8 *bytes = buf->base;
	size_t i;

	if (!bytes)
		return;
	krping_buf_for_cpu(ep, buf);
	for (i = 0; i < buf->bytes; i++) {
		bool comes = sink && i - PROTECT_AT < PROTECT_LEN;
		/* The peer may still have a key of it. */
		u8 byte = READ_ONCE(bytes[i]);

		if (byte != protect_byte(run, i, client))
			note->moved++;
		if (byte != protect_byte(run, i, comes ? !client : client))
			note->saw |= KRPING_SAW_OTHER_DATA;
	}
	krping_buf_for_device(ep, buf);
}

/*
 * The second connection
 */

static int protect_let_in(struct krping_run *run)
{
	struct protect *p = protect(run);

	krping_enter(&run->phases, KRPING_PHASE_LISTEN, 0, 0);
	if (!krping_sleep(&run->verdict, msecs_to_jiffies(PROTECT_SERVER_MS),
			  krping_request_came(&p->second) || krping_must_stop(&run->ep)))
		return krping_fail(&run->verdict, -ETIMEDOUT,
				   "the client makes no second connection");
	if (!krping_request_came(&p->second))
		return krping_why(&run->ep, 0);
	krping_conn_adopt(&p->conn, &p->second);
	return krping_is_stopping(&run->verdict) ? krping_stopped(&run->verdict) : 0;
}

static int protect_up(struct krping_run *run)
{
	bool client = protect_is_client(run);
	struct protect *p = protect(run);
	int ret;

	krping_ep_init(&p->ep, run->rec, &run->verdict, &run->phases);
	p->ep.offset = PROTECT_AT;
	/* A run's events tell its requests apart by this number. */
	p->ep.next_cid = 1U << 16;
	krping_conn_init(&p->conn, &p->ep, &p->msgs, &run->params, run->net);
	p->conn.cm.writer = run->conn.cm.writer;
	p->conn.queue = 1;
	p->up = true;
	if (client) {
		krping_enter(&run->phases, KRPING_PHASE_RESOLVE_ADDR, 0, 0);
		ret = krping_resolve(&p->conn);
	} else {
		ret = protect_let_in(run);
	}
	if (ret)
		return ret;
	krping_enter(&run->phases, KRPING_PHASE_ALLOC, PROTECT_LEN, 0);
	if (p->conn.cm.id->device != run->ep.dev)
		return krping_fail(&run->verdict, -ENODEV,
				   "the second connection is on another device");
	ret = krping_conn_alloc(&p->conn, PROTECT_REQUESTS, NULL);
	if (!ret)
		ret = protect_mem_alloc(run, &p->ep, &p->mem);
	if (!ret)
		ret = client ? krping_connect(&p->conn) : krping_accept(&p->conn);
	if (!ret &&
	    (p->conn.peer.run != run->conn.peer.run || p->conn.peer.nonce != run->conn.peer.nonce))
		ret = krping_fail(&run->verdict, -EPROTO,
				  "the second connection is another peer's");
	return ret;
}

static void protect_down(struct krping_run *run)
{
	bool heard = protect_own(run)->saw & KRPING_SAW_MESSAGE;
	struct protect *p = protect(run);

	krping_request_forget(&p->second);
	if (!p->up)
		return;
	p->up = false;
	krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
	/*
	 * A client leaves that knows that it was refused; on InfiniBand and RoCE a
	 * SEND_WITH_INV is answered before its key is looked at, and the client waits. On
	 * iWARP the end of the connection may overtake the server's message.
	 */
	krping_conn_leave(&p->conn,
			  protect_is_client(run) ? 0 :
			  heard			 ? KRPING_LEAVE_MS :
						   PROTECT_LEAVE_MS,
			  true);
	/* Nothing moves any more, and no event comes. */
	if (p->offered) {
		protect_compare(run, &p->ep, &p->mem.buf, protect_is_sink(run));
		protect_compare(run, &run->ep, &p->spare.buf, false);
		protect_own(run)->events = p->ep.qp_events;
	}
	/* The REG_MR was posted here, and its number tells whether it was executed. */
	if (protect_verb(run) == KRPING_WR_REG_MR && protect_wrong(run))
		krping_mr_free(&p->ep, &p->spare.mr);
	protect_mem_free(&p->ep, &p->mem);
	krping_conn_free(&p->conn);
}

/*
 * Messages
 */

/* In the cases of SEND_WITH_INV what a client says of its access is the access. */
static int protect_hear(struct krping_run *run, struct krping_msgs *msgs, u32 what,
			struct krping_msg *msg)
{
	u32 key = what | run->params.case_nr;
	int ret = what == PROTECT_SEEN && !protect_is_client(run) ? krping_recv_msg(msgs, msg) :
								    krping_recv_plain(msgs, msg);

	if (!ret && (msg->rkey != key || msg->len))
		ret = krping_fail(&run->verdict, -EPROTO,
				  "a message of another case: 0x%x, and this is 0x%x", msg->rkey,
				  key);
	return ret;
}

/* Both ends say so much. The client speaks first, as iWARP asks of it (RFC 5044, 7.1). */
static int protect_swap(struct krping_run *run, u32 what)
{
	u64 note = krping_note_pack(protect_own(run));
	u32 key = what | run->params.case_nr;
	bool client = protect_is_client(run);
	struct krping_msg msg;
	int ret = 0;

	krping_enter(&run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	if (client)
		ret = krping_say(&run->msgs, note, key, 0, NULL);
	if (!ret)
		ret = protect_hear(run, &run->msgs, what, &msg);
	krping_enter(&run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	if (!ret && !client)
		ret = krping_say(&run->msgs, note, key, 0, NULL);
	if (!ret)
		krping_note_unpack(protect_peers(run), msg.addr);
	return ret;
}

/*
 * Keys
 */

static void protect_arrange(struct krping_run *run)
{
	krping_enter(&run->phases, KRPING_PHASE_ARRANGE, PROTECT_LEN, 0);
}

static int protect_post_and_wait(struct krping_run *run, struct krping_ep *ep,
				 struct krping_chain *chain)
{
	int ret;

	krping_wr_await(chain, chain->last);
	ret = krping_post(ep, chain);
	if (!ret)
		ret = krping_wait_done(ep, chain->last);
	protect_arrange(run);
	return ret;
}

static int protect_register(struct krping_run *run, struct krping_ep *ep, struct protect_mem *mem,
			    int access)
{
	struct krping_chain chain;
	int ret = krping_chain_begin(ep, &chain, 2);

	if (!ret)
		ret = krping_mr_chain_reg(ep, &mem->mr, &chain, &mem->buf, PROTECT_LEN, access,
					  &mem->key);
	return ret ?: protect_post_and_wait(run, ep, &chain);
}

static int protect_invalidate(struct krping_run *run)
{
	struct protect *p = protect(run);
	struct krping_chain chain;
	int ret = krping_chain_begin(&p->ep, &chain, 1);

	if (ret)
		return ret;
	krping_mr_chain_inv(&p->ep, &p->mem.mr, &chain, false);
	return protect_post_and_wait(run, &p->ep, &chain);
}

/* What the server's memory is registered for. */
static int protect_server_access(const struct krping_run *run)
{
	const int write = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	bool right = protect_wrong(run) != KRPING_WRONG_NO_RIGHT;

	switch (protect_verb(run)) {
	case KRPING_WR_RDMA_READ:
	case KRPING_WR_READ_INV:
		return right ? IB_ACCESS_REMOTE_READ : write;
	case KRPING_WR_RDMA_WRITE:
		return right ? write : IB_ACCESS_REMOTE_READ;
	default:
		return PROTECT_RIGHTS;
	}
}

/* And what the client's is. */
static int protect_client_access(const struct krping_run *run)
{
	enum krping_wr_kind verb = protect_verb(run);

	/* The source of a WRITE is only read, by this end. */
	if (verb == KRPING_WR_RDMA_WRITE || protect_wrong(run) == KRPING_WRONG_LOCAL_NO_RIGHT)
		return 0;
	if (verb != KRPING_WR_RDMA_READ && verb != KRPING_WR_READ_INV)
		return PROTECT_RIGHTS;
	/* iWARP writes a READ's answer like a peer's WRITE (RFC 5040, 5.4). */
	return IB_ACCESS_LOCAL_WRITE | (run->ep.iwarp ? IB_ACCESS_REMOTE_WRITE : 0);
}

/* Make ready what the client is told to use: @key. */
static int protect_make_key(struct krping_run *run, struct krping_key *key)
{
	int access = protect_server_access(run);
	struct protect *p = protect(run);
	int ret = protect_register(run, &p->ep, &p->mem, access);

	*key = p->mem.key;
	if (ret)
		return ret;
	switch (protect_wrong(run)) {
	case KRPING_WRONG_INVALIDATED:
		return protect_invalidate(run);
	case KRPING_WRONG_KEY_BEFORE:
		return protect_register(run, &p->ep, &p->mem, access);
	case KRPING_WRONG_DEREG:
		krping_mr_free(&p->ep, &p->mem.mr);
		return 0;
	case KRPING_WRONG_OTHER_PD:
		ret = protect_register(run, &run->ep, &p->spare, PROTECT_RIGHTS);
		*key = p->spare.key;
		return ret;
	default:
		return 0;
	}
}

static int protect_make_own(struct krping_run *run)
{
	struct protect *p = protect(run);
	int ret;

	/* To register is what the client does in the case. */
	if (protect_verb(run) == KRPING_WR_REG_MR)
		return 0;
	ret = protect_register(run, &p->ep, &p->mem, protect_client_access(run));
	if (!ret && protect_wrong(run) == KRPING_WRONG_LOCAL_INVALIDATED)
		ret = protect_invalidate(run);
	if (!ret && protect_wrong(run) == KRPING_WRONG_LOCAL_OTHER_PD)
		ret = protect_register(run, &run->ep, &p->spare, PROTECT_RIGHTS);
	return ret;
}

/*
 * The client's access
 */

static void protect_fill_move(struct krping_run *run, struct krping_wr *wr,
			      const struct krping_msg *adv)
{
	enum krping_wrong wrong = protect_wrong(run);
	struct protect *p = protect(run);

	wr->len = wrong ? PROTECT_SOME : PROTECT_LEN;
	wr->sge.addr = p->mem.key.addr;
	wr->sge.lkey = p->mem.key.lkey;
	wr->rdma.wr.sg_list = &wr->sge;
	wr->rdma.wr.num_sge = 1;
	wr->rdma.remote_addr = adv->addr;
	wr->rdma.rkey = adv->rkey;
	switch (wrong) {
	case KRPING_WRONG_PAST_END:
		wr->rdma.remote_addr += PROTECT_LEN - PROTECT_SOME + 1;
		break;
	case KRPING_WRONG_PAST_PAGE:
		wr->rdma.remote_addr += PROTECT_LEN - PROTECT_SOME;
		wr->len = PROTECT_PAGES - (PROTECT_AT + PROTECT_LEN) + 2 * PROTECT_SOME;
		break;
	case KRPING_WRONG_BEFORE:
		wr->rdma.remote_addr--;
		break;
	case KRPING_WRONG_LOCAL_PAST_END:
		wr->sge.addr += PROTECT_LEN - PROTECT_SOME + 1;
		break;
	case KRPING_WRONG_LOCAL_OTHER_PD:
		wr->sge.addr = p->spare.key.addr;
		wr->sge.lkey = p->spare.key.lkey;
		break;
	default:
		break;
	}
	wr->sge.length = wr->len;
}

/* Append the access of the case. Returns the request, or an ERR_PTR(). */
static struct krping_wr *protect_add(struct krping_run *run, struct krping_chain *chain,
				     const struct krping_msg *adv)
{
	enum krping_wr_kind verb = protect_verb(run);
	struct protect *p = protect(run);
	struct krping_ep *ep = &p->ep;
	struct krping_key key;
	struct krping_wr *wr;
	int ret;

	switch (verb) {
	case KRPING_WR_SEND:
	case KRPING_WR_SEND_INV:
		wr = krping_chain_msg(&p->msgs, chain, 0, PROTECT_SEEN | run->params.case_nr, 0);
		if (!IS_ERR(wr) && verb == KRPING_WR_SEND_INV)
			krping_wr_invalidates(chain, wr, adv->rkey);
		return wr;
	case KRPING_WR_REG_MR:
		ret = krping_mr_chain_reg(ep, protect_wrong(run) ? &p->spare.mr : &p->mem.mr, chain,
					  &p->mem.buf, PROTECT_LEN, PROTECT_RIGHTS, &key);
		if (ret)
			return ERR_PTR(ret);
		krping_wr_await(chain, chain->last);
		return chain->last;
	case KRPING_WR_LOCAL_INV:
		wr = krping_mr_chain_inv(ep, &p->mem.mr, chain, false);
		krping_wr_await(chain, wr);
		return wr;
	default:
		wr = krping_chain_add(ep, chain, verb);
		protect_fill_move(run, wr, adv);
		if (verb == KRPING_WR_READ_INV)
			krping_mr_read_inv(ep, &p->mem.mr, wr);
		return wr;
	}
}

/*
 * Note how a wait ended: 0, or an errno that also says that the run has to end. A
 * wait without a cause on record is what the case may come to.
 */
static int protect_saw(struct krping_run *run, int ret, u8 good)
{
	struct krping_note *note = protect_own(run);
	struct krping_ep *ep = &protect(run)->ep;

	if (!ret) {
		note->saw |= good;
		return 0;
	}
	if (ret == -EINTR || krping_is_stopping(&run->verdict))
		return ret;
	if (ret == -ETIMEDOUT) {
		note->saw |= KRPING_SAW_NOTHING;
		/* Nothing of this connection is waited for any more. */
		krping_ep_drain(ep);
	} else {
		note->saw |= KRPING_SAW_END;
	}
	if (ep->first_error_status) {
		note->saw |= KRPING_SAW_ERROR;
		note->status = ep->first_error_status;
	}
	return 0;
}

static int protect_try(struct krping_run *run, const struct krping_msg *adv)
{
	struct krping_note *note = protect_own(run);
	struct krping_ep *ep = &protect(run)->ep;
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_TRY, PROTECT_LEN, adv->rkey);
	if (protect_verb(run) == KRPING_WR_READ_INV && !ep->iwarp) {
		note->saw |= KRPING_SAW_NO_VERB;
		return 0;
	}
	ret = krping_chain_begin(ep, &chain, 2);
	if (ret)
		return ret;
	wr = protect_add(run, &chain, adv);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	ret = krping_post(ep, &chain);
	if (ret && ret != -ECONNRESET && !krping_is_stopping(&run->verdict)) {
		note->saw |= KRPING_SAW_REFUSED;
		return 0;
	}
	if (!ret)
		ret = krping_wait_outcome(ep, wr, PROTECT_CLIENT_MS);
	return protect_saw(run, ret, KRPING_SAW_COMPLETED);
}

/* If nothing has failed: is the peer still there, and does it hear of this? */
static int protect_ask(struct krping_run *run)
{
	enum krping_wr_kind verb = protect_verb(run);
	struct krping_note *note = protect_own(run);
	struct protect *p = protect(run);
	struct krping_msg msg;
	int ret = 0;

	krping_enter(&run->phases, KRPING_PHASE_OUTCOME, 0, 0);
	if (note->saw & (KRPING_SAW_END | KRPING_SAW_NOTHING))
		return 0;
	/* A SEND is what asks. */
	if ((verb != KRPING_WR_SEND && verb != KRPING_WR_SEND_INV) ||
	    note->saw & KRPING_SAW_REFUSED)
		ret = krping_say(&p->msgs, 0, PROTECT_SEEN | run->params.case_nr, 0, NULL);
	if (!ret)
		ret = krping_wait_outcome(&p->ep, NULL, PROTECT_CLIENT_MS);
	ret = protect_saw(run, ret, KRPING_SAW_MESSAGE);
	if (ret || !(note->saw & KRPING_SAW_MESSAGE))
		return ret;
	return protect_hear(run, &p->msgs, PROTECT_SEEN, &msg);
}

/* From here on failures of the second connection are what the case is for. */
static void protect_offer(struct krping_run *run)
{
	protect(run)->offered = true;
	WRITE_ONCE(protect(run)->ep.may_fail, true);
}

static int protect_client_case(struct krping_run *run)
{
	struct krping_msg adv;
	int ret = protect_make_own(run) ?: krping_recv_plain(&run->msgs, &adv);

	if (!ret && adv.len != PROTECT_LEN)
		ret = krping_fail(&run->verdict, -EPROTO, "%u bytes advertised, %u agreed", adv.len,
				  PROTECT_LEN);
	if (ret)
		return ret;
	protect_offer(run);
	return protect_try(run, &adv) ?: protect_ask(run);
}

/* A message that came behind the access. Which key did it invalidate? */
static int protect_heard(struct krping_run *run)
{
	struct protect *p = protect(run);
	struct krping_mr *mr = NULL;
	struct krping_msg msg;
	int ret = protect_hear(run, &p->msgs, PROTECT_SEEN, &msg);

	if (ret)
		return ret;
	if (msg.has_inv && p->mem.mr.mr && msg.inv_key == p->mem.mr.mr->rkey)
		mr = &p->mem.mr;
	else if (msg.has_inv && p->spare.mr.mr && msg.inv_key == p->spare.mr.mr->rkey)
		mr = &p->spare.mr;
	if (mr && mr->state == KRPING_MR_VALID)
		ret = krping_mr_remote_inv(&p->ep, mr, &msg);
	if (msg.has_inv != (protect_verb(run) == KRPING_WR_SEND_INV) ||
	    (msg.has_inv && mr != &p->mem.mr))
		protect_own(run)->saw |= KRPING_SAW_OTHER_DATA;
	return ret ?: krping_say(&p->msgs, 0, PROTECT_SEEN | run->params.case_nr, 0, NULL);
}

static int protect_server_case(struct krping_run *run)
{
	struct protect *p = protect(run);
	struct krping_key key;
	int ret = protect_make_key(run, &key);

	if (ret)
		return ret;
	protect_offer(run);
	ret = krping_say(&run->msgs, key.addr, key.rkey, PROTECT_LEN, NULL);
	if (ret)
		return ret;
	krping_enter(&run->phases, KRPING_PHASE_OUTCOME, 0, 0);
	ret = krping_wait_outcome(&p->ep, NULL, PROTECT_SERVER_MS);
	ret = protect_saw(run, ret, KRPING_SAW_MESSAGE);
	if (!ret && protect_own(run)->saw & KRPING_SAW_MESSAGE)
		ret = protect_heard(run);
	return ret;
}

/*
 * The run
 */

static int protect_alloc(struct krping_run *run)
{
	enum krping_wrong wrong = protect_is_client(run) ? KRPING_WRONG_LOCAL_OTHER_PD :
							   KRPING_WRONG_OTHER_PD;
	struct protect *p = protect(run);

	return protect_wrong(run) == wrong ? protect_mem_alloc(run, &run->ep, &p->spare) : 0;
}

static void protect_free(struct krping_run *run)
{
	protect_down(run);
	protect_mem_free(&run->ep, &protect(run)->spare);
}

static int protect_exchange(struct krping_run *run)
{
	struct protect *p = protect(run);
	int ret;

	if (run->conn.classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	if (!protect_is_client(run)) {
		p->second.verdict = &run->verdict;
		p->second.peer = run->conn.peer;
		krping_listener_expect(protect_listener(run), &p->second);
	}
	ret = protect_swap(run, PROTECT_CASE);
	return ret ?: protect_up(run);
}

/* Both ends know all now. A run that fails leaves at once: the last message has to arrive before. */
static int protect_judge(struct krping_run *run)
{
	const struct krping_note *peers = protect_peers(run);
	const struct krping_note *own = protect_own(run);
	struct krping_protect *found = &protect(run)->found;
	u32 nr = run->params.case_nr;

	found->judgement = krping_judge(nr, run->ep.iwarp, &found->client, &found->server);
	krping_record_set(run->rec->protect, *found);
	krping_trace(protect, run->rec->id, nr, own->saw, own->status, own->events, own->moved,
		     peers->saw, peers->status, peers->events, peers->moved, found->judgement);
	if (!krping_judgement_is_bad(found->judgement))
		return 0;
	krping_let_sends_leave(&run->msgs);
	if (!krping_leaves_first(&run->conn))
		krping_sleep(&run->verdict, msecs_to_jiffies(PROTECT_LEAVE_MS),
			     READ_ONCE(run->ep.disconnected) || krping_is_stopping(&run->verdict));
	return krping_case_fail(&run->verdict, nr, found->judgement);
}

static int protect_loop(struct krping_run *run)
{
	int ret = krping_run_may_go_on(run);

	if (ret)
		return ret;
	krping_iter_begin(&run->phases);
	protect_arrange(run);
	ret = protect_is_client(run) ? protect_client_case(run) : protect_server_case(run);
	if (ret)
		return ret;
	krping_iter_end(&run->phases);
	protect_down(run);
	return protect_swap(run, PROTECT_NOTE) ?: protect_judge(run);
}

const struct krping_test krping_test_protect = {
	.requests = PROTECT_REQUESTS,
	.priv_size = sizeof(struct protect),
	.alloc = protect_alloc,
	.free = protect_free,
	.exchange = protect_exchange,
	.client = protect_loop,
	.server = protect_loop,
};
