/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What belongs into a report of a bug: the host, its devices, the module and its last runs. */
#ifndef KRP_KRPING_REPORT_H
#define KRP_KRPING_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints the report to f. root stands before /proc, /sys, /etc and /dev, "" but in tests. What cannot be read is said to be
 * so. Unless it is plain, addresses, labels of runs and the name of this host are replaced, each by the same word everywhere.
 */
void krp_report(FILE *f, const char *root, bool plain);

#endif /* KRP_KRPING_REPORT_H */
