// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raises one of rdma_krping's events for a second, in the thread that loads
 * this module and, on the same CPU, in a timer's interrupt. So a BPF program
 * that is attached to the event is interrupted by its own event; the kernel does
 * not enter it again, but counts a recursion miss. For tests/guest/missed.t.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

#define AGAIN_EVENT "krping_adv_send"
#define AGAIN_RUN   4000000000U /* a run id that no run has */
#define AGAIN_NS    50000	/* from interrupt to interrupt */
/* Limit of the thread's events; these, or those of a second, are enough to be interrupted. */
#define AGAIN_MAX   20000

typedef void (*again_probe_t)(void *data, u32 run, u64 iter, u32 rkey, u32 len);

static unsigned long raised, interrupts;
module_param(raised, ulong, 0444);
MODULE_PARM_DESC(raised, "events raised in all");
module_param(interrupts, ulong, 0444);
MODULE_PARM_DESC(interrupts, "those of them that an interrupt raised");

static struct tracepoint *again_tp;
static struct hrtimer again_timer;

/* The event is not exported, so this calls its listeners as a tracepoint does. */
static void again_raise(void)
{
	struct tracepoint_func *f;

	preempt_disable_notrace();
	f = rcu_dereference_raw(again_tp->funcs);
	for (; f && f->func; f++)
		((again_probe_t)f->func)(f->data, AGAIN_RUN, 0, 0, 0);
	preempt_enable_notrace();
}

static enum hrtimer_restart again_interrupt(struct hrtimer *timer)
{
	interrupts++;
	again_raise();
	hrtimer_forward_now(timer, ns_to_ktime(AGAIN_NS));
	return HRTIMER_RESTART;
}

static int again_find(struct notifier_block *nb, unsigned long action, void *data)
{
	struct tp_module *m = data;
	unsigned int i;

	for (i = 0; action == MODULE_STATE_COMING && i < m->mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&m->mod->tracepoints_ptrs[i]);

		if (!strcmp(tp->name, AGAIN_EVENT))
			again_tp = tp;
	}
	return NOTIFY_OK;
}

static struct notifier_block again_nb = { .notifier_call = again_find };

static int __init again_init(void)
{
	unsigned long end, n;

	register_tracepoint_module_notifier(&again_nb);
	unregister_tracepoint_module_notifier(&again_nb);
	if (!again_tp)
		return -ENOENT;
	migrate_disable();
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(&again_timer, again_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&again_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	again_timer.function = again_interrupt;
#endif
	hrtimer_start(&again_timer, ns_to_ktime(AGAIN_NS), HRTIMER_MODE_REL_PINNED_HARD);
	end = jiffies + HZ;
	for (n = 0; n < AGAIN_MAX && time_before(jiffies, end); n++) {
		again_raise();
		cond_resched();
	}
	hrtimer_cancel(&again_timer);
	migrate_enable();
	raised = n + interrupts;
	return 0;
}
module_init(again_init);

static void __exit again_exit(void)
{
}
module_exit(again_exit);

MODULE_DESCRIPTION("Events within events, for tests");
MODULE_LICENSE("Dual BSD/GPL");
