/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_mr.bpf.c and krping-mr share. */
#ifndef KRPING_MR_H
#define KRPING_MR_H

#include "run.h"

/* More than a run of any test has: different page counts, regions. */
#define MR_SIZES	4
#define MR_REGIONS	8
/* Registrations posted and not yet followed by a completion. A power of two. */
#define MR_RING		8

/* The costs that are measured; each has a histogram for each page count. */
enum mr_cost {
	MR_COST_MAP,		/* CPU: ib_map_mr_sg() */
	MR_COST_POST,		/* CPU: the verbs call that posts the chain */
	MR_COST_DONE,		/* until the next signalled completion */
	MR_NR_COSTS,
};

#define MR_HIST(size, cost)	((size) * MR_NR_COSTS + (cost))
#define MR_NR_HISTS		MR_HIST(MR_SIZES, 0)

enum mr_region_state {
	MR_REGION_UNUSED,
	MR_REGION_UNKNOWN,	/* of a run that was there before us */
	MR_REGION_INVALID,
	MR_REGION_VALID,
};

struct mr_region {
	__u32 id;
	__u32 state;
};

struct mr_posted {
	__u64 t;
	__u32 cid;
	__u32 size;		/* index; MR_SIZES: the post failed */
};

struct mr_run {
	struct krp_head head;
	__u64 valid_at_attach;	/* keys that a run had before we came */
	__u64 fastreg;
	__u64 localinv;
	__u64 reminv;
	__u64 readinv;
	__u64 freed_valid;
	__u64 flushed;
	__u64 freed;		/* all regions that were freed */
	__u64 map_errs;
	__u64 inv_invalid;	/* invalidated, but was not valid */
	__u64 reg_valid;	/* registered, but was valid */
	__u64 mismatch;		/* the module's ledger and ours differ */
	__u64 unmatched;	/* registrations without a completion's time */
	__u64 anomalies;	/* clock went back */
	struct mr_region region[MR_REGIONS];
	__u32 pages[MR_SIZES];	/* 0: unused */
	struct krp_sum cost[MR_SIZES][MR_COST_DONE];
	/* The chain that is being posted. */
	__u64 t_chain;
	__u32 chain_cid;
	__u32 chain_size;	/* of its REG_MR; MR_SIZES: it has none */
	__u32 chain_open;
	__u32 reg_size;		/* of the last krping_mr_fastreg */
	__u32 reg_cid;
	/* Written by the thread, read by the completion handler. */
	__u32 posted;
	struct mr_posted ring[MR_RING];
};

/* Written by the completion handler, so not in struct mr_run. */
struct mr_done {
	__u64 flushed;		/* registrations followed by an error */
	__u64 anomalies;
	__u32 retired;
	struct krp_sum cost[MR_SIZES];
};

#endif /* KRPING_MR_H */
