// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpus.h"
#include "probe.h"
#include "seq.h"
#include "tool.h"
#include "programs.h"
#include "krping_iter.skel.h"

/* Bytes of data in a ring, if nobody has asked for another size: no more than fit into WHOLE_BYTES for all CPUs. */
#define RING_BYTES  (4UL << 20)
#define RING_LEAST  (64UL << 10)
#define WHOLE_BYTES (16UL << 20)
/* The rings of a kind that has no records are where words are copied to. */
#define RING_NONE   4096UL

/* The order in which the programs are attached; the first one is that of the kind. */
static const char *events[KRP_NR_PROGRAMS] = { NULL, "krping_conn", "krping_run_end",
					       "krping_run_start" };

static const char *const event_of_kind[KRP_NR_KINDS] = {
	[KRP_KIND_PHASES] = "krping_iter_phases",
	[KRP_KIND_STAGES] = "krping_iter_stages",
	[KRP_KIND_MEMORY] = "krping_iter_memory",
};

bool krp_programs_read(const struct krp_programs *w, uint32_t slot, struct krp_run *to)
{
	const struct krp_run *r = krp_programs_run(w, slot);

	if (krp_seq_read(&r->head.seq, to, sizeof(*to)))
		return true;
	krp_verbose("run %u does not hold still", r->head.run);
	return false;
}

void krp_programs_info(const struct krp_programs *w, struct krp_runs *runs)
{
	const struct krp_run_info *info;
	const struct krp_head *h;
	uint32_t slot;

	for (slot = 0; slot < krp_programs_slots(w); slot++) {
		h = &krp_programs_run(w, slot)->head;
		if (h->state == KRP_SLOT_FREE)
			continue;
		info = krp_runs_find(runs, h->run);
		if (!info || (!info->iters && h->state == KRP_SLOT_RUNNING) ||
		    (h->state == KRP_SLOT_ENDED && !krp_run_finished(info))) {
			krp_runs_read(runs);
			return;
		}
	}
}

void krp_programs_environment(const struct krp_programs *w, struct krp_runs *runs,
			      struct krp_environment *setting)
{
	const struct krp_head *now;
	bool read = false, shown;
	struct krp_head h;
	uint32_t slot;

	for (slot = 0; slot < krp_programs_slots(w); slot++) {
		now = &krp_programs_run(w, slot)->head;
		/* Mostly there is nothing new, and no copy is needed to see that. */
		if (now->state != KRP_SLOT_RUNNING || !now->tid ||
		    krp_environment_has(setting, now->run))
			continue;
		if (!krp_seq_read(&now->seq, &h, sizeof(h)) || !h.tid ||
		    h.state != KRP_SLOT_RUNNING || krp_environment_has(setting, h.run))
			continue;
		if (krp_has_filter() && !read) {
			if (krp_runs_read(runs))
				return;
			read = true;
		}
		shown = krp_shows(h.run, krp_runs_find(runs, h.run));
		krp_environment_thread(setting, h.run, shown ? h.tid : 0);
	}
}

static uint64_t ring_bytes(enum krp_kind kind, unsigned int cpus)
{
	uint64_t size = RING_BYTES;

	if (kind == KRP_KIND_PHASES)
		return RING_NONE;
	if (krp_tool.opts.records)
		return (uint64_t)krp_tool.opts.records * 1024;
	while (size > RING_LEAST && size * cpus > WHOLE_BYTES)
		size /= 2;
	return size;
}

static int set_sizes(struct krp_programs *w, enum krp_kind kind)
{
	struct krping_iter_bpf *s = w->skel;
	struct bpf_map *const by_slot[] = { s->maps.run_slots, s->maps.free_slots,
					    s->maps.krp_runs };
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < sizeof(by_slot) / sizeof(*by_slot); i++)
		err = bpf_map__set_max_entries(by_slot[i], w->slots);
	if (!err && kind == KRP_KIND_PHASES)
		err = bpf_map__set_max_entries(s->maps.krp_hists, w->slots);
	if (!err)
		err = bpf_map__set_max_entries(s->maps.krp_rings, w->cpus);
	if (!err)
		err = bpf_map__set_value_size(s->maps.krp_rings, KRP_RING_BYTES(w->ring));
	return err ?: bpf_map__set_max_entries(s->maps.krp_wakeups, sysconf(_SC_PAGESIZE));
}

static int fill_slots(const struct krp_programs *w)
{
	int fd = bpf_map__fd(w->skel->maps.free_slots), err = 0;
	uint32_t slot;

	for (slot = 0; !err && slot < w->slots; slot++)
		err = bpf_map_update_elem(fd, NULL, &slot, 0);
	return err;
}

