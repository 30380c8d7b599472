/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues: RECVs that any of several connections may use up.
 */
#ifndef KRPING_SRQ_H
#define KRPING_SRQ_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "ep.h"

struct krping_record;
struct krping_verdict;

/*
 * RECVs beyond those that the clients are entitled to. Only a completion tells who
 * has used a RECV, so somebody who sends too much may use up as many as fit into one
 * turn of the softirq that handles completions; the others must not miss them.
 */
#define KRPING_SRQ_SPARE 64

/**
 * struct krping_srq_recv - a RECV of a shared queue
 * @cqe:	by which a completion finds it
 * @idle:	entry in krping_srq.idle
 * @mem:	its buffer, KRPING_MSG_STRIDE bytes
 * @sge:	its only scatter/gather entry
 * @wr:		the work request
 *
 * It belongs to the queue. From its completion until it is given back one endpoint
 * has it.
 */
struct krping_srq_recv {
	struct ib_cqe cqe;
	struct llist_node idle;
	void *mem;
	struct ib_sge sge;
	struct ib_recv_wr wr;
};

/**
 * struct krping_srq - a shared receive queue
 * @list:	entry in krping_srqs.list
 * @srqs:	queues of the server that it is one of; NULL: a queue of one endpoint
 * @device:	this queue as a user of its device, if it is of a server
 * @rec:	record of the run that has made it
 * @async:	its events, for those who watch
 * @verdict:	of that run
 * @dev:	the device
 * @pd:		of the RECVs, and so of all endpoints that use them
 * @srq:	the verbs object; NULL until it is made, and after it is gone
 * @depth:	how many RECVs it has
 * @recvs:	the RECVs
 * @mem:	their buffers, a page for each KRPING_SRQ_PER_PAGE of them
 * @dma:	DMA addresses of these pages
 * @mapped:	how many of the pages are mapped
 * @users:	endpoints that use it; guarded by krping_srqs.lock
 * @tells:	the device has told when an endpoint had used its last RECV
 * @mute:	it has not, although an endpoint has waited for that; it is not waited for
 *		again
 * @out:	RECVs that are not in the queue
 * @idle:	RECVs that could not be given back; the next one to be given back
 *		takes them along
 */
struct krping_srq {
	struct list_head list;
	struct krping_srqs *srqs;
	struct krping_device_user device;
	struct krping_record *rec;
	struct krping_async async;
	struct krping_verdict *verdict;
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_srq *srq;
	u32 depth;
	struct krping_srq_recv *recvs;
	void **mem;
	u64 *dma;
	u32 mapped;
	unsigned int users;
	bool tells;
	bool mute;
	atomic_t out;
	struct llist_head idle;
};

/**
 * struct krping_srqs - the shared queues of a server of several clients
 * @rec:	record of its run
 * @verdict:	of its run, whose thread frees the queues
 * @cid:	number of the next work request of that run; guarded by @lock
 * @places:	how many clients are served at once
 * @lock:	guards @list, and the making and leaving of queues
 * @list:	a queue for each device that a client has come on
 * @going:	a device of one of them is being removed
 */
struct krping_srqs {
	struct krping_record *rec;
	struct krping_verdict *verdict;
	u32 cid;
	unsigned int places;
	struct mutex lock;
	struct list_head list;
	bool going;
};

void krping_srqs_init(struct krping_srqs *srqs, struct krping_record *rec,
		      struct krping_verdict *verdict);
void krping_srqs_reap(struct krping_srqs *srqs);
void krping_srqs_close(struct krping_srqs *srqs);
int krping_srq_enter(struct krping_ep *ep, struct krping_srqs *srqs,
		     bool dma_key);
int krping_srq_own(struct krping_ep *ep);
void krping_srq_leave(struct krping_ep *ep);
bool krping_srq_is_common(const struct krping_ep *ep);
int krping_srq_give(struct krping_ep *ep, const struct krping_wr *wr);
void krping_srq_drained(struct krping_ep *ep);

#endif /* KRPING_SRQ_H */
