// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpus.h"
#include "probe.h"
#include "seq.h"
#include "tool.h"
#include "watch.h"
#include "krping_iter.skel.h"

/* Bytes of data in a ring, if nobody has asked for another size: no more than fit into WHOLE_BYTES for all CPUs. */
#define RING_BYTES  (4UL << 20)
#define RING_LEAST  (64UL << 10)
#define WHOLE_BYTES (16UL << 20)
/* The rings of a kind that has no records are where words are copied to. */
#define RING_NONE   4096UL
/* Commands are written to it. */
#define KRP_PROC    "/proc/krping"
/* Another tool that loads the programs is given this time, in steps of a hundredth of a second. */
#define LOCK_STEPS  500

/* The order in which the programs are attached; the first one is that of the kind. */
static const char *events[KRP_WATCH_PROGS] = { NULL, "krping_conn", "krping_run_end",
					       "krping_run_start" };

static const char *const event_of_kind[KRP_NR_KINDS] = {
	[KRP_KIND_PHASES] = "krping_iter_phases",
	[KRP_KIND_STAGES] = "krping_iter_stages",
	[KRP_KIND_MEMORY] = "krping_iter_memory",
};

bool krp_watch_read(const struct krp_watch *w, uint32_t slot, struct krp_run *to)
{
	const struct krp_run *r = krp_watch_run(w, slot);

	if (krp_seq_read(&r->head.seq, to, sizeof(*to)))
		return true;
	krp_verbose("run %u does not hold still", r->head.run);
	return false;
}

void krp_watch_info(const struct krp_watch *w, struct krp_runs *runs)
{
	const struct krp_run_info *info;
	const struct krp_head *h;
	uint32_t slot;

	for (slot = 0; slot < krp_watch_slots(w); slot++) {
		h = &krp_watch_run(w, slot)->head;
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

void krp_watch_setting(const struct krp_watch *w, struct krp_runs *runs,
		       struct krp_setting *setting)
{
	const struct krp_head *now;
	bool read = false, shown;
	struct krp_head h;
	uint32_t slot;

	for (slot = 0; slot < krp_watch_slots(w); slot++) {
		now = &krp_watch_run(w, slot)->head;
		/* Mostly there is nothing new, and no copy is needed to see that. */
		if (now->state != KRP_SLOT_RUNNING || !now->tid ||
		    krp_setting_has(setting, now->run))
			continue;
		if (!krp_seq_read(&now->seq, &h, sizeof(h)) || !h.tid ||
		    h.state != KRP_SLOT_RUNNING || krp_setting_has(setting, h.run))
			continue;
		if (krp_has_filter() && !read) {
			if (krp_runs_read(runs))
				return;
			read = true;
		}
		shown = krp_shows(h.run, krp_runs_find(runs, h.run));
		krp_setting_thread(setting, h.run, shown ? h.tid : 0);
	}
}

static void close_fds(struct krp_watch *w)
{
	int *const maps[] = { &w->counters_fd, &w->runs_fd, &w->hists_fd, &w->rings_fd,
			      &w->bell_fd };
	unsigned int i;

	for (i = 0; i < KRP_WATCH_PROGS; i++) {
		if (w->link_fds[i] >= 0)
			close(w->link_fds[i]);
		if (w->prog_fds[i] >= 0)
			close(w->prog_fds[i]);
		w->link_fds[i] = w->prog_fds[i] = -1;
	}
	for (i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		if (*maps[i] >= 0)
			close(*maps[i]);
		*maps[i] = -1;
	}
}

/* --- the programs of another tool --- */

/* The event that a link is for, as a number of events; -1: none of these. */
static int event_of_link(int link_fd, uint32_t *prog_id)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);
	char name[64] = "";
	unsigned int i;

	info.raw_tracepoint.tp_name = (uintptr_t)name;
	info.raw_tracepoint.tp_name_len = sizeof(name);
	if (bpf_obj_get_info_by_fd(link_fd, &info, &len) ||
	    info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		return -1;
	*prog_id = info.prog_id;
	for (i = 0; i < KRP_WATCH_PROGS; i++) {
		if (!strcmp(name, events[i]))
			return i;
	}
	return -1;
}

/* The numbers of the maps that a program uses. */
static unsigned int maps_of_prog(int prog_fd, uint32_t *ids, unsigned int room)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	info.map_ids = (uintptr_t)ids;
	info.nr_map_ids = room;
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len))
		return 0;
	return info.nr_map_ids < room ? info.nr_map_ids : room;
}

