// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-mr, kernel side: what fast registrations cost, by page count, and a
 * ledger of the memory regions that knows nothing of the module's own.
 */
#include <linux/types.h>

#include "hist.h"
#include "mr.h"

#define KRP_RUN_STATE struct mr_run
#include "run.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* When a key changed is wanted. */
const volatile __u32 keys_on = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mr_done);
} done SEC(".maps");

static __always_inline __u32 size_index(struct mr_run *r, __u32 pages)
{
	__u32 i;

	for (i = 0; i < MR_SIZES; i++) {
		if (r->pages[i] == pages)
			return i;
		if (!r->pages[i]) {
			r->pages[i] = pages;
			return i;
		}
	}
	krp_count(KRP_CNT_FAILED);
	return MR_SIZES;
}

static __always_inline void record(struct mr_run *r, __u32 slot, __u64 size, __u32 cost, __u64 ns)
{
	barrier_var(size);
	if (size >= MR_SIZES)
		return;
	krp_sum_add(&r->cost[size][cost], ns);
	krp_hist_record(slot * MR_NR_HISTS + MR_HIST(size, cost), ns);
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
 * The module's word on a region at this event, against ours. Of a region that
 * we see for the first time in a run that was there before us it tells what
 * its key was when we came. 1: they differ.
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

/* The state of the event's run, ready to be written; also of a run that began before we did. */
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
 * The programs are attached in their order here: what ends a measurement comes
 * before what begins it, so that a tool that comes in the middle of a run never
 * pairs a beginning with the end of another.
 */

SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	return krp_run_end(ctx);
}

/*
 * Completion. A signalled request of the send queue retires all that were
 * posted before it.
 */
static __always_inline int retire(krp_args *ctx, int ok)
{
	__u32 slot, cid = ctx->args[3], n, i;
	__u64 t = ctx->args[1], size;
	struct mr_posted *p;
	struct mr_done *d;
	struct mr_run *r;

	if ((__u32)ctx->args[4] == KRPING_WR_RECV)
		return 0;
	r = krp_get(ctx->args[0], 0, &slot);
	if (!r)
		return 0;
	d = bpf_map_lookup_elem(&done, &slot);
	if (!d)
		return 0;
	for (n = 0; n < MR_RING && d->retired != r->posted; n++) {
		i = d->retired & (MR_RING - 1);
		p = &r->ring[i];
		if ((__s32)(cid - p->cid) < 0)
			break;
		d->retired++;
		size = p->size;
		barrier_var(size);
		if (size > MR_SIZES) {
			size -= MR_POSTED_INV(0);
			barrier_var(size);
			if (ok && size < MR_NR_INVS && t >= p->t)
				krp_sum_add(&d->inv[size], t - p->t);
			continue;
		}
		if (size >= MR_SIZES)
			continue;
		if (!ok) {
			d->flushed++;
		} else if (t < p->t) {
			d->anomalies++;
		} else {
			krp_sum_add(&d->cost[size], t - p->t);
			krp_hist_record(slot * MR_NR_HISTS + MR_HIST(size, MR_COST_DONE), t - p->t);
		}
	}
	return 0;
}

SEC("raw_tp/krping_wc")
int wc(krp_args *ctx)
{
	return retire(ctx, 1);
}

SEC("raw_tp/krping_wc_err")
int wc_err(krp_args *ctx)
{
	return retire(ctx, 0);
}

SEC("raw_tp/krping_wc_flush")
int wc_flush(krp_args *ctx)
{
	return retire(ctx, 0);
}

