// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages, kernel side: how long each phase of each run took, and the
 * stages of those that wait.
 *
 * All of it comes in one event for each iteration, when that is over. One that
 * was cut short is in no distribution, but its time is in the account: all
 * phases add up to the run.
 *
 * Where both ends of a connection are here, each keeps its time line and its
 * waits for the other one: see join.h.
 */
#include <linux/types.h>

#include "hist.h"
#include "stages.h"

#define KRP_RUN_STATE struct stages_run
#define KRP_RUN_HISTS STG_NR_DISTS
#include "run.bpf.h"

/* Iterations in which the peer of a run that was there before us may become known. */
#define ASK_PEER 1000

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* That of the module: another one's runs are on another host. */
const volatile __u64 own_nonce = 0;
/* Slow iterations are wanted. */
const volatile __u32 slow_on = 0;
/* Those that take as long as this, in nanoseconds. User space may change it. */
volatile __u64 slow_ns = 0;

/* Who is whose peer, of the runs that were there before us: from user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} peers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} slow_ring SEC(".maps");

/* The number of an iteration's phase within the run, given at first sight; STG_PHASES: no more. */
static __always_inline __u64 phase_index(struct stages_run *r, __u32 phase)
{
	__u64 i;

	for (i = 0; i < STG_PHASES; i++) {
		if (i == r->nr_phases) {
			r->phase_of[i] = phase;
			r->nr_phases++;
			return i;
		}
		if (r->phase_of[i] == phase)
			return i;
	}
	return i;
}

/* The same of those that wait; STG_WAITS: no more. */
static __always_inline __u64 wait_index(struct stages_run *r, __u32 phase)
{
	__u64 i;

	for (i = 0; i < STG_WAITS; i++) {
		if (i == r->nr_waits) {
			r->wait_of[i] = phase;
			r->nr_waits++;
			return i;
		}
		if (r->wait_of[i] == phase)
			return i;
	}
	return i;
}

static __always_inline __u32 begin_dist(struct stages_run *r, __u64 what, __u32 dist)
{
	r->dist_of[what] = dist;
	krp_dist_begin(&r->dist[dist & (STG_NR_DISTS - 1)]);
	return dist;
}

/*
 * A segment that says what none of the run has said before gets its
 * distribution. A global function: the verifier looks at it once.
 */
__noinline int new_dist(__u32 slot, __u64 seg)
{
	struct stages_run *r = bpf_map_lookup_elem(&runs, &slot);
	__u64 stage = KRPING_SEG_STAGE(seg), phase = KRPING_SEG_PHASE(seg);
	__u32 sum = seg & KRPING_SEG_F_SUM ? STG_SUM : 0;
	__u64 what = KRPING_SEG_WHAT(seg), p, w;

	if (!r)
		return STG_DIST_NONE;
	p = phase_index(r, phase);
	w = stage ? wait_index(r, phase) : 0;
	if (p >= STG_PHASES || w >= STG_WAITS || stage >= KRPING_NR_STAGES) {
		krp_count(KRP_CNT_FAILED);
		return STG_DIST_NONE + sum;
	}
	if (stage)
		return begin_dist(r, what, STG_DIST_STAGE(w, stage));
	return begin_dist(r, what, STG_DIST_PHASE(p) + sum);
}

/*
 * The iteration is complete: each piece to its distribution, and to the time
 * line. This is what most of the tool's time goes to.
 */
static __always_inline void commit(struct stages_run *r, struct krp_run_hists *h, __u32 slot,
				   __u64 t_begin, __u64 t)
{
	__u64 at = t_begin - r->head.t_first, seg, ns, dist;
	__u32 i, head = r->join.head;

	for (i = 0; i < KRPING_SEGS_MAX; i++) {
		seg = r->seg[i];
		if (!seg)
			break;
		ns = KRPING_SEG_NS(seg);
		dist = r->dist_of[KRPING_SEG_WHAT(seg)];
		if (!dist)
			dist = (__u32)new_dist(slot, seg);
		/* Not one comparison for both: of the compiler's, the verifier knows nothing. */
		barrier_var(dist);
		krp_dist_record(r->dist, h, dist & (STG_NR_DISTS - 1), ns);
		if (dist & STG_SUM) {
			dist -= STG_SUM;
			if (r->join.peer)
				krp_join_wait(&r->join, r->head.t_first + at - ns,
					      r->head.t_first + at, dist);
			if (seg & KRPING_SEG_F_EARLY)
				r->early[dist & (STG_NR_DISTS - 1)]++;
			continue;
		}
		at += ns;
		if (ns) {
			JOIN_STORE(r->join.tile[head & (JOIN_TILES - 1)], at << 8 | dist);
			head++;
		}
	}
	r->anomalies += r->head.t_first + at != t;
	krp_dist_begin(&r->dist[STG_DIST_ITER]);
	krp_dist_record(r->dist, h, STG_DIST_ITER, t - t_begin);
	r->join.t_tiled = t;
	krp_tile_done(&r->join, head);
	krp_join_commit(&r->join);
}

static __always_inline void tile(struct stages_run *r, __u64 t, __u32 what)
{
	__u32 head = r->join.head;

	krp_tile(&r->join, &head, r->head.t_first, t, what);
	krp_tile_done(&r->join, head);
}

