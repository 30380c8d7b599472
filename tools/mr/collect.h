/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ledgers and the costs of runs, made of the records of iterations; or, as of now,
 * the ledgers alone, made of the events of memory regions.
 */
#ifndef KRP_MR_COLLECT_H
#define KRP_MR_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/seen.h"
#include "../../bpf/mr.h"
#include "costs.h"

/* What is known of a run. */
struct collected {
	struct mr_run st;	  /* "late" also if it began before this tool did */
	uint64_t done_flushed;	  /* requests that failed, and may not have been executed */
	struct krp_totals missed; /* what was overwritten before we read it */
	bool gap;		  /* of the ledger, too, something is missing */
};

/* events: the ledgers are made of events. */
struct krp_seen *collect_open(bool events, const char *input, struct krp_runs *runs);
void collect_close(void);
/*
 * whole: it has ended, and its records were read since; else it goes on, for us.
 * false: its state was written at each attempt to read it.
 */
bool collect_get(struct collected *c, uint32_t slot, bool whole);
/* Moves the costs of the run in a slot, so that they count once. */
void collect_costs(struct costs *to, uint32_t slot);
/* To be called now and then: frees what the programs keep of runs whose end was not seen. */
void collect_tidy(const struct krp_runs *runs);
struct krp_lost collect_lost(void);

#endif /* KRP_MR_COLLECT_H */
