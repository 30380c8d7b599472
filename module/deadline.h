/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the clock ends: a run that takes longer than timeout=, and a server's run
 * whose client is silent, or gone, for longer than idle=.
 */
#ifndef KRPING_DEADLINE_H
#define KRPING_DEADLINE_H

struct krping_run;

void krping_limits_init(struct krping_run *run);
void krping_deadline_start(struct krping_run *run);
void krping_deadline_stop(struct krping_run *run);
void krping_idle_start(struct krping_run *run);
void krping_idle_stop(struct krping_run *run);

#endif /* KRPING_DEADLINE_H */
