/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The line that krping has printed for wlat, rlat and bw since 2007, and that
 * awkit-klat and awkit-kbw read.
 */
#ifndef KRP_KRPING_CLASSIC_H
#define KRP_KRPING_CLASSIC_H

#include <stdbool.h>
#include <stddef.h>

#include "cmdtext.h"
#include "../lib/runs.h"

/* false: the command names a test that has no such line. */
bool krp_classic_fits(const struct krp_cmdtext *cmd);
/*
 * The line of a run that has ended well, without a newline, as the module prints
 * it with classic_log=1. false: it has none, and buf says why.
 */
bool krp_classic_line(char *buf, size_t size, const struct krp_run_info *r);

#endif /* KRP_KRPING_CLASSIC_H */
