/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The endpoint of a run: its verbs objects, and the state of its queues.
 */
#ifndef KRPING_EP_H
#define KRPING_EP_H

#include "krping_abi.h"
#include "wr.h"

struct krping_phases;
struct krping_record;
struct krping_verdict;
struct rdma_cm_id;

/*
 * Send queue. An iteration has at most 9 requests in flight: on the server
 * LOCAL_INV, REG_MR, READ, LOCAL_INV, SEND, REG_MR, WRITE, SEND, and the SEND
 * of the iteration before it. Power of two, for the slot index.
 */
#define KRPING_SQ_DEPTH 32
/*
 * Receive queue. The peer has one message under way at a time; the other RECVs
 * are there so that the peer never meets an empty queue while this end handles
 * a message.
 */
#define KRPING_RQ_DEPTH 4

/* Requests whose completion a phase may wait for: only these have stages. */
#define KRPING_AWAITED                                    \
	(BIT(KRPING_WR_RECV) | BIT(KRPING_WR_RDMA_READ) | \
	 BIT(KRPING_WR_RDMA_WRITE))
/* Requests that register or invalidate keys of memory regions. */
#define KRPING_OF_MRS                                       \
	(BIT(KRPING_WR_REG_MR) | BIT(KRPING_WR_LOCAL_INV) | \
	 BIT(KRPING_WR_SEND_INV))

/**
 * struct krping_ep - the endpoint: a run's verbs objects and queues
 * @rec:	record of the run
 * @verdict:	how the run ends
 * @phases:	where the run's thread is
 * @dev:	the device
 * @iwarp:	the device is an iWARP device
 * @id:	the connection
 * @pd, @cq, @qp: NULL until they are made, and after they are gone
 * @comp_handler: the core's completion handler, which ours calls
 * @next_cid:	thread: number of the next work request on the CQ
 * @sq_posted:	thread: requests posted to the send queue
 * @rq_posted, @rq_seen: thread: RECVs posted, and consumed
 * @t_sig:	last time the provider signalled the CQ, 0 once it is used
 * @sq_done:	completion: requests retired; published after their results
 * @rq_done:	completion: RECVs completed
 * @sq_told:	completion: requests that krping_mr_done reported, if it is on
 * @sq_bad:	completion: number of the first failed request + 1; 0: none
 * @doubt_kind, @doubt_status, @doubt_vendor_err: completion: a failure that may
 *		only mean that the peer left; published by @flushed
 * @told:	bits of enum ib_event_type: the events that the provider raised
 *		for the queue pair; published by @flushed
 * @flushed:	completion, event, thread: something failed or was flushed, or the
 *		provider refused a RECV since the connection is closed
 * @disconnected: CM handler: the peer has left, or answers that this end left
 * @ended:	thread: a wait ended without its completion, and the queues were
 *		flushed for that
 * @peer_left:	thread: the peer had left before that; valid with @ended
 * @move_kind, @move_len, @move_rkey: thread: the READ or WRITE that is under way,
 *		as far as this end knows; KRPING_WR_NONE: none
 */
struct krping_ep {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	struct krping_phases *phases;

	struct ib_device *dev;
	bool iwarp;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	ib_comp_handler comp_handler;

	u32 next_cid;
	u32 sq_posted;
	u32 rq_posted;
	u32 rq_seen;

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
	bool disconnected;
	bool ended;
	bool peer_left;

	u32 move_kind;
	u32 move_len;
	u32 move_rkey;

	struct krping_wr sq[KRPING_SQ_DEPTH];
	struct krping_wr rq[KRPING_RQ_DEPTH];
};

#endif /* KRPING_EP_H */