/* Of our maps, where the descriptor of that name belongs, and the size of its elements. */
static int *place_of_map(struct krp_watch *w, const struct bpf_map_info *info, int *shared_fd)
{
	if (!strcmp(info->name, "krp_shared") && info->value_size == sizeof(struct krp_shared))
		return shared_fd;
	if (!strcmp(info->name, "krp_runs") && info->value_size == sizeof(struct krp_run))
		return &w->runs_fd;
	if (!strcmp(info->name, "krp_hists") && info->value_size == sizeof(struct krp_hist))
		return &w->hists_fd;
	if (!strcmp(info->name, "krp_rings"))
		return &w->rings_fd;
	if (!strcmp(info->name, "krp_bell"))
		return &w->bell_fd;
	return strcmp(info->name, "counters") ? NULL : &w->counters_fd;
}

static bool suits(const struct krp_shared *s, uint64_t nonce)
{
	const struct krp_opts *o = &krp_tool.opts;

	return s->layout == KRP_LAYOUT && s->events_abi == KRPING_EVENTS_ABI && s->nonce == nonce &&
	       (!o->max_runs || s->slots >= o->max_runs) &&
	       (!o->records || s->ring >= (uint64_t)o->records * 1024);
}

/* Takes the maps of a program, if it is ours and they are such that we can share them. */
static bool take_maps(struct krp_watch *w, int prog_fd, uint64_t nonce, uint32_t *runs_id)
{
	uint32_t ids[16], key = 0, len;
	unsigned int i, nr = maps_of_prog(prog_fd, ids, sizeof(ids) / sizeof(*ids));
	struct bpf_map_info info;
	int fd, shared_fd = -1, *place;
	bool good;

	for (i = 0; i < nr; i++) {
		fd = bpf_map_get_fd_by_id(ids[i]);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		place = bpf_obj_get_info_by_fd(fd, &info, &len) ?
				NULL :
				place_of_map(w, &info, &shared_fd);
		if (!place || *place >= 0) {
			close(fd);
			continue;
		}
		*place = fd;
		if (place == &w->runs_fd)
			*runs_id = ids[i];
	}
	good = shared_fd >= 0 && w->runs_fd >= 0 && w->hists_fd >= 0 && w->rings_fd >= 0 &&
	       w->bell_fd >= 0 && w->counters_fd >= 0 &&
	       !bpf_map_lookup_elem(shared_fd, &key, &w->shared) && suits(&w->shared, nonce);
	if (shared_fd >= 0)
		close(shared_fd);
	return good;
}

