/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The events of krping_async_event.
 */
#ifndef KRPING_ASYNC_H
#define KRPING_ASYNC_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct krping_record;

/* More than an object has kinds of event, and the work does not take long. */
#define KRPING_ASYNC_DEPTH 16

/* Asynchronous events of an object that wait to be told. */
struct krping_async {
	const struct krping_record *rec; /* of the run that the object is of */
	struct work_struct work;
	spinlock_t lock; /* guards what is below; any context */
	u32 nr;
	u64 t[KRPING_ASYNC_DEPTH];     /* when the provider raised each */
	u32 event[KRPING_ASYNC_DEPTH]; /* enum ib_event_type */
};

void krping_async_init(struct krping_async *async, const struct krping_record *rec);
void krping_async_tell(struct krping_async *async, u32 event);
void krping_async_end(struct krping_async *async);

#endif /* KRPING_ASYNC_H */
