/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Histograms that BPF programs fill and user space reads, with the buckets of
 * krping_hist.h. Count, sum, minimum and maximum are kept separately and are
 * exact.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_SUMS_H
#define KRPING_SUMS_H

#include "../trace/krping_hist.h"

struct krp_hist {
	__u64 bucket[KRP_HIST_BUCKETS];
};

/* min and max mean nothing while count is 0. */
struct krp_sum {
	__u64 count;
	__u64 sum;
	__u64 min;
	__u64 max;
};

static inline void krp_sum_add(struct krp_sum *s, __u64 v)
{
	if (!s->count || v < s->min)
		s->min = v;
	if (v > s->max)
		s->max = v;
	s->count++;
	s->sum += v;
}

#endif /* KRPING_SUMS_H */
