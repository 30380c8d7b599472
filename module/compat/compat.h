/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The only place that knows of differences between kernels; see README. */
#ifndef KRPING_COMPAT_H
#define KRPING_COMPAT_H

/* Prefix of every message, whatever the module is called. */
#define pr_fmt(fmt) "krping: " fmt

#include <linux/slab.h>

/* Older kernels lack this macro, and the checkpatch of 7.3 warns where kzalloc() is used instead of it. */
#ifndef kzalloc_obj
#define kzalloc_obj(P) kzalloc(sizeof(P), GFP_KERNEL)
#endif

#ifndef HAVE_DFL_WQ
#define system_dfl_wq system_unbound_wq
#endif

#ifndef HAVE_HRTIMER_SETUP
#include <linux/hrtimer.h>

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*func)(struct hrtimer *), clockid_t clock,
				 enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = func;
}
#endif

#endif /* KRPING_COMPAT_H */
