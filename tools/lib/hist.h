/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Histograms, with the buckets of krping_hist.h, and sums: count, sum, minimum and maximum are exact.
 */
#ifndef KRP_LIB_HIST_H
#define KRP_LIB_HIST_H

#include <linux/types.h>

#include "../../trace/krping_hist.h"

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

/* Percentiles are given in hundredths of a per cent. */
#define KRP_P50	 5000
#define KRP_P90	 9000
#define KRP_P99	 9900
#define KRP_P999 9990

/* A time that is not known. Printed as "-", and null in JSON. */
#define KRP_NS_UNKNOWN (~(__u64)0)

__u64 krp_hist_total(const struct krp_hist *h);

/*
 * The percentile; no further than 1/32 from the true one. It is clamped to the
 * exact minimum and maximum if they are known (NULL: they are not, as for the
 * difference of two histograms). 0 for an empty histogram, or KRP_NS_UNKNOWN where the sum has values. The last bucket has
 * all values from 2^KRP_HIST_BITS ns on: of these only the longest is known, and the
 * shortest if there is no value below them; any other is KRP_NS_UNKNOWN.
 */
__u64 krp_hist_percentile(const struct krp_hist *h, const struct krp_sum *s, unsigned int p);

/* to += from; to -= from, where from is an earlier state of to. */
void krp_hist_add(struct krp_hist *to, const struct krp_hist *from);
void krp_hist_sub(struct krp_hist *to, const struct krp_hist *from);
void krp_sum_merge(struct krp_sum *to, const struct krp_sum *from);
/*
 * Turns s, a later state of before, into the sum of the values that came in
 * between; h is the histogram of just these values, or NULL if there is none.
 * Minimum and maximum are exact if they are those of all the time, or the only
 * value; else they are the bounds of the buckets, no further than 1/32 off;
 * else KRP_NS_UNKNOWN.
 */
void krp_sum_since(struct krp_sum *s, const struct krp_sum *before, const struct krp_hist *h);

#endif /* KRP_LIB_HIST_H */
