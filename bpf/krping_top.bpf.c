// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-top, kernel side: iterations and how long each took, where the time of
 * a run goes, and a log of rare events. What the module itself counts
 * (requests, registrations) is read from /proc/krping_runs. This side has to be
 * light: one event for each iteration, sums of phases, one histogram, and no
 * event of a single work request unless it fails.
 */
#include <linux/types.h>

#include "sums.h"
#include "top.h"

#define KRP_RUN_STATE struct top_run
#define KRP_RUN_HISTS KRP_TOP_HISTS
#include "run.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_errs);
} errs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_log);
} logs SEC(".maps");

/* The run that is looked at closely: its transitions within a ping are kept, too. */
volatile __u32 open_run = 0;

/* A phase that waited may have segments for its stages, too: only its sum counts here. */
static __always_inline void account(struct top_run *r, __u32 flags)
{
	struct top_phase *p;
	__u64 seg, ns, phase;
	__u32 i;

	for (i = 0; i < KRPING_SEGS_MAX; i++) {
		seg = r->seg[i];
		if (!seg)
			break;
		if (KRPING_SEG_STAGE(seg))
			continue;
		ns = KRPING_SEG_NS(seg);
		if (flags & KRPING_PHASE_F_ABORT) {
			r->cut_ns += ns;
			continue;
		}
		phase = KRPING_SEG_PHASE(seg);
		barrier_var(phase);
		if (phase >= KRPING_NR_PHASES)
			phase = KRPING_NR_PHASES;
		p = &r->phases[phase];
		p->count++;
		p->sum += ns;
		if (ns > p->max)
			p->max = ns;
	}
}

SEC("raw_tp/krping_iter")
int iter(krp_args *ctx)
{
	__u64 t = ctx->args[1], t_begin = ctx->args[4];
	__u32 run = ctx->args[0], flags = ctx->args[3], slot;
	struct krp_run_hists *h;
	struct top_run *r;

	r = krp_get(run, 1, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	if (r->head.state == KRP_SLOT_FREE)
		krp_head_late(&r->head, run, t_begin);
	if (krp_read_segs(ctx, r->seg))
		goto out;
	account(r, flags);
	r->head.t_last = t;
	if (flags & KRPING_PHASE_F_ABORT)
		r->aborts++;
	if (!(flags & KRPING_PHASE_F_COMMIT))
		goto out;
	r->commits++;
	h = bpf_map_lookup_elem(&hists, &slot);
	if (h && !(flags & KRPING_PHASE_F_PART)) {
		krp_sum_add(&r->iter, t - t_begin);
		krp_hist_record(&h->hist[0], t - t_begin);
	}
out:
	krp_write_end(&r->head);
	return 0;
}

/* krping_iter has told all time of the run just before. */
SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	return krp_run_end(ctx);
}

/* The log. Different CPUs and contexts may write at once, each its own entry. */
static __always_inline void log_at(__u32 slot, __u32 kind, __u32 a, __u32 b, __s32 err)
{
	struct top_log *l = bpf_map_lookup_elem(&logs, &slot);
	struct top_entry *e;
	__u64 nr;

	if (!l)
		return;
	nr = __sync_fetch_and_add(&l->nr, 1);
	e = &l->entry[nr & (TOP_LOG - 1)];
	*(volatile __u64 *)&e->nr = 0;
	barrier();
	e->t = bpf_ktime_get_ns();
	e->kind = kind;
	e->a = a;
	e->b = b;
	e->err = err;
	barrier();
	*(volatile __u64 *)&e->nr = nr + 1;
}

static __always_inline int log_run(__u32 run, __u32 kind, __u32 a, __u32 b, __s32 err)
{
	__u32 slot;

	if (krp_get(run, 0, &slot))
		log_at(slot, kind, a, b, err);
	return 0;
}

static __always_inline int in_ping(__u32 state)
{
	return state >= KRPING_STATE_CONNECTED && state <= KRPING_STATE_RDMA_WRITE_COMPLETE;
}

SEC("raw_tp/krping_state")
int state(krp_args *ctx)
{
	__u32 run = ctx->args[0], from = ctx->args[1], to = ctx->args[2], slot;
	struct top_step *s;
	struct top_run *r;

	if (!in_ping(from) || !in_ping(to))
		return log_run(run, TOP_LOG_STATE, from, to, ctx->args[3]);
	/* Each ping has a few of these transitions, so only the opened run records them. */
	if (run != open_run)
		return 0;
	r = krp_get(run, 0, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	s = &r->steps[r->nr_steps & (TOP_STEPS - 1)];
	s->t = bpf_ktime_get_ns();
	s->from = from;
	s->to = to;
	r->nr_steps++;
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_cm_event")
int cm_event(krp_args *ctx)
{
	return log_run(ctx->args[0], TOP_LOG_CM, ctx->args[1], 0, ctx->args[2]);
}

SEC("raw_tp/krping_reject")
int reject(krp_args *ctx)
{
	return log_run(ctx->args[0], TOP_LOG_REJECT, ctx->args[2], 0, ctx->args[1]);
}

SEC("raw_tp/krping_async_event")
int async_event(krp_args *ctx)
{
	return log_run(ctx->args[0], TOP_LOG_ASYNC, ctx->args[1], ctx->args[2], 0);
}

/* One verbs call may refuse a whole chain, so only the first requests are logged. */
static __always_inline int post_err(krp_args *ctx)
{
	struct top_run *r;
	__u32 slot;

	r = krp_get(ctx->args[0], 0, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	r->post_err++;
	krp_write_end(&r->head);
	if (r->post_err <= TOP_LOGGED_ERRS)
		log_at(slot, TOP_LOG_POST_ERR, ctx->args[4], 0, ctx->args[5]);
	return 0;
}

SEC("raw_tp/krping_post_send_err")
int post_send_err(krp_args *ctx)
{
	return post_err(ctx);
}

SEC("raw_tp/krping_post_recv_err")
int post_recv_err(krp_args *ctx)
{
	return post_err(ctx);
}

static __always_inline struct top_errs *get_errs(__u32 run, __u32 *slot)
{
	return krp_get(run, 0, slot) ? bpf_map_lookup_elem(&errs, slot) : 0;
}

SEC("raw_tp/krping_wc_err")
int wc_err(krp_args *ctx)
{
	struct top_errs *e;
	__u32 slot;

	e = get_errs(ctx->args[0], &slot);
	if (!e)
		return 0;
	e->wc_err++;
	if (e->wc_err <= TOP_LOGGED_ERRS)
		log_at(slot, TOP_LOG_WC_ERR, ctx->args[4], ctx->args[6], ctx->args[5]);
	return 0;
}

SEC("raw_tp/krping_wc_flush")
int wc_flush(krp_args *ctx)
{
	struct top_errs *e;
	__u32 slot;

	e = get_errs(ctx->args[0], &slot);
	if (e)
		e->wc_flush++;
	return 0;
}
