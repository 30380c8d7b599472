// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages, kernel side: how long each phase of each run took, and the
 * stages of those that wait.
 *
 * What belongs to an iteration is kept aside until the event that says that
 * the iteration is complete. One that was cut short is in no distribution, but
 * its time is in the account: all phases add up to the run.
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

/* The number of an iteration's phase within the run, given at first sight. */
static __always_inline __u32 phase_index(struct stages_run *r, __u64 phase)
{
	__u64 i;

	barrier_var(phase);
	if (phase >= STG_PHASE_MAX)
		return STG_PHASES;
	i = r->index_of[phase];
	if (i)
		return i - 1;
	i = r->nr_phases;
	barrier_var(i);
	if (i >= STG_PHASES)
		return STG_PHASES;
	r->phase_of[i] = phase;
	r->index_of[phase] = i + 1;
	r->nr_phases = i + 1;
	return i;
}

static __always_inline __u32 wait_index(struct stages_run *r, __u32 phase)
{
	__u32 i;

	for (i = 0; i < STG_WAITS; i++) {
		if (r->wait_of[i] == phase)
			return i;
		if (!r->wait_of[i]) {
			r->wait_of[i] = phase;
			r->waits |= 1ULL << (phase & (STG_PHASE_MAX - 1));
			r->nr_waits = i + 1;
			return i;
		}
	}
	return STG_WAITS;
}

static __always_inline void record(struct stages_run *r, struct krp_run_hists *h, __u32 dist,
				   __u64 v)
{
	krp_sum_add(&r->dist[dist], v);
	krp_hist_record(&h->hist[dist], v);
}

/* What its tile says. */
static __always_inline __u32 account(struct stages_run *r, __u64 phase, __u64 ns)
{
	__u32 i;

	/* One check for the compiler and the verifier: of the same register. */
	barrier_var(phase);
	if (phase <= KRPING_PHASE_FREE) {
		krp_sum_add(&r->once[phase], ns);
		return JOIN_OTHER;
	}
	i = phase_index(r, phase);
	barrier_var(i);
	if (i >= STG_PHASES) {
		krp_count(KRP_CNT_FAILED);
		return JOIN_NONE;
	}
	/* A phase is in an iteration at most once. */
	if (r->phase_mask & (1U << i)) {
		r->anomalies++;
		ns += r->pending[i];
	}
	r->pending[i] = ns;
	r->phase_mask |= 1U << i;
	return STG_TILE_PHASE(i);
}

static __always_inline void commit(struct stages_run *r, __u32 slot, __u64 t)
{
	struct krp_run_hists *h = bpf_map_lookup_elem(&hists, &slot);
	__u32 i, s;

	if (!h)
		return;
	if (r->t_iter && t >= r->t_iter)
		record(r, h, STG_DIST_ITER, t - r->t_iter);
	for (i = 0; i < STG_PHASES; i++) {
		if (r->phase_mask & (1U << i))
			record(r, h, STG_DIST_PHASE(i), r->pending[i]);
	}
	for (i = 0; i < STG_WAITS; i++) {
		if (!(r->wait_mask & (1U << i)))
			continue;
		for (s = 0; s < STG_NR_STAGES; s++) {
			if (r->wait[i].stage[s] == STG_UNKNOWN)
				r->wait[i].unknown[s]++;
			else
				record(r, h, STG_DIST_STAGE(i, s), r->wait[i].stage[s]);
		}
	}
	r->phase_mask = 0;
	r->wait_mask = 0;
	krp_join_commit(&r->join);
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
	krp_join_abort(&r->join);
}

/* Somebody wants the time line: the peer, or who looks for slow iterations. */
static __always_inline int has_tiles(const struct stages_run *r)
{
	return r->join.peer || slow_on;
}

