/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A work request and its result. */
#ifndef KRPING_WR_H
#define KRPING_WR_H

#include <rdma/ib_verbs.h>
#include "krping_abi.h"

struct krping_ep;

/*
 * One work request, and its result. The thread writes a request before it posts it, and t_posted
 * after that. The completion handler writes the wc_ members, t_sig and t_wc before it publishes
 * the completion by krping_ep.sq_done or rq_done.
 */
struct krping_wr {
	struct ib_cqe cqe;
	u32 seq; /* in its queue */
	u32 cid; /* in the run, as events show it */
	u32 len; /* bytes to move */
	u8 kind; /* enum krping_wr_kind */
	u16 tag; /* the test's own */
	/* RECV */
	bool wc_is_msg;	 /* a SEND has completed it, and no WRITE with immediate data */
	bool wc_has_inv; /* that was a SEND_WITH_INV, of the key wc_inv */
	union {
		struct {
			u32 wc_len;
			u32 wc_inv;
		};
		/* Else: called, wherever the CQ is polled, when it retires; NULL: the thread waits. */
		void (*done)(struct krping_ep *ep, struct krping_wr *wr, int err);
	};
	/* Each time is 0 if nobody wants it. */
	u64 t_queued; /* krping_ep.t_queued when it was added to a chain, if requests are wanted */
	u64 map_ns;   /* REG_MR: how long the mapping took */
	u32 pages;    /* REG_MR: of the memory */
	u64 t_post;   /* the verbs call was made */
	u64 t_posted; /* it returned */
	u64 t_sig;    /* the provider signalled the CQ */
	u64 t_wc;     /* the completion handler ran; if it failed, only for who wants regions */
	void *mem;    /* RECV: its buffer, as the CPU addresses it */
	struct ib_sge sge; /* its only one */
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_reg_wr reg;
		struct ib_recv_wr recv;
	};
};

/* A RECV of a message, into memory that is at mem for the CPU, and at dma for the device. */
static inline void krping_wr_recv(struct krping_wr *wr, const struct ib_pd *pd, void *mem, u64 dma,
				  u32 len, void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	wr->cqe.done = done;
	wr->kind = KRPING_WR_RECV;
	wr->len = len;
	wr->mem = mem;
	wr->sge.addr = dma;
	wr->sge.length = len;
	wr->sge.lkey = pd->local_dma_lkey;
	wr->recv.wr_cqe = &wr->cqe;
	wr->recv.sg_list = &wr->sge;
	wr->recv.num_sge = 1;
}

#endif /* KRPING_WR_H */
