// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does the provider protect memory? Each case of KRPING_CASES is an iteration:
 *
 *	client					server
 *	SEND what it saw of the last case  --->
 *					   <---	SEND what it saw of it
 *	register a part of its buffer		register a part of its buffer
 *					   <---	SEND how the client names that
 *	the access of the case
 *	SEND "done"			   --->
 *					   <---	SEND "seen"
 *
 * A wrong access ends the connection, one way or the other, and nothing behind it
 * arrives. So each case has a connection of its own, and everything that belongs to
 * it. After the connection each end looks at all of its buffer.
 *
 * The key of another PD that some cases need is one of the first connection: its
 * PD, a memory region and their buffer stay, although its queue pair is gone.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include "cause.h"
#include "drain.h"
#include "krping_trace.h"
#include "link.h"
#include "mr.h"
#include "protect.h"
#include "registry.h"
#include "run.h"
#include "sq.h"
#include "test.h"
#include "wait.h"

/*
 * The part of a buffer that is registered. Behind its end and before its beginning
 * the page goes on, where pages are of 4096 bytes, and behind its last page the
 * buffer does.
 */
#define PROTECT_AT    512U
#define PROTECT_LEN   (4096U + 1024)
#define PROTECT_SOME  64U /* bytes of a wrong access */
/* Where the page behind the last one begins. */
#define PROTECT_PAGES (2 * 4096U)

/* How long the client waits to see what became of its access. */
#define PROTECT_CLIENT_MS 5000
/* How long the server waits to hear the client go on, or to see it leave. */
#define PROTECT_SERVER_MS 15000
/* How long a server that has refused an access lets the client leave first. */
#define PROTECT_LEAVE_MS  500

/* In the key of a message that advertises nothing. */
#define PROTECT_CASE 0x70726f00U
#define PROTECT_SEEN 0x73656500U

#define PROTECT_RIGHTS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

static_assert(KRPING_NR_CASES <= 0xff);

/**
 * struct protect_mem - a buffer of which a part is registered
 * @buf:	the buffer
 * @part:	this part of it
 * @mr:		its memory region
 * @key:	how work requests name it
 */
struct protect_mem {
	struct krping_buf buf;
	struct krping_buf part;
	struct krping_mr mr;
	struct krping_key key;
};

/**
 * struct protect - private data of a run
 * @renews:	the link that is there is left for another one
 * @pd:		another PD than the endpoint's; NULL: there is none yet
 * @spare:	memory that is registered there, with all rights
 * @unused:	a memory region of that PD, which is not valid
 * @nr:		the case of this link
 * @mem:	memory of this link
 * @fresh:	a memory region of its PD, for @unused
 * @offered:	the case of this link has begun, and there is something to see
 * @sink:	the access of the case moves data here
 */
struct protect {
	/* All this stays when the link is made anew. */
	bool renews;
	struct ib_pd *pd;
	struct protect_mem spare;
	struct krping_mr unused;

	enum krping_case nr;
	struct protect_mem mem;
	struct krping_mr fresh;
	bool offered;
	bool sink;
};

static struct protect *protect(const struct krping_run *run)
{
	return run->priv;
}

static bool protect_is_client(const struct krping_run *run)
{
	return run->params.role == KRPING_ROLE_CLIENT;
}

static enum krping_case protect_nr(const struct krping_run *run)
{
	return protect(run)->nr;
}

static struct krping_note *protect_note(const struct krping_run *run,
					enum krping_case nr)
{
	struct krping_protect_case *c = &run->rec->protect->cases[nr];

	return protect_is_client(run) ? &c->client : &c->server;
}

static struct krping_note *protect_peers_note(const struct krping_run *run,
					      enum krping_case nr)
{
	struct krping_protect_case *c = &run->rec->protect->cases[nr];

	return protect_is_client(run) ? &c->server : &c->client;
}

/*
 * Memory. All bytes of the client differ from all of the server, so that each byte
 * that moves shows, wherever it comes from.
 */

