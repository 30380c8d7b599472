// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds up each call of a function of rdma_krping before it begins, so that a test
 * can look at what others see in the meantime. For tests/guest/limits.t.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/processor.h>

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "name of the function");

static unsigned int ms = 100;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "how long each call is held up");

static unsigned long calls;
module_param(calls, ulong, 0444);
MODULE_PARM_DESC(calls, "calls that were held up");

static int slow_hold(struct kprobe *kp, struct pt_regs *regs)
{
	u64 end = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;

	while (ktime_get_ns() < end)
		cpu_relax();
	calls++;
	return 0;
}
NOKPROBE_SYMBOL(slow_hold);

static struct kprobe slow_probe = {
	.pre_handler = slow_hold,
};

static int __init slow_init(void)
{
	slow_probe.symbol_name = function;
	return register_kprobe(&slow_probe);
}

static void __exit slow_exit(void)
{
	unregister_kprobe(&slow_probe);
}

module_init(slow_init);
module_exit(slow_exit);

MODULE_AUTHOR("The krping developers");
MODULE_DESCRIPTION("Holds up a function for the test suite; of no other use");
MODULE_LICENSE("Dual BSD/GPL");
