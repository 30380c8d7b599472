// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/escape.h"
#include "flight-ring.h"
#include "flight.h"
#include "../lib/tool.h"
#include "recorder.skel.h"
#include "recorder_wake.skel.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Events of a CPU: as many as fit into WHOLE_BYTES for all CPUs, within these limits. */
#define SIZE_MAX_   8192
#define SIZE_MIN_   1024
#define WHOLE_BYTES (16UL << 20)

static int load_wake(struct krp_recorder *r)
{
	struct recorder_wake_bpf *w = recorder_wake_bpf__open();
	const char *event;
	int err;

	if (!w)
		return -errno;
	r->wake = w;
	w->rodata->rec_size = r->rings.size;
	/* Both objects have these two maps: this one takes those of the other. */
	err = krp_rings_set(&r->rings, w->maps.rec_events, w->maps.rec_cpus);
	if (!err)
		err = bpf_map__reuse_fd(w->maps.rec_events, bpf_map__fd(r->skel->maps.rec_events));
	if (!err)
		err = bpf_map__reuse_fd(w->maps.rec_cpus, bpf_map__fd(r->skel->maps.rec_cpus));
	if (!err)
		err = recorder_wake_bpf__load(w);
	return err ?: krp_probe_attach(&r->probe, w->obj, &event);
}

/* Opens the part that needs BTF; if there is no BTF, that is no error. */
static void open_wake(struct krp_recorder *r)
{
	const char *what = "this kernel has no BTF";
	int err;

	if (!access(KERNEL_BTF, R_OK)) {
		err = load_wake(r);
		r->wakeups = !err;
		what = strerror(-err);
	}
	if (!r->wakeups)
		krp_note("No wakeups (%s): only what held up a run itself is told.", what);
}

void krp_recorder_open(struct krp_recorder *r)
{
	const char *event;
	int err;

	memset(r, 0, sizeof(*r));
	r->probe.counters_fd = KRP_NO_COUNTERS;
	krp_rings_choose(&r->rings, SIZE_MIN_, SIZE_MAX_, WHOLE_BYTES);
	r->skel = recorder_bpf__open();
	krp_probe_opened(r->skel);
	r->skel->rodata->rec_size = r->rings.size;
	err = krp_rings_set(&r->rings, r->skel->maps.rec_events, r->skel->maps.rec_cpus);
	if (!err)
		err = recorder_bpf__load(r->skel);
	if (err)
		krp_die("cannot load the flight recorder: %s", strerror(-err));
	krp_rings_map(&r->rings, r->skel->maps.rec_events, r->skel->maps.rec_cpus);
	/*
	 * First attach the programs that record waiting threads, then those
	 * that record who has the CPU: otherwise the first waits would have no
	 * end.
	 */
	open_wake(r);
	err = krp_probe_attach(&r->probe, r->skel->obj, &event);
	if (err)
		krp_probe_die_of_attach(event, err);
	krp_verbose("flight recorder: %u events for each of %u CPUs, %zu KiB", r->rings.size,
		    r->rings.nr_cpus, (r->rings.events_bytes + r->rings.cpus_bytes) / 1024);
}

void krp_recorder_close(struct krp_recorder *r)
{
	krp_probe_close(&r->probe);
	krp_rings_unmap(&r->rings);
	recorder_wake_bpf__destroy(r->wake);
	recorder_bpf__destroy(r->skel);
	memset(r, 0, sizeof(*r));
}

void krp_recorder_copy(const struct krp_recorder *r, uint64_t t, uint64_t t_end, uint32_t tid,
		       unsigned int cpu, struct krp_flight *to)
{
	const struct krp_rings *rings = &r->rings;
	uint64_t t_task = cpu < rings->nr_cpus ?
				  __atomic_load_n(&rings->cpus[cpu].t_task, __ATOMIC_ACQUIRE) :
				  0;
	struct krp_cpu_events *e;
	unsigned int c;
	size_t i;

	to->overwritten = 0;
	to->nr_cpus = rings->nr_cpus;
	to->cpus = krp_new(rings->nr_cpus, sizeof(*to->cpus));
	for (c = 0; c < rings->nr_cpus; c++) {
		to->overwritten += krp_recorded_copy(&to->cpus[c], krp_ring_of(rings, c),
						     rings->size, krp_rings_head(rings, c), t,
						     t_end);
	}
	if (!t_task || t_task > t_end)
		return;
	e = &to->cpus[cpu];
	for (i = 0; i < e->nr; i++) {
		if (e->v[i].kind == REC_TASK && e->v[i].t >= t_task)
			return;
	}
	e->v = krp_resize(e->v, e->nr + 1, sizeof(*e->v));
	e->v[e->nr++] = (struct rec_event){
		.kind = REC_TASK,
		.t = t_task,
		.t_end = UINT64_MAX,
		.id = tid,
	};
}

void krp_flight_free(struct krp_flight *rec)
{
	unsigned int c;

	for (c = 0; c < rec->nr_cpus; c++)
		free(rec->cpus[c].v);
	free(rec->cpus);
	memset(rec, 0, sizeof(*rec));
}

const char *krp_softirq_name(uint32_t vec)
{
	/* clang-format off */
	/* Numbers that do not change: include/linux/interrupt.h. */
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	/* clang-format on */

	return vec < sizeof(names) / sizeof(*names) ? names[vec] : NULL;
}

void krp_irq_name(uint32_t irq, char *buf, size_t size)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, *last;
	size_t room = 0;

	snprintf(buf, size, "%u", irq);
	while (f && getline(&line, &room, f) > 0) {
		if (strtoul(line, &last, 10) != irq || *last != ':')
			continue;
		/* The name of the action comes last. */
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, ' ');
		if (last && last[1])
			krp_escape(buf, size, last + 1, SIZE_MAX);
		break;
	}
	free(line);
	if (f)
		fclose(f);
}
