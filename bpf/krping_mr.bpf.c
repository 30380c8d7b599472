// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-mr, kernel side: what fast registrations cost, by page count, and a
 * ledger of the memory regions, independent of the module's own ledger.
 */
#include <linux/types.h>

#include "sums.h"
#include "mr.h"

#define KRP_RUN_STATE struct mr_run
#define KRP_RUN_HISTS MR_NR_HISTS
#include "run.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set if user space wants the time at which a key changed. */
const volatile __u32 keys_on = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mr_done);
} done SEC(".maps");

/* The number of a page count, assigned when it is first seen; MR_SIZES if none is left. */
static __always_inline __u64 size_index(struct mr_done *d, __u32 pages)
{
	__u64 i, k;

	for (i = 0; i < MR_SIZES; i++) {
		if (d->pages[i] == pages)
			return i;
		if (!d->pages[i]) {
			d->pages[i] = pages;
			for (k = 0; k < MR_NR_COSTS; k++)
				krp_dist_begin(d->cost, MR_HIST(i, k));
			return i;
		}
	}
	krp_count(KRP_CNT_FAILED);
	return MR_SIZES;
}

static __always_inline struct mr_region *region_of(struct mr_run *r, __u32 id)
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
	if (!unused)
		unused = freed;
	if (!unused) {
		krp_count(KRP_CNT_FAILED);
		return 0;
	}
	unused->id = id;
	unused->key = 0;
	unused->pages = 0;
	unused->state = r->head.late ? MR_REGION_UNKNOWN : MR_REGION_INVALID;
	return unused;
}

static __always_inline void change(struct mr_region *g, __u32 state, __u32 key)
{
	g->state = state;
	g->key = key;
	if (keys_on)
		g->t = bpf_ktime_get_ns();
}

static __always_inline void is_bad(struct mr_run *r, __u32 what, __u32 id, __u32 key, __u32 new_key)
{
	if (r->bad)
		return;
	r->bad = what;
	r->bad_id = id;
	r->bad_key = key;
	r->bad_new_key = new_key;
}

/*
 * Compare the module's state of a region at this event with ours. If the run
 * began before we attached, the first event of a region tells whether its key
 * was valid when we attached. Returns 1 if the states differ.
 */
static __always_inline int check_region(struct mr_run *r, struct mr_region *g, __u32 valid)
{
	if (g->state == MR_REGION_UNKNOWN) {
		r->valid_at_attach += !!valid;
	} else if ((g->state == MR_REGION_VALID) != !!valid) {
		r->mismatch++;
		return 1;
	}
	return 0;
}

/* The state of the event's run, ready to be written; also if the run began before we attached. */
static __always_inline struct mr_run *write_begin(krp_args *ctx, __u32 *slot)
{
	struct mr_run *r = krp_get(ctx->args[0], 1, slot);

	if (!r)
		return 0;
	krp_write_begin(&r->head);
	if (r->head.state == KRP_SLOT_FREE)
		krp_head_late(&r->head, ctx->args[0], bpf_ktime_get_ns());
	return r;
}

/*
 * The programs are attached in the order of this file: a program that ends a
 * measurement comes before the program that begins it, so that a tool that
 * starts in the middle of a run never pairs a beginning with the end of another
 * measurement.
 */

SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	return krp_run_end(ctx);
}

/* What a request invalidates, as enum mr_inv; MR_NR_INVS if it invalidates nothing. */
static __always_inline __u32 inv_of(__u32 kind)
{
	switch (kind) {
	case KRPING_WR_LOCAL_INV:
		return MR_INV_LOCAL;
	case KRPING_WR_SEND_INV:
		return MR_INV_SEND;
	case KRPING_WR_READ_INV:
		return MR_INV_READ;
	default:
		return MR_NR_INVS;
	}
}

