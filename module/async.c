// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A provider raises the asynchronous events of an object in any context: a softirq, a
 * thread of its own, or whoever posts. Whoever watches them may rely on one context, so
 * krping_async_event is raised by a work, and has the time at which the provider called.
 */
#include <linux/ktime.h>
#include <linux/string.h>
#include "async.h"
#include "krping_trace.h"
#include "record.h"

static void krping_async_work(struct work_struct *work)
{
	struct krping_async *async = container_of(work, struct krping_async, work);
	u64 t[KRPING_ASYNC_DEPTH];
	u32 event[KRPING_ASYNC_DEPTH], i, nr;

	spin_lock_irq(&async->lock);
	nr = async->nr;
	memcpy(t, async->t, sizeof(t));
	memcpy(event, async->event, sizeof(event));
	async->nr = 0;
	spin_unlock_irq(&async->lock);
	for (i = 0; i < nr; i++)
		krping_trace(async_event, async->rec->id, t[i], event[i]);
}

/* Make ready for the events of an object. @rec: of its run. */
void krping_async_init(struct krping_async *async, const struct krping_record *rec)
{
	async->rec = rec;
	async->nr = 0;
	spin_lock_init(&async->lock);
	INIT_WORK(&async->work, krping_async_work);
}

/* The provider raises an event. Any context. */
void krping_async_tell(struct krping_async *async, u32 event)
{
	unsigned long flags;

	if (!trace_krping_async_event_enabled())
		return;
	spin_lock_irqsave(&async->lock, flags);
	if (async->nr < KRPING_ASYNC_DEPTH) {
		async->t[async->nr] = ktime_get_ns();
		async->event[async->nr++] = event;
	}
	spin_unlock_irqrestore(&async->lock, flags);
	queue_work(system_highpri_wq, &async->work);
}

/* The object is gone: wait until its last event was raised. */
void krping_async_end(struct krping_async *async)
{
	flush_work(&async->work);
}
