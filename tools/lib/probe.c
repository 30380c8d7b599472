// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"
#include "seq.h"
#include "tool.h"

/* The prefix of the event's name, in the name of a program's section. */
#define RAW_TP "raw_tp/"

/* libbpf tells the cause of a failure in its first warning, and in no other way. */
static char first_warning[256];

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	if (level == LIBBPF_WARN && !*first_warning) {
		vsnprintf(first_warning, sizeof(first_warning), fmt, again);
		first_warning[strcspn(first_warning, "\n")] = '\0';
	}
	va_end(again);
	if (krp_tool.opts.verbose)
		return vfprintf(stderr, fmt, ap);
	return 0;
}

const char *krp_event_of(const struct bpf_program *prog)
{
	return bpf_program__section_name(prog) + strlen(RAW_TP);
}

static int set_sizes(struct krp_probe *p, const struct krp_want *want)
{
	struct krp_array *a;
	struct bpf_map *map;
	uint32_t n;
	int err;

	bpf_object__for_each_map(map, p->obj) {
		if (bpf_map__is_internal(map))
			continue;
		n = p->nr_slots;
		if (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY)
			continue;
		if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF) {
			n = sysconf(_SC_PAGESIZE);
			if (n < want->ring_bytes)
				n = want->ring_bytes;
			if (n < bpf_map__max_entries(map))
				n = bpf_map__max_entries(map);
			err = bpf_map__set_max_entries(map, n);
			if (err)
				return err;
			continue;
		}
		if (bpf_map__type(map) == BPF_MAP_TYPE_ARRAY) {
			if (p->nr_arrays == KRP_MAX_ARRAYS)
				return -E2BIG;
			a = &p->arrays[p->nr_arrays++];
			a->name = bpf_map__name(map);
			a->stride = (bpf_map__value_size(map) + 7) & ~7UL;
		}
		err = bpf_map__set_max_entries(map, n);
		if (err)
			return err;
	}
	return 0;
}

static int map_arrays(struct krp_probe *p)
{
	long page = sysconf(_SC_PAGESIZE);
	struct krp_array *a;
	int fd;

	for (a = p->arrays; a < p->arrays + p->nr_arrays; a++) {
		fd = bpf_object__find_map_fd_by_name(p->obj, a->name);
		a->bytes = (a->stride * p->nr_slots + page - 1) & -page;
		a->base = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (a->base == MAP_FAILED)
			return -errno;
	}
	p->runs = krp_probe_array(p, "runs");
	p->hists = krp_probe_array(p, "hists");
	return p->runs && p->hists ? 0 : -ENOENT;
}

/* Fills the queue of free slots, for programs that keep state of runs. */
static int fill_slots(struct krp_probe *p)
{
	uint32_t slot;
	int err = map_arrays(p);

	p->run_slots_fd = bpf_object__find_map_fd_by_name(p->obj, "run_slots");
	p->free_slots_fd = bpf_object__find_map_fd_by_name(p->obj, "free_slots");
	for (slot = 0; !err && slot < p->nr_slots; slot++)
		err = bpf_map_update_elem(p->free_slots_fd, NULL, &slot, 0);
	return err;
}

static void choose_events(struct krp_probe *p, const struct krp_want *want)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, p->obj) {
		if (want->event && !want->event(krp_event_of(prog)))
			bpf_program__set_autoload(prog, false);
	}
}

static int load(struct krp_probe *p, const struct krp_want *want)
{
	int err;

	p->obj = *want->skeleton->obj;
	p->listening = want->listening;
	if (bpf_object__find_map_by_name(p->obj, "runs"))
		p->nr_slots = want->run ? 1 : krp_tool.opts.max_runs;
	choose_events(p, want);
	err = set_sizes(p, want);
	*want->only_run = want->run;
	if (!err)
		err = bpf_object__load_skeleton(want->skeleton);
	if (!err && p->nr_slots)
		err = fill_slots(p);
	p->counters_fd = bpf_object__find_map_fd_by_name(p->obj, "counters");
	return err;
}

static int attach_one(struct krp_probe *p, struct bpf_program *prog)
{
	struct bpf_link *link;

	if (p->nr_progs == KRP_MAX_PROGS)
		return -E2BIG;
	link = bpf_program__attach_raw_tracepoint(prog, krp_event_of(prog));
	if (!link)
		return -errno;
	p->links[p->nr_progs] = link;
	p->prog_fds[p->nr_progs] = bpf_program__fd(prog);
	p->nr_progs++;
	return 0;
}

/*
 * krping_run_start is attached last: if we have seen a run start, we have seen
 * all that came after.
 */
static int attach_all(struct krp_probe *p, const char **event)
{
	struct bpf_program *prog, *last = NULL;
	int err;

	bpf_object__for_each_program(prog, p->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		*event = krp_event_of(prog);
		if (!strcmp(*event, "krping_run_start")) {
			last = prog;
			continue;
		}
		err = attach_one(p, prog);
		if (err)
			return err;
	}
	*event = "krping_run_start";
	return last ? attach_one(p, last) : 0;
}

