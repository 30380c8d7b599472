// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Percentiles of how long the iterations of a run took.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "lat.h"

/* In hundredths of a per cent. */
static const u32 krping_percentiles[KRPING_NR_PERCENTILES] = { 5000, 9000, 9900,
							       9990 };

/* Make ready for the iterations of a run. Sleeps. Returns 0, or -ENOMEM. */
int krping_lat_init(struct krping_lat *lat)
{
	lat->bucket =
		kvcalloc(KRP_HIST_BUCKETS, sizeof(*lat->bucket), GFP_KERNEL);
	seqcount_init(&lat->seq);
	return lat->bucket ? 0 : -ENOMEM;
}

/* A thread that is preempted while it adds an iteration is not waited for. */
#define KRPING_COPIES 8

/**
 * krping_lat_copy - all of a moment
 * @lat: of a run that goes on
 * @to: receives minimum, maximum, sum and, behind its @bucket, the histogram
 *
 * If the run adds an iteration each time that this looks, or in the middle of it
 * has lost its CPU, the figures may be apart by one iteration.
 *
 * Context: caller holds the registry's lock.
 * Return: how many iterations that are.
 */
u64 krping_lat_copy(const struct krping_lat *lat, struct krping_lat *to)
{
	unsigned int seq, i, copies = 0;
	u64 total;

	do {
		seq = raw_read_seqcount(&lat->seq);
		to->min_ns = READ_ONCE(lat->min_ns);
		to->max_ns = READ_ONCE(lat->max_ns);
		to->sum_ns = READ_ONCE(lat->sum_ns);
		for (i = 0, total = 0; i < KRP_HIST_BUCKETS; i++) {
			to->bucket[i] = READ_ONCE(lat->bucket[i]);
			total += to->bucket[i];
		}
	} while ((seq & 1 || read_seqcount_retry(&lat->seq, seq)) &&
		 ++copies < KRPING_COPIES);
	return total;
}

/* The nearest rank; 2^50 iterations are more than a run can have. */
static u64 krping_rank(u64 total, u32 percentile)
{
	return max(div_u64(total * percentile + 9999, 10000), 1ULL);
}

/**
 * krping_lat_percentiles - the percentiles so far, or at the end
 * @lat: of a run
 * @p_ns: receives KRPING_NR_PERCENTILES of them, rising; 0: there is no iteration
 *
 * Each is no further than 1/32 from the true one, and none is outside of minimum
 * and maximum.
 *
 * Context: any in which @lat stays; caller holds the registry's lock, or is the
 * run's thread.
 */
void krping_lat_percentiles(const struct krping_lat *lat, u64 *p_ns)
{
	u64 min_ns = READ_ONCE(lat->min_ns), max_ns = READ_ONCE(lat->max_ns);
	u32 first = krp_hist_index(min_ns), last = krp_hist_index(max_ns), i;
	u64 total = 0, seen = 0, ns;
	unsigned int p = 0;

	if (!lat->bucket) {
		memcpy(p_ns, lat->p_ns, sizeof(lat->p_ns));
		return;
	}
	memset(p_ns, 0, sizeof(lat->p_ns));
	for (i = first; i <= last; i++)
		total += READ_ONCE(lat->bucket[i]);
	if (!total)
		return;
	/* The buckets may grow meanwhile, so that each rank is found. */
	for (i = first; i <= last; i++) {
		seen += READ_ONCE(lat->bucket[i]);
		/* The last bucket has no upper bound. */
		ns = i == KRP_HIST_BUCKETS - 1 ? max_ns : krp_hist_middle(i);
		for (; p < KRPING_NR_PERCENTILES &&
		       seen >= krping_rank(total, krping_percentiles[p]);
		     p++)
			p_ns[p] = clamp(ns, min_ns, max_ns);
	}
}

/**
 * krping_lat_end - the run has made its last iteration
 * @lat: of the run; keeps its percentiles, and no histogram
 *
 * Context: the run's thread, with the registry's lock; sleeps.
 */
void krping_lat_end(struct krping_lat *lat)
{
	u64 p_ns[KRPING_NR_PERCENTILES];

	krping_lat_percentiles(lat, p_ns);
	memcpy(lat->p_ns, p_ns, sizeof(p_ns));
	kvfree(lat->bucket);
	lat->bucket = NULL;
}
