/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How long the iterations of a run took. */
#ifndef KRPING_LAT_H
#define KRPING_LAT_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "krping_hist.h"

#define KRPING_NR_PERCENTILES 4

/*
 * The run's thread writes. Others read the members up to sum_ns, and the buckets, without a lock
 * and may find one an iteration ahead of another; the pointer and p_ns under the registry's lock.
 */
struct krping_lat {
	u64 min_ns; /* 0: there is no iteration */
	u64 max_ns;
	u64 sum_ns;
	u64 *bucket; /* iterations of each length, see krping_hist.h; NULL: the run is over */
	u64 p_ns[KRPING_NR_PERCENTILES]; /* of a run that is over, rising */
};

/* An iteration is complete. */
static inline void krping_lat_add(struct krping_lat *lat, bool first, u64 ns)
{
	u64 *bucket = &lat->bucket[krp_hist_index(ns)];

	if (first || ns < lat->min_ns)
		WRITE_ONCE(lat->min_ns, ns);
	if (ns > lat->max_ns)
		WRITE_ONCE(lat->max_ns, ns);
	WRITE_ONCE(lat->sum_ns, lat->sum_ns + ns);
	WRITE_ONCE(*bucket, *bucket + 1);
}

int krping_lat_init(struct krping_lat *lat);
u64 krping_lat_copy(const struct krping_lat *lat, struct krping_lat *to);
void krping_lat_percentiles(const struct krping_lat *lat, u64 *p_ns);
void krping_lat_end(struct krping_lat *lat);

#endif /* KRPING_LAT_H */
