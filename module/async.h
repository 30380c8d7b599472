/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The events of krping_async_event. */
#ifndef KRPING_ASYNC_H
#define KRPING_ASYNC_H

#include <linux/types.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct krping_record;

/* The last event of an object that krping has. */
#define KRPING_ASYNC_LAST IB_EVENT_QP_LAST_WQE_REACHED

/* Asynchronous events of an object that wait to be told. */
struct krping_async {
	const struct krping_record *rec; /* of the run that the object is of */
	struct work_struct work;
	unsigned long raised;	      /* bits of enum ib_event_type; any context */
	u64 t[KRPING_ASYNC_LAST + 1]; /* when the provider raised each of them */
};

void krping_async_init(struct krping_async *async, const struct krping_record *rec);
void krping_async_tell(struct krping_async *async, u32 event);
void krping_async_end(struct krping_async *async);

#endif /* KRPING_ASYNC_H */
