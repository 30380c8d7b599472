// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The 16-byte message by which the ends of a ping advertise memory and answer, and the receive
 * queue, in which there is nothing else but the messages of a test's own.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "completion.h"
#include "dbg.h"
#include "krping_trace.h"
#include "msg.h"
#include "phase.h"
#include "record.h"
#include "sq.h"
#include "srq.h"
#include "verdict.h"
#include "wait.h"

/* The buffers of the receive queue, and behind them those of SENDs. */
static size_t krping_msgs_bytes(const struct krping_ep *ep)
{
	return (ep->rq_depth + KRPING_TX_DEPTH) * KRPING_MSG_STRIDE;
}

/* The message as it is on the wire since 2007. */
struct krping_wire_msg {
	__be64 addr;
	__be32 rkey;
	__be32 len;
};

static_assert(sizeof(struct krping_wire_msg) == KRPING_MSG_SIZE);

static __always_inline int krping_post_recv_call(struct krping_ep *ep, struct krping_wr *wr)
{
	if (unlikely(ep->srq))
		return krping_srq_give(ep, wr);
	return ib_post_recv(ep->qp, &wr->recv, NULL);
}

static noinline int krping_post_recv_traced(struct krping_ep *ep, struct krping_wr *wr)
{
	int ret;

	krping_trace(post_recv, ep->rec->id, ktime_get_ns(), ep->rcq.id, wr->cid, ep->qp->qp_num,
		     wr->len);
	ret = krping_post_recv_call(ep, wr);
	krping_trace(post_return, ep->rec->id, ktime_get_ns(), ep->rcq.id, wr->cid, 1, ret);
	return ret;
}

static noinline int krping_post_recv_failed(struct krping_ep *ep, struct krping_wr *wr, int err)
{
	krping_trace(post_recv_err, ep->rec->id, ep->rcq.id, wr->cid, ep->qp->qp_num, wr->kind,
		     err);
	/* The peer has closed, after the message that was in this RECV: the next wait finds it. */
	if (err == -ENOTCONN) {
		WRITE_ONCE(ep->flushed, true);
		return 0;
	}
	return krping_fail(ep->verdict, err == -ENOMEM ? err : -EIO, "posting a RECV: error %pe",
			   ERR_PTR(err));
}

/*
 * Post the next RECV; with a shared queue the one in which the oldest message came that was not
 * posted since. Returns 0, or a negative errno that is also the run's cause.
 */
int krping_post_recv(struct krping_ep *ep)
{
	u32 seq = ep->rq_posted;
	struct krping_wr *wr = krping_rq_slot(ep, seq);
	int ret;

	wr->seq = seq;
	wr->cid = ep->next_cid++;
	wr->t_wc = 0;
	/* Stages and costs also want posts, but have nothing of a RECV. */
	if (trace_krping_post_recv_enabled() || trace_krping_post_return_enabled())
		ret = krping_post_recv_traced(ep, wr);
	else
		ret = krping_post_recv_call(ep, wr);
	if (unlikely(ret))
		return krping_post_recv_failed(ep, wr, ret);
	/* Pairs with krping_srq_recv_done(), which may use the request again. */
	smp_store_release(&ep->rq_posted, seq + 1);
	return 0;
}

/* Give each RECV a second place, for the data behind the message. */
static int krping_msgs_add_data(struct krping_msgs *msgs)
{
	struct krping_ep *ep = msgs->ep;
	struct krping_msg_data *data;
	u32 i;

	msgs->data = kvcalloc(ep->rq_depth, sizeof(*msgs->data), GFP_KERNEL);
	if (!msgs->data)
		return krping_fail(ep->verdict, -ENOMEM, "allocating the buffers of data");
	for (i = 0; i < ep->rq_depth; i++) {
		data = &msgs->data[i];
		data->mem = kzalloc(ep->msg_data, GFP_KERNEL);
		if (!data->mem)
			return krping_fail(ep->verdict, -ENOMEM, "allocating the buffers of data");
		data->sge[1] = (struct ib_sge){
			.addr = ib_dma_map_single(ep->dev, data->mem, ep->msg_data,
						  DMA_FROM_DEVICE),
			.length = ep->msg_data,
			.lkey = ep->pd->local_dma_lkey,
		};
		if (ib_dma_mapping_error(ep->dev, data->sge[1].addr)) {
			data->sge[1].length = 0;
			return krping_fail(ep->verdict, -ENOMEM,
					   "mapping the buffers of data: error %pe",
					   ERR_PTR(-ENOMEM));
		}
	}
	return 0;
}

static void krping_msgs_free_data(struct krping_msgs *msgs)
{
	struct krping_msg_data *data = msgs->data;
	u32 i;

	for (i = 0; data && i < msgs->ep->rq_depth && data[i].mem; i++) {
		if (data[i].sge[1].length)
			ib_dma_unmap_single(msgs->ep->dev, data[i].sge[1].addr,
					    data[i].sge[1].length, DMA_FROM_DEVICE);
		kfree(data[i].mem);
	}
	kvfree(data);
}

