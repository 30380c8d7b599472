// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does the provider protect memory? A run makes one case of KRPING_CASES:
 *
 *	client					server
 *	make two connections
 *	SEND "case"			   --->
 *					   <---	SEND "case"
 *	register a part of its buffer		register a part of its buffer
 *					   <---	SEND how the client names that
 *	the access of the case		   ===>
 *	SEND "seen"			   ===>
 *					   <===	SEND "seen"
 *	leave the second connection		leave the second connection
 *	SEND what it saw		   --->
 *					   <---	SEND what it saw
 *
 * A wrong access ends the connection on which it is made, so the access has a connection, a PD and
 * memory of its own (===>). The run's connection stays: both ends learn by it what the other end
 * saw, and its PD is the other PD, with a valid key, that some cases need.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include "cause.h"
#include "drain.h"
#include "krping_trace.h"
#include "mr.h"
#include "protect.h"
#include "qp.h"
#include "registry.h"
#include "run.h"
#include "sq.h"
#include "test.h"
#include "wait.h"

/*
 * The part of the buffer that is registered begins and ends inside a page, and one more page is
 * behind it, so that an access beyond it meets this buffer. Where pages are larger than 4096 bytes
 * all is in one page, and past_page is one more past_end.
 */
#define PROTECT_AT    512U
#define PROTECT_LEN   (4096U + 1024)
#define PROTECT_SOME  64U /* bytes of a wrong access */
/* Where the page behind the last one begins. */
#define PROTECT_PAGES (2 * 4096U)

#define PROTECT_REQUESTS 8

#define PROTECT_CLIENT_MS 5000 /* for the client to see what became of its access */
#define PROTECT_SERVER_MS \
	15000		     /* for the server to hear of the access, or to see the client leave */
#define PROTECT_LEAVE_MS 500 /* for the peer that has to leave first */

/* In the key of a message that advertises nothing, with the case. */
#define PROTECT_CASE 0x70726f00U
#define PROTECT_SEEN 0x73656500U
#define PROTECT_NOTE 0x6e6f7400U

#define PROTECT_RIGHTS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

static_assert(KRPING_NR_CASES <= 0xff);

struct protect_mem {
	struct krping_buf buf;
	struct krping_mr mr;
};

/* Private data of a run. */
struct protect {
	struct krping_run *run;
	bool client;
	enum krping_wr_kind verb;
	enum krping_wrong wrong;
	struct krping_protect found;
	struct krping_note *own, *peers; /* in found */

	struct krping_conn *conn; /* the second one; NULL: it was not made */
	struct protect_mem mem;	  /* in its PD */

	struct protect_mem spare; /* in the PD of the run's connection */
	struct krping_key key;	  /* by which the access names this end's memory */
};

/*
 * Memory. All bytes of the client differ from all of the server, so that each byte
 * that moves shows, wherever it comes from.
 */

static u8 protect_byte(const struct protect *p, size_t at, bool client)
{
	u8 byte = at * 7 + p->run->params.case_nr * 31 + 13;

	return client ? byte | 0x80 : byte & 0x7f;
}

static int protect_mem_alloc(struct protect *p, struct krping_ep *ep, struct protect_mem *mem)
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
		bytes[i] = protect_byte(p, i, p->client);
	krping_buf_for_device(ep, buf);
	return krping_mr_alloc(ep, &mem->mr, PROTECT_LEN);
}

static void protect_mem_free(struct krping_ep *ep, struct protect_mem *mem)
{
	krping_mr_free(ep, &mem->mr);
	krping_buf_free(ep, &mem->buf);
}

/* Does the access move data to this end, if the provider lets it? */
static bool protect_is_sink(const struct protect *p)
{
	if (p->wrong)
		return false;
	if (!p->client)
		return p->verb == KRPING_WR_RDMA_WRITE;
	return p->verb == KRPING_WR_RDMA_READ ||
	       (p->verb == KRPING_WR_READ_INV && p->run->conn.ep.iwarp);
}

