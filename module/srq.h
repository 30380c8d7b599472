/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues: RECVs that any of several connections may use up. */
#ifndef KRPING_SRQ_H
#define KRPING_SRQ_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "ep.h"

struct krping_record;
struct krping_verdict;

/* The shared queues of a run. */
struct krping_srqs {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	/* How many clients the run serves at once; 0: the queue is that of its own endpoint. */
	unsigned int places;
	struct mutex lock;     /* guards the list, and krping_srq.users */
	struct list_head list; /* a queue for each device that has users */
};

struct krping_srq {
	struct list_head list;
	struct krping_srqs *srqs;
	struct krping_async async;
	unsigned int users; /* endpoints; the last one frees the queue */
	struct ib_pd *pd;   /* of the RECVs, and so of all endpoints */
	struct ib_srq *srq;
	u32 depth;
	atomic_t posted;	  /* RECVs that are in the queue */
	struct krping_wr recvs[]; /* from its completion until its post each is an endpoint's */
};

void krping_srqs_init(struct krping_srqs *srqs, struct krping_record *rec,
		      struct krping_verdict *verdict);
int krping_srq_enter(struct krping_ep *ep, struct krping_srqs *srqs, bool dma_key);
int krping_srq_give(struct krping_ep *ep, const struct krping_wr *wr);
void krping_srq_drain(struct krping_ep *ep);
void krping_srq_leave(struct krping_ep *ep);

#endif /* KRPING_SRQ_H */