static void attach(struct krp_programs *w)
{
	struct bpf_program *const progs[KRP_NR_PROGRAMS] = {
		w->skel->progs.krp_iter,
		w->skel->progs.krp_conn,
		w->skel->progs.krp_run_end,
		w->skel->progs.krp_run_start,
	};
	unsigned int i;

	for (i = 0; i < KRP_NR_PROGRAMS; i++) {
		w->prog_fds[i] = bpf_program__fd(progs[i]);
		w->link_fds[i] = bpf_raw_tracepoint_open(events[i], w->prog_fds[i]);
		if (w->link_fds[i] < 0)
			krp_probe_die_of_attach(events[i], -errno);
	}
}

static void load(struct krp_programs *w, uint64_t nonce, enum krp_kind kind)
{
	int err;

	w->skel = krping_iter_bpf__open();
	krp_probe_opened(w->skel);
	w->skel->rodata->kind = kind;
	w->skel->rodata->ring_size = w->ring;
	w->skel->rodata->own_nonce = nonce;
	err = set_sizes(w, kind);
	if (!err)
		err = krping_iter_bpf__load(w->skel);
	if (!err)
		err = fill_slots(w);
	if (err)
		krp_probe_die_of_load(err);
	attach(w);
	krp_verbose("attached to %s", events[0]);
}

static const char *map_array(int fd, size_t bytes)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (bytes + page - 1) & -page, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		krp_die("cannot map the state of runs: %s", strerror(errno));
	return p;
}

static void unmap_array(const char *p, size_t bytes)
{
	long page = sysconf(_SC_PAGESIZE);

	if (p)
		munmap((void *)p, (bytes + page - 1) & -page);
}

static size_t rings_bytes(const struct krp_programs *w)
{
	return KRP_RING_STRIDE(w->ring) * w->cpus;
}

static int nothing(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

void krp_programs_also(struct krp_programs *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(krp_programs_fd(w), EPOLL_CTL_ADD, fd, &event))
		krp_die("cannot wait for records: %s", strerror(errno));
}

void krp_programs_woken(struct krp_programs *w)
{
	ring_buffer__consume(w->wakeups);
}

void krp_programs_open(struct krp_programs *w, enum krp_kind kind)
{
	struct krp_runs runs = { 0 };
	int cpus = krp_cpu_ids();

	memset(w, 0, sizeof(*w));
	if (cpus < 0)
		krp_die("cannot read %s: %s", KRP_CPUS_POSSIBLE, strerror(-cpus));
	events[0] = event_of_kind[kind];
	w->slots = krp_tool.opts.max_runs ?: KRP_MAX_RUNS;
	w->cpus = cpus;
	w->ring = ring_bytes(kind, cpus);
	krp_runs_read(&runs);
	load(w, runs.nonce, kind);
	krp_runs_free(&runs);
	w->runs = map_array(bpf_map__fd(w->skel->maps.krp_runs), sizeof(struct krp_run) * w->slots);
	if (kind == KRP_KIND_PHASES) {
		w->hists = map_array(bpf_map__fd(w->skel->maps.krp_hists),
				     sizeof(struct krp_hist) * w->slots);
	} else {
		w->rings = map_array(bpf_map__fd(w->skel->maps.krp_rings), rings_bytes(w));
		w->wakeups = ring_buffer__new(bpf_map__fd(w->skel->maps.krp_wakeups), nothing, NULL,
					      NULL);
		if (!w->wakeups)
			krp_die("cannot wait for records: %s", strerror(errno));
	}
	krp_verbose("%u slots for runs, %u rings of %llu KiB", w->slots, w->cpus,
		    (unsigned long long)w->ring / 1024);
}

void krp_programs_begin(const struct krp_programs *w)
{
	__atomic_store_n((uint32_t *)&w->skel->bss->listening, 1, __ATOMIC_SEQ_CST);
}

void krp_programs_close(struct krp_programs *w)
{
	unsigned int i;

	unmap_array(w->runs, sizeof(struct krp_run) * w->slots);
	unmap_array(w->hists, sizeof(struct krp_hist) * w->slots);
	unmap_array(w->rings, rings_bytes(w));
	ring_buffer__free(w->wakeups);
	for (i = 0; i < KRP_NR_PROGRAMS; i++)
		close(w->link_fds[i]);
	krping_iter_bpf__destroy(w->skel);
	memset(w, 0, sizeof(*w));
}

static bool has_slot(const struct krp_programs *w, uint32_t run)
{
	uint32_t slot;

	for (slot = 0; slot < krp_programs_slots(w); slot++) {
		if (krp_programs_run(w, slot)->head.run == run)
			return true;
	}
	return false;
}

void krp_programs_sweep(const struct krp_programs *w, int map_fd)
{
	uint32_t run, next;
	bool more = !bpf_map_get_next_key(map_fd, NULL, &next);

	while (more) {
		run = next;
		more = !bpf_map_get_next_key(map_fd, &run, &next);
		if (!has_slot(w, run))
			bpf_map_delete_elem(map_fd, &run);
	}
}

struct krp_lost krp_programs_lost(const struct krp_programs *w)
{
	return krp_lost_read(w->prog_fds, KRP_NR_PROGRAMS, bpf_map__fd(w->skel->maps.counters));
}