/* Make the messages of an endpoint, and post its RECVs. To be destroyed after an error, too. */
int krping_msgs_create(struct krping_msgs *msgs, struct krping_ep *ep)
{
	u32 i;
	int ret = 0;

	msgs->ep = ep;
	msgs->mem = kzalloc(krping_msgs_bytes(ep), GFP_KERNEL);
	if (!msgs->mem)
		return krping_fail(ep->verdict, -ENOMEM, "allocating the message buffers");
	msgs->dma = ib_dma_map_single(ep->dev, msgs->mem, krping_msgs_bytes(ep), KRPING_MSG_DIR);
	if (ib_dma_mapping_error(ep->dev, msgs->dma))
		return krping_fail(ep->verdict, -ENOMEM, "mapping the message buffers: error %pe",
				   ERR_PTR(-ENOMEM));
	msgs->mapped = true;
	if (ep->msg_data)
		ret = krping_msgs_add_data(msgs);
	for (i = 0; i < ep->rq_depth && !ret; i++) {
		size_t at = i * KRPING_MSG_STRIDE;
		struct krping_wr *wr = &ep->rq[i];

		krping_wr_recv(wr, ep->pd, msgs->mem + at, msgs->dma + at, ep->msg_size,
			       krping_recv_done);
		if (msgs->data) {
			msgs->data[i].sge[0] = wr->sge;
			wr->recv.sg_list = msgs->data[i].sge;
			wr->recv.num_sge = 2;
		}
		ret = krping_post_recv(ep);
	}
	return ret;
}

/* Unmap and free the messages, if there are any. The queue pair is gone. */
void krping_msgs_destroy(struct krping_msgs *msgs)
{
	if (msgs->mapped)
		ib_dma_unmap_single(msgs->ep->dev, msgs->dma, krping_msgs_bytes(msgs->ep),
				    KRPING_MSG_DIR);
	kfree(msgs->mem);
	krping_msgs_free_data(msgs);
	memset(msgs, 0, sizeof(*msgs));
}

/*
 * Copy a message that has to have so many bytes, and perhaps data behind them. Returns 0, or the
 * run's cause.
 */
static __always_inline int krping_msg_copy(struct krping_ep *ep, const struct krping_wr *wr,
					   void *to, u32 len, bool data)
{
	/* Such a WRITE goes to other memory: the RECV's buffer still has an old message. */
	if (!wr->wc_is_msg)
		return krping_fail(ep->verdict, -EPROTO,
				   "a WRITE with immediate data instead of a message");
	if (data ? wr->wc_len < len : wr->wc_len != len)
		return krping_fail(ep->verdict, -EPROTO, "a message of %u bytes instead of %u",
				   wr->wc_len, len);
	ib_dma_sync_single_for_cpu(ep->dev, wr->sge.addr, KRPING_MSG_STRIDE, KRPING_MSG_DIR);
	memcpy(to, wr->mem, len);
	ib_dma_sync_single_for_device(ep->dev, wr->sge.addr, KRPING_MSG_STRIDE, KRPING_MSG_DIR);
	return 0;
}

/*
 * For krping_ep.recv: copy the message that has come, of @len bytes, and post its RECV again. The
 * caller holds the connection's lock. Returns 0, or the run's cause.
 */
int krping_recv_take(struct krping_ep *ep, struct krping_wr *wr, void *to, u32 len)
{
	return krping_msg_copy(ep, wr, to, len, false) ?: krping_post_recv(ep);
}

/*
 * The same of a message with data behind it, krping_wr.wc_len - @len bytes: its RECV is not posted
 * yet.
 */
int krping_recv_head(struct krping_ep *ep, struct krping_wr *wr, void *to, u32 len)
{
	return krping_msg_copy(ep, wr, to, len, true);
}

/* Copy the data behind a message. */
void krping_recv_data(struct krping_msgs *msgs, const struct krping_wr *wr, void *to, u32 len)
{
	const struct krping_msg_data *data = &msgs->data[wr - msgs->ep->rq];
	const struct ib_sge *sge = &data->sge[1];

	ib_dma_sync_single_for_cpu(msgs->ep->dev, sge->addr, sge->length, DMA_FROM_DEVICE);
	memcpy(to, data->mem, len);
	ib_dma_sync_single_for_device(msgs->ep->dev, sge->addr, sge->length, DMA_FROM_DEVICE);
}

/*
 * End a waiting phase with a message of the peer. The RECV is posted again before the peer can
 * be answered. Returns 0, or as krping_wait_errno().
 */
