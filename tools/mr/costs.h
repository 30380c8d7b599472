/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What registrations and invalidations cost. */
#ifndef KRP_MR_COSTS_H
#define KRP_MR_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/hist.h"
#include "../../trace/krping_abi.h"

/* Each of these has a distribution for each number of pages. */
enum mr_cost {
	MR_COST_MAP = KRPING_COST_MAP,	 /* CPU: ib_map_mr_sg() */
	MR_COST_POST = KRPING_COST_POST, /* CPU: the verbs call that posts the chain */
	MR_COST_DONE = KRPING_COST_DONE, /* until it is known to be executed */
	MR_NR_COSTS,
};

/* The request posted here that invalidates: LOCAL and READ our own key, SEND the peer's. */
enum mr_inv {
	MR_INV_LOCAL,
	MR_INV_SEND,
	MR_INV_READ,
	MR_NR_INVS,
};

/* The kind of a word in one number: the kind of its request, which cost it is, and whether it failed. */
#define MR_COST_KIND(word) ((word) >> 8 & 0x7f)
#define MR_COST_KINDS	   0x80

/*
 * Counts as those of struct krp_hist, but only of buckets that are not empty: a run may register as many sizes as there are
 * pages in 2M, and nearly all buckets of each are empty.
 */
struct cost_hist {
	uint64_t *v; /* by bucket, which the highest bits have; the others are its count */
	uint32_t nr;
};

/* The cost of registrations of one size. */
struct cost {
	uint32_t pages;
	struct krp_sum sum[MR_NR_COSTS];
	struct cost_hist hist[MR_NR_COSTS];
};

/* Where the words of one kind of request and cost were last counted. */
struct cost_place {
	uint32_t pages;
	struct krp_sum *sum;	/* NULL: nowhere yet */
	struct cost_hist *hist; /* NULL: only the sum is kept */
};

struct costs {
	struct cost *v; /* by pages */
	size_t nr;
	/* The costs of invalidations. */
	struct krp_sum inv_post[MR_NR_INVS], inv_done[MR_NR_INVS];
	struct cost_place place[MR_COST_KINDS]; /* a copy begins without any */
};

/*
 * Adds what a word of krping_iter_memory (KRPING_COST()) tells, unless that failed. c must not be a copy that
 * was made by assignment, since its places are in itself.
 */
void costs_take(struct costs *c, uint64_t word);
/* Adds from to another, and empties it. */
void costs_move(struct costs *to, struct costs *from);
void costs_free(struct costs *c);
/* Sets to, which has all buckets. */
void costs_hist(struct krp_hist *to, const struct cost_hist *from);

#endif /* KRP_MR_COSTS_H */
