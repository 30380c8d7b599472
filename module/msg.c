// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The 16-byte message by which the ends of a ping advertise memory and answer.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "dbg.h"
#include "krping_trace.h"
#include "msg.h"
#include "phase.h"
#include "record.h"
#include "rq.h"
#include "sq.h"
#include "verdict.h"
#include "wait.h"

#define KRPING_RX_BYTES (KRPING_RQ_DEPTH * KRPING_MSG_STRIDE)
#define KRPING_TX_BYTES (KRPING_TX_DEPTH * KRPING_MSG_STRIDE)

/* The message as it is on the wire since 2007. */
struct krping_wire_msg {
	__be64 addr;
	__be32 rkey;
	__be32 len;
};

static_assert(sizeof(struct krping_wire_msg) == KRPING_MSG_SIZE);

static struct krping_wire_msg *krping_tx_msg(struct krping_msgs *msgs, u64 i)
{
	return msgs->mem + KRPING_RX_BYTES + (i % KRPING_TX_DEPTH) * KRPING_MSG_STRIDE;
}

static u64 krping_tx_dma(struct krping_msgs *msgs, u64 i)
{
	return msgs->tx_dma + (i % KRPING_TX_DEPTH) * KRPING_MSG_STRIDE;
}

static int krping_msgs_map_one(struct krping_msgs *msgs, void *mem, size_t size,
			       enum dma_data_direction dir, u64 *dma)
{
	struct ib_device *dev = msgs->ep->dev;

	*dma = ib_dma_map_single(dev, mem, size, dir);
	if (ib_dma_mapping_error(dev, *dma))
		return krping_fail(msgs->ep->verdict, -ENOMEM,
				   "mapping the message buffers: error %pe", ERR_PTR(-ENOMEM));
	return 0;
}

static int krping_msgs_map(struct krping_msgs *msgs)
{
	int ret;

	msgs->mem = kzalloc(KRPING_RX_BYTES + KRPING_TX_BYTES, GFP_KERNEL);
	if (!msgs->mem)
		return krping_fail(msgs->ep->verdict, -ENOMEM, "allocating the message buffers");
	/* The RECVs of a shared queue have buffers of their own. */
	if (!msgs->ep->srq) {
		ret = krping_msgs_map_one(msgs, msgs->mem, KRPING_RX_BYTES, DMA_FROM_DEVICE,
					  &msgs->rx_dma);
		if (ret)
			return ret;
		msgs->mapped |= 1;
	}
	ret = krping_msgs_map_one(msgs, msgs->mem + KRPING_RX_BYTES, KRPING_TX_BYTES, DMA_TO_DEVICE,
				  &msgs->tx_dma);
	if (ret)
		return ret;
	msgs->mapped |= 2;
	return 0;
}

/**
 * krping_msgs_create - make the messages of an endpoint, and post its RECVs
 * @msgs: the messages, zeroed
 * @ep: the endpoint, whose queue pair was made
 *
 * On an error everything made so far stays for krping_msgs_destroy().
 *
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_msgs_create(struct krping_msgs *msgs, struct krping_ep *ep)
{
	u32 i;
	int ret;

	msgs->ep = ep;
	ret = krping_msgs_map(msgs);
	for (i = 0; i < KRPING_RQ_DEPTH && !ret; i++) {
		struct krping_wr *wr = &ep->rq[i];

		wr->len = KRPING_MSG_SIZE;
		wr->mem = msgs->mem + i * KRPING_MSG_STRIDE;
		wr->sge.addr = msgs->rx_dma + i * KRPING_MSG_STRIDE;
		wr->sge.length = KRPING_MSG_SIZE;
		wr->sge.lkey = ep->pd->local_dma_lkey;
		ret = krping_post_recv(ep);
	}
	return ret;
}

/* Unmap and free the messages, if there are any. The queue pair is gone. */
void krping_msgs_destroy(struct krping_msgs *msgs)
{
	if (msgs->mapped & 1)
		ib_dma_unmap_single(msgs->ep->dev, msgs->rx_dma, KRPING_RX_BYTES, DMA_FROM_DEVICE);
	if (msgs->mapped & 2)
		ib_dma_unmap_single(msgs->ep->dev, msgs->tx_dma, KRPING_TX_BYTES, DMA_TO_DEVICE);
	kfree(msgs->mem);
	memset(msgs, 0, sizeof(*msgs));
}

/**
 * krping_recv_msg - end a waiting phase with a message of the peer
 * @msgs: the messages
 * @msg: receives the message
 *
 * The RECV is posted again before this returns, and so before the peer can be
 * answered.
 *
 * Return: 0, or a negative errno; -ECONNRESET and -EINTR may be without a cause
 * on record.
 */
