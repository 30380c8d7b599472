// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds whoever uses a completion queue for the last time, and tells whether the
 * queue was destroyed meanwhile. For tests/guest/cq.t. That is a softirq that has
 * polled the queue and is about to arm it again or, with event=1, the provider
 * when the queue's handler has woken the thread and is about to return to it.
 *
 * With srq=1, for tests/guest/srq.t, the shared receive queue of a server raises an event
 * when the server is about to destroy it, and the work that tells of the event is held:
 * is the queue's memory still there? The PD is freed behind that.
 *
 * The probes are on functions that are called through a table or a pointer, so
 * that no compiler inlines them.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <rdma/ib_verbs.h>

#define HOLD_LEAVE_MS 5000 /* at most, for the call that is held to end */
#define HOLD_AFTER_MS 1	   /* for what its caller does after it */

static char *provider = "rxe";
module_param(provider, charp, 0444);
MODULE_PARM_DESC(provider, "whose queues, rxe or siw");

static unsigned int hold_ms = 20;
module_param(hold_ms, uint, 0444);
MODULE_PARM_DESC(hold_ms, "how long each is held, in ms");

static bool event;
module_param(event, bool, 0444);
MODULE_PARM_DESC(event, "hold the provider, and not the softirq that polls");

static bool srq;
module_param(srq, bool, 0444);
MODULE_PARM_DESC(srq, "hold the work that tells of a shared receive queue's event");

static unsigned long held, overtaken;
module_param(held, ulong, 0444);
MODULE_PARM_DESC(held, "those who were held");
module_param(overtaken, ulong, 0444);
MODULE_PARM_DESC(overtaken, "those of them whose queue was destroyed meanwhile");

static void *hold_cq;  /* the queue whose user is held, one at a time */
static void *hold_pd;  /* that of the shared receive queue which has raised an event */
static bool hold_ends; /* let it go, although its time is not up */

static u64 hold_until(unsigned int ms)
{
	return ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;
}

static void hold(void)
{
	u64 end = hold_until(hold_ms);

	held++;
	while (!READ_ONCE(hold_ends) && ktime_get_ns() < end)
		cpu_relax();
}

static int hold_notify(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	void *cq = (void *)regs_get_kernel_argument(regs, 0);

	/* Do not hold the thread that makes the queue. */
	if (srq ? !READ_ONCE(hold_pd) : !event && !in_serving_softirq())
		return 1;
	if (cmpxchg(&hold_cq, NULL, cq))
		return 1;
	if (!event)
		hold();
	return 0;
}

static int hold_notified(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (event)
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
 * Delays the destruction until the other one is done: the kernel has to survive
 * the bug found here.
 */
static int hold_destroy(struct kprobe *kp, struct pt_regs *regs)
{
	void *cq = (void *)regs_get_kernel_argument(regs, 0);
	u64 end;

	if (srq)
		cq = cq == READ_ONCE(hold_pd) ? READ_ONCE(hold_cq) : NULL;
	if (!cq || READ_ONCE(hold_cq) != cq)
		return 0;
	overtaken++;
	WRITE_ONCE(hold_ends, true);
	end = hold_until(HOLD_LEAVE_MS);
	while (READ_ONCE(hold_cq) == cq && ktime_get_ns() < end)
		cpu_relax();
	end = hold_until(HOLD_AFTER_MS);
	while (ktime_get_ns() < end)
		cpu_relax();
	return 0;
}

/* A device may raise an event of a queue for as long as there is one. */
static int hold_raise(struct kprobe *kp, struct pt_regs *regs)
{
	struct ib_srq *queue = (void *)regs_get_kernel_argument(regs, 0);
	struct ib_event ib_event = {
		.device = queue->device,
		.element.srq = queue,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	WRITE_ONCE(hold_pd, queue->pd);
	queue->event_handler(&ib_event, queue->srq_context);
	return 0;
}

static char notify_name[32], destroy_name[32];

static struct kretprobe notify_probe = {
	.entry_handler = hold_notify,
	.handler = hold_notified,
	.kp.symbol_name = notify_name,
};

static struct kprobe destroy_probe = {
	.pre_handler = hold_destroy,
	.symbol_name = destroy_name,
};

static struct kprobe raise_probe = {
	.pre_handler = hold_raise,
	.symbol_name = "ib_destroy_srq_user",
};

static int __init krping_hold_init(void)
{
	int ret;

	if (srq)
		strscpy(notify_name, "krping_async_work", sizeof(notify_name));
	else if (event)
		strscpy(notify_name, "krping_cq_event", sizeof(notify_name));
	else
		snprintf(notify_name, sizeof(notify_name), "%s_req_notify_cq", provider);
	if (srq)
		strscpy(destroy_name, "ib_dealloc_pd_user", sizeof(destroy_name));
	else
		snprintf(destroy_name, sizeof(destroy_name), "%s_destroy_cq", provider);
	ret = register_kprobe(&destroy_probe);
	if (ret)
		return ret;
	ret = register_kretprobe(&notify_probe);
	if (ret)
		goto no_notify;
	if (srq)
		ret = register_kprobe(&raise_probe);
	if (ret)
		goto no_raise;
	return 0;

no_raise:
	unregister_kretprobe(&notify_probe);
no_notify:
	unregister_kprobe(&destroy_probe);
	return ret;
}
module_init(krping_hold_init);

static void __exit krping_hold_exit(void)
{
	if (srq)
		unregister_kprobe(&raise_probe);
	unregister_kretprobe(&notify_probe);
	unregister_kprobe(&destroy_probe);
}
module_exit(krping_hold_exit);

MODULE_DESCRIPTION("Users of a CQ that take their time, for tests");
MODULE_LICENSE("Dual BSD/GPL");
