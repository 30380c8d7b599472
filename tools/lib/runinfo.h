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
 * What run_start and conn told of the run, valid until the next call; NULL: its run_start was not seen. How often an
 * iteration moves its data depends on signal= in bw and fast, which is not known then: of these it is the least.
 */
const struct krp_run_info *krp_run_info_of(const struct krp_head *head);

#endif /* KRP_LIB_RUNINFO_H */
