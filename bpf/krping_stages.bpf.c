// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages, kernel side: how long each phase of each run took, and the
 * stages of those that wait.
 *
 * What belongs to an iteration is kept aside until the event that says that
 * the iteration is complete. One that was cut short is in no distribution, but
 * its time is in the account: all phases add up to the run.
 */
#include <linux/types.h>

#include "hist.h"
#include "stages.h"

#define KRP_RUN_STATE struct stages_run
#include "run.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The number of an iteration's phase within the run, given at first sight. */
static __always_inline __u32 phase_index(struct stages_run *r, __u32 phase)
{
	__u32 i;

	for (i = 0; i < STG_PHASES; i++) {
		if (r->phase_of[i] == phase)
			return i;
		if (!r->phase_of[i]) {
			r->phase_of[i] = phase;
			r->nr_phases = i + 1;
			return i;
		}
	}
	return STG_PHASES;
}

static __always_inline __u32 wait_index(struct stages_run *r, __u32 phase)
{
	__u32 i;

	for (i = 0; i < STG_WAITS; i++) {
		if (r->wait_of[i] == phase)
			return i;
		if (!r->wait_of[i]) {
			r->wait_of[i] = phase;
			r->nr_waits = i + 1;
			return i;
		}
	}
	return STG_WAITS;
}

static __always_inline void record(struct stages_run *r, __u32 slot, __u32 dist, __u64 v)
{
	krp_sum_add(&r->dist[dist], v);
	krp_hist_record(slot * STG_NR_DISTS + dist, v);
}

static __always_inline void account(struct stages_run *r, __u32 phase, __u64 ns)
{
	__u32 i;

	/* One check for the compiler and the verifier: of the same register. */
	barrier_var(phase);
	if (phase <= KRPING_PHASE_FREE) {
		krp_sum_add(&r->once[phase], ns);
		return;
	}
	i = phase_index(r, phase);
	barrier_var(i);
	if (i >= STG_PHASES) {
		krp_count(KRP_CNT_FAILED);
		return;
	}
	/* A phase is in an iteration at most once. */
	if (r->phase_mask & (1U << i)) {
		r->anomalies++;
		ns += r->pending[i];
	}
	r->pending[i] = ns;
	r->phase_mask |= 1U << i;
}

static __always_inline void commit(struct stages_run *r, __u32 slot, __u64 t)
{
	__u32 i, s;

	if (r->t_iter && t >= r->t_iter)
		record(r, slot, STG_DIST_ITER, t - r->t_iter);
	for (i = 0; i < STG_PHASES; i++) {
		if (r->phase_mask & (1U << i))
			record(r, slot, STG_DIST_PHASE(i), r->pending[i]);
	}
	for (i = 0; i < STG_WAITS; i++) {
		if (!(r->wait_mask & (1U << i)))
			continue;
		for (s = 0; s < STG_NR_STAGES; s++) {
			if (r->wait[i].stage[s] == STG_UNKNOWN)
				r->wait[i].unknown[s]++;
			else
				record(r, slot, STG_DIST_STAGE(i, s), r->wait[i].stage[s]);
		}
	}
	r->phase_mask = 0;
	r->wait_mask = 0;
}

static __always_inline void abort_iter(struct stages_run *r)
{
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < STG_PHASES; i++) {
		if (r->phase_mask & (1U << i))
			sum += r->pending[i];
	}
	krp_sum_add(&r->aborted, sum);
	r->phase_mask = 0;
	r->wait_mask = 0;
}

/* The phase that ends at t began at t_begin. */
static __always_inline void leave(struct stages_run *r, __u32 phase, __u64 t_begin, __u64 t)
{
	/* A run is in no phase from its beginning to its first one. */
	if (phase == KRPING_PHASE_NONE && !t_begin)
		t_begin = r->head.t_first;
	if (!t_begin)
		r->holes++;
	else if (t < t_begin)
		r->anomalies++;
	else
		account(r, phase, t - t_begin);
}

SEC("raw_tp/krping_phase")
int phase(krp_args *ctx)
{
	__u32 run = ctx->args[0], to = ctx->args[3], from = ctx->args[4];
	__u32 flags = ctx->args[6], slot;
	__u64 t = ctx->args[1];
	struct stages_run *r;

	r = krp_get(run, 1, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	if (r->head.state == KRP_SLOT_FREE) {
		/* What went before is not ours, whoever else may have seen it. */
		krp_head_late(&r->head, run, t);
	} else {
		leave(r, from, ctx->args[5], t);
		if (flags & KRPING_PHASE_F_COMMIT)
			commit(r, slot, t);
		else if (flags & KRPING_PHASE_F_ABORT)
			abort_iter(r);
	}
	if (to <= KRPING_PHASE_FREE)
		r->t_iter = 0;
	else if (from <= KRPING_PHASE_FREE ||
		 (flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT)))
		r->t_iter = t;
	r->iter = ctx->args[2];
	r->cur_phase = to;
	r->head.t_last = t;
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_wait")
int wait(krp_args *ctx)
{
	__u64 t_start = ctx->args[5], t_post = ctx->args[6], t_posted = ctx->args[7];
	__u64 t_sig = ctx->args[8], t_wc = ctx->args[9], t_run = ctx->args[10];
	__u32 run = ctx->args[0], phase = ctx->args[2], i, slot;
	struct stages_run *r;
	struct stg_wait *w;

	r = krp_get(run, 0, &slot);
	if (!r || phase <= KRPING_PHASE_FREE)
		return 0;
	krp_write_begin(&r->head);
	if (r->iter != ctx->args[1] || r->cur_phase != phase) {
		r->unmatched++;
		goto out;
	}
	if (!t_start || !t_wc || !t_run) {
		r->holes++;
		goto out;
	}
	if (t_run < t_start || t_run < t_wc || t_sig > t_wc || t_post > t_wc) {
		r->anomalies++;
		goto out;
	}
	i = wait_index(r, phase);
	barrier_var(i);
	if (i >= STG_WAITS) {
		krp_count(KRP_CNT_FAILED);
		goto out;
	}
	w = &r->wait[i];
	if (t_wc < t_start)
		w->early++;
	stg_split(w->stage, t_start, t_post, t_posted, t_sig, t_wc, t_run);
	r->wait_mask |= 1U << i;
out:
	krp_write_end(&r->head);
	return 0;
}

SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	struct stages_run *r;
	__u32 slot;

	r = krp_get(ctx->args[0], 0, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	leave(r, ctx->args[5], ctx->args[6], ctx->args[1]);
	if (r->phase_mask)
		abort_iter(r);
	krp_head_end(&r->head, ctx);
	krp_write_end(&r->head);
	return 0;
}
