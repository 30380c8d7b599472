/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PD, CQ and QP of a run; posting work requests, and waiting for them.
 */
#ifndef KRPING_VERBS_H
#define KRPING_VERBS_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "krping_abi.h"

struct krping_run;
struct rdma_cm_id;

/*
 * Send queue. An iteration has at most 9 requests in flight: on the server
 * LOCAL_INV, REG_MR, READ, LOCAL_INV, SEND, REG_MR, WRITE, SEND, and the SEND
 * of the iteration before it. Power of two, for the slot index.
 */
#define KRPING_SQ_DEPTH 32
/*
 * Receive queue. The peer has one message under way at a time; the others are
 * there so that it never meets an empty queue while one is being handled.
 */
#define KRPING_RQ_DEPTH 4
/* Messages that can be on their way out; each has a buffer of its own. */
#define KRPING_TX_DEPTH 4

/* Room for what krping_ep_last_words() has to say. */
#define KRPING_LAST_WORDS 96

/* A message buffer has its cache lines to itself, on every architecture. */
#define KRPING_MSG_STRIDE 256

/**
 * struct krping_wr - one work request, and its result
 * @cqe:	how the completion finds it
 * @run:	whose it is
 * @seq:	its number in its queue
 * @cid:	its number on its CQ, for people
 * @kind:	enum krping_wr_kind
 * @flags:	KRPING_POST_F_*
 * @len:	bytes to move
 * @map_ns:	REG_MR: what mapping took
 * @wc_len:	RECV: bytes received
 * @wc_inv:	RECV: key that the peer invalidated, if @wc_has_inv
 * @wc_has_inv:	RECV: the message was a SEND_WITH_INV
 * @t_post:	the verbs call was made; like all the times 0 where nobody asked
 * @t_posted:	it returned
 * @t_sig:	the provider signalled the CQ
 * @t_wc:	the completion handler ran
 * @sge:	its only scatter/gather entry
 *
 * The thread writes it before it posts, but for @t_posted, which only
 * krping_mr_done reads elsewhere; the completion handler writes the wc_
 * members and the last two times before it publishes the completion by
 * krping_ep.sq_done or rq_done (release), after which the thread reads them.
 */
struct krping_wr {
	struct ib_cqe cqe;
	struct krping_run *run;
	u32 seq;
	u32 cid;
	u32 len;
	u8 kind;
	u8 flags;
	bool wc_has_inv;
	u32 wc_len;
	u32 wc_inv;
	u64 map_ns;
	u64 t_post;
	u64 t_posted;
	u64 t_sig;
	u64 t_wc;
	struct ib_sge sge;
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_reg_wr reg;
		struct ib_recv_wr recv;
	};
};

/**
 * struct krping_stats - what /proc/krping counts: successful completions
 *
 * Written by the completion handler alone, read by anybody.
 */
struct krping_stats {
	u64 send_bytes, send_msgs;
	u64 recv_bytes, recv_msgs;
	u64 write_bytes, write_msgs;
	u64 read_bytes, read_msgs;
};

/**
 * struct krping_ep - the endpoint: a run's verbs objects and queues
 * @dev:	the device
 * @pd, @cq, @qp: NULL until they are made, and after they are gone
 * @comp_handler: the core's completion handler, behind ours
 * @msgs:	memory of the messages: RQ then TX buffers
 * @rx_dma, @tx_dma: where the device sees them
 * @mapped:	which of the two are mapped (bit 0 rx, bit 1 tx)
 * @next_cid:	thread: next number on the CQ
 * @sq_posted:	thread: requests posted to the send queue
 * @rq_posted, @rq_seen: thread: RECVs posted, and consumed
 * @tx_posted:	thread: messages sent
 * @tx_seq:	thread: for each TX buffer, the sequence number of its last SEND + 1
 * @t_sig:	last time the provider signalled the CQ, 0 once it is used
 * @sq_done:	completion: requests retired, released after their results
 * @rq_done:	completion: RECVs completed
 * @sq_told:	completion: requests of which krping_mr_done has told, if it is on
 * @sq_bad:	completion: number of the first failed request + 1; 0: none
 * @doubt_kind, @doubt_status, @doubt_vendor_err: completion: a failure that may
 *		be but the peer's leaving; released by @flushed
 * @told:	bits of enum ib_event_type, set by the provider's event: what it told of
 *		the queue pair; released by @flushed
 * @flushed:	completion, event, thread: something failed or was flushed, or the
 *		provider refused a RECV since the connection is closed
 * @ended:	thread: a wait ended without what it waited for, and the queues were
 *		flushed for that
 * @peer_left:	thread: by then the peer had left; valid with @ended
 * @move_kind, @move_len, @move_rkey: thread: the READ or WRITE that is under way,
 *		as far as this end knows; KRPING_WR_NONE: none
 */
struct krping_ep {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	ib_comp_handler comp_handler;
	void *msgs;
	u64 rx_dma;
	u64 tx_dma;
	unsigned int mapped;

	u32 next_cid;
	u32 sq_posted;
	u32 rq_posted;
	u32 rq_seen;
	u64 tx_posted;
	u32 tx_seq[KRPING_TX_DEPTH];

	u64 t_sig;
	u32 sq_done;
	u32 rq_done;
	u32 sq_told;
	u32 sq_bad;
	u32 doubt_kind;
	u32 doubt_status;
	u32 doubt_vendor_err;
	unsigned long told;
	bool flushed;
	bool ended;
	bool peer_left;

	u32 move_kind;
	u32 move_len;
	u32 move_rkey;

	struct krping_wr sq[KRPING_SQ_DEPTH];
	struct krping_wr rq[KRPING_RQ_DEPTH];
};

/**
 * struct krping_chain - work requests that one verbs call will post
 * @first:	of them
 * @last:	of them
 * @nr:		how many
 * @kinds:	bits of enum krping_wr_kind
 */
struct krping_chain {
	struct krping_wr *first;
	struct krping_wr *last;
	unsigned int nr;
	u32 kinds;
};

/**
 * struct krping_msg - the 16-byte message, in host order
 */
struct krping_msg {
	u64 addr;
	u32 rkey;
	u32 len;
	u32 cid;
	bool has_inv;
	u32 inv_key;
};

int krping_ep_create(struct krping_run *run, struct rdma_cm_id *id);
void krping_ep_drain(struct krping_run *run);
void krping_ep_destroy_qp(struct krping_run *run, struct rdma_cm_id *id);
void krping_ep_destroy_pd(struct krping_run *run);

struct krping_wr *krping_chain_add(struct krping_run *run,
				   struct krping_chain *chain,
				   enum krping_wr_kind kind);
int krping_post(struct krping_run *run, struct krping_chain *chain);
int krping_send_msg(struct krping_run *run, u64 addr, u32 rkey, u32 len,
		    bool inv, u32 inv_rkey);
int krping_wait_recv(struct krping_run *run, struct krping_msg *msg);
int krping_wait_done(struct krping_run *run, const struct krping_wr *wr);
int krping_wait_sends(struct krping_run *run);
void krping_ep_moves(struct krping_run *run, const struct krping_wr *wr);
void krping_ep_last_words(const struct krping_run *run, char *text,
			  size_t size);

#endif /* KRPING_VERBS_H */
