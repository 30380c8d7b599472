// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The client of test=block, see block.h: a disk, /dev/krpingN, which is there as long as the run
 * lasts, with a hardware queue for each connection.
 *
 * A request that was posted is in flight, with its memory mapped, until its answer has come; or until
 * the queue pairs are gone, where krping_disk_free() ends it with an error. So whatever happens to the
 * connection, nobody waits for longer than the tear-down takes, and no device writes to memory that
 * is somebody else's again.
 */
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "block.h"
#include "cause.h"
#include "compat/disk.h"
#include "krping_trace.h"
#include "record.h"
#include "registry.h"
#include "run.h"
#include "wait.h"

static DEFINE_IDA(krping_disks);

struct krping_disk {
	struct blk_mq_tag_set set;
	struct gendisk *disk; /* while it is not the run's */
	int index;	      /* N of /dev/krpingN */
};

/* A request. */
struct krping_io {
	struct krping_flight flight;
	struct krping_mr mr;
	u8 op;
	blk_status_t status;
	int entries;	 /* of the list of its memory; 0: no data move */
	bool in_capsule; /* its data are in the message of the capsule, and no key is needed */
	bool sending;	 /* that message has not completed, so the device may read it again */
	struct scatterlist sg[];
};

static enum dma_data_direction io_dir(const struct krping_io *io)
{
	return io->op == KRPING_BLOCK_READS ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static struct krping_io *io_of(struct request *rq)
{
	return blk_mq_rq_to_pdu(rq);
}

/* The limits of a request: a buffer that begins within a page is in one page more. */
static u32 disk_segments(const struct krping_run *run)
{
	return run->params.size / PAGE_SIZE + 1;
}

static int disk_init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int i)
{
	hctx->driver_data = krping_run_conn(data, i);
	return 0;
}

static int disk_init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int queue,
			     krping_node node)
{
	struct krping_run *run = set->driver_data;
	struct krping_io *io = io_of(rq);

	sg_init_table(io->sg, disk_segments(run));
	return krping_mr_alloc(&krping_run_conn(run, queue)->ep, &io->mr,
			       run->params.size + PAGE_SIZE - 1);
}

static void disk_exit_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int queue)
{
	krping_mr_free(&krping_run_conn(set->driver_data, queue)->ep, &io_of(rq)->mr);
}

static void io_unmap(struct krping_conn *conn, struct krping_io *io)
{
	if (io->entries)
		ib_dma_unmap_sg(conn->ep.dev, io->sg, sg_nents(io->sg), io_dir(io));
	io->entries = 0;
}

static blk_status_t io_map(struct krping_conn *conn, struct request *rq, struct krping_io *io)
{
	int nr;

	if (io->op == KRPING_BLOCK_ZEROES)
		return BLK_STS_OK;
	nr = krping_map_sg(rq, io->sg);
	io->entries = ib_dma_map_sg(conn->ep.dev, io->sg, nr, io_dir(io));
	return io->entries ? BLK_STS_OK : BLK_STS_RESOURCE;
}

/* Does the device need a key for the memory of a request, or does the capsule have the data? */
static bool io_has_key(const struct krping_io *io)
{
	return io->entries && !io->in_capsule;
}

/* A capsule has left: it is the answer that ends a request, and nobody is to be woken. */
static void io_sent(struct krping_ep *ep, struct krping_wr *wr, int err)
{
}

/* A request is over: nothing of it is in flight. The caller completes it without the lock. */
static struct request *io_land(struct krping_conn *conn, struct request *rq)
{
	struct krping_io *io = io_of(rq);
	u64 iter = krping_flood_land(conn, &io->flight, io->entries ? io->flight.len : 0);

	krping_block(conn)->in_flight[rq->tag] = NULL;
	krping_trace(block_done, conn->run->rec->id, krping_trace_now(block_done), iter,
		     conn->queue, rq->tag, io->op, blk_rq_pos(rq) << SECTOR_SHIFT, io->flight.len,
		     io->flight.cid, io->flight.t_queued, io->flight.peer_ns);
	return rq;
}

/*
 * The SEND of a request's data, or the LOCAL_INV of its key, has completed: the request is over if its
 * answer has come.
 */
