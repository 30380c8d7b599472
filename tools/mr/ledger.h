/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The ledger of a run, made of the words of krping_iter_memory, with as many regions as the run has. */
#ifndef KRP_MR_LEDGER_H
#define KRP_MR_LEDGER_H

#include <linux/types.h>
#include <stdint.h>

#include "../../bpf/mr.h"

struct ledger {
	struct mr_run run;
	void *regions; /* a tree of struct mr_region; see tsearch(3) */
};

/* Takes a KRPING_STEP(). */
void ledger_step(struct ledger *l, uint64_t word);
/*
 * Steps are missing. What the regions are in now tells the next step of each, as if we
 * had attached here; and what was valid before leaves the account.
 */
void ledger_begin_again(struct ledger *l);
void ledger_free(struct ledger *l);

#endif /* KRP_MR_LEDGER_H */