static u8 protect_byte(size_t at, enum krping_case nr, bool client)
{
	u8 byte = at * 7 + nr * 31 + 13;

	return client ? byte | 0x80 : byte & 0x7f;
}

static void protect_fill_buf(struct krping_run *run, struct krping_buf *buf)
{
	bool client = protect_is_client(run);
	u8 *byte = buf->addr;
	size_t i;

	krping_buf_for_cpu(&run->ep, buf);
	for (i = 0; i < buf->size; i++)
		byte[i] = protect_byte(i, protect_nr(run), client);
	krping_buf_for_device(&run->ep, buf);
}

/* All memory that an access could reach is as it is to be found again. */
static void protect_fill(struct krping_run *run)
{
	struct protect *p = protect(run);

	protect_fill_buf(run, &p->mem.buf);
	if (p->spare.buf.addr)
		protect_fill_buf(run, &p->spare.buf);
}

/* Count what is not as it was; all of the part has to be the peer's if @sink. */
static void protect_compare(struct krping_run *run, struct krping_buf *buf,
			    bool sink, struct krping_note *note)
{
	bool client = protect_is_client(run);
	enum krping_case nr = protect_nr(run);
	const u8 *bytes = buf->addr;
	size_t i;

	krping_buf_for_cpu(&run->ep, buf);
	for (i = 0; i < buf->size; i++) {
		bool comes = sink && i - PROTECT_AT < PROTECT_LEN;
		/* The peer may still have a key of it. */
		u8 byte = READ_ONCE(bytes[i]);

		if (byte != protect_byte(i, nr, client))
			note->moved++;
		if (byte != protect_byte(i, nr, comes ? !client : client))
			note->saw |= KRPING_SAW_OTHER_DATA;
	}
	krping_buf_for_device(&run->ep, buf);
}

/* Look at all memory that an access could have reached. */
static void protect_look(struct krping_run *run)
{
	struct protect *p = protect(run);
	struct krping_note *note = protect_note(run, protect_nr(run));

	note->moved = 0;
	protect_compare(run, &p->mem.buf, p->sink, note);
	if (p->spare.buf.addr)
		protect_compare(run, &p->spare.buf, false, note);
}

static void protect_mem_free(struct krping_run *run, struct protect_mem *mem)
{
	krping_mr_free(&run->ep, &mem->mr);
	krping_buf_free(&run->ep, &mem->part);
	krping_buf_free(&run->ep, &mem->buf);
}

static int protect_alloc(struct krping_run *run)
{
	struct protect *p = protect(run);
	struct protect_mem *mem = &p->mem;
	int ret = krping_record_protects(run->rec);

	if (ret)
		return krping_fail(&run->verdict, ret,
				   "allocating the table of the cases");
	ret = krping_buf_alloc(&run->ep, &mem->buf, KRPING_PROTECT_SIZE,
			       DMA_BIDIRECTIONAL);
	if (!ret)
		ret = krping_buf_part(&run->ep, &mem->part, &mem->buf,
				      PROTECT_AT);
	if (!ret)
		ret = krping_mr_alloc(&run->ep, &mem->mr, KRPING_PROTECT_SIZE);
	if (!ret && !p->pd)
		ret = krping_mr_alloc(&run->ep, &p->fresh, KRPING_PROTECT_SIZE);
	return ret;
}

/* The link is gone, and another one is going to be made: this PD is the other one. */
static void protect_keep(struct krping_run *run)
{
	struct protect *p = protect(run);

	p->spare = p->mem;
	p->unused = p->fresh;
	krping_mr_outlives(&p->spare.mr);
	krping_mr_outlives(&p->unused);
	memset(&p->mem, 0, sizeof(p->mem));
	memset(&p->fresh, 0, sizeof(p->fresh));
	p->pd = run->ep.pd;
	run->ep.pd = NULL;
}

