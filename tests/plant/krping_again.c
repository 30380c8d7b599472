// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raises one of rdma_krping's events for a second, in the thread that loads
 * this module and, on the same CPU, in a timer's interrupt. So a BPF program
 * that is attached to the event is interrupted by its own event; the kernel does
 * not enter it again, but counts a recursion miss. For tests/guest/missed.t.
 */
#include "plant.h"

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/version.h>

#include "krping_abi.h"
#include "krping_trace.h"

#define AGAIN_RUN 4000000000U /* a run id that no run has */
#define AGAIN_NS  50000	      /* from interrupt to interrupt */
/* Limit of the thread's events; these, or those of a second, are enough to be interrupted. */
#define AGAIN_MAX 20000

PLANT_COUNTER(raised, "events raised in all");
PLANT_COUNTER(interrupts, "those of them that an interrupt raised");

static struct tracepoint *again_tp;
static struct hrtimer again_timer;

static enum hrtimer_restart again_interrupt(struct hrtimer *timer)
{
	interrupts++;
	PLANT_RAISE(again_tp, krping_adv_send, AGAIN_RUN, ktime_get_ns(), 0, 0, 0);
	hrtimer_forward_now(timer, ns_to_ktime(AGAIN_NS));
	return HRTIMER_RESTART;
}

static int __init again_begin(void)
{
	unsigned long end, n;

	again_tp = plant_tracepoint("krping_adv_send");
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
		PLANT_RAISE(again_tp, krping_adv_send, AGAIN_RUN, ktime_get_ns(), 0, 0, 0);
		cond_resched();
	}
	hrtimer_cancel(&again_timer);
	migrate_enable();
	raised = n + interrupts;
	return 0;
}

PLANT_MODULE(again_begin, plant_no_end, "Events within events, for tests");
