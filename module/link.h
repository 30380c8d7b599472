/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The way of a run to its peer, and back.
 */
#ifndef KRPING_LINK_H
#define KRPING_LINK_H

#include <linux/types.h>

struct krping_run;

int krping_link_open(struct krping_run *run, unsigned int places);
int krping_link_up(struct krping_run *run);
void krping_link_down(struct krping_run *run, bool phases);

#endif /* KRPING_LINK_H */