static void protect_free(struct krping_run *run)
{
	struct protect *p = protect(run);
	bool renews = p->renews;

	/* The queue pair is gone: nothing moves any more, and no event comes. */
	if (p->offered) {
		protect_look(run);
		protect_note(run, protect_nr(run))->events = run->ep.qp_events;
	}
	p->offered = false;
	p->renews = false;
	if (renews && !p->pd && p->mem.mr.state == KRPING_MR_VALID)
		protect_keep(run);
	/* Whatever became of its registration, this link knows. */
	if (p->unused.used)
		krping_mr_free(&run->ep, &p->unused);
	krping_mr_free(&run->ep, &p->fresh);
	protect_mem_free(run, &p->mem);
	if (renews || !p->pd)
		return;
	/* The link may have failed before its endpoint had a device. */
	run->ep.dev = p->pd->device;
	krping_mr_free(&run->ep, &p->unused);
	protect_mem_free(run, &p->spare);
	ib_dealloc_pd(p->pd);
	p->pd = NULL;
}

/*
 * Keys
 */

static void protect_arrange(struct krping_run *run)
{
	krping_enter(&run->phases, KRPING_PHASE_ARRANGE, PROTECT_LEN, 0);
}

static int protect_post_and_wait(struct krping_run *run,
				 struct krping_chain *chain)
{
	int ret;

	krping_wr_await(chain, chain->last);
	ret = krping_post(&run->ep, chain);
	if (!ret)
		ret = krping_wait_done(&run->ep, chain->last);
	protect_arrange(run);
	return ret;
}

static int protect_register(struct krping_run *run, int access)
{
	struct protect_mem *mem = &protect(run)->mem;
	struct krping_chain chain;
	int ret = krping_chain_begin(&run->ep, &chain, 2);

	if (!ret)
		ret = krping_mr_chain_reg(&run->ep, &mem->mr, &chain,
					  &mem->part, PROTECT_LEN, access,
					  &mem->key);
	return ret ?: protect_post_and_wait(run, &chain);
}

static int protect_invalidate(struct krping_run *run)
{
	struct krping_chain chain;
	int ret = krping_chain_begin(&run->ep, &chain, 1);

	if (ret)
		return ret;
	krping_mr_chain_inv(&run->ep, &protect(run)->mem.mr, &chain, false);
	return protect_post_and_wait(run, &chain);
}

/* What the server's memory is registered for. */
static int protect_server_access(enum krping_case nr)
{
	enum krping_wr_kind verb = krping_case_verb(nr);
	bool right = krping_case_wrong(nr) != KRPING_WRONG_NO_RIGHT;

	if (verb == KRPING_WR_RDMA_READ || verb == KRPING_WR_READ_INV)
		return right ? IB_ACCESS_REMOTE_READ :
			       IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	if (verb == KRPING_WR_RDMA_WRITE)
		return right ? IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE :
			       IB_ACCESS_REMOTE_READ;
	return PROTECT_RIGHTS;
}

/* And what the client's is. */
static int protect_client_access(const struct krping_run *run,
				 enum krping_case nr)
{
	enum krping_wr_kind verb = krping_case_verb(nr);

	/* The source of a WRITE is only read, by this end. */
	if (verb == KRPING_WR_RDMA_WRITE ||
	    krping_case_wrong(nr) == KRPING_WRONG_LOCAL_NO_RIGHT)
		return 0;
	if (verb != KRPING_WR_RDMA_READ && verb != KRPING_WR_READ_INV)
		return PROTECT_RIGHTS;
	/* iWARP writes a READ's answer like a peer's WRITE (RFC 5040, 5.4). */
	return IB_ACCESS_LOCAL_WRITE |
	       (run->ep.iwarp ? IB_ACCESS_REMOTE_WRITE : 0);
}

/* Make ready what the client is told to use: @key. */
static int protect_make_key(struct krping_run *run, enum krping_case nr,
			    struct krping_key *key)
{
	int access = protect_server_access(nr);
	struct protect *p = protect(run);
	int ret = protect_register(run, access);