static void io_ready(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);
	struct request *rq = NULL;

	if (err)
		return;
	spin_lock_bh(&conn->lock);
	/* Else the phases are the thread's, and krping_disk_free() ends the request. */
	if (krping_flood_may_post(conn))
		rq = krping_block(conn)->in_flight[wr->tag];
	if (rq) {
		io_of(rq)->sending = false;
		rq = io_of(rq)->flight.t_in ? io_land(conn, rq) : NULL;
	}
	spin_unlock_bh(&conn->lock);
	if (rq)
		blk_mq_complete_request(rq);
}

/* Post a request, with the connection's lock. What was posted is not taken back by an error. */
static blk_status_t io_post(struct krping_conn *conn, struct request *rq, struct krping_io *io)
{
	int access = io->op == KRPING_BLOCK_READS ? IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE :
						    IB_ACCESS_REMOTE_READ;
	bool inv = !krping_option_given(&conn->run->params, KRPING_OPT_LOCAL_INV);
	struct krping_block *b = krping_block(conn);
	struct krping_flight *f = &io->flight;
	struct krping_key key = { 0 };
	struct krping_capsule capsule;
	struct krping_chain chain;
	struct ib_sge sge[2];
	struct krping_wr *wr;
	int ret = 0;

	if (!krping_flood_may_post(conn))
		return BLK_STS_IOERR;
	/* REG_MR and SEND, and perhaps the LOCAL_INV of each request in flight. */
	if (!krping_block_has_room(&conn->ep, inv ? 2 : 2 + b->depth))
		return BLK_STS_RESOURCE;
	krping_chain_begin_again(&chain, 2);
	if (krping_wants(requests))
		conn->ep.t_queued = f->t_queued;
	if (io_has_key(io)) {
		/* What is known of regions is the run's, and so are the words that tell of them. */
		spin_lock(&conn->run->flood.lock);
		ret = krping_mr_chain_reg_sg(&conn->ep, &io->mr, &chain, io->sg, io->entries,
					     f->len, access, &key);
		spin_unlock(&conn->run->flood.lock);
	}
	if (ret)
		return BLK_STS_IOERR;
	capsule = (struct krping_capsule){
		.at = cpu_to_be64(blk_rq_pos(rq) << SECTOR_SHIFT),
		.addr = cpu_to_be64(key.addr),
		.rkey = cpu_to_be32(key.rkey),
		.len = cpu_to_be32(f->len),
		.tag = cpu_to_be16(rq->tag),
		.op = io->op,
		.inv = io_has_key(io) && inv,
	};
	wr = krping_block_send(conn, &chain, &capsule, sizeof(capsule), io->in_capsule,
			       io->in_capsule ? io_ready : io_sent);
	if (io->in_capsule) {
		sge[0] = wr->sge;
		sge[1].addr = sg_dma_address(io->sg);
		sge[1].length = f->len;
		sge[1].lkey = conn->ep.pd->local_dma_lkey;
		wr->send.sg_list = sge;
		wr->send.num_sge = 2;
		wr->len += f->len;
		wr->tag = rq->tag;
	}
	krping_trace(block_issue, conn->run->rec->id, f->t_queued, conn->queue, rq->tag, io->op,
		     blk_rq_pos(rq) << SECTOR_SHIFT, f->len,
		     io_has_key(io) ? chain.first->pages : !!io->entries, wr->cid);
	b->in_flight[rq->tag] = rq;
	/* If this fails the run ends, and with it the request. */
	krping_post(&conn->ep, &chain);
	f->t_out = wr->t_posted ?: ktime_get_ns();
	f->cid = wr->cid;
	f->kind = wr->kind;
	f->t_post = wr->t_post;
	f->t_posted = wr->t_posted;
	f->map_ns = chain.first->kind == KRPING_WR_REG_MR ? chain.first->map_ns : 0;
	return BLK_STS_OK;
}

static u8 io_op(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return KRPING_BLOCK_READS;
	case REQ_OP_WRITE:
		return KRPING_BLOCK_WRITES;
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		return KRPING_BLOCK_ZEROES;
	default:
		return 0;
	}
}

