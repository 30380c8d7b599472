// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The server of test=block, see block.h. The window belongs to the run of the command, and has
 * contiguous chunks, so that the data of a request are one SGE; each client's run maps and registers
 * them for its device.
 *
 * A request is served wherever its capsule is polled, under the lock of its connection: a READ of the
 * client's memory and, when that has completed, the answer; or a WRITE and the answer in one call.
 * Nothing that a client says is believed: what a capsule names has to lie in the window.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "bench.h"
#include "block.h"
#include "krping_trace.h"
#include "record.h"
#include "run.h"
#include "wait.h"

static unsigned int krping_window_max = 1024;
module_param_named(window_max, krping_window_max, uint, 0644);
MODULE_PARM_DESC(window_max, "largest window= of a server of test=block, in MiB (default 1024)");

struct krping_window {
	spinlock_t lock; /* of users and writers */
	u32 users;
	u32 writers;
	u64 size;
	u32 nr;
	void *chunk[];
};

/* A chunk of the window, for the device of a run. */
struct krping_chunk {
	u64 dma;
	struct krping_mr mr; /* none with local_dma_lkey */
	struct krping_key key;
};

/* A request that is here. */
struct krping_serving {
	struct list_head waiting;
	struct krping_flight flight;
	u64 at;
	u64 addr;
	u32 rkey;
	u8 op; /* 0: the tag is free */
	bool inv;
	bool moved; /* of a write: the data are here, what is left is the answer */
};

static u32 window_chunk_len(const struct krping_window *window, u32 i)
{
	return min_t(u64, window->size - (u64)i * KRPING_BLOCK_CHUNK, KRPING_BLOCK_CHUNK);
}

/* NULL does nothing. */
void krping_window_free(struct krping_window *window)
{
	u32 i;

	for (i = 0; window && i < window->nr && window->chunk[i]; i++)
		free_pages_exact(window->chunk[i], window_chunk_len(window, i));
	kvfree(window);
}

/* Where there is too little memory the run fails, and nobody is killed. */
int krping_window_open(struct krping_run *run)
{
	u32 size = run->params.window, nr = DIV_ROUND_UP(size, KRPING_BLOCK_CHUNK), i;
	struct krping_window *window;

	if (size > (u64)READ_ONCE(krping_window_max) << 20)
		return krping_fail(&run->verdict, -EPERM,
				   "window: more than the module parameter window_max, %u MiB",
				   READ_ONCE(krping_window_max));
	window = kvzalloc(struct_size(window, chunk, nr), GFP_KERNEL);
	if (!window)
		return krping_fail(&run->verdict, -ENOMEM, "allocating the window");
	spin_lock_init(&window->lock);
	window->size = size;
	window->nr = nr;
	run->window = window;
	for (i = 0; i < nr; i++) {
		window->chunk[i] =
			alloc_pages_exact(window_chunk_len(window, i),
					  GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY);
		if (!window->chunk[i])
			return krping_fail(&run->verdict, -ENOMEM,
					   "allocating the window: %u of %u chunks", i, nr);
		cond_resched();
	}
	return 0;
}

static struct krping_window *window_of(const struct krping_run *run)
{
	return (run->parent ?: run)->window;
}

static bool window_registers(const struct krping_run *run)
{
	/* The sink of an iWARP READ has a key. */
	return run->conn.ep.iwarp || !(run->params.flags & KRPING_RUN_F_LOCAL_DMA_LKEY);
}

/* Map the window for the device of the run, and make its regions. */
static int window_map(struct krping_run *run, struct krping_block *b)
{
	const struct krping_window *window = window_of(run);
	struct krping_ep *ep = &run->conn.ep;
	struct krping_chunk *chunk;
	u32 i, len;
	int ret = 0;

	b->chunks = kvcalloc(window->nr, sizeof(*b->chunks), GFP_KERNEL);
	if (!b->chunks)
		return krping_fail(&run->verdict, -ENOMEM, "allocating the window's regions");
	for (i = 0; i < window->nr && !ret; i++) {
		chunk = &b->chunks[i];
		len = window_chunk_len(window, i);
		chunk->dma = ib_dma_map_single(ep->dev, window->chunk[i], len, DMA_BIDIRECTIONAL);
		if (ib_dma_mapping_error(ep->dev, chunk->dma)) {
			chunk->dma = 0;
			return krping_fail(&run->verdict, -ENOMEM, "mapping the window: error %pe",
					   ERR_PTR(-ENOMEM));
		}
		chunk->key.addr = chunk->dma;
		chunk->key.lkey = ep->pd->local_dma_lkey;
		if (window_registers(run))
			ret = krping_mr_alloc(ep, &chunk->mr, len);
		cond_resched();
	}
	return ret;
}