int krping_recv_msg(struct krping_msgs *msgs, struct krping_msg *msg)
{
	struct krping_ep *ep = msgs->ep;
	struct krping_wire_msg wire;
	struct krping_wr *wr;
	int ret = krping_wait_recv(ep, &wr) ?: krping_msg_copy(ep, wr, &wire, sizeof(wire), false);

	if (ret)
		return ret;
	msg->addr = be64_to_cpu(wire.addr);
	msg->rkey = be32_to_cpu(wire.rkey);
	msg->len = be32_to_cpu(wire.len);
	msg->split = msgs->may_split && msg->len & KRPING_MSG_SPLIT;
	if (msg->split)
		msg->len &= ~KRPING_MSG_SPLIT;
	msg->cid = wr->cid;
	msg->has_inv = wr->wc_has_inv;
	msg->inv_key = wr->wc_inv;
	krping_trace(adv_recv, ep->rec->id, krping_trace_now(adv_recv), ep->phases->iter, msg->rkey,
		     msg->len);
	krping_dbg(ep->rec->id, "Received rkey %x addr %llx len %u from peer", msg->rkey, msg->addr,
		   msg->len);
	return krping_post_recv(ep);
}

/* As krping_recv_msg(), for a message that may not invalidate a key. */
int krping_recv_plain(struct krping_msgs *msgs, struct krping_msg *msg)
{
	int ret = krping_recv_msg(msgs, msg);

	if (!ret && msg->has_inv)
		ret = krping_fail(msgs->ep->verdict, -EPROTO,
				  "key 0x%x was invalidated, which was not agreed", msg->inv_key);
	return ret;
}

/*
 * Append the SEND of a message to a chain, perhaps after a wait for a buffer. The address may be
 * the answer to KRPING_MSG_SPLIT, and the length have that bit. Returns the request, signalled;
 * or an ERR_PTR() as krping_wait_errno().
 */
struct krping_wr *krping_chain_msg(struct krping_msgs *msgs, struct krping_chain *chain, u64 addr,
				   u32 rkey, u32 len)
{
	struct krping_ep *ep = msgs->ep;
	u64 i = msgs->tx_posted;
	u32 *seq = &msgs->tx_seq[i % KRPING_TX_DEPTH];
	size_t at = (ep->rq_depth + i % KRPING_TX_DEPTH) * KRPING_MSG_STRIDE;
	struct krping_wire_msg *wire = msgs->mem + at;
	struct krping_wr *wr;
	int ret;

	if (i >= KRPING_TX_DEPTH) {
		ret = krping_wait_seq(ep, *seq);
		if (ret < 0)
			return ERR_PTR(ret);
	}

	ib_dma_sync_single_for_cpu(ep->dev, msgs->dma + at, KRPING_MSG_STRIDE, KRPING_MSG_DIR);
	wire->addr = cpu_to_be64(addr);
	wire->rkey = cpu_to_be32(rkey);
	wire->len = cpu_to_be32(len);
	ib_dma_sync_single_for_device(ep->dev, msgs->dma + at, KRPING_MSG_STRIDE, KRPING_MSG_DIR);

	wr = krping_chain_add(ep, chain, KRPING_WR_SEND);
	wr->len = KRPING_MSG_SIZE;
	wr->sge.addr = msgs->dma + at;
	wr->sge.length = KRPING_MSG_SIZE;
	wr->sge.lkey = ep->pd->local_dma_lkey;
	wr->send.sg_list = &wr->sge;
	wr->send.num_sge = 1;

	len &= ~KRPING_MSG_SPLIT;
	krping_trace(adv_send, ep->rec->id, krping_trace_now(adv_send), ep->phases->iter, rkey,
		     len);
	krping_dbg(ep->rec->id, "RDMA addr %llx rkey %x len %u", addr, rkey, len);
	*seq = wr->seq;
	msgs->tx_posted++;
	return wr;
}

/* SEND a message alone. @inv: the key of the peer that it invalidates, or NULL. */
int krping_say(struct krping_msgs *msgs, u64 addr, u32 rkey, u32 len, const u32 *inv)
{
	struct krping_chain chain;
	struct krping_wr *wr;
	int ret = krping_chain_begin(msgs->ep, &chain, 1);

	if (ret)
		return ret;
	wr = krping_chain_msg(msgs, &chain, addr, rkey, len);
	if (IS_ERR(wr))
		return PTR_ERR(wr);
	if (inv)
		krping_wr_invalidates(&chain, wr, *inv);
	return krping_post(msgs->ep, &chain);
}

static u32 krping_last_seq(const struct krping_msgs *msgs)
{
	return msgs->tx_seq[(msgs->tx_posted - 1) % KRPING_TX_DEPTH];
}

/* Wait until every message has left its buffer. Returns as krping_wait_seq(), but never 1. */
int krping_wait_sends(struct krping_msgs *msgs)
{
	int ret = msgs->tx_posted ? krping_wait_seq(msgs->ep, krping_last_seq(msgs)) : 0;

	return min(ret, 0);
}

/* As above, for a few seconds: after a test no timeout= or idle= ends the wait for a peer. */
void krping_let_sends_leave(struct krping_msgs *msgs)
{
	if (msgs->tx_posted)
		krping_wait_seq_briefly(msgs->ep, krping_last_seq(msgs));
}
