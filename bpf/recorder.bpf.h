/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The rings of events that user space maps: of the flight recorder, whose two objects share them, and of the steps of a
 * provider.
 */
#ifndef KRPING_RECORDER_BPF_H
#define KRPING_RECORDER_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "recorder.h"

typedef struct bpf_raw_tracepoint_args rec_args;

/* Sizes are set by user space: a ring for each CPU, one after another. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rec_event);
} rec_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rec_cpu);
} rec_cpus SEC(".maps");

/* Events of a CPU, a power of two. */
const volatile __u32 rec_size = 1;

static __always_inline struct rec_cpu *rec_this_cpu(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&rec_cpus, cpu);
}

/*
 * Copies an event of this CPU, whose seq is 0, into the ring, and returns its number. An interrupt may take the next
 * place meanwhile, hence the atomic.
 */
static __always_inline __u32 rec_put(struct rec_cpu *c, __u32 cpu, const struct rec_event *new)
{
	__u32 nr = __sync_fetch_and_add(&c->head, 1), i = cpu * rec_size + (nr & (rec_size - 1));
	struct rec_event *e = bpf_map_lookup_elem(&rec_events, &i);

	if (!e)
		return nr;
	*(volatile __u32 *)&e->seq = 0;
	barrier();
	*e = *new;
	barrier();
	*(volatile __u32 *)&e->seq = nr + 1;
	return nr;
}

#endif /* KRPING_RECORDER_BPF_H */
