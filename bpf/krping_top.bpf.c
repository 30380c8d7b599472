// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-top, kernel side, beside the iterations of krping_trace.bpf.c: errors, and a log
 * of rare events. What the module itself counts (requests, registrations) is read from
 * /proc/krping_runs. Transitions of a run's state are several in each ping, so their
 * event is attached only while a run is open; those of its set-up are in its slot.
 */
#include <linux/types.h>

#include "base.bpf.h"
#include "top.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* By run. User space sets the size, and deletes what belongs to runs that have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_rare);
} rare SEC(".maps");

/* The run that is looked at closely: its transitions within a ping are kept, too. */
volatile __u32 open_run = 0;

static const struct top_rare nothing;

static __always_inline struct top_rare *get_rare(__u32 run)
{
	struct top_rare *r;

	if (!krp_watched(run))
		return 0;
	r = bpf_map_lookup_elem(&rare, &run);
	if (r)
		return r;
	/* Another context may do this, too: the second one finds that it is there. */
	bpf_map_update_elem(&rare, &run, &nothing, BPF_NOEXIST);
	r = bpf_map_lookup_elem(&rare, &run);
	if (!r)
		krp_count(KRP_CNT_FAILED);
	return r;
}

/* The log. Different CPUs and contexts may write at once, each its own entry. */
static __always_inline void log_to(struct top_log *l, __u64 t, __u32 kind, __u32 a, __u32 b,
				   __s32 err)
{
	struct top_entry *e;
	__u64 nr;

	nr = __sync_fetch_and_add(&l->nr, 1);
	e = &l->entry[nr & (TOP_LOG - 1)];
	*(volatile __u64 *)&e->nr = 0;
	barrier();
	e->t = t;
	e->kind = kind;
	e->a = a;
	e->b = b;
	e->err = err;
	barrier();
	*(volatile __u64 *)&e->nr = nr + 1;
}

static __always_inline int log_run(__u32 run, __u64 t, __u32 kind, __u32 a, __u32 b, __s32 err)
{
	struct top_rare *r = get_rare(run);

	if (r)
		log_to(&r->log, t, kind, a, b, err);
	return 0;
}

static __always_inline int in_ping(__u32 state)
{
	return state >= KRPING_STATE_CONNECTED && state <= KRPING_STATE_RDMA_WRITE_COMPLETE;
}

/* Attached only while a run is open, since each ping has a few of these transitions. */
SEC("raw_tp/krping_state")
int state(krp_args *ctx)
{
	__u32 run = ctx->args[0], from = ctx->args[2], to = ctx->args[3];
	struct top_rare *r;
	struct top_step *s;

	if (run != open_run || !in_ping(from) || !in_ping(to))
		return 0;
	r = get_rare(run);
	if (!r)
		return 0;
	s = &r->steps[r->nr_steps & (TOP_STEPS - 1)];
	s->t = ctx->args[1];
	s->from = from;
	s->to = to;
	r->nr_steps++;
	return 0;
}

SEC("raw_tp/krping_conn")
int conn(krp_args *ctx)
{
	return log_run(ctx->args[0], ctx->args[1], TOP_LOG_STATE, KRPING_STATE_CONNECTED, 0, 0);
}

SEC("raw_tp/krping_cm_event")
int cm_event(krp_args *ctx)
{
	return log_run(ctx->args[0], ctx->args[1], TOP_LOG_CM, ctx->args[2], 0, ctx->args[3]);
}

SEC("raw_tp/krping_reject")
int reject(krp_args *ctx)
{
	return log_run(ctx->args[0], ctx->args[1], TOP_LOG_REJECT, ctx->args[3], 0, ctx->args[2]);
}

SEC("raw_tp/krping_async_event")
int async_event(krp_args *ctx)
{
	return log_run(ctx->args[0], ctx->args[1], TOP_LOG_ASYNC, ctx->args[2], 0, 0);
}

/* One verbs call may refuse a whole chain, so only the first requests are logged. */
static __always_inline int post_err(krp_args *ctx)
{
	struct top_rare *r = get_rare(ctx->args[0]);

	if (!r)
		return 0;
	r->post_err++;
	if (r->post_err <= TOP_LOGGED_ERRS)
		log_to(&r->log, bpf_ktime_get_ns(), TOP_LOG_POST_ERR, ctx->args[4], 0,
		       ctx->args[5]);
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

SEC("raw_tp/krping_wc_err")
int wc_err(krp_args *ctx)
{
	struct top_rare *r = get_rare(ctx->args[0]);

	if (!r)
		return 0;
	r->errs.wc_err++;
	if (r->errs.wc_err <= TOP_LOGGED_ERRS)
		log_to(&r->log, ctx->args[1], TOP_LOG_WC_ERR, ctx->args[4], ctx->args[6],
		       ctx->args[5]);
	return 0;
}

SEC("raw_tp/krping_wc_flush")
int wc_flush(krp_args *ctx)
{
	struct top_rare *r = get_rare(ctx->args[0]);

	if (r)
		r->errs.wc_flush++;
	return 0;
}