static blk_status_t disk_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct krping_conn *conn = hctx->driver_data;
	struct request *rq = bd->rq;
	struct krping_io *io = io_of(rq);
	blk_status_t status;

	io->flight = (struct krping_flight){ .t_queued = ktime_get_ns(), .len = blk_rq_bytes(rq) };
	io->op = io_op(rq);
	io->flight.writes = io->op != KRPING_BLOCK_READS;
	io->status = BLK_STS_OK;
	if (!io->op)
		return BLK_STS_NOTSUPP;
	/* Here, too, since without a mapping it would be tried again without end. */
	if (READ_ONCE(conn->run->flood.stopped))
		return BLK_STS_IOERR;
	status = io_map(conn, rq, io);
	if (status)
		return status;
	io->in_capsule = io->op == KRPING_BLOCK_WRITES && io->entries == 1 &&
			 io->flight.len <= conn->run->params.in_capsule;
	io->sending = io->in_capsule;
	blk_mq_start_request(rq);
	spin_lock_bh(&conn->lock);
	status = io_post(conn, rq, io);
	spin_unlock_bh(&conn->lock);
	if (status)
		io_unmap(conn, io);
	return status;
}

static void disk_complete(struct request *rq)
{
	struct krping_io *io = io_of(rq);

	io_unmap(rq->mq_hctx->driver_data, io);
	blk_mq_end_request(rq, io->status);
}

/* The run ends, and with it all requests. */
static enum blk_eh_timer_return disk_timeout(struct request *rq)
{
	struct krping_conn *conn = rq->mq_hctx->driver_data;

	krping_fail(&conn->run->verdict, -ETIMEDOUT,
		    "no answer to request %d of connection %u for io_timeout=%llums", rq->tag,
		    conn->queue, div_u64(conn->run->params.io_timeout_ns, NSEC_PER_MSEC));
	return BLK_EH_RESET_TIMER;
}

static const struct blk_mq_ops disk_mq_ops = {
	.queue_rq = disk_queue_rq,
	.complete = disk_complete,
	.timeout = disk_timeout,
	.init_hctx = disk_init_hctx,
	.init_request = disk_init_request,
	.exit_request = disk_exit_request,
};

static const struct block_device_operations disk_fops = {
	.owner = THIS_MODULE,
};

static void io_invalidate(struct krping_conn *conn, struct krping_io *io, u16 tag)
{
	struct krping_chain chain;
	struct krping_wr *wr;

	krping_chain_begin_again(&chain, 1);
	spin_lock(&conn->run->flood.lock);
	wr = krping_mr_chain_inv(&conn->ep, &io->mr, &chain, false);
	spin_unlock(&conn->run->flood.lock);
	krping_wr_await(&chain, wr);
	wr->tag = tag;
	wr->done = io_ready;
	krping_post(&conn->ep, &chain);
}

/* Returns the request that is over with this answer, or NULL. */
static struct request *disk_answer(struct krping_conn *conn, const struct krping_msg *msg, u64 t_wc,
				   u64 t_sig, const struct krping_answer *a)
{
	struct krping_block *b = krping_block(conn);
	struct krping_verdict *verdict = &conn->run->verdict;
	u16 tag = be16_to_cpu(a->tag);
	struct request *rq = tag < b->depth ? b->in_flight[tag] : NULL;
	struct krping_io *io = rq ? io_of(rq) : NULL;
	bool server_inv = !krping_option_given(&conn->run->params, KRPING_OPT_LOCAL_INV);
	int ret;

	/* t_in: it was answered, and its key is being invalidated. */
	if (!rq || io->flight.t_in || a->op != io->op || be32_to_cpu(a->len) != io->flight.len) {
		krping_fail(verdict, -EPROTO, "an answer to tag %u, operation %u, %u bytes: %s",
			    tag, a->op, be32_to_cpu(a->len),
			    !rq || io->flight.t_in ? "no such request is in flight" :
						     "the request is another one");
		return NULL;
	}
	io->flight.t_in = t_wc ?: ktime_get_ns();
	io->flight.t_wc = t_wc;
	io->flight.t_sig = t_sig;
	io->flight.peer_ns = be64_to_cpu(a->host_ns);
	if (io_has_key(io) && server_inv) {
		spin_lock(&conn->run->flood.lock);
		ret = krping_mr_remote_inv(&conn->ep, &io->mr, msg);
		spin_unlock(&conn->run->flood.lock);
		return ret ? NULL : io_land(conn, rq);
	}
	if (msg->has_inv) {
		krping_fail(verdict, -EPROTO, "key 0x%x was invalidated, which was not agreed",
			    msg->inv_key);
		return NULL;
	}
	if (io_has_key(io))
		io_invalidate(conn, io, tag);
	else if (!io->sending)
		return io_land(conn, rq);
	return NULL;
}

