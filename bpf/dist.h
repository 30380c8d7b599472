/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Distributions for programs that record many values. Their histograms lie one
 * behind the other, and the bucket of a value is looked for first in the octave
 * of the last value.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_DIST_H
#define KRPING_DIST_H

#include "sums.h"
#include "slot.h"

/* Helpers for the verifier, which does not know the bounds that the compiler knows. */
#ifdef __bpf__
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
/* A function with many paths is global, so that the verifier checks it only once. */
#define KRP_FAR __noinline
#else
#define barrier_var(var)
#define KRP_FAR static inline
#endif

/*
 * Call this before the first value. The minimum starts as the largest number,
 * which saves a comparison for each value. The first octave is that of small
 * values.
 */
static __always_inline void krp_dist_begin(struct krp_dist *all, __u64 dist)
{
	struct krp_dist *d = &all[dist];

	if (d->s.count)
		return;
	d->s.min = ~0ULL;
	d->octave = 0;
	d->row = dist * KRP_HIST_BUCKETS;
}

KRP_FAR int krp_far_index(__u64 v)
{
	return krp_hist_index(v);
}

/*
 * Record v in the dist-th distribution of all, which has begun. nr is the
 * number of buckets of all distributions.
 */
static __always_inline void krp_dist_put(struct krp_dist *all, __u64 *bucket, __u64 nr, __u64 dist,
					 __u64 v)
{
	struct krp_dist *d = &all[dist];
	__u64 m, i;

	d->s.count++;
	d->s.sum += v;
	if (v < d->s.min)
		d->s.min = v;
	if (v > d->s.max)
		d->s.max = v;
	/* Mostly the value is in the octave of the last value. */
	m = v >> d->octave;
	i = m + d->row;
	m -= KRP_HIST_SUB;
	barrier_var(m);
	if (m >= KRP_HIST_SUB) {
		i = (__u32)krp_far_index(v);
		d->octave = krp_hist_octave(i);
		d->row = dist * KRP_HIST_BUCKETS + d->octave * KRP_HIST_SUB;
		i += dist * KRP_HIST_BUCKETS;
	}
	/* The verifier does not know that i is in bounds. */
	barrier_var(i);
	if (i < nr)
		bucket[i]++;
}

#endif /* KRPING_DIST_H */
