/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The endpoint of a run: its verbs objects, and the state of its queues. */
#ifndef KRPING_EP_H
#define KRPING_EP_H

#include <linux/atomic.h>
#include <linux/workqueue.h>
#include "async.h"
#include "cq.h"
#include "krping_abi.h"
#include "wr.h"

struct krping_phases;
struct krping_record;
struct krping_srq;
struct krping_srqs;
struct krping_verdict;
struct rdma_cm_id;

/*
 * The peer has two messages under way at most, and never meets an empty receive queue. A test whose
 * requests travel by messages has a RECV more for each of them.
 */
#define KRPING_RQ_DEPTH 4

/* READs that an end makes at a time, and answers, if a test has many requests in flight. */
#define KRPING_READS_MAX 16

/* Beside the test's requests the send queue has a probe and the drain's marker. */
#define KRPING_SQ_EXTRA 2

/* A message buffer has its cache lines to itself. */
#define KRPING_MSG_STRIDE 128
/* Messages that go and messages that come share a mapping. */
#define KRPING_MSG_DIR	  DMA_BIDIRECTIONAL

/* Requests that move data to or from the peer's memory. */
#define KRPING_OF_RDMA \
	(BIT(KRPING_WR_RDMA_READ) | BIT(KRPING_WR_READ_INV) | BIT(KRPING_WR_RDMA_WRITE))

/* Messages. */
#define KRPING_OF_SENDS (BIT(KRPING_WR_SEND) | BIT(KRPING_WR_SEND_INV))

/* Requests that struct krping_stats counts when they are posted. */
#define KRPING_OF_STATS (KRPING_OF_SENDS | KRPING_OF_RDMA)

/* Requests that register or invalidate keys of memory regions. */
#define KRPING_OF_MRS                                                                 \
	(BIT(KRPING_WR_REG_MR) | BIT(KRPING_WR_LOCAL_INV) | BIT(KRPING_WR_SEND_INV) | \
	 BIT(KRPING_WR_READ_INV))

/*
 * A run's verbs objects and queues. In brackets is who writes a member if the thread does not:
 * the completion handlers, the device's event handler, or rdma_cm's.
 */
struct krping_ep {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	struct krping_phases *phases;
	struct krping_async async;
	u32 next_cid;

	bool may_fail; /* test=protect: failures are what the case is for, and no cause */
	struct ib_device *dev;
	bool iwarp;
	u32 offset; /* of each buffer's first byte in its page */
	struct rdma_cm_id *id;
	/* NULL until they are made, and after they are gone. */
	struct ib_pd *pd;
	struct krping_cq scq;
	struct krping_cq rcq;
	struct ib_qp *qp;

	u32 sq_posted;
	u32 mr_wr_seq;	    /* the newest request on a memory region, if mr_wr_pending */
	bool mr_wr_pending; /* it may not be retired */
	u32 rq_posted;
	u32 rq_seen;	 /* RECVs consumed; with recv by the completion handler */
	u32 sq_answered; /* requests before the peer's last message, which says that they are done */
	u32 sq_costed; /* requests of which krping_iter_memory has told the cost, if somebody asks */
	u32 looks;     /* at memory, see krping_spin() */
	/* When a test with requests in flight took the last one that somebody wanted. */
	u64 t_queued;
	/* The CQ whose completion ended the last wait of a phase. */
	const struct krping_cq *waited;

	u32 sq_done;	     /* [completion] requests retired; published after their results */
	u32 rq_done;	     /* [completion] */
	u32 mr_reported_seq; /* [completion] requests of which krping_mr_done was told */
	u32 sq_bad;	     /* [completion] number of the first failed request + 1; 0: none */
	/* [completion] A failure that may only mean that the peer left; read after a drain. */
	u32 first_error_kind;
	u32 first_error_status;
	u32 first_error_vendor_err;
	/* [event] Bits of enum ib_event_type; published by flushed. */
	unsigned long qp_events;
	bool flushed;	   /* [all] a request, a post or an event says that the QP is down */
	bool disconnected; /* [CM] the peer has left, or answers that this end left */
	bool ended;	   /* krping_ep_end() has flushed the queues */
	bool peer_left;	   /* the peer had left before that */

	/* See krping_ep_drain(). */
	struct ib_cqe marker;	  /* of the last request of either queue */
	struct work_struct drain; /* by the device */
	atomic_t undrained;	  /* [all] markers, and drains of the device, that are not over */
	bool never_drains;	  /* the device does not flush a queue */

	/* The READ or WRITE that is under way, as far as this end knows; NULL: none. */
	const struct krping_wr *rdma;

	/* Rings of requests. With srq those of rq stand for RECVs of the shared queue. */
	struct krping_wr *sq;
	u32 sq_depth; /* how many may be in flight */
	u32 sq_mask;  /* for the place of a request; the ring is a power of two */
	struct krping_wr *rq;
	u32 rq_depth; /* a power of two */
	u32 msg_size; /* of the longest message, without data behind it */
	u32 msg_data; /* so many bytes of data may come behind a message */
	u8 max_sge;   /* of a request */
	/*
	 * Wherever the CQ is polled, a message has come. False: it is one for the thread. NULL: all
	 * are. A message that the function takes is consumed when it returns.
	 */
	bool (*recv)(struct krping_ep *ep, struct krping_wr *wr);
	const struct krping_ep *pd_owner; /* the connection whose PD this one has, too; or NULL */
	u8 reads;			  /* READs that each end has under way at most */

	/* NULL: the queue pair has its own receive queue. */
	struct krping_srq *srq;
	/* The RECV of the shared queue that each of rq stands for: [completion] before rq_done. */
	struct krping_wr *srq_recv[KRPING_RQ_DEPTH];
	bool polls_both; /* a wait for a message looks at the send CQ, see krping_look() */
	bool last_wqe;	 /* [event] the queue pair has used its last RECV of the shared queue */
};

/* How many pages the first bytes of a buffer are in; len is at least 1. */
static inline u32 krping_ep_pages(const struct krping_ep *ep, size_t len)
{
	return DIV_ROUND_UP(ep->offset + len, PAGE_SIZE);
}

/* A request of the send queue, by its number. */
static inline struct krping_wr *krping_sq_slot(struct krping_ep *ep, u32 seq)
{
	return &ep->sq[seq & ep->sq_mask];
}

/* A RECV, by its number. */
static inline struct krping_wr *krping_rq_slot(struct krping_ep *ep, u32 seq)
{
	return &ep->rq[seq & (ep->rq_depth - 1)];
}

static inline struct krping_cq *krping_cq_of(struct krping_ep *ep, const struct krping_wr *wr)
{
	return wr->kind == KRPING_WR_RECV ? &ep->rcq : &ep->scq;
}

#endif /* KRPING_EP_H */
