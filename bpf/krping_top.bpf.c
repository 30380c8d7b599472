// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-top, kernel side: iterations and how long each took. It has to be
 * light: of the eight or so phase events of a ping it looks at one.
 */
#include <linux/types.h>

#include "hist.h"
#include "top.h"

#define KRP_RUN_STATE struct top_run
#include "run.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_errs);
} errs SEC(".maps");

SEC("raw_tp/krping_phase")
int phase(krp_args *ctx)
{
	__u32 run = ctx->args[0], to = ctx->args[3], from = ctx->args[4];
	__u32 flags = ctx->args[6], slot;
	__u64 t = ctx->args[1];
	struct top_run *r;

	/* Only the beginnings and ends of iterations. */
	if (!(flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT)) &&
	    !(from <= KRPING_PHASE_FREE && to > KRPING_PHASE_FREE))
		return 0;
	r = krp_get(run, 1, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	if (r->head.state == KRP_SLOT_FREE)
		krp_head_late(&r->head, run, t);
	if (flags & KRPING_PHASE_F_COMMIT) {
		r->commits++;
		if (r->t_iter && t >= r->t_iter) {
			krp_sum_add(&r->iter, t - r->t_iter);
			krp_hist_record(slot, t - r->t_iter);
		}
	} else if (flags & KRPING_PHASE_F_ABORT) {
		r->aborts++;
	}
	r->t_iter = to > KRPING_PHASE_FREE ? t : 0;
	r->head.t_last = t;
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	return krp_run_end(ctx);
}

static __always_inline struct top_errs *get_errs(__u32 run)
{
	long s = krp_slot(run, 0);
	__u32 slot = s;

	return s < 0 ? 0 : bpf_map_lookup_elem(&errs, &slot);
}

SEC("raw_tp/krping_wc_err")
int wc_err(krp_args *ctx)
{
	struct top_errs *e = get_errs(ctx->args[0]);

	if (e)
		e->wc_err++;
	return 0;
}

SEC("raw_tp/krping_wc_flush")
int wc_flush(krp_args *ctx)
{
	struct top_errs *e = get_errs(ctx->args[0]);

	if (e)
		e->wc_flush++;
	return 0;
}