/* Completions raise this event, so it writes nothing that the run's thread writes. */
SEC("raw_tp/krping_mr_done")
int mr_done(krp_args *ctx)
{
	__u64 t = ctx->args[1], t_post = ctx->args[6], t_posted = ctx->args[7], size, inv;
	__u32 slot, kind = ctx->args[4];
	struct krp_run_hists *h;
	struct mr_done *d;
	struct mr_run *r;

	r = krp_get(ctx->args[0], 0, &slot);
	if (!r)
		return 0;
	d = bpf_map_lookup_elem(&done, &slot);
	h = bpf_map_lookup_elem(&hists, &slot);
	if (!d || !h)
		return 0;
	/* The request was posted before we attached. */
	if (!t_post)
		return 0;
	/*
	 * If the request completed before the verbs call returned, the
	 * completion counts as the end of the call.
	 */
	if (!t_posted || t_posted > t)
		t_posted = t;
	if (t_posted < t_post) {
		d->anomalies++;
		return 0;
	}
	if (kind != KRPING_WR_REG_MR) {
		inv = inv_of(kind);
		barrier_var(inv);
		if (inv >= MR_NR_INVS)
			return 0;
		krp_sum_add(&d->inv_post[inv], t_posted - t_post);
		if (!ctx->args[8])
			krp_sum_add(&d->inv_done[inv], t - t_post);
		return 0;
	}
	size = size_index(d, ctx->args[5]);
	barrier_var(size);
	if (size >= MR_SIZES)
		return 0;
	size *= MR_NR_COSTS;
	/* map_ns is 0 if nobody listened when the region was mapped. */
	if (ctx->args[9])
		krp_dist_record(d->cost, h, size + MR_COST_MAP, ctx->args[9]);
	krp_dist_record(d->cost, h, size + MR_COST_POST, t_posted - t_post);
	if (ctx->args[8]) {
		d->flushed++;
		return 0;
	}
	krp_dist_record(d->cost, h, size + MR_COST_DONE, t - t_post);
	return 0;
}

SEC("raw_tp/krping_mr_dereg")
int mr_dereg(krp_args *ctx)
{
	__u32 slot, state = ctx->args[3];
	struct mr_region *g;
	struct mr_run *r;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	g = region_of(r, ctx->args[1]);
	if (g) {
		if (check_region(r, g, state != KRPING_MR_FREE))
			is_bad(r, MR_BAD_FREE, g->id, ctx->args[2], 0);
		change(g, MR_REGION_FREED, ctx->args[2]);
	}
	r->freed++;
	if (state == KRPING_MR_VALID)
		r->freed_valid++;
	else if (state == KRPING_MR_FLUSHED)
		r->flushed++;
	krp_write_end(&r->head);
	return 0;
}

/* Account an invalidation. Returns 1 if it counts, that is, if the region was valid. */
static __always_inline __u32 invalidate(struct mr_run *r, krp_args *ctx)
{
	__u32 id = ctx->args[1], key = ctx->args[3], valid_before = ctx->args[4];
	struct mr_region *g = region_of(r, id);

	if (g) {
		if (check_region(r, g, valid_before) || !valid_before)
			is_bad(r, MR_BAD_INV_INVALID, id, key, 0);
		change(g, MR_REGION_INVALID, key);
	}
	if (valid_before)
		return 1;
	r->inv_invalid++;
	return 0;
}

#define INVALIDATE(what)                       \
	SEC("raw_tp/krping_mr_" #what)         \
	int mr_##what(krp_args *ctx)           \
	{                                      \
		struct mr_run *r;              \
		__u32 slot;                    \
                                               \
		r = write_begin(ctx, &slot);   \
		if (!r)                        \
			return 0;              \
		r->what += invalidate(r, ctx); \
		krp_write_end(&r->head);       \
		return 0;                      \
	}

INVALIDATE(localinv)
INVALIDATE(reminv)
INVALIDATE(readinv)

SEC("raw_tp/krping_mr_map_err")
int mr_map_err(krp_args *ctx)
{
	struct mr_run *r;
	__u32 slot;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	r->map_errs++;
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_mr_fastreg")
int mr_fastreg(krp_args *ctx)
{
	struct mr_region *g;
	struct mr_run *r;
	__u32 slot;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	r->fastreg++;
	g = region_of(r, ctx->args[1]);
	if (g) {
		if (check_region(r, g, ctx->args[8]) || g->state == MR_REGION_VALID || ctx->args[8])
			is_bad(r, MR_BAD_REG_VALID, g->id, ctx->args[3], ctx->args[4]);
		if (g->state == MR_REGION_VALID || ctx->args[8])
			r->reg_valid++;
		change(g, MR_REGION_VALID, ctx->args[4]);
		g->pages = ctx->args[5];
	}
	krp_write_end(&r->head);
	return 0;
}
