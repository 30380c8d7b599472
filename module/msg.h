/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The 16-byte message.
 */
#ifndef KRPING_MSG_H
#define KRPING_MSG_H

#include "ep.h"

/* Messages that can be on their way out; each has a buffer of its own. */
#define KRPING_TX_DEPTH 4

/*
 * In the length of an advertisement, where private data have agreed on it: the
 * client asks for how long the server's host has the ping. The answer is in the
 * address of the go-ahead, in nanoseconds; there it is 0 if nobody asks.
 */
#define KRPING_MSG_ASKS 0x80000000U

static_assert(KRPING_SIZE_MAX < KRPING_MSG_ASKS);

/**
 * struct krping_msgs - the messages of an endpoint
 * @ep:		the endpoint
 * @mem:	their memory: the buffers of the receive queue, then TX buffers
 * @rx_dma, @tx_dma: DMA addresses of the RX buffers, and of the TX buffers
 * @mapped:	which of the two are mapped (bit 0 rx, bit 1 tx)
 * @may_ask:	both ends know KRPING_MSG_ASKS
 * @tx_posted:	messages sent
 * @tx_seq:	for each TX buffer, the sequence number of its last SEND + 1
 *
 * Only the run's thread uses this.
 */
struct krping_msgs {
	struct krping_ep *ep;
	void *mem;
	u64 rx_dma;
	u64 tx_dma;
	unsigned int mapped;
	bool may_ask;
	u64 tx_posted;
	u32 tx_seq[KRPING_TX_DEPTH];
};

/**
 * struct krping_msg - the 16-byte message, in host order
 * @addr:	address that is advertised, or the answer to KRPING_MSG_ASKS
 * @rkey:	its key
 * @len:	its length in bytes
 * @asks:	it had KRPING_MSG_ASKS
 * @cid:	number of the RECV that received it
 * @has_inv:	it came as SEND_WITH_INV
 * @inv_key:	key that it has invalidated
 */
struct krping_msg {
	u64 addr;
	u32 rkey;
	u32 len;
	bool asks;
	u32 cid;
	bool has_inv;
	u32 inv_key;
};

struct krping_chain;

int krping_msgs_create(struct krping_msgs *msgs, struct krping_ep *ep);
void krping_msgs_destroy(struct krping_msgs *msgs);
struct krping_wr *krping_chain_msg(struct krping_msgs *msgs, struct krping_chain *chain, u64 addr,
				   u32 rkey, u32 len);
int krping_recv_msg(struct krping_msgs *msgs, struct krping_msg *msg);
int krping_recv_plain(struct krping_msgs *msgs, struct krping_msg *msg);
int krping_say(struct krping_msgs *msgs, u64 addr, u32 rkey, u32 len, const u32 *inv);
int krping_wait_sends(struct krping_msgs *msgs);
void krping_let_sends_leave(struct krping_msgs *msgs);

#endif /* KRPING_MSG_H */
