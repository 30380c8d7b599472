/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How long the iterations of a run took.
 */
#ifndef KRPING_LAT_H
#define KRPING_LAT_H

#include <linux/compiler.h>
#include <linux/seqlock.h>
#include <linux/types.h>
#include "krping_hist.h"

/* Percentiles: 50, 90, 99 and 99.9 per cent. */
#define KRPING_NR_PERCENTILES 4

/**
 * struct krping_lat - how long the complete iterations of a run took
 * @seq:	odd while the thread adds an iteration
 * @min_ns:	the shortest one; 0: there is none
 * @max_ns:	the longest one
 * @sum_ns:	all of them
 * @bucket:	how many there are of each length, see krping_hist.h; NULL: the
 *		run is over
 * @p_ns:	percentiles of a run that is over, rising
 *
 * The run's thread writes the members up to @sum_ns, and the buckets. Others
 * read them without a lock, a moment old; @bucket and @p_ns under the registry's
 * lock.
 */
struct krping_lat {
	seqcount_t seq;
	u64 min_ns;
	u64 max_ns;
	u64 sum_ns;
	u64 *bucket;
	u64 p_ns[KRPING_NR_PERCENTILES];
};

/* An iteration is complete. */
static inline void krping_lat_add(struct krping_lat *lat, bool first, u64 ns)
{
	u64 *bucket = &lat->bucket[krp_hist_index(ns)];

	raw_write_seqcount_begin(&lat->seq);
	if (first || ns < lat->min_ns)
		WRITE_ONCE(lat->min_ns, ns);
	if (ns > lat->max_ns)
		WRITE_ONCE(lat->max_ns, ns);
	WRITE_ONCE(lat->sum_ns, lat->sum_ns + ns);
	WRITE_ONCE(*bucket, *bucket + 1);
	raw_write_seqcount_end(&lat->seq);
}

int krping_lat_init(struct krping_lat *lat);
u64 krping_lat_copy(const struct krping_lat *lat, struct krping_lat *to);
void krping_lat_percentiles(const struct krping_lat *lat, u64 *p_ns);
void krping_lat_end(struct krping_lat *lat);

#endif /* KRPING_LAT_H */
