/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ledger of a run's memory regions: krping_mr.bpf.c keeps it from the events of
 * regions, and krping-mr from the words of krping_iter_memory.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_MR_H
#define KRPING_MR_H

#include "slot.h"

/* clang-format off */

/* The regions of a run that krping_mr.bpf.c follows: more than test=block alone has. */
#define MR_REGIONS	8

enum mr_region_state {
	MR_REGION_UNUSED,
	MR_REGION_UNKNOWN,	/* the run began before we attached */
	MR_REGION_INVALID,
	MR_REGION_VALID,
	MR_REGION_FREED,	/* this entry may be used again */
};

struct mr_region {
	__u32 id;		/* the MR's number, or what all its keys have in common */
	__u32 state;
	__u32 key;		/* the last one; 0: not seen */
	__u32 pages;
	__u64 t;		/* of the last change; 0: not known */
};

/* The first error in the ledger of a run. */
enum mr_bad {
	MR_BAD_NONE,
	MR_BAD_REG_VALID,
	MR_BAD_INV_INVALID,
	MR_BAD_FREE,
};

/* The ledger of a run. */
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
	__u64 valid;		/* regions that are valid now */
	__u64 not_followed;	/* steps of regions without a place: no count above has these */
	__u32 bad;		/* enum mr_bad; the next members: which region and key */
	__u32 bad_id;
	__u32 bad_key;
	__u32 bad_new_key;	/* MR_BAD_REG_VALID: the key that replaced bad_key */
	struct mr_region region[MR_REGIONS]; /* krping_mr.bpf.c's; of words: tools/mr/ledger.h */
};

/* clang-format on */

/* This place is a new region's. */
static inline struct mr_region *mr_region_new(const struct mr_run *r, struct mr_region *g, __u32 id)
{
	g->id = id;
	g->key = 0;
	g->pages = 0;
	g->t = 0;
	g->state = r->head.late ? MR_REGION_UNKNOWN : MR_REGION_INVALID;
	return g;
}

/* The region with this number, which may be new; NULL if there is no place. */
static inline struct mr_region *mr_region_of(struct mr_run *r, __u32 id)
{
	struct mr_region *unused = 0, *freed = 0;
	__u32 i;

	for (i = 0; i < MR_REGIONS; i++) {
		struct mr_region *g = &r->region[i];

		if (g->state == MR_REGION_UNUSED) {
			if (!unused)
				unused = g;
		} else if (g->state == MR_REGION_FREED) {
			freed = g;
		} else if (g->id == id) {
			return g;
		}
	}
	/* Of a region that had no place before, the state is not known. */
	if (!unused && !r->not_followed)
		unused = freed;
	return unused ? mr_region_new(r, unused, id) : 0;
}

static inline void mr_is_bad(struct mr_run *r, __u32 what, __u32 id, __u32 key, __u32 new_key)
{
	if (r->bad)
		return;
	r->bad = what;
	r->bad_id = id;
	r->bad_key = key;
	r->bad_new_key = new_key;
}

/*
 * Compare the module's state of a region at this step with ours. If the run began
 * before we attached, the first step of a region tells whether its key was valid
 * when we attached. Returns 1 if the states differ.
 */
static inline int mr_check(struct mr_run *r, const struct mr_region *g, __u32 valid)
{
	if (g->state == MR_REGION_UNKNOWN) {
		r->valid_at_attach += !!valid;
	} else if ((g->state == MR_REGION_VALID) != !!valid) {
		r->mismatch++;
		return 1;
	}
	return 0;
}

static inline void mr_become(struct mr_run *r, struct mr_region *g, __u32 state, __u32 key)
{
	r->valid += (state == MR_REGION_VALID) - (g->state == MR_REGION_VALID);
	g->state = state;
	g->key = key;
}

/* The steps. Each returns the region; NULL, and counts nothing, if there is no place for it. */

/* A REG_MR is about to be posted; old_key 0: not known. */
static inline struct mr_region *mr_reg(struct mr_run *r, struct mr_region *g, __u32 old_key,
				       __u32 new_key, __u32 pages, __u32 valid_before)
{
	if (!g)
		return 0;
	r->fastreg++;
	if (!old_key)
		old_key = g->key;
	if (mr_check(r, g, valid_before) || g->state == MR_REGION_VALID || valid_before)
		mr_is_bad(r, MR_BAD_REG_VALID, g->id, old_key, new_key);
	if (g->state == MR_REGION_VALID || valid_before)
		r->reg_valid++;
	mr_become(r, g, MR_REGION_VALID, new_key);
	g->pages = pages;
	return g;
}

/* A key is invalidated; "count" has how often that was done in this way. */
static inline struct mr_region *mr_inv(struct mr_run *r, __u64 *count, struct mr_region *g,
				       __u32 key, __u32 valid_before)
{
	if (!g)
		return 0;
	if (valid_before)
		(*count)++;
	else
		r->inv_invalid++;
	if (mr_check(r, g, valid_before) || !valid_before)
		mr_is_bad(r, MR_BAD_INV_INVALID, g->id, key, 0);
	mr_become(r, g, MR_REGION_INVALID, key);
	return g;
}

/* A region is freed, in this state (enum krping_mr_state). */
static inline struct mr_region *mr_free(struct mr_run *r, struct mr_region *g, __u32 key,
					__u32 state)
{
	if (!g)
		return 0;
	r->freed++;
	if (state == KRPING_MR_VALID)
		r->freed_valid++;
	else if (state == KRPING_MR_FLUSHED)
		r->flushed++;
	if (mr_check(r, g, state != KRPING_MR_FREE))
		mr_is_bad(r, MR_BAD_FREE, g->id, key, 0);
	mr_become(r, g, MR_REGION_FREED, key);
	return g;
}

#endif /* KRPING_MR_H */
