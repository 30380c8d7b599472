/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The endpoint of a run: its verbs objects, and the state of its queues.
 */
#ifndef KRPING_EP_H
#define KRPING_EP_H

#include "async.h"
#include "cq.h"
#include "krping_abi.h"
#include "wr.h"

struct krping_phases;
struct krping_record;
struct krping_srq;
struct krping_srq_recv;
struct krping_srqs;
struct krping_verdict;
struct rdma_cm_id;

/*
 * Receive queue. The peer has two messages under way at most; the other RECVs
 * are there so that the peer never meets an empty queue while this end handles
 * a message.
 */
#define KRPING_RQ_DEPTH 4

/* Beside the test's requests the send queue has a probe and the drain's marker. */
#define KRPING_SQ_EXTRA 2

/* A message buffer has its cache lines to itself, on every architecture. */
#define KRPING_MSG_STRIDE 256

/* Requests that struct krping_stats counts when they are posted. */
#define KRPING_OF_STATS                                       \
	(BIT(KRPING_WR_SEND) | BIT(KRPING_WR_SEND_INV) |      \
	 BIT(KRPING_WR_RDMA_READ) | BIT(KRPING_WR_READ_INV) | \
	 BIT(KRPING_WR_RDMA_WRITE))

/* Requests that register or invalidate keys of memory regions. */
#define KRPING_OF_MRS                                       \
	(BIT(KRPING_WR_REG_MR) | BIT(KRPING_WR_LOCAL_INV) | \
	 BIT(KRPING_WR_SEND_INV) | BIT(KRPING_WR_READ_INV))

/**
 * struct krping_marker - the last work request of a queue, see krping_ep_drain()
 * @cqe:	how the completion finds it
 * @posted:	it is in its queue; set by the thread, cleared by its completion
 * @lost:	thread: it is in its queue, and the device does not flush it
 */
struct krping_marker {
	struct ib_cqe cqe;
	bool posted;
	bool lost;
};

/**
 * struct krping_ep_needs - what a run asks of its endpoint
 * @requests:	how many requests of the send queue are in flight at most
 * @inline_size: bytes that a request can carry itself
 * @poll_ctx:	who polls the CQs
 * @comp_vector: of the CQs; negative: the core chooses
 * @dma_key:	a key that opens all memory to the peer
 * @offset:	of each buffer's first byte in its page
 * @srqs:	the shared receive queues, one of which has its RECVs; NULL: it has RECVs of
 *		its own
 */
struct krping_ep_needs {
	u32 requests;
	u32 inline_size;
	enum krping_poll_ctx poll_ctx;
	int comp_vector;
	bool dma_key;
	u32 offset;
	struct krping_srqs *srqs;
};

