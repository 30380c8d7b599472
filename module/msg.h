/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The 16-byte message. */
#ifndef KRPING_MSG_H
#define KRPING_MSG_H

#include "ep.h"

/* Messages that can be on their way out; each has a buffer of its own. */
#define KRPING_TX_DEPTH 4

/*
 * In the length of an advertisement, where private data have agreed on it: the client asks for
 * how long the server's host has the ping. The go-ahead has the answer in its address, in
 * nanoseconds; 0: nobody asks.
 */
#define KRPING_MSG_SPLIT 0x80000000U

static_assert(KRPING_SIZE_MAX < KRPING_MSG_SPLIT);

/* A RECV of a message that may have data behind it. */
struct krping_msg_data {
	void *mem;	      /* of the data */
	struct ib_sge sge[2]; /* the message and the data */
};

/* The messages of an endpoint. Only the run's thread uses them, and krping_ep.recv what has come. */
struct krping_msgs {
	struct krping_ep *ep;
	void *mem;
	u64 dma;
	bool mapped;
	struct krping_msg_data *data; /* of each RECV; NULL without krping_ep.msg_data */
	bool may_split;		      /* both ends know KRPING_MSG_SPLIT */
	u64 tx_posted;		      /* messages sent */
	u32 tx_seq[KRPING_TX_DEPTH];  /* for each TX buffer the number of its last SEND */
};

/* A message, in host order. */
struct krping_msg {
	u64 addr; /* address that is advertised, or the answer to KRPING_MSG_SPLIT */
	u32 rkey;
	u32 len;
	bool split;   /* it had KRPING_MSG_SPLIT */
	u32 cid;      /* of the RECV */
	bool has_inv; /* it came as SEND_WITH_INV, and has invalidated inv_key */
	u32 inv_key;
};

struct krping_chain;

int krping_msgs_create(struct krping_msgs *msgs, struct krping_ep *ep);
void krping_msgs_destroy(struct krping_msgs *msgs);
struct krping_wr *krping_chain_msg(struct krping_msgs *msgs, struct krping_chain *chain, u64 addr,
				   u32 rkey, u32 len);
int krping_recv_take(struct krping_ep *ep, struct krping_wr *wr, void *to, u32 len);
int krping_recv_head(struct krping_ep *ep, struct krping_wr *wr, void *to, u32 len);
void krping_recv_data(struct krping_msgs *msgs, const struct krping_wr *wr, void *to, u32 len);
int krping_post_recv(struct krping_ep *ep);
int krping_recv_msg(struct krping_msgs *msgs, struct krping_msg *msg);
int krping_recv_plain(struct krping_msgs *msgs, struct krping_msg *msg);
int krping_say(struct krping_msgs *msgs, u64 addr, u32 rkey, u32 len, const u32 *inv);
int krping_wait_sends(struct krping_msgs *msgs);
void krping_let_sends_leave(struct krping_msgs *msgs);

#endif /* KRPING_MSG_H */
