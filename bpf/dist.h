/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Distributions whose histograms lie one behind the other, and which find the
 * bucket of a value by that of the last one: for programs that record many.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_DIST_H
#define KRPING_DIST_H

#include "hist.h"
#include "run.h"

/* What is for the verifier, which does not know the compiler's bounds. */
#ifdef __bpf__
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
/* A global function, which the verifier looks at once: it has many ways through it. */
#define KRP_FAR __noinline
#else
#define barrier_var(var)
#define KRP_FAR static inline
#endif

/*
 * Before the first value. The minimum is the largest number: one comparison less
 * for each value. The first octave is that of small ones.
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

/* A value of the dist-th distribution of all, which has begun; nr buckets, of all of them. */
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
	/* Mostly it is in the octave of the last one. */
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
	/* The verifier does not know that it is in bounds. */
	barrier_var(i);
	if (i < nr)
		bucket[i]++;
}

#endif /* KRPING_DIST_H */