static bool uses_map(int prog_fd, uint32_t id)
{
	uint32_t ids[16];
	unsigned int i, nr = maps_of_prog(prog_fd, ids, sizeof(ids) / sizeof(*ids));

	for (i = 0; i < nr; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/*
 * Takes hold of the attachments of all programs that use these maps. If the last tool
 * that held them has just ended, some are gone, and the rest is of no use.
 */
static bool take_links(struct krp_watch *w, uint32_t runs_id)
{
	uint32_t id = 0, prog_id;
	unsigned int taken = 0;
	int fd, prog_fd, i;

	while (!bpf_link_get_next_id(id, &id)) {
		fd = bpf_link_get_fd_by_id(id);
		if (fd < 0)
			continue;
		i = event_of_link(fd, &prog_id);
		prog_fd = i < 0 ? -1 : bpf_prog_get_fd_by_id(prog_id);
		if (prog_fd < 0 || w->link_fds[i] >= 0 || !uses_map(prog_fd, runs_id)) {
			if (prog_fd >= 0)
				close(prog_fd);
			close(fd);
			continue;
		}
		w->link_fds[i] = fd;
		w->prog_fds[i] = prog_fd;
		taken++;
	}
	return taken == KRP_WATCH_PROGS;
}

/* false: there are none, or none that suit us, or we may not look (that takes CAP_SYS_ADMIN). */
static bool find(struct krp_watch *w, uint64_t nonce)
{
	uint32_t id = 0, prog_id, runs_id = 0;
	int fd, prog_fd;
	bool good;

	while (!bpf_link_get_next_id(id, &id)) {
		fd = bpf_link_get_fd_by_id(id);
		if (fd < 0)
			continue;
		prog_fd = event_of_link(fd, &prog_id) ? -1 : bpf_prog_get_fd_by_id(prog_id);
		close(fd);
		if (prog_fd < 0)
			continue;
		good = take_maps(w, prog_fd, nonce, &runs_id) && take_links(w, runs_id);
		close(prog_fd);
		if (good)
			return true;
		close_fds(w);
	}
	return false;
}

/* --- our own --- */

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

static int set_sizes(struct krp_watch *w, enum krp_kind kind)
{
	struct krping_iter_bpf *s = w->skel;
	struct bpf_map *const by_slot[] = { s->maps.run_slots, s->maps.free_slots,
					    s->maps.krp_runs };
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < sizeof(by_slot) / sizeof(*by_slot); i++)
		err = bpf_map__set_max_entries(by_slot[i], w->shared.slots);
	if (!err && kind == KRP_KIND_PHASES)
		err = bpf_map__set_max_entries(s->maps.krp_hists, w->shared.slots);
	if (!err)
		err = bpf_map__set_max_entries(s->maps.krp_rings, w->shared.cpus);
	if (!err)
		err = bpf_map__set_value_size(s->maps.krp_rings, KRP_RING_BYTES(w->shared.ring));
	return err ?: bpf_map__set_max_entries(s->maps.krp_bell, sysconf(_SC_PAGESIZE));
}

static int fill_slots(const struct krp_watch *w)
{
	int fd = bpf_map__fd(w->skel->maps.free_slots), err = 0;
	uint32_t slot;

	for (slot = 0; !err && slot < w->shared.slots; slot++)
		err = bpf_map_update_elem(fd, NULL, &slot, 0);
	return err;
}

static void attach(struct krp_watch *w)
{
	struct bpf_program *const progs[KRP_WATCH_PROGS] = {
		w->skel->progs.krp_iter,
		w->skel->progs.krp_conn,
		w->skel->progs.krp_run_end,
		w->skel->progs.krp_run_start,
	};
	unsigned int i;

	for (i = 0; i < KRP_WATCH_PROGS; i++) {
		w->prog_fds[i] = dup(bpf_program__fd(progs[i]));
		w->link_fds[i] = bpf_raw_tracepoint_open(events[i], w->prog_fds[i]);
		if (w->link_fds[i] < 0)
			krp_probe_die_of_attach(events[i], -errno);
	}
}

static void make(struct krp_watch *w, uint64_t nonce, unsigned int cpus, enum krp_kind kind)
{
	struct krp_shared shared = {
		.layout = KRP_LAYOUT,
		.events_abi = KRPING_EVENTS_ABI,
		.nonce = nonce,
		.slots = krp_tool.opts.max_runs ?: KRP_MAX_RUNS,
		.cpus = cpus,
		.ring = ring_bytes(kind, cpus),
	};
	uint32_t key = 0;
	int err;

	w->shared = shared;
	w->skel = krping_iter_bpf__open();
	krp_probe_opened(w->skel);
	w->skel->rodata->kind = kind;
	w->skel->rodata->ring_size = shared.ring;
	w->skel->rodata->own_nonce = nonce;
	err = set_sizes(w, kind);
	if (!err)
		err = krping_iter_bpf__load(w->skel);
	/* No program reads this map, but others find it as one of a program's maps. */
	if (!err)
		err = bpf_prog_bind_map(bpf_program__fd(w->skel->progs.krp_iter),
					bpf_map__fd(w->skel->maps.krp_shared), NULL);
	if (!err)
		err = fill_slots(w);
	if (err)
		krp_probe_die_of_load(err);
	w->counters_fd = dup(bpf_map__fd(w->skel->maps.counters));
	w->runs_fd = dup(bpf_map__fd(w->skel->maps.krp_runs));
	w->hists_fd = dup(bpf_map__fd(w->skel->maps.krp_hists));
	w->rings_fd = dup(bpf_map__fd(w->skel->maps.krp_rings));
	w->bell_fd = dup(bpf_map__fd(w->skel->maps.krp_bell));
	attach(w);
	__atomic_store_n((uint32_t *)&w->skel->bss->listening, 1, __ATOMIC_SEQ_CST);
	/* From here on others may share them. */
	err = bpf_map_update_elem(bpf_map__fd(w->skel->maps.krp_shared), &key, &shared, 0);
	if (err)
		krp_probe_die_of_load(err);
	krp_verbose("attached to %s, and others may share the programs", events[0]);
}

/* --- both --- */

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

static size_t rings_bytes(const struct krp_watch *w)
{
	return KRP_RING_STRIDE(w->shared.ring) * w->shared.cpus;
}

static void open_bell(struct krp_watch *w)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	long page = sysconf(_SC_PAGESIZE);

	/* A ring buffer has a page for how far it was read, and one for how far it was written. */
	w->bell_read = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, w->bell_fd, 0);
	w->bell_written = mmap(NULL, page, PROT_READ, MAP_SHARED, w->bell_fd, page);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->bell_read == MAP_FAILED || w->bell_written == MAP_FAILED || w->epoll_fd < 0 ||
	    epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->bell_fd, &event))
		krp_die("cannot wait for records: %s", strerror(errno));
}

