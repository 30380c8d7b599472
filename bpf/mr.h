/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_mr.bpf.c and krping-mr share. */
#ifndef KRPING_MR_H
#define KRPING_MR_H

#include "slot.h"

/* clang-format off */

/* Limits above what a run of any test has: different page counts, and regions. */
#define MR_SIZES	4
#define MR_REGIONS	8

/* The costs that are measured; each has a histogram for each page count. */
enum mr_cost {
	MR_COST_MAP,		/* CPU: ib_map_mr_sg() */
	MR_COST_POST,		/* CPU: the verbs call that posts the chain */
	MR_COST_DONE,		/* until the next signalled completion */
	MR_NR_COSTS,
};

#define MR_HIST(size, cost)	((size) * MR_NR_COSTS + (cost))
#define MR_NR_HISTS		MR_HIST(MR_SIZES, 0)

/* The request posted here that invalidates: LOCAL and READ our own key, SEND the peer's. */
enum mr_inv {
	MR_INV_LOCAL,
	MR_INV_SEND,
	MR_INV_READ,
	MR_NR_INVS,
};

enum mr_region_state {
	MR_REGION_UNUSED,
	MR_REGION_UNKNOWN,	/* the run began before we attached */
	MR_REGION_INVALID,
	MR_REGION_VALID,
	MR_REGION_FREED,	/* this entry may be used again */
};

struct mr_region {
	__u32 id;
	__u32 state;
	__u32 key;		/* the last one; 0: not seen */
	__u32 pages;
	__u64 t;		/* of the last change; 0 unless keys_on is set */
};

/* The first error in the ledger of a run. */
enum mr_bad {
	MR_BAD_NONE,
	MR_BAD_REG_VALID,
	MR_BAD_INV_INVALID,
	MR_BAD_FREE,
};

struct mr_run {
	struct krp_head head;
	__u64 valid_at_attach;	/* keys that were valid when we attached */
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
	__u64 anomalies;	/* clock went back */
	__u32 bad;		/* enum mr_bad; the next members: which region and key */
	__u32 bad_id;
	__u32 bad_key;
	__u32 bad_new_key;	/* MR_BAD_REG_VALID: the key that replaced bad_key */
	struct mr_region region[MR_REGIONS];
};

/* Written by the completion handler, so not in struct mr_run. */
struct mr_done {
	__u64 flushed;		/* registrations followed by an error */
	__u64 anomalies;	/* clock went back */
	__u32 pages[MR_SIZES];	/* 0: unused */
	struct krp_dist cost[MR_NR_HISTS];	/* by MR_HIST() */
	struct krp_sum inv_post[MR_NR_INVS];	/* CPU: the verbs call that posts the whole chain */
	struct krp_sum inv_done[MR_NR_INVS];	/* until the next signalled completion */
};

/* clang-format on */

#endif /* KRPING_MR_H */
