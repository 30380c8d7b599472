/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The link of a run to its peer: its connections, and the memory of its test. */
#ifndef KRPING_LINK_H
#define KRPING_LINK_H

#include <linux/types.h>

struct krping_run;

int krping_link_open(struct krping_run *run, unsigned int places);
int krping_link_up(struct krping_run *run);
bool krping_link_may_stall(const struct krping_run *run);
void krping_link_free_test(struct krping_run *run);
void krping_link_down(struct krping_run *run, bool phases);

#endif /* KRPING_LINK_H */