	*key = p->mem.key;
	if (ret)
		return ret;
	switch (krping_case_wrong(nr)) {
	case KRPING_WRONG_INVALIDATED:
		return protect_invalidate(run);
	case KRPING_WRONG_KEY_BEFORE:
		return protect_register(run, access);
	case KRPING_WRONG_DEREG:
		krping_mr_free(&run->ep, &p->mem.mr);
		return 0;
	case KRPING_WRONG_OTHER_PD:
		*key = p->spare.key;
		return 0;
	default:
		return 0;
	}
}

static int protect_make_own(struct krping_run *run, enum krping_case nr)
{
	int ret;

	/* That is what the client does in the case. */
	if (krping_case_verb(nr) == KRPING_WR_REG_MR)
		return 0;
	ret = protect_register(run, protect_client_access(run, nr));
	if (!ret && krping_case_wrong(nr) == KRPING_WRONG_LOCAL_INVALIDATED)
		ret = protect_invalidate(run);
	return ret;
}

/*
 * Messages
 */

static int protect_say(struct krping_run *run, u64 addr, u32 rkey, u32 len)
{
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret = krping_chain_begin(&run->ep, &chain, 1);

	if (ret)
		return ret;
	wr = krping_chain_msg(&run->msgs, &chain, addr, rkey, len);
	return IS_ERR(wr) ? PTR_ERR(wr) : krping_post(&run->ep, &chain);
}

/* A message that has a note, of this case or the one before it. */
static int protect_say_note(struct krping_run *run, u32 what,
			    enum krping_case nr)
{
	return protect_say(run, krping_note_pack(protect_note(run, nr)),
			   what | protect_nr(run), 0);
}

/* What a client says of its access may invalidate a key, which may be the access. */
static int protect_hear(struct krping_run *run, u32 what,
			struct krping_msg *msg)
{
	bool may = what == PROTECT_SEEN && !protect_is_client(run);
	int ret = may ? krping_recv_msg(&run->msgs, msg) :
			krping_recv_plain(&run->msgs, msg);

	if (!ret && (msg->rkey != (what | protect_nr(run)) || msg->len))
		ret = krping_fail(&run->verdict, -EPROTO,
				  "a message of another case: 0x%x, and this is 0x%x",
				  msg->rkey, what | protect_nr(run));
	return ret;
}

/* Both ends have said what they saw. */
static void protect_judge(struct krping_run *run, enum krping_case nr)
{
	struct krping_protect_case *c = &run->rec->protect->cases[nr];
	const struct krping_note *own = protect_note(run, nr);
	const struct krping_note *peers = protect_peers_note(run, nr);

	krping_record_judges(run->rec, nr,
			     krping_judge(nr, run->ep.iwarp, &c->client,
					  &c->server));
	krping_trace(protect, run->rec->id, nr, own->saw, own->status,
		     own->events, own->moved, peers->saw, peers->status,
		     peers->events, peers->moved, c->judgement);
}

/* What the ends saw of the case before, for which the connection was lost. */
static int protect_exchange(struct krping_run *run)
{
	enum krping_case nr = protect_nr(run);
	enum krping_case last = nr ? nr - 1 : 0;
	bool client = protect_is_client(run);
	struct krping_msg msg;
	int ret = 0;

	protect_arrange(run);
	/* The client speaks first, as iWARP asks of it (RFC 5044, 7.1). */
	if (client)
		ret = protect_say_note(run, PROTECT_CASE, last);
	if (!ret)
		ret = protect_hear(run, PROTECT_CASE, &msg);
	protect_arrange(run);
	if (!ret && !client)
		ret = protect_say_note(run, PROTECT_CASE, last);
	if (ret || !nr)
		return ret;
	krping_note_unpack(protect_peers_note(run, last), msg.addr);
	protect_judge(run, last);
	return 0;
}

/*
 * The client's access
 */