/**
 * struct krping_ep - the endpoint: a run's verbs objects and queues
 * @rec:	record of the run
 * @verdict:	how the run ends
 * @phases:	where the run's thread is
 * @next_cid:	thread: number of the next work request
 * @async:	events of the queue pair, for those who watch
 * @may_fail:	written by the thread: it is going to fail, by what this end or the
 *		peer does on purpose, so no failure is a cause
 * @dev:	the device
 * @iwarp:	the device is an iWARP device
 * @offset:	of each buffer's first byte in its page
 * @id:	the connection
 * @pd, @qp:	NULL until they are made, and after they are gone
 * @scq, @rcq:	the CQs of the send queue and of the receive queue
 * @sq:		the requests of the send queue, a ring; NULL until it is made, and
 *		after it is gone
 * @sq_depth:	how many of them may be in flight
 * @sq_mask:	for the place of a request in the ring, which is a power of two
 * @rq:		the requests of the receive queue, a ring; with @srq they stand for the
 *		RECVs that the endpoint may use of the shared queue
 * @srq:	the shared receive queue; NULL: the queue pair has its own
 * @srq_recv:	for each request in @rq, the RECV of the shared queue whose message it
 *		has; the completion handler writes it before @rq_done, the thread
 *		before @rq_posted
 * @polls_both:	a wait for a message looks at the send CQ, too: with a shared receive
 *		queue, or for the answer to a probe (deadline.c)
 * @last_wqe:	event: the queue pair has used its last RECV of the shared queue
 * @sq_posted:	thread: requests posted to the send queue
 * @regions_seq:	thread: number of the newest request on a memory region, if
 *		@regions_out
 * @regions_out: thread: it is not known to be retired
 * @rq_posted, @rq_seen: thread: RECVs posted, and consumed
 * @sq_costed:	thread: requests of which krping_iter has told the cost, while somebody
 *		asks for that
 * @looks:	thread: how often it has looked at memory, see krping_spin()
 * @waited:	thread: the CQ whose completion ended the last wait of a phase
 * @sq_done:	completion: requests retired; published after their results
 * @rq_done:	completion: RECVs completed
 * @sq_told:	completion: requests that krping_mr_done reported, while it is on, or that
 *		failed while their time was wanted for krping_iter
 * @sq_bad:	completion: number of the first failed request + 1; 0: none
 * @doubt_kind, @doubt_status, @doubt_vendor_err: completion: a failure that may
 *		only mean that the peer left; read when the queues are drained
 * @told:	bits of enum ib_event_type: the events that the provider raised
 *		for the queue pair; published by @flushed
 * @flushed:	completion, event, thread: something failed or was flushed, or the
 *		provider refused a RECV since the connection is closed
 * @disconnected: CM handler: the peer has left, or answers that this end left
 * @ended:	thread: a wait ended without its completion, and the queues were
 *		flushed for that
 * @peer_left:	thread: the peer had left before that; valid with @ended
 * @sq_marker, @rq_marker: behind everything that was posted
 * @move_kind, @move_len, @move_rkey, @move_seq: thread: the READ or WRITE that is
 *		under way, as far as this end knows; KRPING_WR_NONE: none
 */
struct krping_ep {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	struct krping_phases *phases;
	struct krping_async async;
	u32 next_cid;

	/* From here on a new endpoint begins with zeros: krping_ep_clear(). */
	bool may_fail;
	struct ib_device *dev;
	bool iwarp;
	u32 offset;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct krping_cq scq;
	struct krping_cq rcq;
	struct ib_qp *qp;

	u32 sq_posted;
	u32 regions_seq;
	bool regions_out;
	u32 rq_posted;
	u32 rq_seen;
	u32 sq_costed;
	u32 looks;
	const struct krping_cq *waited;

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

	struct krping_marker sq_marker;
	struct krping_marker rq_marker;

	u32 move_kind;
	u32 move_len;
	u32 move_rkey;
	u32 move_seq;

	struct krping_wr *sq;
	u32 sq_depth;
	u32 sq_mask;
	struct krping_wr rq[KRPING_RQ_DEPTH];

	struct krping_srq *srq;
	struct krping_srq_recv *srq_recv[KRPING_RQ_DEPTH];
	bool polls_both;
	bool last_wqe;
};

/**
 * krping_ep_pages - how many pages the first bytes of a buffer are in
 * @ep: the endpoint
 * @len: how many bytes, at least one
 *
 * Context: any.
 */
static inline u32 krping_ep_pages(const struct krping_ep *ep, size_t len)
{
	return DIV_ROUND_UP(ep->offset + len, PAGE_SIZE);
}

/**
 * krping_sq_slot - a request of the send queue
 * @ep: the endpoint
 * @seq: its number
 *
 * Context: any in which the request is in use.
 */
static inline struct krping_wr *krping_sq_slot(struct krping_ep *ep, u32 seq)
{
	return &ep->sq[seq & ep->sq_mask];
}

/**
 * krping_cq_of - the CQ of a request
 * @ep: the endpoint
 * @wr: the request
 *
 * Context: any in which the request is in use.
 */
static inline struct krping_cq *krping_cq_of(struct krping_ep *ep,
					     const struct krping_wr *wr)
{
	return wr->kind == KRPING_WR_RECV ? &ep->rcq : &ep->scq;
}

#endif /* KRPING_EP_H */
