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
#include "tool.h"

#define MODULE_BTF	"/sys/kernel/btf/rdma_krping"
#define SECTION		"raw_tp/"

/* A copy is good at the first attempt but for a few in a million. */
#define READ_ATTEMPTS	1000

/* libbpf tells the cause of a failure in its first warning, and no other way. */
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

static const char *event_of(const struct bpf_program *prog)
{
	return bpf_program__section_name(prog) + strlen(SECTION);
}

/*
 * The programs are raw tracepoints. Where the module has BTF they become
 * tp_btf, which the kernel checks against the prototypes of the events.
 */
static int make_tp_btf(struct krp_probe *p)
{
	struct bpf_program *prog;
	int err;

	bpf_object__for_each_program(prog, p->obj) {
		err = bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING);
		if (!err)
			err = bpf_program__set_expected_attach_type(prog, BPF_TRACE_RAW_TP);
		if (!err)
			err = bpf_program__set_attach_target(prog, 0, event_of(prog));
		if (err)
			return err;
	}
	return 0;
}

/* Where a global variable of the programs is in its section. */
static int find_global(struct bpf_object *obj, const char *section, const char *name,
		       struct bpf_map **map)
{
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_var_secinfo *v;
	const struct btf_type *sec, *var;
	int id, i;

	*map = bpf_object__find_map_by_name(obj, section);
	id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	if (id < 0 || !*map)
		return -ENOENT;
	sec = btf__type_by_id(btf, id);
	v = btf_var_secinfos(sec);
	for (i = 0; i < btf_vlen(sec); i++) {
		var = btf__type_by_id(btf, v[i].type);
		if (!strcmp(btf__name_by_offset(btf, var->name_off), name))
			return v[i].offset;
	}
	return -ENOENT;
}

static int set_only_run(struct bpf_object *obj, uint32_t run)
{
	const void *value;
	struct bpf_map *map;
	char data[64];
	size_t size;
	int offset = find_global(obj, ".rodata", "only_run", &map);

	if (offset < 0)
		return offset;
	value = bpf_map__initial_value(map, &size);
	if (!value || size > sizeof(data))
		return -EINVAL;
	memcpy(data, value, size);
	memcpy(data + offset, &run, sizeof(run));
	return bpf_map__set_initial_value(map, data, size);
}

int krp_probe_set(struct krp_probe *p, const char *name, uint32_t value)
{
	struct bpf_map *map;
	uint32_t key = 0;
	char data[64];
	int offset = find_global(p->obj, ".bss", name, &map);

	if (offset < 0)
		return offset;
	if (offset + sizeof(value) > sizeof(data) || bpf_map__value_size(map) > sizeof(data))
		return -E2BIG;
	/* Only we write there: the others stay what they are. */
	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, data))
		return -errno;
	memcpy(data + offset, &value, sizeof(value));
	return bpf_map_update_elem(bpf_map__fd(map), &key, data, 0) ? -errno : 0;
}

static int set_sizes(struct krp_probe *p, uint32_t nr_hists)
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
		if (bpf_map__type(map) == BPF_MAP_TYPE_ARRAY) {
			if (p->nr_arrays == KRP_MAX_ARRAYS)
				return -E2BIG;
			a = &p->arrays[p->nr_arrays++];
			a->name = bpf_map__name(map);
			a->stride = (bpf_map__value_size(map) + 7) & ~7UL;
			a->per_slot = strcmp(a->name, "hists") ? 1 : nr_hists;
			n *= a->per_slot;
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
		a->bytes = (a->stride * a->per_slot * p->nr_slots + page - 1) & -page;
		a->base = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (a->base == MAP_FAILED)
			return -errno;
	}
	p->runs = krp_probe_array(p, "runs");
	p->hists = krp_probe_array(p, "hists");
	return p->runs && p->hists ? 0 : -ENOENT;
}

static int try_load(struct krp_probe *p, const void *elf, size_t size, uint32_t nr_hists,
		    bool tp_btf)
{
	uint32_t slot;
	int err;

	memset(p, 0, sizeof(*p));
	*first_warning = '\0';
	p->nr_slots = krp_tool.opts.run ? 1 : krp_tool.opts.max_runs;
	p->tp_btf = tp_btf;
	p->obj = bpf_object__open_mem(elf, size, NULL);
	if (!p->obj)
		return -errno;
	err = set_sizes(p, nr_hists);
	if (!err)
		err = set_only_run(p->obj, krp_tool.opts.run);
	if (!err && tp_btf)
		err = make_tp_btf(p);
	if (!err)
		err = bpf_object__load(p->obj);
	if (!err)
		err = map_arrays(p);
	if (err)
		goto fail;
	p->run_slots_fd = bpf_object__find_map_fd_by_name(p->obj, "run_slots");
	p->free_slots_fd = bpf_object__find_map_fd_by_name(p->obj, "free_slots");
	p->counters_fd = bpf_object__find_map_fd_by_name(p->obj, "counters");
	for (slot = 0; !err && slot < p->nr_slots; slot++)
		err = bpf_map_update_elem(p->free_slots_fd, NULL, &slot, 0);
	if (!err)
		return 0;
fail:
	krp_probe_close(p);
	return err;
}

