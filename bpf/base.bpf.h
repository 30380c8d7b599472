/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Included by every program of krping's events, also by one that keeps no state of runs. */
#ifndef KRPING_BASE_BPF_H
#define KRPING_BASE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "slot.h"

typedef struct bpf_raw_tracepoint_args krp_args;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KRP_NR_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* Watch this run only; 0: all. */
const volatile __u32 only_run = 0;

/*
 * Set when all programs are attached, and cleared before the first is detached:
 * programs are attached and detached one by one, and a run must not be seen by
 * only some of them.
 */
volatile __u32 listening = 0;

static __always_inline void krp_count(__u32 counter)
{
	__u64 *v = bpf_map_lookup_elem(&counters, &counter);

	/*
	 * Atomic, since a completion may interrupt a thread just here. This is
	 * rare, so the cost does not matter.
	 */
	if (v)
		__sync_fetch_and_add(v, 1);
}

static __always_inline int krp_watched(__u32 run)
{
	return listening && (!only_run || run == only_run);
}

#endif /* KRPING_BASE_BPF_H */
