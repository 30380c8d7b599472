/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opens the files of /proc that have something of each run. */
#ifndef KRP_LIB_PROCFILE_H
#define KRP_LIB_PROCFILE_H

#include <stdint.h>
#include <stdio.h>

/*
 * Opens such a file from the run *from on; 0: from the first one. A module that
 * cannot do this, or from which we may only read, gives all runs: then *from becomes 0.
 * NULL: it cannot be opened, and errno says why.
 */
FILE *krp_procfile_open(const char *path, uint32_t *from);

#endif /* KRP_LIB_PROCFILE_H */
