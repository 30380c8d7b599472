/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Replaces what in a recording says whose it is: addresses, names and numbers of processes; the same one each time by the same. */
#ifndef KRP_RECORD_ANONYMIZE_H
#define KRP_RECORD_ANONYMIZE_H

#include "../../bpf/event_table.h"

/* An event in the form of this version, in place; what is behind the NUL of a text is overwritten, too. */
void anonymize_event(struct krp_event_head *h);
/* What stands for a copy of /proc/krping_runs, which is destroyed; to be freed. Reasons, which may have a peer's words, are left out. */
char *anonymize_runs(char *runs);

#endif /* KRP_RECORD_ANONYMIZE_H */
