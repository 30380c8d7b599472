/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Maps the rings of events that BPF programs write, one for each CPU. Kernel side: bpf/recorder.bpf.h. */
#ifndef KRP_STAGES_RINGS_H
#define KRP_STAGES_RINGS_H

#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "../../bpf/recorder.h"

struct krp_rings {
	unsigned int nr_cpus; /* one more than the highest number of a CPU */
	uint32_t size;	      /* events of a CPU, a power of two: also the programs' rec_size */
	const struct rec_event *events;
	const struct rec_cpu *cpus;
	size_t events_bytes, cpus_bytes;
};

/* Chooses the size: as many events as fit into bytes for all CPUs, from least to most, which are powers of two. */
void krp_rings_choose(struct krp_rings *r, uint32_t least, uint32_t most, size_t bytes);
/* Before the object of these maps is loaded: 0 or -errno. */
int krp_rings_set(const struct krp_rings *r, struct bpf_map *events, struct bpf_map *cpus);
/* When it is loaded; dies with the cause. */
void krp_rings_map(struct krp_rings *r, const struct bpf_map *events, const struct bpf_map *cpus);
void krp_rings_unmap(struct krp_rings *r);

static inline uint32_t krp_rings_head(const struct krp_rings *r, unsigned int cpu)
{
	return __atomic_load_n(&r->cpus[cpu].head, __ATOMIC_ACQUIRE);
}

static inline const struct rec_event *krp_ring_of(const struct krp_rings *r, unsigned int cpu)
{
	return r->events + (size_t)cpu * r->size;
}

#endif /* KRP_STAGES_RINGS_H */