static bool disk_recv(struct krping_ep *ep, struct krping_wr *wr)
{
	struct krping_conn *conn = container_of(ep, struct krping_conn, ep);
	/* The RECV is posted again before the answer is judged. */
	struct krping_msg msg = {
		.cid = wr->cid,
		.has_inv = wr->wc_has_inv,
		.inv_key = wr->wc_inv,
	};
	u64 t_wc = wr->t_wc, t_sig = wr->t_sig;
	struct request *rq = NULL;
	struct krping_answer a;
	bool mine;

	spin_lock_bh(&conn->lock);
	mine = krping_flood_may_post(conn);
	if (mine && krping_recv_is_done(ep)) {
		krping_fail(ep->verdict, -EPROTO, "an answer before the first request");
		mine = false;
	}
	if (mine && !krping_recv_take(ep, wr, &a, sizeof(a)))
		rq = disk_answer(conn, &msg, t_wc, t_sig, &a);
	spin_unlock_bh(&conn->lock);
	if (rq)
		blk_mq_complete_request(rq);
	return mine;
}

int krping_disk_alloc(struct krping_run *run, struct krping_conn *conn)
{
	struct krping_block *b = krping_block(conn);

	b->in_flight = kcalloc(b->depth, sizeof(*b->in_flight), GFP_KERNEL);
	if (!b->in_flight)
		return krping_fail(&run->verdict, -ENOMEM, "allocating %u requests", b->depth);
	return 0;
}

