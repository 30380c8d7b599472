/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads /proc/krping_hist: how long the iterations of a run took that goes on. */
#ifndef KRP_KRPING_RUNHIST_H
#define KRP_KRPING_RUNHIST_H

#include <stdint.h>
#include <stdio.h>

#include "../lib/hist.h"

#define KRP_PROC_HIST "/proc/krping_hist"

struct krp_runhist {
	uint64_t elapsed_ns; /* since the run began */
	struct krp_sum sum;
	struct krp_hist hist;
	double bytes; /* that the iterations moved: for who reads it to fill in, since this file does not have it */
};

/*
 * Finds the run in what f has. 0, -ENODATA: it has no iterations, or is over;
 * -EPROTO: this is not what the module of this version prints; -EIO.
 */
int krp_runhist_parse(struct krp_runhist *rh, uint32_t id, FILE *f);
/* Finds the run in KRP_PROC_HIST. As krp_runhist_parse(), or another -errno. */
int krp_runhist_read(struct krp_runhist *rh, uint32_t id);
/* What came since before, an earlier state of the same run. */
void krp_runhist_since(struct krp_runhist *rh, const struct krp_runhist *before);

#endif /* KRP_KRPING_RUNHIST_H */
