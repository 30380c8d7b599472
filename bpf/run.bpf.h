/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Runs and their slots, for all tools.
 *
 * Every program here is written as a raw tracepoint: it takes the arguments of
 * TP_PROTO as 64-bit words and reads no kernel structure, so it loads without
 * any BTF of the kernel or of the module. When it is attached the kernel refuses
 * a program that reads more arguments than the event has.
 *
 * A run has a slot while it is watched. Its state is in the array "runs" at
 * that slot and its histograms are in "hists"; user space maps both and reads
 * them without system calls. All memory is allocated before the first event.
 * The thread of a run is the only writer of its slot, hence no atomics; a
 * completion handler writes elsewhere, to members or maps of its own.
 *
 * No program may serve two events of different contexts: the kernel does not
 * enter a program again while it runs on the same CPU, and krping's completions
 * interrupt its threads.
 *
 * Define KRP_RUN_STATE, the type of the tool's state of a run, and
 * KRP_RUN_HISTS, the number of its histograms, before you include this file.
 */
#ifndef KRPING_RUN_BPF_H
#define KRPING_RUN_BPF_H

#include "../trace/krping_abi.h"
#include "base.bpf.h"
#include "dist.h"

/* Sizes are set by user space before the maps are made. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} run_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, KRP_RUN_STATE);
} runs SEC(".maps");

struct krp_run_hists {
	struct krp_hist hist[KRP_RUN_HISTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct krp_run_hists);
} hists SEC(".maps");

/* The slot of a run or, if it has none and create is set, a new one; -1 if there is no slot. */
static __always_inline long krp_slot(__u32 run, int create)
{
	__u32 *found, slot;

	found = bpf_map_lookup_elem(&run_slots, &run);
	if (found)
		return *found;
	if (!create)
		return -1;
	if (bpf_map_pop_elem(&free_slots, &slot)) {
		krp_count(KRP_CNT_FAILED);
		return -1;
	}
	if (bpf_map_update_elem(&run_slots, &run, &slot, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_slots, &slot, 0);
		krp_count(KRP_CNT_FAILED);
		return -1;
	}
	return slot;
}

/*
 * The slot where a run was last found: a lookup in the hash map takes longer
 * than all the rest of most programs. An entry here may be wrong, but the run
 * number in the slot itself is right.
 */
#define KRP_SEEN 256
__u32 seen[KRP_SEEN];

static __always_inline KRP_RUN_STATE *krp_get(__u32 run, int create, __u32 *slot)
{
	KRP_RUN_STATE *r;
	long s;

	if (!krp_watched(run))
		return 0;
	*slot = seen[run & (KRP_SEEN - 1)];
	r = bpf_map_lookup_elem(&runs, slot);
	if (r && r->head.run == run)
		return r;
	s = krp_slot(run, create);
	if (s < 0)
		return 0;
	*slot = s;
	seen[run & (KRP_SEEN - 1)] = s;
	return bpf_map_lookup_elem(&runs, slot);
}

static __always_inline void krp_hist_record(struct krp_hist *h, __u64 v)
{
	__u64 i = krp_hist_index(v);

	/* The compiler knows that i is in bounds, the verifier does not. */
	barrier_var(i);
	if (i < KRP_HIST_BUCKETS)
		h->bucket[i]++;
}

static __always_inline void krp_dist_record(struct krp_dist *all, struct krp_run_hists *h,
					    __u64 dist, __u64 v)
{
	krp_dist_put(all, h->hist[0].bucket, sizeof(*h) / sizeof(__u64), dist, v);
}

/*
 * Copy the words of krping_iter, with a 0 behind the last one. Returns -1 if
 * they cannot be read.
 */
static __always_inline int krp_read_segs(krp_args *ctx, __u64 *seg)
{
	__u64 nr = (__u32)ctx->args[5];

	barrier_var(nr);
	if (nr > KRPING_SEGS_MAX ||
	    bpf_probe_read_kernel(seg, nr * sizeof(*seg), (const void *)ctx->args[6])) {
		krp_count(KRP_CNT_FAILED);
		return -1;
	}
	seg[nr] = 0;
	return 0;
}

/*
 * Step seq so that all stores before and after the step are ordered against it,
 * on every CPU. In BPF only an atomic instruction whose result is used gives
 * this order: if the result is not used, it is a plain addition on arm64.
 */
static __always_inline void krp_seq_step(struct krp_head *h)
{
	__u32 seq = __sync_fetch_and_add(&h->seq, 1);

	asm volatile("" : : "r"(seq) : "memory");
}

static __always_inline void krp_write_begin(struct krp_head *h)
{
	krp_seq_step(h);
}

static __always_inline void krp_write_end(struct krp_head *h)
{
	krp_seq_step(h);
}

static __always_inline void krp_head_late(struct krp_head *h, __u32 run, __u64 t)
{
	h->run = run;
	h->late = 1;
	h->t_first = t;
	h->t_last = t;
	h->state = KRP_SLOT_RUNNING;
}

static __always_inline void krp_head_end(struct krp_head *h, krp_args *ctx)
{
	h->t_last = ctx->args[1];
	h->iters = ctx->args[2];
	h->err = (__s32)ctx->args[3];
	h->duration_ns = ctx->args[4];
	h->state = KRP_SLOT_ENDED;
}

static __always_inline int krp_run_end(krp_args *ctx)
{
	KRP_RUN_STATE *r;
	__u32 slot;

	r = krp_get(ctx->args[0], 0, &slot);
	if (!r)
		return 0;
	krp_write_begin(&r->head);
	krp_head_end(&r->head, ctx);
	krp_write_end(&r->head);
	return 0;
}

/* Every tool has this same program, and attaches it last: see tools/lib/probe.c. */
SEC("raw_tp/krping_run_start")
int run_start(krp_args *ctx)
{
	KRP_RUN_STATE *r;
	struct krp_head *h;
	__u32 slot;

	r = krp_get(ctx->args[0], 1, &slot);
	if (!r)
		return 0;
	h = &r->head;
	krp_write_begin(h);
	h->run = ctx->args[0];
	h->t_first = ctx->args[1];
	h->t_last = ctx->args[1];
	h->parent = ctx->args[2];
	h->role = ctx->args[3];
	h->test = ctx->args[4];
	h->size = ctx->args[5];
	h->count = ctx->args[6];
	h->flags = ctx->args[7];
	h->pid = ctx->args[8];
	bpf_probe_read_kernel_str(h->comm, sizeof(h->comm), (const void *)ctx->args[9]);
	bpf_probe_read_kernel_str(h->name, sizeof(h->name), (const void *)ctx->args[10]);
	h->state = KRP_SLOT_RUNNING;
	krp_write_end(h);
	return 0;
}

#endif /* KRPING_RUN_BPF_H */
