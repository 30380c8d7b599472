/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The life of a run, from the command's text to its result.
 */
#ifndef KRPING_LIFE_H
#define KRPING_LIFE_H

#include <linux/types.h>

int krping_run_command(const char *text, size_t len);
int krping_runs_init(void);
void krping_runs_exit(void);

#endif /* KRPING_LIFE_H */