static const char *hint(int err)
{
	static char line[128];
	FILE *f;

	if (err == -ENOMEM || err == -E2BIG)
		return krp_tool.hidden & KRP_HIDE_MAX_RUNS ? " (try a smaller --ring)" :
							     " (try a smaller --max-runs)";
	if (err != -EPERM)
		return "";
	*line = '\0';
	f = fopen("/sys/kernel/security/lockdown", "re");
	if (f) {
		if (!fgets(line, sizeof(line), f))
			*line = '\0';
		fclose(f);
	}
	if (strstr(line, "[confidentiality]"))
		return " (the kernel is locked down for confidentiality)";
	return " (libbpf needs root, or CAP_BPF and CAP_PERFMON, or a larger RLIMIT_MEMLOCK)";
}

void krp_probe_init(void)
{
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(print_libbpf);
}

static __attribute__((noreturn)) void die_of_load(int err)
{
	krp_die("cannot load the BPF programs: %s%s%s%s", strerror(-err), hint(err),
		*first_warning ? ": " : "", first_warning);
}

void krp_probe_opened(const void *skel)
{
	if (!skel)
		die_of_load(-errno);
}

void krp_probe_open(struct krp_probe *p, const struct krp_want *want)
{
	const char *event;
	int err;

	memset(p, 0, sizeof(*p));
	/* A warning of before was about something else: the flight recorder may have failed in part. */
	*first_warning = '\0';
	err = load(p, want);
	if (err)
		die_of_load(err);
	err = attach_all(p, &event);
	if (err)
		krp_die("cannot attach to %s: %s%s", event, strerror(-err),
			err == -ENOENT ? " (the module has no such event)" :
			err == -EINVAL ? " (the module's event has fewer arguments)" :
					 "");
	__atomic_store_n(p->listening, 1, __ATOMIC_SEQ_CST);
	krp_verbose("attached to %u events", p->nr_progs);
}

void krp_probe_detach(struct krp_probe *p)
{
	unsigned int i;

	if (p->nr_progs)
		__atomic_store_n(p->listening, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < p->nr_progs; i++) {
		bpf_link__destroy(p->links[i]);
		p->links[i] = NULL;
	}
}

void krp_probe_close(struct krp_probe *p)
{
	unsigned int i;

	krp_probe_detach(p);
	for (i = 0; i < p->nr_arrays; i++) {
		if (p->arrays[i].base && p->arrays[i].base != MAP_FAILED)
			munmap(p->arrays[i].base, p->arrays[i].bytes);
	}
	memset(p, 0, sizeof(*p));
}

struct krp_lost krp_probe_lost(const struct krp_probe *p)
{
	return krp_lost_read(p->prog_fds, p->nr_progs, p->counters_fd);
}

struct krp_array *krp_probe_array(struct krp_probe *p, const char *name)
{
	unsigned int i;

	for (i = 0; i < p->nr_arrays; i++) {
		if (!strcmp(p->arrays[i].name, name))
			return &p->arrays[i];
	}
	return NULL;
}

static void *element(const struct krp_array *a, uint32_t slot)
{
	return (char *)a->base + a->stride * slot;
}

const struct krp_head *krp_slot_head(const struct krp_probe *p, uint32_t slot)
{
	return element(p->runs, slot);
}

void krp_slot_runs(const struct krp_probe *p, struct krp_runs *runs)
{
	const struct krp_run_info *info;
	const struct krp_head *h;
	uint32_t slot;

	for (slot = 0; slot < p->nr_slots; slot++) {
		h = krp_slot_head(p, slot);
		if (h->state == KRP_SLOT_FREE)
			continue;
		info = krp_runs_find(runs, h->run);
		if (!info || !info->iters || h->state == KRP_SLOT_ENDED) {
			krp_runs_read(runs);
			return;
		}
	}
}

bool krp_slot_read(const struct krp_probe *p, uint32_t slot, void *to, size_t size)
{
	const struct krp_head *h = krp_slot_head(p, slot);

	if (krp_seq_read(&h->seq, to, size))
		return true;
	krp_verbose("run %u does not hold still", h->run);
	return false;
}

const struct krp_hist *krp_slot_hist(const struct krp_probe *p, uint32_t slot, uint32_t hist)
{
	return (const struct krp_hist *)element(p->hists, slot) + hist;
}

void krp_slot_release(struct krp_probe *p, uint32_t slot)
{
	struct krp_head *h = element(p->runs, slot);
	uint32_t run = h->run;
	struct krp_array *a;

	/*
	 * The order matters: no program may find the slot while it is cleared,
	 * or take it for the old run's slot.
	 */
	bpf_map_delete_elem(p->run_slots_fd, &run);
	__atomic_store_n(&h->run, 0, __ATOMIC_SEQ_CST);
	for (a = p->arrays; a < p->arrays + p->nr_arrays; a++) {
		if (a == p->runs)
			krp_seq_clear(&h->seq, a->stride);
		else
			memset(element(a, slot), 0, a->stride);
	}
	bpf_map_update_elem(p->free_slots_fd, NULL, &slot, 0);
}
