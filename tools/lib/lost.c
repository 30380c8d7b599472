// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lost.h"
#include "out.h"
#include "../../bpf/slot.h"

struct krp_lost krp_lost_read(const int *prog_fds, unsigned int nr, int counters_fd)
{
	struct krp_lost lost = { 0 };
	struct bpf_prog_info info;
	uint64_t *per_cpu;
	int nr_cpus, cpu;
	unsigned int i;
	uint32_t key;

	for (i = 0; i < nr; i++) {
		memset(&info, 0, sizeof(info));
		lost.unknown |=
			bpf_obj_get_info_by_fd(prog_fds[i], &info, &(uint32_t){ sizeof(info) });
		lost.missed += info.recursion_misses;
	}
	if (counters_fd == KRP_NO_COUNTERS)
		return lost;
	nr_cpus = libbpf_num_possible_cpus();
	per_cpu = nr_cpus > 0 ? calloc(nr_cpus, sizeof(*per_cpu)) : NULL;
	for (key = 0; key < KRP_NR_COUNTERS; key++) {
		if (!per_cpu || bpf_map_lookup_elem(counters_fd, &key, per_cpu)) {
			lost.unknown = true;
			continue;
		}
		for (cpu = 0; cpu < nr_cpus; cpu++)
			*(key == KRP_CNT_FAILED ? &lost.failed : &lost.dropped) += per_cpu[cpu];
	}
	free(per_cpu);
	return lost;
}

const char *krp_lost_text(struct krp_lost l)
{
	static char text[24];

	if (l.unknown)
		return "-";
	snprintf(text, sizeof(text), "%" PRIu64, krp_lost_sum(l));
	return text;
}

static void put(json_object *o, const char *key, uint64_t v, bool unknown)
{
	if (unknown)
		json_object_object_add(o, key, NULL);
	else
		krp_json_u64(o, key, v);
}

void krp_json_lost(json_object *o, struct krp_lost l)
{
	put(o, "lost", krp_lost_sum(l), l.unknown);
	put(o, "lost_missed", l.missed, l.unknown);
	put(o, "lost_failed", l.failed, l.unknown);
	put(o, "lost_dropped", l.dropped, l.unknown);
}
