// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages, kernel side: how long each phase of each run took, and the
 * stages of the phases that wait.
 *
 * One event for each iteration, raised when the iteration is over, carries all
 * of this. The program passes it unchanged to user space, which reads it now
 * and then: the thread of the run does not wait for the evaluation, which
 * another CPU may do. If the ring has no room, because user space got no CPU in
 * time, the iteration is accounted for here, by the same rules, and nothing is
 * lost.
 */
#include <linux/types.h>

#include "sums.h"
#include "stages.h"

#define KRP_RUN_STATE struct stages_run
#define KRP_RUN_HISTS STG_NR_DISTS
#include "run.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The nonce of this host's module: a run with another nonce is on another host. */
const volatile __u64 own_nonce = 0;
/* Set if user space wants slow iterations. */
const volatile __u32 slow_on = 0;
/* An iteration that takes at least this long, in nanoseconds, is slow. */
const volatile __u64 slow_min_ns = 0;
/*
 * Of the slow iterations user space gets only those that take at least this
 * long. It raises this.
 */
volatile __u64 slow_ns = 0;

/* User space sleeps and must be woken. */
volatile __u32 asleep = 0;

/* Room for 6700 records: a fifteenth of a second of two ends whose pings take 20 us. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 21);
} iters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} slow_ring SEC(".maps");

/*
 * Assign a distribution to a segment that is the first of its kind among the
 * spilled ones. This is a global function, so that the verifier checks it only
 * once.
 */
__noinline int new_dist(__u32 slot, __u64 seg)
{
	struct stages_run *r = bpf_map_lookup_elem(&runs, &slot);
	__u32 dist;

	if (!r)
		return STG_DIST_NONE;
	dist = stg_new_dist(&r->spilled, seg);
	if ((dist & (STG_SUM - 1)) == STG_DIST_NONE)
		krp_count(KRP_CNT_FAILED);
	krp_dist_begin(r->spilled.dist, dist & (STG_NR_DISTS - 1));
	return dist;
}

static __always_inline void spill_iter(struct stages_run *r, struct krp_run_hists *h, __u32 slot,
				       __u64 t_begin, __u64 t)
{
	struct stg_account *a = &r->spilled;
	__u64 seg, ns, dist, at = t_begin;
	__u32 i;

	for (i = 0; i < KRPING_SEGS_MAX; i++) {
		seg = r->seg[i];
		if (!seg)
			break;
		ns = KRPING_SEG_NS(seg);
		dist = a->dist_of[KRPING_SEG_WHAT(seg)];
		if (!dist)
			dist = (__u32)new_dist(slot, seg);
		/*
		 * Keep the compiler from merging checks of dist: the verifier
		 * does not understand a merged one.
		 */
		barrier_var(dist);
		krp_dist_record(a->dist, h, dist & (STG_NR_DISTS - 1), ns);
		if (!(dist & STG_SUM)) {
			at += ns;
			continue;
		}
		dist -= STG_SUM + STG_DIST_PHASE(0);
		barrier_var(dist);
		if (seg & KRPING_SEG_F_EARLY && dist < STG_PHASES)
			a->early[dist]++;
	}
	stg_check(a, at, t);
	krp_dist_begin(a->dist, STG_DIST_ITER);
	krp_dist_record(a->dist, h, STG_DIST_ITER, t - t_begin);
}

/*
 * Account for the segments in r->seg, which found no room in the ring. This is
 * a global function, so that the verifier checks it only once.
 */
__noinline int spill(__u32 slot, __u32 complete, __u64 t_begin, __u64 t)
{
	struct stages_run *r = bpf_map_lookup_elem(&runs, &slot);
	struct krp_run_hists *h = bpf_map_lookup_elem(&hists, &slot);

	if (!r || !h)
		return 0;
	r->spilled_ns += t - t_begin;
	if (complete)
		spill_iter(r, h, slot, t_begin, t);
	else
		stg_once(&r->spilled, r->seg, t_begin, t);
	return 0;
}

/* Tell user space of a slow iteration. */
static __always_inline void tell_slow(krp_args *ctx, struct stages_run *r, __u32 slot)
{
	__u64 t = ctx->args[1], t_begin = ctx->args[4];
	struct stg_slow *s;

	s = bpf_ringbuf_reserve(&slow_ring, sizeof(*s), 0);
	if (!s) {
		krp_count(KRP_CNT_DROPPED);
		r->slow_lost++;
		if (t - t_begin > r->slow_lost_max)
			r->slow_lost_max = t - t_begin;
		return;
	}
	if (krp_read_segs(ctx, s->seg)) {
		bpf_ringbuf_discard(s, 0);
		return;
	}
	s->run = r->head.run;
	s->slot = slot;
	s->tid = bpf_get_current_pid_tgid();
	s->cpu = bpf_get_smp_processor_id();
	s->iter = ctx->args[2];
	s->t_begin = t_begin;
	s->t_end = t;
	bpf_ringbuf_submit(s, 0);
}

SEC("raw_tp/krping_iter_stages")
int iter_stages(krp_args *ctx)
{
	__u64 t = ctx->args[1], t_begin = ctx->args[4];
	__u32 run = ctx->args[0], flags = ctx->args[3], slot, complete;
	struct stages_run *r;
	struct stg_iter *i;

	r = krp_get(run, 1, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	if (r->head.state == KRP_SLOT_FREE) {
		/*
		 * Leave out a part of an iteration: perhaps another listener
		 * saw it, but we did not.
		 */
		krp_head_late(&r->head, run, flags & KRPING_PHASE_F_PART ? t : t_begin);
		r->iter = ctx->args[2];
		if (flags & KRPING_PHASE_F_PART) {
			r->iter += !!(flags & KRPING_PHASE_F_COMMIT);
			goto out;
		}
	}
	r->holes += t_begin != r->head.t_last;
	r->head.t_last = t;
	complete = (flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_PART)) == KRPING_PHASE_F_COMMIT;
	if (complete) {
		r->unmatched += ctx->args[2] != r->iter;
		r->iter = ctx->args[2] + 1;
	}
	i = bpf_ringbuf_reserve(&iters, sizeof(*i), 0);
	if (!i) {
		if (!krp_read_segs(ctx, r->seg))
			spill(slot, complete, t_begin, t);
	} else if (krp_read_segs(ctx, i->seg)) {
		bpf_ringbuf_discard(i, BPF_RB_NO_WAKEUP);
	} else {
		i->run = run;
		i->slot = slot;
		i->complete = complete;
		i->t_begin = t_begin;
		i->t_end = t;
		i->spilled_ns = r->spilled_ns;
		r->told++;
		bpf_ringbuf_submit(i, asleep ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	}
	if (complete && slow_on && t - t_begin >= slow_min_ns) {
		r->slow++;
		if (t - t_begin >= slow_ns)
			tell_slow(ctx, r, slot);
	}
out:
	krp_write_end(&r->head);
	return 0;
}

/* A nonce of 0 means a classic peer, so the flags need not be checked. */
SEC("raw_tp/krping_conn")
int conn(krp_args *ctx)
{
	__u32 run = ctx->args[0], peer = ctx->args[9], slot;
	__u64 nonce = ctx->args[10];
	struct stages_run *r;

	r = krp_get(run, 0, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	r->head.test = ctx->args[11];
	if (nonce && nonce == own_nonce && peer && peer != run)
		r->peer = peer;
	krp_write_end(&r->head);
	return 0;
}

/* krping_iter_stages has told all time of the run just before. */
SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	return krp_run_end(ctx);
}