/* Count what is not as it was; all of the part has to be the peer's if @sink. */
static void protect_compare(struct protect *p, struct krping_ep *ep, struct krping_buf *buf,
			    bool sink)
{
	const u8 *bytes = buf->base;
	size_t i;

	if (!bytes)
		return;
	krping_buf_for_cpu(ep, buf);
	for (i = 0; i < buf->bytes; i++) {
		bool comes = sink && i - PROTECT_AT < PROTECT_LEN;
		/* The peer may still have a key of it. */
		u8 byte = READ_ONCE(bytes[i]);

		if (byte != protect_byte(p, i, p->client))
			p->own->moved++;
		if (byte != protect_byte(p, i, comes ? !p->client : p->client))
			p->own->saw |= KRPING_SAW_OTHER_DATA;
	}
	krping_buf_for_device(ep, buf);
}

/* The second connection */

static int protect_join(struct protect *p, struct krping_conn *conn)
{
	conn->ep.offset = PROTECT_AT;
	p->conn = conn;
	return protect_mem_alloc(p, &conn->ep, &p->mem);
}

static void protect_leave(struct protect *p)
{
	unsigned int peer_ms = 0;

	krping_enter(&p->run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
	/*
	 * A client that was refused leaves at once. Otherwise it waits for the server's answer,
	 * which on iWARP the end of the connection may overtake.
	 */
	if (!p->client)
		peer_ms = p->own->saw & KRPING_SAW_MESSAGE ? KRPING_LEAVE_MS : PROTECT_LEAVE_MS;
	krping_conn_leave(p->conn, peer_ms, true);
	/* Nothing moves any more, and no event comes. */
	protect_compare(p, &p->conn->ep, &p->mem.buf, protect_is_sink(p));
	protect_compare(p, &p->run->conn.ep, &p->spare.buf, false);
	p->own->events = p->conn->ep.qp_events;
}

/* Messages */

/* In the cases of SEND_WITH_INV what a client says of its access is the access. */
static int protect_hear(struct protect *p, struct krping_msgs *msgs, u32 what,
			struct krping_msg *msg)
{
	u32 key = what | p->run->params.case_nr;
	bool may_inv = what == PROTECT_SEEN && !p->client;
	int ret = may_inv ? krping_recv_msg(msgs, msg) : krping_recv_plain(msgs, msg);

	if (!ret && (msg->rkey != key || msg->len))
		ret = krping_fail(&p->run->verdict, -EPROTO,
				  "a message of another case: 0x%x, and this is 0x%x", msg->rkey,
				  key);
	return ret;
}

/* Both ends say so much. The client speaks first, as iWARP asks of it (RFC 5044, 7.1). */
static int protect_swap(struct protect *p, u32 what)
{
	u64 note = krping_note_pack(p->own);
	u32 key = what | p->run->params.case_nr;
	struct krping_msg msg;
	int ret = 0;

	krping_enter(&p->run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	if (p->client)
		ret = krping_say(&p->run->conn.msgs, note, key, 0, NULL);
	if (!ret)
		ret = protect_hear(p, &p->run->conn.msgs, what, &msg);
	krping_enter(&p->run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	if (!ret && !p->client)
		ret = krping_say(&p->run->conn.msgs, note, key, 0, NULL);
	if (!ret)
		krping_note_unpack(p->peers, msg.addr);
	return ret;
}

/* Keys */

static void protect_arrange(struct protect *p)
{
	krping_enter(&p->run->phases, KRPING_PHASE_ARRANGE, PROTECT_LEN, 0);
}

static int protect_post_and_wait(struct protect *p, struct krping_ep *ep,
				 struct krping_chain *chain)
{
	int ret;

	krping_wr_await(chain, chain->last);
	ret = krping_post(ep, chain);
	if (!ret)
		ret = krping_wait_done(ep, chain->last);
	protect_arrange(p);
	return ret;
}

static int protect_register(struct protect *p, struct krping_ep *ep, struct protect_mem *mem,
			    int access)
{
	struct krping_chain chain;
	int ret = krping_chain_begin(ep, &chain, 2);

	if (!ret)
		ret = krping_mr_chain_reg(ep, &mem->mr, &chain, &mem->buf, PROTECT_LEN, access,
					  &p->key);
	return ret ?: protect_post_and_wait(p, ep, &chain);
}

static int protect_invalidate(struct protect *p)
{
	struct krping_chain chain;
	int ret = krping_chain_begin(&p->conn->ep, &chain, 1);

	if (ret)
		return ret;
	krping_mr_chain_inv(&p->conn->ep, &p->mem.mr, &chain, false);
	return protect_post_and_wait(p, &p->conn->ep, &chain);
}

/* What this end's memory is registered for. */
static int protect_access(const struct protect *p)
{
	const int write = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	bool reads = p->verb == KRPING_WR_RDMA_READ || p->verb == KRPING_WR_READ_INV;

	if (!reads && p->verb != KRPING_WR_RDMA_WRITE)
		return PROTECT_RIGHTS;
	/* Without the right for the other access. */
	if (!p->client)
		return reads == (p->wrong != KRPING_WRONG_NO_RIGHT) ? IB_ACCESS_REMOTE_READ : write;
	/* The source of a WRITE is only read, by this end. */
	if (!reads || p->wrong == KRPING_WRONG_LOCAL_NO_RIGHT)
		return 0;
	/* iWARP writes a READ's answer like a peer's WRITE (RFC 5040, 5.4). */
	return p->run->conn.ep.iwarp ? write : IB_ACCESS_LOCAL_WRITE;
}

/* Register this end's memory, and do what is wrong with that. */
static int protect_make_key(struct protect *p)
{
	bool local = p->wrong >= KRPING_WRONG_LOCAL_INVALIDATED;
	int access = protect_access(p);
	struct krping_key before;
	int ret;

	/* To register is what the client does in the case. */
	if (p->client && p->verb == KRPING_WR_REG_MR)
		return 0;
	ret = protect_register(p, &p->conn->ep, &p->mem, access);
	if (ret || local != p->client)
		return ret;
	switch (p->wrong) {
	case KRPING_WRONG_INVALIDATED:
	case KRPING_WRONG_LOCAL_INVALIDATED:
		return protect_invalidate(p);
	case KRPING_WRONG_KEY_BEFORE:
		before = p->key;
		ret = protect_register(p, &p->conn->ep, &p->mem, access);
		p->key = before;
		return ret;
	case KRPING_WRONG_DEREG:
		krping_mr_free(&p->conn->ep, &p->mem.mr);
		return 0;
	case KRPING_WRONG_OTHER_PD:
	case KRPING_WRONG_LOCAL_OTHER_PD:
		return protect_register(p, &p->run->conn.ep, &p->spare, PROTECT_RIGHTS);
	default:
		return 0;
	}
}

/* The client's access */

static void protect_fill_move(struct protect *p, struct krping_wr *wr, const struct krping_msg *adv)
{
	wr->len = p->wrong ? PROTECT_SOME : PROTECT_LEN;
	wr->sge.addr = p->key.addr;
	wr->sge.lkey = p->key.lkey;
	wr->rdma.wr.sg_list = &wr->sge;
	wr->rdma.wr.num_sge = 1;
	wr->rdma.remote_addr = adv->addr;
	wr->rdma.rkey = adv->rkey;
	switch (p->wrong) {
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
	default:
		break;
	}
	wr->sge.length = wr->len;
}

/* Append the access of the case. Returns the request, or an ERR_PTR(). */
static struct krping_wr *protect_add(struct protect *p, struct krping_chain *chain,
				     const struct krping_msg *adv)
{
	struct krping_ep *ep = &p->conn->ep;
	struct krping_wr *wr;
	int ret;

	switch (p->verb) {
	case KRPING_WR_SEND:
	case KRPING_WR_SEND_INV:
		wr = krping_chain_msg(&p->conn->msgs, chain, 0,
				      PROTECT_SEEN | p->run->params.case_nr, 0);
		if (!IS_ERR(wr) && p->verb == KRPING_WR_SEND_INV)
			krping_wr_invalidates(chain, wr, adv->rkey);
		return wr;
	case KRPING_WR_REG_MR:
		ret = krping_mr_chain_reg(ep, p->wrong ? &p->spare.mr : &p->mem.mr, chain,
					  &p->mem.buf, PROTECT_LEN, PROTECT_RIGHTS, &p->key);
		if (ret)
			return ERR_PTR(ret);
		krping_wr_await(chain, chain->last);
		return chain->last;
	case KRPING_WR_LOCAL_INV:
		wr = krping_mr_chain_inv(ep, &p->mem.mr, chain, false);
		krping_wr_await(chain, wr);
		return wr;
	default:
		wr = krping_chain_add(ep, chain, p->verb);
		protect_fill_move(p, wr, adv);
		if (p->verb == KRPING_WR_READ_INV)
			krping_mr_read_inv(ep, &p->mem.mr, wr);
		return wr;
	}
}

/*
 * Note how a wait ended: 0, or an errno that also says that the run has to end. A
 * wait without a cause on record is what the case may come to.
 */
static int protect_saw(struct protect *p, int ret, u8 good)
{
	if (!ret) {
		p->own->saw |= good;
		return 0;
	}
	if (ret == -EINTR || krping_must_end(&p->run->verdict))
		return ret;
	if (ret == -ETIMEDOUT) {
		p->own->saw |= KRPING_SAW_NOTHING;
		/* Nothing of this connection is waited for any more. */
		krping_ep_drain(&p->conn->ep);
	} else {
		p->own->saw |= KRPING_SAW_END;
	}
	if (p->conn->ep.first_error_status) {
		p->own->saw |= KRPING_SAW_ERROR;
		p->own->status = p->conn->ep.first_error_status;
	}
	return 0;
}

static int protect_try(struct protect *p, const struct krping_msg *adv)
{
	struct krping_ep *ep = &p->conn->ep;
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret;

	krping_enter(&p->run->phases, KRPING_PHASE_TRY, PROTECT_LEN, adv->rkey);
	if (p->verb == KRPING_WR_READ_INV && !ep->iwarp) {
		p->own->saw |= KRPING_SAW_NO_VERB;
		return 0;
	}
	ret = krping_chain_begin(ep, &chain, 2);
	if (ret)
		return ret;
	wr = protect_add(p, &chain, adv);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	ret = krping_post(ep, &chain);
	if (ret && ret != -ECONNRESET && !krping_must_end(&p->run->verdict)) {
		p->own->saw |= KRPING_SAW_REFUSED;
		return 0;
	}
	if (!ret)
		ret = krping_wait_outcome(ep, wr, PROTECT_CLIENT_MS);
	return protect_saw(p, ret, KRPING_SAW_COMPLETED);
}

/* If nothing has failed: is the peer still there, and does it hear of this? */
static int protect_ask(struct protect *p)
{
	struct krping_msg msg;
	int ret = 0;

	krping_enter(&p->run->phases, KRPING_PHASE_OUTCOME, 0, 0);
	if (p->own->saw & (KRPING_SAW_END | KRPING_SAW_NOTHING))
		return 0;
	/* A SEND is what asks. */
	if ((p->verb != KRPING_WR_SEND && p->verb != KRPING_WR_SEND_INV) ||
	    p->own->saw & KRPING_SAW_REFUSED)
		ret = krping_say(&p->conn->msgs, 0, PROTECT_SEEN | p->run->params.case_nr, 0, NULL);
	if (!ret)
		ret = krping_wait_outcome(&p->conn->ep, NULL, PROTECT_CLIENT_MS);
	ret = protect_saw(p, ret, KRPING_SAW_MESSAGE);
	if (ret || !(p->own->saw & KRPING_SAW_MESSAGE))
		return ret;
	return protect_hear(p, &p->conn->msgs, PROTECT_SEEN, &msg);
}

/* From here on failures of the second connection are what the case is for. */
static void protect_offer(struct protect *p)
{
	WRITE_ONCE(p->conn->ep.may_fail, true);
}

static int protect_client_case(struct protect *p)
{
	struct krping_msg adv;
	int ret = protect_make_key(p) ?: krping_recv_plain(&p->run->conn.msgs, &adv);

	if (!ret && adv.len != PROTECT_LEN)
		ret = krping_fail(&p->run->verdict, -EPROTO, "%u bytes advertised, %u agreed",
				  adv.len, PROTECT_LEN);
	if (ret)
		return ret;
	protect_offer(p);
	return protect_try(p, &adv) ?: protect_ask(p);
}

/* A message that came behind the access. Which key did it invalidate? */
static int protect_heard(struct protect *p)
{
	struct krping_mr *mr = NULL;
	struct krping_msg msg;
	int ret = protect_hear(p, &p->conn->msgs, PROTECT_SEEN, &msg);

	if (ret)
		return ret;
	if (msg.has_inv && p->mem.mr.mr && msg.inv_key == p->mem.mr.mr->rkey)
		mr = &p->mem.mr;
	else if (msg.has_inv && p->spare.mr.mr && msg.inv_key == p->spare.mr.mr->rkey)
		mr = &p->spare.mr;
	if (mr && mr->state == KRPING_MR_VALID)
		ret = krping_mr_remote_inv(&p->conn->ep, mr, &msg);
	if (msg.has_inv != (p->verb == KRPING_WR_SEND_INV) || (msg.has_inv && mr != &p->mem.mr))
		p->own->saw |= KRPING_SAW_OTHER_DATA;
	return ret ?: krping_say(&p->conn->msgs, 0, PROTECT_SEEN | p->run->params.case_nr, 0, NULL);
}

static int protect_server_case(struct protect *p)
{
	int ret = protect_make_key(p);

	if (ret)
		return ret;
	protect_offer(p);
	ret = krping_say(&p->run->conn.msgs, p->key.addr, p->key.rkey, PROTECT_LEN, NULL);
	if (ret)
		return ret;
	krping_enter(&p->run->phases, KRPING_PHASE_OUTCOME, 0, 0);
	ret = krping_wait_outcome(&p->conn->ep, NULL, PROTECT_SERVER_MS);
	ret = protect_saw(p, ret, KRPING_SAW_MESSAGE);
	if (!ret && p->own->saw & KRPING_SAW_MESSAGE)
		ret = protect_heard(p);
	return ret;
}

/* The run */

static int protect_alloc(struct krping_run *run, struct krping_conn *conn)
{
	struct protect *p = run->conn.priv;

	if (conn->queue)
		return protect_join(p, conn);
	p->run = run;
	p->client = run->params.role == KRPING_ROLE_CLIENT;
	p->verb = krping_cases[run->params.case_nr].verb;
	p->wrong = krping_cases[run->params.case_nr].wrong;
	p->own = p->client ? &p->found.client : &p->found.server;
	p->peers = p->client ? &p->found.server : &p->found.client;
	if (p->wrong != (p->client ? KRPING_WRONG_LOCAL_OTHER_PD : KRPING_WRONG_OTHER_PD))
		return 0;
	return protect_mem_alloc(p, &run->conn.ep, &p->spare);
}

static void protect_free(struct krping_run *run, struct krping_conn *conn)
{
	struct protect *p = run->conn.priv;

	/* The REG_MR was posted on the second connection, whose queue tells whether it was executed. */
	if (p->conn && p->verb == KRPING_WR_REG_MR && p->wrong)
		krping_mr_free(&p->conn->ep, &p->spare.mr);
	if (p->conn)
		protect_mem_free(&p->conn->ep, &p->mem);
	protect_mem_free(&run->conn.ep, &p->spare);
}

static int protect_exchange(struct krping_run *run)
{
	return protect_swap(run->conn.priv, PROTECT_CASE);
}

/* Both ends know all now. A run that fails leaves at once: the last message has to arrive before. */
static int protect_judge(struct protect *p)
{
	const struct krping_note *peers = p->peers, *own = p->own;
	struct krping_protect *found = &p->found;
	struct krping_run *run = p->run;
	u32 nr = run->params.case_nr;

	found->judgement = krping_judge(nr, run->conn.ep.iwarp, &found->client, &found->server);
	krping_record_set(run->rec->protect, *found);
	krping_trace(protect, run->rec->id, nr, own->saw, own->status, own->events, own->moved,
		     peers->saw, peers->status, peers->events, peers->moved, found->judgement);
	/* From there on they are bad. */
	if (found->judgement < KRPING_JUDGE_FAILED)
		return 0;
	krping_let_sends_leave(&run->conn.msgs);
	if (!krping_leaves_first(&run->conn))
		krping_sleep(&run->verdict, msecs_to_jiffies(PROTECT_LEAVE_MS),
			     READ_ONCE(run->conn.ep.disconnected) ||
				     krping_must_end(&run->verdict));
	return krping_fail(&run->verdict, -EIO, "case %s is not as it has to be: %s",
			   krping_cases[nr].name, krping_judgements[found->judgement]);
}

static int protect_loop(struct krping_run *run)
{
	int ret = krping_run_may_go_on(run);
	struct protect *p = run->conn.priv;

	if (ret)
		return ret;
	krping_iter_begin(&run->phases);
	protect_arrange(p);
	ret = p->client ? protect_client_case(p) : protect_server_case(p);
	if (ret)
		return ret;
	krping_iter_end(&run->phases);
	protect_leave(p);
	return protect_swap(p, PROTECT_NOTE) ?: protect_judge(p);
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
