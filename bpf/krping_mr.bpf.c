// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-mr --keys and --watch, kernel side: the ledger of the memory regions as of now, kept from
 * an event for each step of a key, and independent of the module's own ledger. Without
 * these options krping-mr keeps it from the records of iterations.
 */
#include <linux/types.h>

#include "base.bpf.h"
#include "mr.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* By run. User space sets the size, and deletes what belongs to runs that have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mr_run);
} ledgers SEC(".maps");

static const struct mr_run no_steps;

/* The ledger of the event's run, ready to be written. All these events are the thread's. */
static __always_inline struct mr_run *write_begin(krp_args *ctx, __u32 late)
{
	__u32 run = ctx->args[0];
	struct mr_run *r;

	if (!krp_watched(run))
		return 0;
	r = bpf_map_lookup_elem(&ledgers, &run);
	if (!r) {
		bpf_map_update_elem(&ledgers, &run, &no_steps, BPF_NOEXIST);
		r = bpf_map_lookup_elem(&ledgers, &run);
		if (!r) {
			krp_count(KRP_CNT_FAILED);
			return 0;
		}
		r->head.run = run;
		r->head.late = late;
	}
	__sync_fetch_and_add(&r->head.seq, 1);
	return r;
}

static __always_inline int write_end(struct mr_run *r)
{
	__sync_fetch_and_add(&r->head.seq, 1);
	return 0;
}

static __always_inline int step_end(struct mr_run *r, struct mr_region *g)
{
	if (g)
		g->t = bpf_ktime_get_ns();
	else
		r->not_followed++;
	return write_end(r);
}

SEC("raw_tp/krping_mr_dereg")
int mr_dereg(krp_args *ctx)
{
	struct mr_run *r = write_begin(ctx, 1);

	return r ? step_end(r,
			    mr_free(r, mr_region_of(r, ctx->args[1]), ctx->args[2], ctx->args[3])) :
		   0;
}

#define INVALIDATE(what)                                                                  \
	SEC("raw_tp/krping_mr_" #what)                                                    \
	int mr_##what(krp_args *ctx)                                                      \
	{                                                                                 \
		struct mr_run *r = write_begin(ctx, 1);                                   \
                                                                                          \
		return r ? step_end(r, mr_inv(r, &r->what, mr_region_of(r, ctx->args[1]), \
					      ctx->args[3], ctx->args[4])) :              \
			   0;                                                             \
	}

INVALIDATE(localinv)
INVALIDATE(reminv)
INVALIDATE(readinv)

SEC("raw_tp/krping_mr_map")
int mr_map(krp_args *ctx)
{
	struct mr_run *r;

	if (!(__u32)ctx->args[6])
		return 0;
	r = write_begin(ctx, 1);
	if (!r)
		return 0;
	r->map_errs++;
	return write_end(r);
}

SEC("raw_tp/krping_mr_fastreg")
int mr_fastreg(krp_args *ctx)
{
	struct mr_run *r = write_begin(ctx, 1);

	return r ? step_end(r, mr_reg(r, mr_region_of(r, ctx->args[1]), ctx->args[3], ctx->args[4],
				      ctx->args[5], ctx->args[8])) :
		   0;
}

/* Attached last: if it has come, the ledger has all steps. */
SEC("raw_tp/krping_run_start")
int run_start(krp_args *ctx)
{
	struct mr_run *r = write_begin(ctx, 0);

	return r ? write_end(r) : 0;
}