/* What is no iteration: set-up, tear-down, or one that was cut short. */
static __always_inline void account(struct stages_run *r, __u64 t_begin, __u64 t)
{
	__u64 seg, ns, phase, cut = 0, at = t_begin;
	__u32 i, was_cut = 0;

	for (i = 0; i < KRPING_SEGS_MAX; i++) {
		seg = r->seg[i];
		if (!seg)
			break;
		if (seg & KRPING_SEG_F_SUM)
			continue;
		ns = KRPING_SEG_NS(seg);
		at += ns;
		phase = KRPING_SEG_PHASE(seg);
		barrier_var(phase);
		if (phase <= KRPING_PHASE_FREE) {
			krp_sum_add(&r->once[phase], ns);
		} else {
			cut += ns;
			was_cut = 1;
		}
	}
	if (was_cut)
		krp_sum_add(&r->aborted, cut);
	r->anomalies += at != t;
	tile(r, t, JOIN_OTHER);
}

/* Of a run that was there before us user space may know the peer, a little later. */
static __always_inline void ask_peer(struct stages_run *r, __u32 run)
{
	__u32 *peer;

	r->asked_peer++;
	peer = bpf_map_lookup_elem(&peers, &run);
	if (peer)
		r->join.peer = *peer;
}

/*
 * Joins what can be joined. A global function: the verifier looks at it once.
 */
__noinline int join_some(__u32 slot)
{
	struct stages_run *r, *p;
	__u32 peer, *found;

	r = bpf_map_lookup_elem(&runs, &slot);
	if (!r)
		return 0;
	peer = r->join.peer;
	if (!r->join.peer_slot) {
		found = bpf_map_lookup_elem(&run_slots, &peer);
		if (!found)
			return 0;
		r->join.peer_slot = *found + 1;
	}
	slot = r->join.peer_slot - 1;
	p = bpf_map_lookup_elem(&runs, &slot);
	if (!p)
		return 0;
	/* Who takes the slot while we look begins with no tiles. */
	if (JOIN_LOAD(p->head.run) == peer)
		krp_join(&r->join, &p->join, p->head.t_first, JOIN_STEPS);
	else
		r->join.peer_slot = 0;
	return 0;
}

/*
 * An iteration took long: its time line goes to user space. A global function
 * for the same reason.
 */
__noinline int tell_slow(__u32 slot, __u64 t)
{
	struct stages_run *r = bpf_map_lookup_elem(&runs, &slot);
	struct stg_slow *s;
	__u32 i, nr, first;

	if (!r)
		return 0;
	s = bpf_ringbuf_reserve(&slow_ring, sizeof(*s), 0);
	if (!s) {
		krp_count(KRP_CNT_DROPPED);
		r->slow_lost++;
		if (t - r->t_iter > r->slow_lost_max)
			r->slow_lost_max = t - r->t_iter;
		return 0;
	}
	first = r->join.head_iter;
	nr = r->join.head - first;
	s->more = 0;
	if (nr > STG_SLOW_TILES) {
		s->more = nr - STG_SLOW_TILES;
		nr = STG_SLOW_TILES;
	}
	s->run = r->head.run;
	s->peer = r->join.peer;
	s->tid = bpf_get_current_pid_tgid();
	s->cpu = bpf_get_smp_processor_id();
	s->nr = nr;
	s->iter = r->iter;
	s->t_first = r->head.t_first;
	s->t_begin = r->t_iter;
	s->t_end = t;
	for (i = 0; i < STG_SLOW_TILES; i++)
		s->tile[i] = i < nr ? r->join.tile[(first + i) & (JOIN_TILES - 1)] : 0;
	bpf_ringbuf_submit(s, 0);
	return 0;
}

SEC("raw_tp/krping_iter_stages")
int iter_stages(krp_args *ctx)
{
	__u64 t = ctx->args[1], t_begin = ctx->args[4];
	__u32 run = ctx->args[0], flags = ctx->args[3], slot;
	struct krp_run_hists *h;
	struct stages_run *r;

	r = krp_get(run, 1, &slot);
	if (!r)
		return 0;
	h = bpf_map_lookup_elem(&hists, &slot);
	if (!h)
		return 0;
	krp_write_begin(&r->head);
	if (r->head.state == KRP_SLOT_FREE) {
		/* A part of an iteration is not ours, whoever else may have seen it. */
		krp_head_late(&r->head, run, flags & KRPING_PHASE_F_PART ? t : t_begin);
		r->iter = ctx->args[2] + !!(flags & KRPING_PHASE_F_PART);
		if (flags & KRPING_PHASE_F_PART)
			goto out;
	}
	if (krp_read_segs(ctx, r->seg))
		goto out;
	if (t_begin != r->head.t_last) {
		r->holes++;
		tile(r, t_begin, JOIN_NONE);
	}
	r->head.t_last = t;
	if (flags & KRPING_PHASE_F_COMMIT && !(flags & KRPING_PHASE_F_PART)) {
		r->unmatched += ctx->args[2] != r->iter;
		r->iter = ctx->args[2];
		r->t_iter = t_begin;
		r->join.head_iter = r->join.head;
		commit(r, h, slot, t_begin, t);
		if (slow_on && t - t_begin >= slow_ns)
			tell_slow(slot, t);
		r->iter++;
		if (!r->join.peer && r->head.late && r->asked_peer < ASK_PEER)
			ask_peer(r, run);
	} else {
		account(r, t_begin, t);
	}
	if (r->join.joined != r->join.ready)
		join_some(slot);
out:
	krp_write_end(&r->head);
	return 0;
}

/* The flags say that a peer is classic by a nonce of 0. */
SEC("raw_tp/krping_conn")
int conn(krp_args *ctx)
{
	__u32 run = ctx->args[0], peer = ctx->args[9], slot;
	__u64 nonce = ctx->args[10];
	struct stages_run *r;

	if (!nonce || nonce != own_nonce || !peer || peer == run)
		return 0;
	r = krp_get(run, 0, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	r->join.peer = peer;
	krp_write_end(&r->head);
	return 0;
}

/* All of its time was told just before. */
SEC("raw_tp/krping_run_end")
int run_end(krp_args *ctx)
{
	return krp_run_end(ctx);
}