static void protect_fill_move(struct krping_run *run, enum krping_case nr,
			      struct krping_wr *wr,
			      const struct krping_msg *adv)
{
	struct protect *p = protect(run);

	wr->len = krping_case_wrong(nr) ? PROTECT_SOME : PROTECT_LEN;
	wr->sge.addr = p->mem.key.addr;
	wr->sge.lkey = p->mem.key.lkey;
	wr->rdma.wr.sg_list = &wr->sge;
	wr->rdma.wr.num_sge = 1;
	wr->rdma.remote_addr = adv->addr;
	wr->rdma.rkey = adv->rkey;
	switch (krping_case_wrong(nr)) {
	case KRPING_WRONG_PAST_END:
		wr->rdma.remote_addr += PROTECT_LEN - PROTECT_SOME + 1;
		break;
	case KRPING_WRONG_PAST_PAGE:
		wr->rdma.remote_addr += PROTECT_LEN - PROTECT_SOME;
		wr->len = PROTECT_PAGES - (PROTECT_AT + PROTECT_LEN) +
			  2 * PROTECT_SOME;
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
static struct krping_wr *protect_add(struct krping_run *run,
				     enum krping_case nr,
				     struct krping_chain *chain,
				     const struct krping_msg *adv)
{
	bool wrong = krping_case_wrong(nr);
	struct krping_ep *ep = &run->ep;
	struct protect *p = protect(run);
	enum krping_wr_kind verb = krping_case_verb(nr);
	struct krping_key key;
	struct krping_wr *wr;
	int ret;

	switch (verb) {
	case KRPING_WR_SEND:
	case KRPING_WR_SEND_INV:
		wr = krping_chain_msg(&run->msgs, chain, 0, PROTECT_SEEN | nr,
				      0);
		if (!IS_ERR(wr) && verb == KRPING_WR_SEND_INV)
			krping_wr_invalidates(chain, wr, adv->rkey);
		return wr;
	case KRPING_WR_REG_MR:
		ret = krping_mr_chain_reg(ep, wrong ? &p->unused : &p->mem.mr,
					  chain, &p->mem.part, PROTECT_LEN,
					  PROTECT_RIGHTS, &key);
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
		protect_fill_move(run, nr, wr, adv);
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
	struct krping_note *note = protect_note(run, protect_nr(run));
	struct krping_ep *ep = &run->ep;

	if (!ret) {
		note->saw |= good;
		return 0;
	}
	if (ret == -EINTR || krping_is_stopping(&run->verdict))
		return ret;
	if (ret == -ETIMEDOUT) {
		note->saw |= KRPING_SAW_NOTHING;
		/* Nothing of this link is waited for any more. */
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

static int protect_try(struct krping_run *run, enum krping_case nr,
		       const struct krping_msg *adv)
{
	struct krping_note *note = protect_note(run, nr);
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_TRY, PROTECT_LEN, adv->rkey);
	if (krping_case_verb(nr) == KRPING_WR_READ_INV && !run->ep.iwarp) {
		note->saw |= KRPING_SAW_NO_VERB;
		return 0;
	}
	ret = krping_chain_begin(&run->ep, &chain, 2);
	if (ret)
		return ret;
	wr = protect_add(run, nr, &chain, adv);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	ret = krping_post(&run->ep, &chain);
	if (ret && ret != -ECONNRESET && !krping_is_stopping(&run->verdict)) {
		note->saw |= KRPING_SAW_REFUSED;
		return 0;
	}
	if (!ret)
		ret = krping_wait_outcome(&run->ep, wr, PROTECT_CLIENT_MS);
	return protect_saw(run, ret, KRPING_SAW_COMPLETED);
}

/* If nothing has failed: is the peer still there, and does it hear of this? */
static int protect_ask(struct krping_run *run, enum krping_case nr)
{
	enum krping_wr_kind verb = krping_case_verb(nr);
	struct krping_note *note = protect_note(run, nr);
	struct krping_msg msg;
	int ret = 0;

	krping_enter(&run->phases, KRPING_PHASE_OUTCOME, 0, 0);
	if (note->saw & (KRPING_SAW_END | KRPING_SAW_NOTHING))
		return 0;
	/* A SEND is what asks. */
	if ((verb != KRPING_WR_SEND && verb != KRPING_WR_SEND_INV) ||
	    note->saw & KRPING_SAW_REFUSED) {
		protect_look(run);
		ret = protect_say_note(run, PROTECT_SEEN, nr);
	}
	if (!ret)
		ret = krping_wait_outcome(&run->ep, NULL, PROTECT_CLIENT_MS);
	ret = protect_saw(run, ret, KRPING_SAW_MESSAGE);
	if (ret || !(note->saw & KRPING_SAW_MESSAGE))
		return ret;
	ret = protect_hear(run, PROTECT_SEEN, &msg);
	if (!ret)
		krping_note_unpack(protect_peers_note(run, nr), msg.addr);
	return ret;
}

static int protect_client_case(struct krping_run *run, enum krping_case nr)
{
	struct protect *p = protect(run);
	struct krping_msg adv;
	int ret;

	protect_fill(run);
	ret = protect_make_own(run, nr) ?: krping_recv_plain(&run->msgs, &adv);
	if (!ret && adv.len != PROTECT_LEN)
		ret = krping_fail(&run->verdict, -EPROTO,
				  "%u bytes advertised, %u agreed", adv.len,
				  PROTECT_LEN);
	if (ret)
		return ret;
	p->sink = (krping_case_verb(nr) == KRPING_WR_RDMA_READ ||
		   (krping_case_verb(nr) == KRPING_WR_READ_INV &&
		    run->ep.iwarp)) &&
		  !krping_case_wrong(nr);
	p->offered = true;
	/* From here on failures are what the case is for. */
	WRITE_ONCE(run->ep.may_fail, true);
	return protect_try(run, nr, &adv) ?: protect_ask(run, nr);
}

/* A message that came behind the access. Which key did it invalidate? */
static int protect_heard(struct krping_run *run, enum krping_case nr,
			 struct krping_note *note)
{
	struct protect *p = protect(run);
	struct krping_msg msg;
	struct krping_mr *mr = NULL;
	int ret = protect_hear(run, PROTECT_SEEN, &msg);

	if (ret)
		return ret;
	krping_note_unpack(protect_peers_note(run, nr), msg.addr);
	if (msg.has_inv && p->mem.mr.mr && msg.inv_key == p->mem.mr.mr->rkey)
		mr = &p->mem.mr;
	else if (msg.has_inv && p->pd && msg.inv_key == p->spare.mr.mr->rkey)
		mr = &p->spare.mr;
	if (mr && mr->state == KRPING_MR_VALID)
		ret = krping_mr_remote_inv(&run->ep, mr, msg.cid, true,
					   msg.inv_key);
	protect_look(run);
	if (msg.has_inv != (krping_case_verb(nr) == KRPING_WR_SEND_INV) ||
	    (msg.has_inv && mr != &p->mem.mr))
		note->saw |= KRPING_SAW_OTHER_DATA;
	return ret ?: protect_say_note(run, PROTECT_SEEN, nr);
}

/*
 * The client leaves first, if it knows that it was refused. On InfiniBand and RoCE a
 * SEND_WITH_INV is answered before its key is looked at, and the client waits.
 */
static void protect_let_leave(struct krping_run *run)
{
	krping_sleep(&run->verdict, msecs_to_jiffies(PROTECT_LEAVE_MS),
		     READ_ONCE(run->ep.disconnected) ||
			     krping_is_stopping(&run->verdict));
}

static int protect_server_case(struct krping_run *run, enum krping_case nr)
{
	struct krping_note *note = protect_note(run, nr);
	struct protect *p = protect(run);
	struct krping_key key;
	int ret;

	protect_fill(run);
	ret = protect_make_key(run, nr, &key);
	if (ret)
		return ret;
	p->sink = krping_case_verb(nr) == KRPING_WR_RDMA_WRITE &&
		  !krping_case_wrong(nr);
	p->offered = true;
	/* From here on failures are what the case is for. */
	WRITE_ONCE(run->ep.may_fail, true);
	ret = protect_say(run, key.addr, key.rkey, PROTECT_LEN);
	krping_enter(&run->phases, KRPING_PHASE_OUTCOME, 0, 0);
	if (!ret)
		ret = krping_wait_outcome(&run->ep, NULL, PROTECT_SERVER_MS);
	ret = protect_saw(run, ret, KRPING_SAW_MESSAGE);
	if (!ret && note->saw & KRPING_SAW_MESSAGE)
		ret = protect_heard(run, nr, note);
	return ret;
}

/*
 * The run
 */

static int protect_check_peer(struct krping_run *run)
{
	if (run->conn.classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	return 0;
}

/* Both ends have the whole table now; the client leaves first. */
static int protect_result(struct krping_run *run)
{
	const struct krping_protect_case *c = run->rec->protect->cases;
	unsigned int nr, bad = 0, first = 0;

	for (nr = KRPING_NR_CASES; nr--;)
		if (krping_judgement_is_bad(c[nr].judgement)) {
			first = nr;
			bad++;
		}
	if (!bad)
		return 0;
	if (!protect_is_client(run) && !krping_wait_sends(&run->msgs))
		krping_wait_outcome(&run->ep, NULL, PROTECT_CLIENT_MS);
	return krping_fail(&run->verdict, -EIO,
			   "%u of %d cases are not as they have to be, the first one is %s",
			   bad, KRPING_NR_CASES, krping_case_name(first));
}

static int protect_last(struct krping_run *run)
{
	enum krping_case nr = KRPING_NR_CASES - 1;
	bool answered = protect_note(run, nr)->saw & KRPING_SAW_MESSAGE;

	/* The end of the run is that of any other. */
	if (answered && !READ_ONCE(run->ep.flushed))
		WRITE_ONCE(run->ep.may_fail, false);
	/* This end's answer is on its way; a client that does not get it fails. */
	if (answered && !protect_is_client(run))
		protect_peers_note(run, nr)->saw |= KRPING_SAW_MESSAGE;
	protect_judge(run, nr);
	/* The table is for others to read now. */
	protect(run)->offered = false;
	return protect_result(run);
}

static int protect_loop(struct krping_run *run)
{
	bool client = protect_is_client(run);
	enum krping_case nr;
	bool over;
	int ret;

	for (;;) {
		ret = krping_run_may_go_on(run);
		if (ret)
			return ret;
		nr = run->phases.iter;
		protect(run)->nr = nr;
		krping_iter_begin(&run->phases);
		ret = protect_exchange(run);
		if (!ret)
			ret = client ? protect_client_case(run, nr) :
				       protect_server_case(run, nr);
		if (ret)
			return ret;
		krping_iter_end(&run->phases);
		if (nr == KRPING_NR_CASES - 1)
			return protect_last(run);
		krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
		over = !client &&
		       !(protect_note(run, nr)->saw & KRPING_SAW_MESSAGE);
		if (over)
			protect_let_leave(run);
		protect(run)->renews = true;
		ret = krping_link_renew(run, !client && !over);
		if (ret)
			return ret;
		/* Later cases need the region of the first one: see protect_keep(). */
		if (!protect(run)->pd)
			return krping_fail(
				&run->verdict, -EPROTO,
				"the peer invalidated the key of the first case, which was not agreed");
	}
}

const struct krping_test krping_test_protect = {
	.requests = 8,
	.priv_size = sizeof(struct protect),
	.priv_kept = offsetof(struct protect, nr),
	.alloc = protect_alloc,
	.free = protect_free,
	.exchange = protect_check_peer,
	.client = protect_loop,
	.server = protect_loop,
};