/* Register the window for all connections. */
static int window_register(struct krping_run *run)
{
	const struct krping_window *window = window_of(run);
	/* iWARP writes the answer to a READ like a peer's WRITE (RFC 5040, 5.4). */
	int access = IB_ACCESS_LOCAL_WRITE | (run->conn.ep.iwarp ? IB_ACCESS_REMOTE_WRITE : 0);
	struct krping_ep *ep = &run->conn.ep;
	struct krping_chain chain;
	struct krping_chunk *chunk;
	struct scatterlist sg;
	u32 i, len;
	int ret = 0;

	for (i = 0; i < window->nr && !ret && window_registers(run); i++) {
		chunk = &krping_block(&run->conn)->chunks[i];
		len = window_chunk_len(window, i);
		sg_init_one(&sg, window->chunk[i], len);
		sg_dma_address(&sg) = chunk->dma;
		sg_dma_len(&sg) = len;
		ret = krping_chain_begin(ep, &chain, 1) ?:
			      krping_mr_chain_reg_sg(ep, &chunk->mr, &chain, &sg, 1, len, access,
						     &chunk->key);
		if (ret)
			return ret;
		krping_wr_await(&chain, chain.last);
		ret = krping_post(ep, &chain);
	}
	return ret ?: krping_wait_sq_empty(ep);
}

int krping_window_alloc(struct krping_run *run, struct krping_conn *conn)
{
	struct krping_block *b = krping_block(conn);

	b->serving = kvcalloc(b->depth, sizeof(*b->serving), GFP_KERNEL);
	if (!b->serving)
		return krping_fail(&run->verdict, -ENOMEM, "allocating %u requests", b->depth);
	return conn->queue ? 0 : window_map(run, b);
}

/* May the run have the window beside those that have it? What it gets is given back when it ends. */
static bool window_claim(struct krping_run *run, bool ro)
{
	struct krping_window *window = window_of(run);
	bool claimed;

	spin_lock(&window->lock);
	claimed = run->params.flags & KRPING_RUN_F_SHARED ||
		  (ro ? !window->writers : !window->users);
	window->users += claimed;
	window->writers += claimed && !ro;
	spin_unlock(&window->lock);
	run->window_ro = ro;
	run->window_claimed = claimed;
	return claimed;
}

static void window_release(struct krping_run *run)
{
	struct krping_window *window = window_of(run);

	if (!run->window_claimed)
		return;
	spin_lock(&window->lock);
	window->users--;
	window->writers -= !run->window_ro;
	spin_unlock(&window->lock);
	run->window_claimed = false;
}

/* Is every request answered? Then no READ writes to the window any more. */
static bool window_is_quiet(struct krping_run *run)
{
	struct krping_conn *conn;
	unsigned int i;
	u32 tag;

	krping_for_each_conn(conn, run, i)
		for (tag = 0; tag < krping_block(conn)->depth; tag++)
			if (krping_block(conn)->serving[tag].op)
				return false;
	return true;
}

/* The queue pairs are gone. */
void krping_window_unmap(struct krping_run *run, struct krping_conn *conn)
{
	struct krping_window *window = window_of(run);
	struct krping_block *b = krping_block(conn);
	u32 i;

	kvfree(b->serving);
	b->serving = NULL;
	for (i = 0; b->chunks && i < window->nr && b->chunks[i].dma; i++) {
		krping_mr_free(&conn->ep, &b->chunks[i].mr);
		ib_dma_unmap_single(conn->ep.dev, b->chunks[i].dma, window_chunk_len(window, i),
				    DMA_BIDIRECTIONAL);
	}
	kvfree(b->chunks);
	b->chunks = NULL;
	if (!conn->queue)
		window_release(run);
}