void krp_watch_also(struct krp_watch *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		krp_die("cannot wait for records: %s", strerror(errno));
}

void krp_watch_woken(struct krp_watch *w)
{
	uint64_t written = __atomic_load_n(w->bell_written, __ATOMIC_ACQUIRE), half;
	struct epoll_event event[2];

	while (epoll_wait(w->epoll_fd, event, 2, 0) < 0 && errno == EINTR)
		;
	/* Make room, but never all of it: epoll tells others of a wakeup only if there is something. */
	half = sysconf(_SC_PAGESIZE) / 2;
	if (written - __atomic_load_n(w->bell_read, __ATOMIC_RELAXED) > half)
		__atomic_store_n(w->bell_read, written - half, __ATOMIC_RELEASE);
}

/*
 * Two tools that start at the same time must not both load the programs. The file is
 * root's, so that nobody else can hold us up; but no file, or no lock in time, is no
 * reason not to start. Returns a descriptor to be closed, or -1.
 */
static int lock(void)
{
	int fd = open(KRP_PROC, O_RDONLY | O_CLOEXEC);
	unsigned int i;

	for (i = 0; i < LOCK_STEPS && fd >= 0; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			break;
		usleep(10000);
	}
	return fd;
}

void krp_watch_open(struct krp_watch *w, enum krp_kind kind)
{
	struct krp_runs runs = { 0 };
	int cpus = krp_cpu_ids(), lock_fd;

	memset(w, 0, sizeof(*w));
	w->epoll_fd = w->counters_fd = -1;
	w->runs_fd = w->hists_fd = w->rings_fd = w->bell_fd = -1;
	memset(w->link_fds, -1, sizeof(w->link_fds));
	memset(w->prog_fds, -1, sizeof(w->prog_fds));
	if (cpus < 0)
		krp_die("cannot read %s: %s", KRP_CPUS_POSSIBLE, strerror(-cpus));
	events[0] = event_of_kind[kind];
	krp_runs_read(&runs);
	lock_fd = lock();
	if (find(w, runs.nonce))
		krp_verbose("sharing the programs of another tool");
	else
		make(w, runs.nonce, cpus, kind);
	if (lock_fd >= 0)
		close(lock_fd);
	krp_runs_free(&runs);
	w->runs = map_array(w->runs_fd, sizeof(struct krp_run) * w->shared.slots);
	if (kind == KRP_KIND_PHASES) {
		w->hists = map_array(w->hists_fd, sizeof(struct krp_hist) * w->shared.slots);
	} else {
		w->rings = map_array(w->rings_fd, rings_bytes(w));
		open_bell(w);
	}
	w->lost_before = krp_lost_read(w->prog_fds, KRP_WATCH_PROGS, w->counters_fd);
	krp_verbose("%u slots for runs, %u rings of %llu KiB", w->shared.slots, w->shared.cpus,
		    (unsigned long long)w->shared.ring / 1024);
}

void krp_watch_close(struct krp_watch *w)
{
	long page = sysconf(_SC_PAGESIZE);

	unmap_array(w->runs, sizeof(struct krp_run) * w->shared.slots);
	unmap_array(w->hists, sizeof(struct krp_hist) * w->shared.slots);
	unmap_array(w->rings, rings_bytes(w));
	if (w->epoll_fd >= 0) {
		munmap(w->bell_read, page);
		munmap((void *)w->bell_written, page);
		close(w->epoll_fd);
	}
	close_fds(w);
	krping_iter_bpf__destroy(w->skel);
	memset(w, 0, sizeof(*w));
}

static bool has_slot(const struct krp_watch *w, uint32_t run)
{
	uint32_t slot;

	for (slot = 0; slot < krp_watch_slots(w); slot++) {
		if (krp_watch_run(w, slot)->head.run == run)
			return true;
	}
	return false;
}

void krp_watch_sweep(const struct krp_watch *w, int map_fd)
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

struct krp_lost krp_watch_lost(const struct krp_watch *w)
{
	struct krp_lost lost = krp_lost_read(w->prog_fds, KRP_WATCH_PROGS, w->counters_fd);

	lost.missed -= w->lost_before.missed;
	lost.failed -= w->lost_before.failed;
	lost.dropped -= w->lost_before.dropped;
	lost.unknown |= w->lost_before.unknown;
	return lost;
}