/* The phase that ends at t began at t_begin. */
static __always_inline void leave(struct stages_run *r, __u32 phase, __u64 t_begin, __u64 t)
{
	__u32 head = r->join.head, what, wait = r->cur_wait;

	r->cur_wait = 0;
	/* A run is in no phase from its beginning to its first one. */
	if (phase == KRPING_PHASE_NONE && !t_begin)
		t_begin = r->head.t_first;
	if (!t_begin) {
		r->holes++;
		return;
	}
	if (t < t_begin) {
		r->anomalies++;
		return;
	}
	what = account(r, phase, t - t_begin);
	if (!has_tiles(r))
		return;
	krp_tile(&r->join, &head, r->head.t_first, t_begin, JOIN_NONE);
	krp_tile(&r->join, &head, r->head.t_first, t, what);
	krp_tile_done(&r->join, head);
	/* Not where the end of the phase that waited was lost. */
	if (wait && r->join.peer && r->wait_of[(wait - 1) & (STG_WAITS - 1)] == phase)
		krp_join_wait(&r->join, t_begin, t, wait - 1);
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

static __always_inline int is_wait(const struct stages_run *r, __u32 phase)
{
	return r->waits >> (phase & (STG_PHASE_MAX - 1)) & 1;
}

/*
 * Joins what can be joined. A global function: the verifier looks at it once.
 * The peer's slot may be given to another run while we look, hence its number
 * is looked at before each step, and is what is cleared first.
 */
int join_some(__u32 slot)
{
	struct stages_run *r, *p;
	__u32 i, peer, *found;

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
	for (i = 0; i < JOIN_STEPS; i++) {
		if (JOIN_LOAD(p->head.run) != peer) {
			r->join.peer_slot = 0;
			break;
		}
		if (!krp_join_step(&r->join, &p->join, p->head.t_first))
			break;
	}
	return 0;
}

/*
 * An iteration took long: its time line goes to user space. A global function
 * for the same reason.
 */
int tell_slow(__u32 slot, __u64 t)
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
		if (flags & KRPING_PHASE_F_COMMIT) {
			commit(r, slot, t);
			if (slow_on && r->t_iter && t >= r->t_iter && t - r->t_iter >= slow_ns)
				tell_slow(slot, t);
			if (!r->join.peer && r->head.late && r->asked_peer < ASK_PEER)
				ask_peer(r, run);
		} else if (flags & KRPING_PHASE_F_ABORT) {
			abort_iter(r);
		}
	}
	if (to <= KRPING_PHASE_FREE) {
		r->t_iter = 0;
	} else if (from <= KRPING_PHASE_FREE ||
		   (flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT))) {
		r->t_iter = t;
		r->join.head_iter = r->join.head;
	}
	r->iter = ctx->args[2];
	r->cur_phase = to;
	r->head.t_last = t;
	/* When the thread is about to sleep, or the test is over: then it costs the least. */
	if (r->join.joined != r->join.ready && (to <= KRPING_PHASE_FREE || is_wait(r, to)))
		join_some(slot);
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

/* The pieces of a wait on the run's time line: its phase until t, and from there its stages. */
static __always_inline void tile_wait(struct stages_run *r, __u32 wait, __u32 phase, __u64 t_start,
				      __u64 t)
{
	const __u64 *stage = r->wait[wait].stage;
	__u64 first = r->head.t_first;
	__u32 head = r->join.head, own;

	krp_tile(&r->join, &head, first, t_start, JOIN_NONE);
	own = phase_index(r, phase);
	if (own < STG_PHASES)
		krp_tile(&r->join, &head, first, t, STG_TILE_PHASE(own));
	if (stage[STG_POST] != STG_UNKNOWN) {
		t += stage[STG_POST];
		krp_tile(&r->join, &head, first, t, STG_TILE_STAGE(wait, STG_POST));
	}
	t += stage[STG_WIRE];
	krp_tile(&r->join, &head, first, t, STG_TILE_STAGE(wait, STG_WIRE));
	if (stage[STG_CQ] != STG_UNKNOWN) {
		t += stage[STG_CQ];
		krp_tile(&r->join, &head, first, t, STG_TILE_STAGE(wait, STG_CQ));
	}
	krp_tile(&r->join, &head, first, t + stage[STG_WAKE], STG_TILE_STAGE(wait, STG_WAKE));
	krp_tile_done(&r->join, head);
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
	if (has_tiles(r))
		tile_wait(r, i, phase, t_start, stg_at_least(t_post, t_start));
	r->wait_mask |= 1U << i;
	r->cur_wait = i + 1;
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
	if (r->join.joined != r->join.ready)
		join_some(slot);
	krp_head_end(&r->head, ctx);
	krp_write_end(&r->head);
	return 0;
}
