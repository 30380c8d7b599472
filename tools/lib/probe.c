// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"
#include "seq.h"
#include "tool.h"
#include "tpbtf.h"

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

/* Finds where a global variable of the programs is in its section. */
static const struct btf_var_secinfo *find_global(struct bpf_object *obj, const char *section,
						 const char *name, struct bpf_map **map)
{
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_var_secinfo *v;
	const struct btf_type *sec, *var;
	int id, i;

	*map = bpf_object__find_map_by_name(obj, section);
	id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	if (id < 0 || !*map)
		return NULL;
	sec = btf__type_by_id(btf, id);
	v = btf_var_secinfos(sec);
	for (i = 0; i < btf_vlen(sec); i++) {
		var = btf__type_by_id(btf, v[i].type);
		if (!strcmp(btf__name_by_offset(btf, var->name_off), name))
			return &v[i];
	}
	return NULL;
}

/* Stores an integer in the copy of a section. */
static int put(void *data, size_t size, const struct btf_var_secinfo *v, uint64_t value)
{
	uint32_t word = value;

	if (v->offset + v->size > size)
		return -ERANGE;
	if (v->size == sizeof(value))
		memcpy((char *)data + v->offset, &value, sizeof(value));
	else if (v->size == sizeof(word) && word == value)
		memcpy((char *)data + v->offset, &word, sizeof(word));
	else
		return -EINVAL;
	return 0;
}

static int set_const(struct bpf_object *obj, const char *name, uint64_t value)
{
	const struct btf_var_secinfo *v;
	const void *initial;
	struct bpf_map *map;
	size_t size;
	void *data;
	int err;

	v = find_global(obj, ".rodata", name, &map);
	if (!v)
		return -ENOENT;
	initial = bpf_map__initial_value(map, &size);
	data = initial ? malloc(size) : NULL;
	if (!data)
		return -ENOMEM;
	memcpy(data, initial, size);
	err = put(data, size, v, value);
	if (!err)
		err = bpf_map__set_initial_value(map, data, size);
	free(data);
	return err;
}

static int set_consts(struct bpf_object *obj, const struct krp_want *want)
{
	const struct krp_const *c;
	int err;

	err = set_const(obj, "only_run", want->run);
	for (c = want->consts; !err && c < want->consts + KRP_MAX_CONSTS && c->name; c++)
		err = set_const(obj, c->name, c->value);
	return err;
}

static int set_var(struct bpf_object *obj, const char *name, uint64_t value)
{
	const struct btf_var_secinfo *v;
	struct bpf_map *map;
	uint32_t key = 0;
	void *data;
	int err;

	v = find_global(obj, ".bss", name, &map);
	if (!v)
		return -ENOENT;
	data = calloc(1, bpf_map__value_size(map));
	if (!data)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(map), &key, data);
	if (!err)
		err = put(data, bpf_map__value_size(map), v, value);
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(map), &key, data, 0);
	free(data);
	return err;
}

void krp_probe_var(struct krp_probe *p, const char *name, uint64_t value)
{
	int err = set_var(p->obj, name, value);

	if (err)
		krp_die("cannot set %s of the BPF programs: %s", name, strerror(-err));
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

static int try_load(struct krp_probe *p, const void *elf, size_t size, const struct krp_want *want)
{
	int err;

	p->obj = bpf_object__open_mem(elf, size, NULL);
	if (!p->obj)
		return -errno;
	if (bpf_object__find_map_by_name(p->obj, "runs"))
		p->nr_slots = want->run ? 1 : krp_tool.opts.max_runs;
	choose_events(p, want);
	err = set_sizes(p, want);
	if (!err)
		err = set_consts(p->obj, want);
	if (!err)
		err = bpf_object__load(p->obj);
	if (!err && p->nr_slots)
		err = fill_slots(p);
	p->counters_fd = bpf_object__find_map_fd_by_name(p->obj, "counters");
	return err;
}

/*
 * Loads the programs as raw tracepoints, or as tp_btf, which the kernel checks
 * against the prototypes of the events.
 */
static int load(struct krp_probe *p, const void *elf, size_t size, const struct krp_want *want,
		bool tp_btf)
{
	int err = 0;

	memset(p, 0, sizeof(*p));
	*first_warning = '\0';
	p->tp_btf = tp_btf;
	if (tp_btf)
		err = krp_tp_btf_begin();
	if (!err)
		err = try_load(p, elf, size, want);
	if (tp_btf)
		krp_tp_btf_end();
	if (err)
		krp_probe_close(p);
	return err;
}

static int attach_one(struct krp_probe *p, struct bpf_program *prog)
{
	struct bpf_link *link;

	if (p->nr_progs == KRP_MAX_PROGS)
		return -E2BIG;
	link = p->tp_btf ? bpf_program__attach_trace(prog) :
			   bpf_program__attach_raw_tracepoint(prog, krp_event_of(prog));
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

void krp_probe_open(struct krp_probe *p, const void *elf, size_t size, const struct krp_want *want)
{
	const char *event;
	int err = -ENOENT;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(print_libbpf);
	if (krp_tp_btf_has()) {
		err = load(p, elf, size, want, true);
		if (err)
			krp_verbose("no tp_btf programs: %s%s%s", strerror(-err),
				    *first_warning ? ": " : "", first_warning);
	} else {
		krp_verbose("the module has no BTF");
	}
	if (err)
		err = load(p, elf, size, want, false);
	if (err)
		krp_die("cannot load the BPF programs: %s%s%s%s", strerror(-err), hint(err),
			*first_warning ? ": " : "", first_warning);
	err = attach_all(p, &event);
	if (err)
		krp_die("cannot attach to %s: %s%s", event, strerror(-err),
			err == -ENOENT ? " (the module has no such event)" : "");
	krp_probe_var(p, "listening", 1);
	krp_verbose("attached to %u events by %s", p->nr_progs,
		    p->tp_btf ? "tp_btf" : "raw tracepoints");
}

void krp_probe_detach(struct krp_probe *p)
{
	unsigned int i;

	if (p->nr_progs)
		set_var(p->obj, "listening", 0);
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
	bpf_object__close(p->obj);
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
