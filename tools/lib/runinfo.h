/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What events told of a run that /proc does not list: it was read before the run began, or has forgotten
 * the run since.
 */
#ifndef KRP_LIB_RUNINFO_H
#define KRP_LIB_RUNINFO_H

#include <linux/types.h>

#include "../../bpf/slot.h"
#include "runs.h"

/*
 * Fills in what run_start and conn told of the run; nothing if its run_start was not seen. How often an
 * iteration moves its data depends on signal= in bw and fast, which is not known then: of these it is the least.
 */
void krp_run_info_of(struct krp_run_info *info, const struct krp_head *head);

#endif /* KRP_LIB_RUNINFO_H */
