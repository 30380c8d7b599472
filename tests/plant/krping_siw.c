// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes siw say that no completion was missed by whoever asks for a signal, although one
 * was, as siw does when a store is late (docs/upstream/siw-notify-barrier.md). For
 * tests/guest/siw.t, which sees whether krping finds the completion all the same.
 *
 * The probes are on functions that are called through a table or by another file of siw, so
 * that no compiler inlines them.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/time64.h>

static unsigned int provoked;
module_param(provoked, uint, 0444);
MODULE_PARM_DESC(provoked, "1: a completion was overlooked");

static atomic_t completions;

static int on_complete_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&completions);
	return 0;
}

/*
 * Mostly the thread is faster than the completion, so the thread is held up: until it was
 * once, for as long as an emulated CPU may have to wait for its turn, and then briefly.
 */
static int on_notify(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	u64 end = ktime_get_ns() + (READ_ONCE(provoked) ? 2 * NSEC_PER_MSEC : NSEC_PER_SEC);
	int before = atomic_read(&completions);

	while (atomic_read(&completions) == before && ktime_get_ns() < end)
		cpu_relax();
	return 0;
}

/* siw_req_notify_cq() returns how many completions there are. */
static int on_notify_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if ((int)regs_return_value(regs) > 0) {
		regs_set_return_value(regs, 0);
		WRITE_ONCE(provoked, 1);
	}
	return 0;
}

static struct kretprobe sqe_complete = {
	.kp.symbol_name = "siw_sqe_complete",
	.handler = on_complete_return,
};
static struct kretprobe rqe_complete = {
	.kp.symbol_name = "siw_rqe_complete",
	.handler = on_complete_return,
};
static struct kretprobe notify = {
	.kp.symbol_name = "siw_req_notify_cq",
	.entry_handler = on_notify,
	.handler = on_notify_return,
};
static struct kretprobe *probes[] = { &sqe_complete, &rqe_complete, &notify };

static int __init krping_siw_init(void)
{
	return register_kretprobes(probes, ARRAY_SIZE(probes));
}
module_init(krping_siw_init);

static void __exit krping_siw_exit(void)
{
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
}
module_exit(krping_siw_exit);

MODULE_DESCRIPTION("A siw that overlooks completions, for tests");
MODULE_LICENSE("Dual BSD/GPL");
