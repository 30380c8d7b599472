// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds whoever uses a completion queue for the last time, and tells whether the
 * queue was destroyed meanwhile. For tests/guest/cq.t. That is a softirq that has
 * polled the queue and is about to arm it again or, with event=FUNCTION, the provider
 * when that function, the queue's handler, is about to return to it.
 *
 * With srq=1, for tests/guest/srq.t, the shared receive queue of a server raises an event
 * when the server is about to destroy it, and the work that tells of the event is held:
 * is the queue's memory still there? The PD is freed behind that.
 *
 * The probes are on functions that are called through a table or a pointer, so
 * that no compiler inlines them.
 */
#include "plant.h"

#include <rdma/ib_verbs.h>

#define HOLD_LEAVE_NS (5000 * NSEC_PER_MSEC) /* at most, for the call that is held to end */
#define HOLD_AFTER_NS NSEC_PER_MSEC	     /* for what its caller does after it */

PLANT_PARAM(charp, provider, "rxe", 0444, "whose queues, rxe or siw");
PLANT_PARAM(uint, hold_ms, 20, 0444, "how long each is held, in ms");
PLANT_PARAM(charp, event, "", 0444,
	    "hold the provider that has called this handler, and not the softirq that polls");
PLANT_PARAM(bool, srq, false, 0444, "hold the work that tells of a shared receive queue's event");
PLANT_COUNTER(held, "those who were held");
PLANT_COUNTER(overtaken, "those of them whose queue was destroyed meanwhile");

static void *hold_cq;  /* the queue whose user is held, one at a time */
static void *hold_pd;  /* that of the shared receive queue which has raised an event */
static bool hold_ends; /* let it go, although its time is not up */

static void hold(void)
{
	held++;
	PLANT_SPIN(!READ_ONCE(hold_ends), hold_ms * NSEC_PER_MSEC);
}

static int hold_notify(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ib_cq *cq = (void *)regs_get_kernel_argument(regs, 0);

	/* Do not hold the thread that makes the queue. */
	if (srq ? !READ_ONCE(hold_pd) : !*event && !in_serving_softirq())
		return 1;
	/* The CM's own queues have the core's handler, too. */
	if (*event && cq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		return 1;
	if (cmpxchg(&hold_cq, NULL, cq))
		return 1;
	if (!*event)
		hold();
	return 0;
}

static int hold_notified(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (*event)
		hold();
	WRITE_ONCE(hold_ends, false);
	/* Works of other objects, of a client that also ends, are not held. */
	if (srq)
		WRITE_ONCE(hold_pd, NULL);
	/* The next one that is held must see hold_ends as false. */
	smp_store_release(&hold_cq, NULL);
	return 0;
}

/*
 * Delays the destruction until the other one is done: the kernel has to survive the bug found here.
 */
static int hold_destroy(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	void *cq = (void *)regs_get_kernel_argument(regs, 0);

	if (srq)
		cq = cq == READ_ONCE(hold_pd) ? READ_ONCE(hold_cq) : NULL;
	if (!cq || READ_ONCE(hold_cq) != cq)
		return 1;
	overtaken++;
	WRITE_ONCE(hold_ends, true);
	PLANT_SPIN(READ_ONCE(hold_cq) == cq, HOLD_LEAVE_NS);
	PLANT_SPIN(true, HOLD_AFTER_NS);
	return 1;
}

/* A device may raise an event of a queue for as long as there is one. */
static int hold_raise(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ib_srq *queue = (void *)regs_get_kernel_argument(regs, 0);
	struct ib_event ib_event = {
		.device = queue->device,
		.element.srq = queue,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	WRITE_ONCE(hold_pd, queue->pd);
	queue->event_handler(&ib_event, queue->srq_context);
	return 1;
}

PLANT_RETPROBE(notify, NULL, hold_notify, hold_notified);
PLANT_RETPROBE(destroy, NULL, hold_destroy, NULL);
PLANT_RETPROBE(raise, "ib_destroy_srq_user", hold_raise, NULL);
/* The last one is for srq=1 only. */
static struct kretprobe *probes[] = { &notify, &destroy, &raise };
#define HOLD_PROBES (ARRAY_SIZE(probes) - !srq)

static int __init hold_begin(void)
{
	bool siw = !strcmp(provider, "siw");

	if (srq) {
		notify.kp.symbol_name = "krping_async_work";
		destroy.kp.symbol_name = "ib_dealloc_pd_user";
	} else {
		notify.kp.symbol_name = siw ? "siw_req_notify_cq" : "rxe_req_notify_cq";
		destroy.kp.symbol_name = siw ? "siw_destroy_cq" : "rxe_destroy_cq";
		if (*event)
			notify.kp.symbol_name = event;
	}
	return register_kretprobes(probes, HOLD_PROBES);
}

static void __exit hold_end(void)
{
	unregister_kretprobes(probes, HOLD_PROBES);
}

PLANT_MODULE(hold_begin, hold_end, "Users of a CQ that take their time, for tests");
