/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_LIFE_H
#define KRPING_LIFE_H

#include <linux/types.h>

struct krping_run;

struct krping_run *krping_run_create(struct krping_run *parent);
void krping_run_free(struct krping_run *run);
void krping_run_test(struct krping_run *run);
int krping_run_live(struct krping_run *run, void (*work)(struct krping_run *));

#endif /* KRPING_LIFE_H */
