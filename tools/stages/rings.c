// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/environment.h"
#include "../lib/tool.h"
#include "rings.h"

void krp_rings_choose(struct krp_rings *r, uint32_t least, uint32_t most, size_t bytes)
{
	int nr = krp_cpu_ids();

	if (nr < 0)
		krp_die("cannot read %s: %s", KRP_CPUS_POSSIBLE, strerror(-nr));
	r->nr_cpus = nr;
	for (r->size = most; r->size > least; r->size /= 2) {
		if (sizeof(*r->events) * r->size * r->nr_cpus <= bytes)
			break;
	}
}

int krp_rings_set(const struct krp_rings *r, struct bpf_map *events, struct bpf_map *cpus)
{
	return bpf_map__set_max_entries(events, r->size * r->nr_cpus) ?:
		       bpf_map__set_max_entries(cpus, r->nr_cpus);
}

static const void *map_array(const struct bpf_map *map, size_t *bytes)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p;

	*bytes = ((size_t)bpf_map__value_size(map) * bpf_map__max_entries(map) + page - 1) & -page;
	p = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	if (p == MAP_FAILED)
		krp_die("cannot map the BPF map %s: %s", bpf_map__name(map), strerror(errno));
	return p;
}

void krp_rings_map(struct krp_rings *r, const struct bpf_map *events, const struct bpf_map *cpus)
{
	r->events = map_array(events, &r->events_bytes);
	r->cpus = map_array(cpus, &r->cpus_bytes);
}

void krp_rings_unmap(struct krp_rings *r)
{
	munmap((void *)r->events, r->events_bytes);
	munmap((void *)r->cpus, r->cpus_bytes);
}