/* Append the WRITE or READ that moves the data of a request. */
static struct krping_wr *serve_move(struct krping_conn *conn, struct krping_chain *chain,
				    const struct krping_serving *s, enum krping_wr_kind kind)
{
	const struct krping_chunk *chunks = krping_block(&conn->run->conn)->chunks;
	const struct krping_key *key = &chunks[s->at / KRPING_BLOCK_CHUNK].key;
	const u64 at = key->addr + s->at % KRPING_BLOCK_CHUNK;
	const struct krping_key own = { .addr = at, .lkey = key->lkey };
	const struct krping_msg peer = { .addr = s->addr, .rkey = s->rkey, .len = s->flight.len };
	struct krping_wr *wr = krping_chain_move(&conn->ep, chain, kind, &own, &peer);

	wr->tag = s - krping_block(conn)->serving;
	return wr;
}

static void serve_sent(struct krping_ep *ep, struct krping_wr *wr, int err);
static void serve_read(struct krping_ep *ep, struct krping_wr *wr, int err);

/* Answer a request, perhaps behind the WRITE that moves its data, and be done with it. */
static void serve_answer(struct krping_conn *conn, struct krping_serving *s)
{
	bool writes = s->op == KRPING_BLOCK_READS;
	struct krping_chain chain;
	struct krping_answer answer = {
		.host_ns = cpu_to_be64(max(ktime_get_ns() - s->flight.t_queued, 1ULL)),
		.len = cpu_to_be32(s->flight.len),
		.tag = cpu_to_be16(s - krping_block(conn)->serving),
		.op = s->op,
	};
	struct krping_wr *wr;
	u64 iter;

	krping_chain_begin_again(&chain, 1 + writes);
	if (writes)
		serve_move(conn, &chain, s, KRPING_WR_RDMA_WRITE)->send.send_flags = 0;
	wr = krping_block_send(conn, &chain, &answer, sizeof(answer), false, serve_sent);
	if (s->inv)
		krping_wr_invalidates(&chain, wr, s->rkey);
	/* The client may use the tag again as soon as the answer is posted. */
	s->op = 0;
	if (krping_post(&conn->ep, &chain))
		return;
	s->flight.cid = wr->cid;
	s->flight.kind = wr->kind;
	s->flight.t_post = wr->t_post;
	s->flight.t_posted = wr->t_posted;
	iter = krping_flood_land(conn, &s->flight,
				 answer.op == KRPING_BLOCK_ZEROES ? 0 : s->flight.len);
	krping_trace(block_done, conn->run->rec->id, krping_trace_now(block_done), iter,
		     conn->queue, s - krping_block(conn)->serving, answer.op, s->at, s->flight.len,
		     wr->cid, s->flight.t_queued, 0);
}

/* Do what is next for a request, if the send queue has room for that. */
static bool serve_next(struct krping_conn *conn, struct krping_serving *s)
{
	struct krping_chain chain;
	struct krping_wr *wr;

	if (!krping_block_has_room(&conn->ep, 2))
		return false;
	if (s->op == KRPING_BLOCK_WRITES && !s->moved) {
		krping_chain_begin_again(&chain, 1);
		wr = serve_move(conn, &chain, s, KRPING_WR_RDMA_READ);
		wr->done = serve_read;
		krping_block(conn)->signalled = wr->seq + 1;
		krping_post(&conn->ep, &chain);
	} else {
		serve_answer(conn, s);
	}
	return true;
}

static void serve_or_wait(struct krping_conn *conn, struct krping_serving *s)
{
	if (!list_empty(&krping_block(conn)->waiting) || !serve_next(conn, s))
		list_add_tail(&s->waiting, &krping_block(conn)->waiting);
}

/* Something has retired: there is room for those that wait. */
static void serve_waiting(struct krping_conn *conn)
{
	struct krping_block *b = krping_block(conn);
	struct krping_serving *s, *next;

	list_for_each_entry_safe(s, next, &b->waiting, waiting) {
		/* Before it is answered: its tag may come again. */
		if (!krping_block_has_room(&conn->ep, 2))
			break;
		list_del(&s->waiting);
		serve_next(conn, s);
	}
}

