// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Percentiles of how long the iterations of a run took. */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "lat.h"

/* In hundredths of a per cent. */
static const u32 krping_percentiles[KRPING_NR_PERCENTILES] = { 5000, 9000, 9900, 9990 };

int krping_lat_init(struct krping_lat *lat)
{
	lat->bucket = kvcalloc(KRP_HIST_BUCKETS, sizeof(*lat->bucket), GFP_KERNEL);
	return lat->bucket ? 0 : -ENOMEM;
}

/*
 * Copy minimum, maximum, sum and, behind the bucket of @to, the histogram of a run that goes
 * on. The caller holds the registry's lock. Returns how many iterations the histogram has.
 */
u64 krping_lat_copy(const struct krping_lat *lat, struct krping_lat *to)
{
	u64 total = 0;
	u32 i;

	to->min_ns = READ_ONCE(lat->min_ns);
	to->max_ns = READ_ONCE(lat->max_ns);
	to->sum_ns = READ_ONCE(lat->sum_ns);
	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		to->bucket[i] = READ_ONCE(lat->bucket[i]);
		total += to->bucket[i];
	}
	return total;
}

/* The nearest rank; 2^50 iterations are more than a run can have. */
static u64 krping_rank(u64 total, u32 percentile)
{
	return max(div_u64(total * percentile + 9999, 10000), 1ULL);
}

/*
 * The percentiles so far, or at the end, rising; 0: there is no iteration. Each is no further
 * than 1/32 from the true one, and none is outside of minimum and maximum. The caller holds the
 * registry's lock, or is the run's thread.
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
		while (p < KRPING_NR_PERCENTILES &&
		       seen >= krping_rank(total, krping_percentiles[p]))
			p_ns[p++] = clamp(ns, min_ns, max_ns);
	}
}

/* The run has made its last iteration: keep percentiles, and no histogram. Sleeps. */
void krping_lat_end(struct krping_lat *lat)
{
	u64 p_ns[KRPING_NR_PERCENTILES];

	krping_lat_percentiles(lat, p_ns);
	memcpy(lat->p_ns, p_ns, sizeof(p_ns));
	kvfree(lat->bucket);
	lat->bucket = NULL;
}
