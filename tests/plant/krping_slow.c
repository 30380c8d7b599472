// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds up each call of a function of rdma_krping before it begins, so that a test
 * can look at what others see in the meantime. For tests/guest/limits.t.
 */
#include "plant.h"

PLANT_PARAM(charp, function, "", 0444, "name of the function");
PLANT_PARAM(uint, ms, 100, 0444, "how long each call is held up");
PLANT_COUNTER(calls, "calls that were held up");

static int slow_hold(struct kprobe *kp, struct pt_regs *regs)
{
	PLANT_SPIN(true, ms * NSEC_PER_MSEC);
	calls++;
	return 0;
}

static struct kprobe slow_probe = { .pre_handler = slow_hold };

static int __init slow_begin(void)
{
	slow_probe.symbol_name = function;
	return register_kprobe(&slow_probe);
}

static void __exit slow_end(void)
{
	unregister_kprobe(&slow_probe);
}

PLANT_MODULE(slow_begin, slow_end, "Holds up a function for the test suite; of no other use");