/* What the client asks for, and gets: the size of the window in bytes. */
static int disk_exchange(struct krping_run *run, u64 *size)
{
	u32 flags = run->params.flags & KRPING_RUN_F_RO ? KRPING_BLOCK_F_RO : 0;
	struct krping_conn *conn;
	struct krping_msg msg;
	unsigned int i;
	int ret;

	krping_enter(&run->phases, KRPING_PHASE_EXCHANGE, 0, 0);
	if (run->conn.classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	krping_for_each_conn(conn, run, i) {
		if (!conn->peer.depth || conn->peer.depth != run->conn.peer.depth ||
		    conn->peer.depth > krping_block(conn)->depth)
			return krping_fail(&run->verdict, -EPROTO,
					   "the server grants %u requests, %u asked for",
					   conn->peer.depth, krping_block(conn)->depth);
		krping_block(conn)->depth = conn->peer.depth;
	}
	ret = krping_say(&run->conn.msgs, 0, flags, 0, NULL) ?:
		      krping_recv_plain(&run->conn.msgs, &msg);
	if (ret)
		return ret;
	if (msg.rkey & KRPING_BLOCK_F_BUSY)
		return krping_fail(&run->verdict, -EBUSY,
				   "the server's window is another client's");
	if (!msg.addr || msg.addr % KRPING_BLOCK_UNIT || msg.addr > S64_MAX)
		return krping_fail(&run->verdict, -EPROTO, "a window of %llu bytes", msg.addr);
	if (msg.rkey & KRPING_BLOCK_F_RO)
		run->params.flags |= KRPING_RUN_F_RO;
	*size = msg.addr;
	krping_flood_open(run);
	krping_for_each_conn(conn, run, i)
		conn->ep.recv = disk_recv;
	return 0;
}

static int disk_add(struct krping_run *run, u64 size)
{
	struct krping_block *b = krping_block(&run->conn);
	struct queue_limits lim = {
		.logical_block_size = run->params.sector,
		.physical_block_size = KRPING_BLOCK_UNIT,
		.max_hw_sectors = run->params.size >> SECTOR_SHIFT,
		.max_segments = disk_segments(run),
		.virt_boundary_mask = PAGE_SIZE - 1,
		.chunk_sectors = KRPING_BLOCK_CHUNK >> SECTOR_SHIFT,
		.max_hw_discard_sectors = KRPING_BLOCK_CHUNK >> SECTOR_SHIFT,
		.max_write_zeroes_sectors = KRPING_BLOCK_CHUNK >> SECTOR_SHIFT,
		.discard_granularity = run->params.sector,
	};
	struct krping_disk *d = kzalloc_obj(*d);
	struct gendisk *disk;
	int ret;

	if (!d)
		return krping_fail(&run->verdict, -ENOMEM, "allocating the disk");
	d->index = -1;
	b->disk = d;
	d->set = (struct blk_mq_tag_set){
		.ops = &disk_mq_ops,
		.nr_hw_queues = 1 + run->nr_more,
		.queue_depth = b->depth,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = struct_size((struct krping_io *)NULL, sg, disk_segments(run)),
		.flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT,
		.timeout = nsecs_to_jiffies(run->params.io_timeout_ns) ?: 1,
		.driver_data = run,
	};
	ret = blk_mq_alloc_tag_set(&d->set);
	if (ret) {
		d->set.tags = NULL;
		return krping_fail(&run->verdict, ret, "allocating the disk's requests: error %pe",
				   ERR_PTR(ret));
	}
	/* siw sends out of the pages, and computes a checksum before. */
	disk = krping_alloc_disk(&d->set, &lim, run->conn.ep.iwarp);
	if (IS_ERR(disk))
		return krping_fail(&run->verdict, PTR_ERR(disk), "allocating the disk: error %pe",
				   disk);
	d->disk = disk;
	d->index = ida_alloc(&krping_disks, GFP_KERNEL);
	if (d->index < 0)
		return krping_fail(&run->verdict, d->index, "numbering the disk");
	snprintf(disk->disk_name, sizeof(disk->disk_name), "krping%d", d->index);
	/* Nobody looks for partitions, in this thread, which ends what is in flight. */
	disk->flags = GENHD_FL_NO_PART;
	disk->fops = &disk_fops;
	set_capacity(disk, size >> SECTOR_SHIFT);
	set_disk_ro(disk, run->params.flags & KRPING_RUN_F_RO);
	ret = add_disk(disk);
	if (ret)
		return krping_fail(&run->verdict, ret, "adding the disk: error %pe", ERR_PTR(ret));
	d->disk = NULL;
	krping_record_set(run->rec->disks, d->index + 1);
	/* Pairs with krping_run_is_held(). */
	smp_store_release(&run->disk, disk);
	return 0;
}

/* The queue pairs are gone: end what is in flight, and behind the last one the disk. */
void krping_disk_free(struct krping_run *run, struct krping_conn *conn)
{
	struct krping_block *b = krping_block(conn);
	struct krping_disk *d = b->disk;
	struct request *rq;
	u32 tag;

	for (tag = 0; b->in_flight && tag < b->depth; tag++) {
		rq = b->in_flight[tag];
		if (!rq)
			continue;
		b->in_flight[tag] = NULL;
		io_of(rq)->status = BLK_STS_IOERR;
		blk_mq_complete_request(rq);
	}
	if (d && run->disk)
		del_gendisk(run->disk);
	if (d && d->disk)
		put_disk(d->disk);
	if (d && d->index >= 0)
		ida_free(&krping_disks, d->index);
	if (d && d->set.tags)
		blk_mq_free_tag_set(&d->set);
	kfree(d);
	b->disk = NULL;
	kfree(b->in_flight);
	b->in_flight = NULL;
}

/*
 * The server's last message, in which there is nothing. At the end of timeout= requests may be in
 * flight, whose answers, which are not 0, come before it.
 */
static int disk_last_message(struct krping_run *run)
{
	u32 left = krping_block(&run->conn)->depth;
	struct krping_msg msg;
	int ret;

	do
		ret = krping_recv_msg(&run->conn.msgs, &msg);
	while (!ret && msg.addr && left--);
	return ret;
}

/* The disk is there until the run is asked to end, and nobody has it open. */
int krping_disk_run(struct krping_run *run)
{
	u64 size;
	int ret = disk_exchange(run, &size) ?: disk_add(run, size);

	if (!ret)
		ret = krping_flood_hold(run);
	krping_flood_stop(run);
	krping_iter_abort(&run->phases);
	krping_enter(&run->phases, KRPING_PHASE_WAIT_END, 0, 0);
	return ret ?: krping_say(&run->conn.msgs, 0, 0, 0, NULL) ?: disk_last_message(run);
}
