// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages --slow, kernel side: tells at once of an iteration that took long, while
 * the flight recorder still has what the CPUs did in it. What is in the ring of
 * krping_trace.bpf.c is read too late for that. Of a test with requests in flight it is
 * the request that ends the iteration, whose words come first.
 */
#include <linux/types.h>

#include "base.bpf.h"
#include "slow.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Only iterations that take at least this long, in nanoseconds, are told. User space raises it. */
volatile __u64 slow_ns = 0;
/* How many found no room, and the longest of them. */
volatile __u64 slow_lost = 0;
volatile __u64 slow_lost_max = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} slow_ring SEC(".maps");

static __always_inline void lost(__u64 ns)
{
	krp_count(KRP_CNT_DROPPED);
	__sync_fetch_and_add(&slow_lost, 1);
	/* Two CPUs may do this at the same time: then it may be the shorter one. */
	if (ns > slow_lost_max)
		slow_lost_max = ns;
}

SEC("raw_tp/krping_iter_stages")
int slow_iter(krp_args *ctx)
{
	__u64 t = ctx->args[1], t_begin = ctx->args[4], nr = (__u32)ctx->args[5];
	__u32 run = ctx->args[0], flags = ctx->args[3];
	struct stg_slow *s;
	__u64 first = 0;

	if (!krp_watched(run) ||
	    (flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_PART)) != KRPING_PHASE_F_COMMIT)
		return 0;
	if (nr)
		bpf_probe_read_kernel(&first, sizeof(first), (const void *)ctx->args[6]);
	if (KRPING_WORD_KIND(first) == KRPING_WORD_REQUEST)
		t_begin = t - KRPING_SEG_NS(first);
	if (t - t_begin < slow_ns)
		return 0;
	s = bpf_ringbuf_reserve(&slow_ring, sizeof(*s), 0);
	if (!s) {
		lost(t - t_begin);
		return 0;
	}
	barrier_var(nr);
	if (nr > KRPING_WORDS_MAX ||
	    bpf_probe_read_kernel(s->word, nr * sizeof(*s->word), (const void *)ctx->args[6])) {
		krp_count(KRP_CNT_FAILED);
		bpf_ringbuf_discard(s, 0);
		return 0;
	}
	s->run = run;
	s->tid = bpf_get_current_pid_tgid();
	s->cpu = bpf_get_smp_processor_id();
	s->nr = nr;
	s->iter = ctx->args[2];
	s->t_begin = t_begin;
	s->t_end = t;
	bpf_ringbuf_submit(s, 0);
	return 0;
}