static int attach_one(struct krp_probe *p, struct bpf_program *prog)
{
	struct bpf_link *link;

	if (p->nr_progs == KRP_MAX_PROGS)
		return -E2BIG;
	link = p->tp_btf ? bpf_program__attach_trace(prog) :
			   bpf_program__attach_raw_tracepoint(prog, event_of(prog));
	if (!link)
		return -errno;
	p->links[p->nr_progs] = link;
	p->prog_fds[p->nr_progs] = bpf_program__fd(prog);
	p->nr_progs++;
	return 0;
}

/*
 * krping_run_start comes last: whoever has seen a run start, has seen all that
 * came after.
 */
static int attach_all(struct krp_probe *p, const char **event)
{
	struct bpf_program *prog, *last = NULL;
	int err;

	bpf_object__for_each_program(prog, p->obj) {
		*event = event_of(prog);
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
		return " (try a smaller --max-runs)";
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

void krp_probe_open(struct krp_probe *p, const void *elf, size_t size, uint32_t nr_hists)
{
	bool has_btf = !access(MODULE_BTF, R_OK);
	const char *event;
	int err = -ENOENT;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(print_libbpf);
	if (has_btf) {
		err = try_load(p, elf, size, nr_hists, true);
		if (err)
			krp_verbose("no tp_btf programs: %s: %s", strerror(-err), first_warning);
	} else {
		krp_verbose("the module has no BTF");
	}
	if (err)
		err = try_load(p, elf, size, nr_hists, false);
	if (err)
		krp_die("cannot load the BPF programs: %s%s%s%s", strerror(-err), hint(err),
			*first_warning ? ": " : "", first_warning);
	err = attach_all(p, &event);
	if (err)
		krp_die("cannot attach to %s: %s%s", event, strerror(-err),
			err == -ENOENT ? " (the module has no such event)" : "");
	err = krp_probe_set(p, "listening", 1);
	if (err)
		krp_die("cannot make the BPF programs listen: %s", strerror(-err));
	krp_verbose("attached to %u events by %s", p->nr_progs,
		    p->tp_btf ? "tp_btf" : "raw tracepoints");
}

void krp_probe_detach(struct krp_probe *p)
{
	unsigned int i;

	if (p->nr_progs)
		krp_probe_set(p, "listening", 0);
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
	struct krp_lost lost = { 0 };
	struct bpf_prog_info info;
	uint64_t *per_cpu;
	unsigned int i;
	int nr_cpus;
	uint32_t len, key;

	for (i = 0; i < p->nr_progs; i++) {
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (!bpf_obj_get_info_by_fd(p->prog_fds[i], &info, &len))
			lost.missed += info.recursion_misses;
	}
	nr_cpus = libbpf_num_possible_cpus();
	per_cpu = nr_cpus > 0 ? calloc(nr_cpus, sizeof(*per_cpu)) : NULL;
	if (!per_cpu)
		return lost;
	key = KRP_CNT_FAILED;
	if (!bpf_map_lookup_elem(p->counters_fd, &key, per_cpu)) {
		while (nr_cpus--)
			lost.failed += per_cpu[nr_cpus];
	}
	free(per_cpu);
	return lost;
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

static void *element(const struct krp_array *a, uint32_t slot, uint32_t i)
{
	return (char *)a->base + a->stride * ((size_t)slot * a->per_slot + i);
}

const struct krp_head *krp_slot_head(const struct krp_probe *p, uint32_t slot)
{
	return element(p->runs, slot, 0);
}

void krp_slot_read(const struct krp_probe *p, uint32_t slot, void *to, size_t size)
{
	const struct krp_head *h = krp_slot_head(p, slot);
	unsigned int i;
	uint32_t seq;

	/*
	 * BPF programs cannot order their stores on weakly ordered CPUs, so a
	 * copy of a run that goes on may be torn there. One that has ended is
	 * exact everywhere.
	 */
	for (i = 0; i < READ_ATTEMPTS; i++) {
		seq = __atomic_load_n(&h->seq, __ATOMIC_ACQUIRE);
		memcpy(to, h, size);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(seq & 1) && __atomic_load_n(&h->seq, __ATOMIC_RELAXED) == seq)
			return;
	}
	krp_verbose("run %u never held still", h->run);
}

const struct krp_hist *krp_slot_hist(const struct krp_probe *p, uint32_t slot, uint32_t hist)
{
	return element(p->hists, slot, hist);
}

void krp_slot_release(struct krp_probe *p, uint32_t slot)
{
	uint32_t run = krp_slot_head(p, slot)->run;
	struct krp_array *a;

	/* In this order: nobody finds the slot while it is cleared. */
	bpf_map_delete_elem(p->run_slots_fd, &run);
	for (a = p->arrays; a < p->arrays + p->nr_arrays; a++)
		memset(element(a, slot, 0), 0, a->stride * a->per_slot);
	bpf_map_update_elem(p->free_slots_fd, NULL, &slot, 0);
}
