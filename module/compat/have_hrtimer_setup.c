// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A timer is made by one call. */
#include <linux/hrtimer.h>

static void __maybe_unused ask(struct hrtimer *timer,
			       enum hrtimer_restart (*func)(struct hrtimer *))
{
	hrtimer_setup(timer, func, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