int krping_recv_msg(struct krping_msgs *msgs, struct krping_msg *msg)
{
	struct krping_ep *ep = msgs->ep;
	const struct krping_wire_msg *wire;
	struct krping_wr *wr;
	int ret = krping_wait_recv(ep, &wr);

	if (ret)
		return ret;
	/* Such a WRITE goes to other memory: the RECV's buffer still has an old message. */
	if (!wr->wc_is_msg)
		return krping_fail(ep->verdict, -EPROTO,
				   "a WRITE with immediate data instead of a message");
	if (wr->wc_len != KRPING_MSG_SIZE)
		return krping_fail(ep->verdict, -EPROTO, "a message of %u bytes instead of %d",
				   wr->wc_len, KRPING_MSG_SIZE);
	ib_dma_sync_single_for_cpu(ep->dev, wr->sge.addr, KRPING_MSG_STRIDE, DMA_FROM_DEVICE);
	wire = wr->mem;
	msg->addr = be64_to_cpu(wire->addr);
	msg->rkey = be32_to_cpu(wire->rkey);
	msg->len = be32_to_cpu(wire->len);
	msg->asks = msgs->may_ask && msg->len & KRPING_MSG_ASKS;
	if (msg->asks)
		msg->len &= ~KRPING_MSG_ASKS;
	msg->cid = wr->cid;
	msg->has_inv = wr->wc_has_inv;
	msg->inv_key = wr->wc_inv;
	ib_dma_sync_single_for_device(ep->dev, wr->sge.addr, KRPING_MSG_STRIDE, DMA_FROM_DEVICE);
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

/**
 * krping_chain_msg - append the SEND of a 16-byte message to a chain
 * @msgs: the messages
 * @chain: the chain
 * @addr: address to advertise, or the answer to KRPING_MSG_ASKS
 * @rkey: its key
 * @len: its length in bytes, with KRPING_MSG_ASKS or without
 *
 * May sleep until the buffer of an earlier message is free.
 *
 * Return: the request, signalled; or an ERR_PTR() of a negative errno, of which
 * -ECONNRESET and -EINTR may be without a cause on record.
 */
struct krping_wr *krping_chain_msg(struct krping_msgs *msgs, struct krping_chain *chain, u64 addr,
				   u32 rkey, u32 len)
{
	struct krping_ep *ep = msgs->ep;
	u64 i = msgs->tx_posted;
	struct krping_wire_msg *wire = krping_tx_msg(msgs, i);
	struct krping_wr *wr;
	int ret;

	if (i >= KRPING_TX_DEPTH) {
		u32 seq = msgs->tx_seq[i % KRPING_TX_DEPTH] - 1;

		ret = krping_wait_seq(ep, seq);
		if (ret < 0)
			return ERR_PTR(ret);
	}

	ib_dma_sync_single_for_cpu(ep->dev, krping_tx_dma(msgs, i), KRPING_MSG_STRIDE,
				   DMA_TO_DEVICE);
	wire->addr = cpu_to_be64(addr);
	wire->rkey = cpu_to_be32(rkey);
	wire->len = cpu_to_be32(len);
	ib_dma_sync_single_for_device(ep->dev, krping_tx_dma(msgs, i), KRPING_MSG_STRIDE,
				      DMA_TO_DEVICE);

	wr = krping_chain_add(ep, chain, KRPING_WR_SEND);
	wr->len = KRPING_MSG_SIZE;
	wr->sge.addr = krping_tx_dma(msgs, i);
	wr->sge.length = KRPING_MSG_SIZE;
	wr->sge.lkey = ep->pd->local_dma_lkey;
	wr->send.sg_list = &wr->sge;
	wr->send.num_sge = 1;

	len &= ~KRPING_MSG_ASKS;
	krping_trace(adv_send, ep->rec->id, krping_trace_now(adv_send), ep->phases->iter, rkey,
		     len);
	krping_dbg(ep->rec->id, "RDMA addr %llx rkey %x len %u", addr, rkey, len);
	msgs->tx_seq[i % KRPING_TX_DEPTH] = wr->seq + 1;
	msgs->tx_posted++;
	return wr;
}

/**
 * krping_say - SEND a message alone
 * @msgs: the messages of the connection
 * @addr: see krping_chain_msg()
 * @rkey: see there
 * @len: see there
 * @inv: the key of the peer that the message invalidates; NULL: none
 *
 * Returns as krping_post().
 */
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
	return msgs->tx_seq[(msgs->tx_posted - 1) % KRPING_TX_DEPTH] - 1;
}

/*
 * Wait until every message has left its buffer. Returns 0, or a negative errno;
 * -ECONNRESET and -EINTR may be without a cause on record; -ECANCELED always is: a good
 * run was told to stop.
 */
int krping_wait_sends(struct krping_msgs *msgs)
{
	int ret;

	if (!msgs->tx_posted)
		return 0;
	ret = krping_wait_seq(msgs->ep, krping_last_seq(msgs));
	return ret < 0 ? ret : 0;
}

/*
 * Give the last message a few seconds to leave. A peer that has no RECV for it must not
 * keep this end for ever, and after a test no timeout= or idle= ends the wait.
 */
void krping_let_sends_leave(struct krping_msgs *msgs)
{
	if (msgs->tx_posted)
		krping_wait_seq_briefly(msgs->ep, krping_last_seq(msgs));
}