static void serve_sent(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);

	if (err)
		return;
	spin_lock_bh(&conn->lock);
	if (krping_flood_may_post(conn))
		serve_waiting(conn);
	spin_unlock_bh(&conn->lock);
}

/* The data of a client's write are here. */
static void serve_read(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);
	struct krping_serving *s = &krping_block(conn)->serving[wr->tag];

	if (err)
		return;
	spin_lock_bh(&conn->lock);
	if (krping_flood_may_post(conn)) {
		s->moved = true;
		serve_waiting(conn);
		serve_or_wait(conn, s);
	}
	spin_unlock_bh(&conn->lock);
}

/* What is wrong with a capsule, behind which are so many bytes of data? NULL: nothing. */
static const char *serve_refuses(const struct krping_conn *conn, const struct krping_serving *s,
				 u32 data)
{
	u64 size = window_of(conn->run)->size, len = s->flight.len;

	if (!s->op || s->op >= KRPING_NR_BLOCKS)
		return "of no operation";
	if (!len || len % SECTOR_SIZE || s->at % SECTOR_SIZE)
		return "of a part of a sector";
	if (s->at > size || len > size - s->at)
		return "outside the window";
	if (data && (s->op != KRPING_BLOCK_WRITES || s->inv || data != len))
		return "with data that do not belong to it";
	if (s->op != KRPING_BLOCK_READS && conn->run->window_ro)
		return "that writes, and the window is read only";
	if (s->op == KRPING_BLOCK_ZEROES)
		return s->inv			? "with a key that it does not need" :
		       len > KRPING_BLOCK_CHUNK ? "that is too large" :
						  NULL;
	if (len > conn->run->params.size)
		return "that is larger than agreed";
	if (s->at / KRPING_BLOCK_CHUNK != (s->at + len - 1) / KRPING_BLOCK_CHUNK)
		return "that crosses a chunk of the window";
	return NULL;
}

/* Zero a piece of the window, or write there the data that have come behind a capsule in @wr. */
static void serve_fill(struct krping_conn *conn, const struct krping_serving *s,
		       const struct krping_wr *wr)
{
	struct krping_window *window = window_of(conn->run);
	struct krping_chunk *chunks = krping_block(&conn->run->conn)->chunks;
	u64 at = s->at, left = s->flight.len, nr;
	u32 i, in;

	for (; left; at += nr, left -= nr) {
		i = at / KRPING_BLOCK_CHUNK;
		in = at % KRPING_BLOCK_CHUNK;
		nr = min_t(u64, left, KRPING_BLOCK_CHUNK - in);
		ib_dma_sync_single_for_cpu(conn->ep.dev, chunks[i].dma + in, nr, DMA_BIDIRECTIONAL);
		if (s->op == KRPING_BLOCK_WRITES)
			krping_recv_data(&conn->msgs, wr, window->chunk[i] + in, nr);
		else
			memset(window->chunk[i] + in, 0, nr);
		ib_dma_sync_single_for_device(conn->ep.dev, chunks[i].dma + in, nr,
					      DMA_BIDIRECTIONAL);
	}
}