/* RECVs raise it too: only a chain that we have seen begin is ours. */
SEC("raw_tp/krping_post_return")
int post_return(krp_args *ctx)
{
	__u32 slot, cid = ctx->args[3], i;
	__u64 t = ctx->args[1];
	struct mr_run *r;

	r = krp_get(ctx->args[0], 0, &slot);
	if (!r || !r->chain_open || r->chain_cid != cid)
		return 0;
	krp_write_begin(&r->head);
	r->chain_open = 0;
	if (t < r->t_chain) {
		r->anomalies++;
	} else if (!(__s32)ctx->args[5]) {
		record(r, slot, r->chain_size, MR_COST_POST, t - r->t_chain);
		for (i = 0; i < MR_NR_INVS; i++) {
			if (r->chain_invs & (1U << i))
				krp_sum_add(&r->inv_post[i], t - r->t_chain);
		}
	}
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_post_send_err")
int post_send_err(krp_args *ctx)
{
	__u32 slot, cid = ctx->args[2], i;
	struct mr_run *r;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	for (i = 0; i < MR_RING; i++) {
		if (r->ring[i].cid == cid)
			r->ring[i].size = MR_SIZES;
	}
	krp_write_end(&r->head);
	return 0;
}

/* What a request invalidates, as enum mr_inv; MR_NR_INVS: nothing. */
static __always_inline __u32 inv_of(__u32 kind, __u32 inv_rkey)
{
	if (kind == KRPING_WR_LOCAL_INV)
		return MR_INV_LOCAL;
	if (kind == KRPING_WR_SEND_INV)
		return MR_INV_SEND;
	if (kind == KRPING_WR_RDMA_READ && inv_rkey)
		return MR_INV_READ;
	return MR_NR_INVS;
}

SEC("raw_tp/krping_post_send")
int post_send(krp_args *ctx)
{
	__u32 slot, cid = ctx->args[3], kind = ctx->args[5], what, inv, i;
	__u64 t = ctx->args[1];
	struct mr_posted *p;
	struct mr_done *d;
	struct mr_run *r;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	/* A chain has one time. One whose return we did not see is forgotten. */
	if (!r->chain_open || r->t_chain != t) {
		r->chain_open = 1;
		r->chain_cid = cid;
		r->chain_size = MR_SIZES;
		r->chain_invs = 0;
		r->t_chain = t;
	}
	inv = inv_of(kind, ctx->args[9]);
	if (inv < MR_NR_INVS) {
		r->chain_invs |= 1U << inv;
		what = MR_POSTED_INV(inv);
	} else if (kind == KRPING_WR_REG_MR && cid == r->reg_cid) {
		r->chain_size = r->reg_size;
		what = r->reg_size;
	} else {
		/* Without its krping_mr_fastreg we do not know how large it is. */
		goto out;
	}
	d = bpf_map_lookup_elem(&done, &slot);
	if (!d || r->posted - d->retired >= MR_RING) {
		r->unmatched += inv == MR_NR_INVS;
		goto out;
	}
	/* The verbs call, which comes next, orders this before the completion. */
	i = r->posted & (MR_RING - 1);
	p = &r->ring[i];
	p->t = t;
	p->cid = cid;
	p->size = what;
	barrier();
	r->posted++;
out:
	krp_write_end(&r->head);
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

/* An invalidation; 1 when it counts. */
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

SEC("raw_tp/krping_mr_localinv")
int mr_localinv(krp_args *ctx)
{
	struct mr_run *r;
	__u32 slot;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	r->localinv += invalidate(r, ctx);
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_mr_reminv")
int mr_reminv(krp_args *ctx)
{
	struct mr_run *r;
	__u32 slot;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	r->reminv += invalidate(r, ctx);
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_mr_readinv")
int mr_readinv(krp_args *ctx)
{
	struct mr_run *r;
	__u32 slot;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	r->readinv += invalidate(r, ctx);
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_mr_map")
int mr_map(krp_args *ctx)
{
	struct mr_run *r;
	__u32 slot;

	r = write_begin(ctx, &slot);
	if (!r)
		return 0;
	if ((__s32)ctx->args[6])
		r->map_errs++;
	else
		record(r, slot, size_index(r, ctx->args[3]), MR_COST_MAP, ctx->args[5]);
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
	r->reg_cid = ctx->args[2];
	r->reg_size = size_index(r, ctx->args[5]);
	krp_write_end(&r->head);
	return 0;
}
