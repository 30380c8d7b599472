// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A provider raises the asynchronous events of an object in any context: a softirq, a
 * thread of its own, or whoever posts. Whoever watches them may rely on one context, so
 * krping_async_event is raised by a work, and has the time at which the provider called.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/ktime.h>
#include "async.h"
#include "krping_trace.h"
#include "record.h"

static void krping_async_work(struct work_struct *work)
{
	struct krping_async *async = container_of(work, struct krping_async, work);
	unsigned long raised = xchg(&async->raised, 0);
	u32 event;
	u64 t;

	for (event = 0; event <= KRPING_ASYNC_LAST; event++) {
		t = raised & BIT(event) ? xchg(&async->t[event], 0) : 0;
		/* 0: the work before this one has told of the event. */
		if (t)
			krping_trace(async_event, async->rec->id, t, event);
	}
}

/* Make ready for the events of an object of a run. */
void krping_async_init(struct krping_async *async, const struct krping_record *rec)
{
	async->rec = rec;
	async->raised = 0;
	INIT_WORK(&async->work, krping_async_work);
}

/*
 * The provider raises an event; if the work has yet to tell of the last one of this kind, it
 * tells of both as one. Any context.
 */
void krping_async_tell(struct krping_async *async, u32 event)
{
	if (!trace_krping_async_event_enabled() || event > KRPING_ASYNC_LAST)
		return;
	WRITE_ONCE(async->t[event], ktime_get_ns());
	/* A work that sees the bit sees the time. */
	smp_mb__before_atomic();
	set_bit(event, &async->raised);
	queue_work(system_highpri_wq, &async->work);
}

/* The object is gone: wait until its last event was raised. */
void krping_async_end(struct krping_async *async)
{
	flush_work(&async->work);
}