static void serve_capsule(struct krping_conn *conn, const struct krping_capsule *c,
			  const struct krping_wr *wr, u64 now)
{
	struct krping_block *b = krping_block(conn);
	u32 data = wr->wc_len - sizeof(*c);
	u16 tag = be16_to_cpu(c->tag);
	struct krping_serving *s;
	const char *why;

	if (tag >= b->depth || b->serving[tag].op) {
		krping_fail(&conn->run->verdict, -EPROTO, "a request with tag %u, %s", tag,
			    tag < b->depth ? "which is here already" : "and there are not so many");
		return;
	}
	s = &b->serving[tag];
	s->flight = (struct krping_flight){ .len = be32_to_cpu(c->len), .t_queued = now };
	s->at = be64_to_cpu(c->at);
	s->addr = be64_to_cpu(c->addr);
	s->rkey = be32_to_cpu(c->rkey);
	s->op = c->op;
	s->inv = c->inv;
	s->moved = data;
	why = serve_refuses(conn, s, data);
	if (why) {
		krping_fail(&conn->run->verdict, -EPROTO,
			    "a request %s: operation %u, byte %llu, %u bytes", why, c->op, s->at,
			    s->flight.len);
		return;
	}
	krping_trace(block_issue, conn->run->rec->id, now, conn->queue, tag, s->op, s->at,
		     s->flight.len,
		     s->op == KRPING_BLOCK_ZEROES ?
			     0 :
			     DIV_ROUND_UP(offset_in_page(s->at) + s->flight.len, PAGE_SIZE),
		     wr->cid);
	if (data || s->op == KRPING_BLOCK_ZEROES)
		serve_fill(conn, s, wr);
	serve_or_wait(conn, s);
}

/* A capsule, or on the first connection the message that the client has done. */
static bool serve_recv(struct krping_ep *ep, struct krping_wr *wr)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);
	u64 now = wr->t_wc ?: ktime_get_ns();
	struct krping_capsule c;
	bool mine;

	if (wr->wc_len == KRPING_MSG_SIZE && !conn->queue)
		return false;
	spin_lock_bh(&conn->lock);
	mine = krping_flood_may_post(conn);
	if (mine && krping_recv_is_done(ep)) {
		krping_fail(ep->verdict, -EPROTO, "a request out of turn");
		mine = false;
	}
	if (mine && !krping_recv_head(ep, wr, &c, sizeof(c))) {
		if (wr->wc_has_inv)
			krping_fail(ep->verdict, -EPROTO,
				    "key 0x%x was invalidated, which was not agreed", wr->wc_inv);
		else
			serve_capsule(conn, &c, wr, now);
		krping_post_recv(ep);
	}
	spin_unlock_bh(&conn->lock);
	/* Whatever comes later, the thread reads the message that it waits for. */
	return mine;
}

/* The client says what it wants, and hears what there is: then requests may come at once. */
static int window_exchange(struct krping_run *run)
{
	struct krping_window *window = window_of(run);
	u32 flags = run->params.flags & KRPING_RUN_F_RO ? KRPING_BLOCK_F_RO : 0;
	struct krping_chain chain;
	struct krping_conn *conn;
	struct krping_msg msg;
	unsigned int i;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	ret = window_register(run) ?: krping_recv_plain(&run->conn.msgs, &msg);
	if (ret)
		return ret;
	flags |= msg.rkey & KRPING_BLOCK_F_RO;
	if (!window_claim(run, flags & KRPING_BLOCK_F_RO)) {
		krping_say(&run->conn.msgs, 0, KRPING_BLOCK_F_BUSY, 0, NULL);
		krping_wait_sends(&run->conn.msgs);
		return krping_fail(&run->verdict, -EBUSY, "the window is another client's");
	}
	krping_flood_open(run);
	krping_for_each_conn(conn, run, i)
		conn->ep.recv = serve_recv;
	/* The send queue is empty, so there is room; the caller's wait finds what became of this. */
	spin_lock_bh(&run->conn.lock);
	krping_chain_begin_again(&chain, 1);
	krping_chain_msg(&run->conn.msgs, &chain, window->size, flags, run->params.size);
	krping_post(&run->conn.ep, &chain);
	spin_unlock_bh(&run->conn.lock);
	return 0;
}

/* Serve until the client has done. A server that is asked to end leaves the client alone. */
int krping_window_run(struct krping_run *run)
{
	struct krping_msg msg;
	int ret = window_exchange(run);

	if (!ret)
		ret = krping_flood_wait(run);
	krping_flood_stop(run);
	krping_iter_abort(&run->phases);
	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
	if (ret || !krping_recv_is_done(&run->conn.ep))
		return ret;
	ret = krping_recv_plain(&run->conn.msgs, &msg);
	/* The next client may come as soon as this one hears that it has ended. */
	if (!ret && window_is_quiet(run))
		window_release(run);
	return ret ?: krping_say(&run->conn.msgs, 0, 0, 0, NULL);
}
