// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attaches to a software provider's functions, and reads the marks that they make. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/environment.h"
#include "../lib/probe.h"
#include "../lib/tool.h"
#include "provider.h"
#include "provider.skel.h"

#define MARKS	  65536 /* of a CPU */
#define MAX_PROGS 32

/* A provider: the programs whose names begin so are of functions of this module. */
static const struct {
	const char *prefix, *module;
} providers[] = {
	{ "rxe_", "rdma_rxe" },
	{ "siw_", "siw" },
};

/* What other versions call a function. */
static const struct {
	const char *function, *other;
} others[] = {
	{ "rxe_responder", "rxe_receiver" }, /* from 6.12 on */
};

static struct {
	struct provider_bpf *skel;
	struct bpf_link *links[MAX_PROGS];
	int prog_fds[MAX_PROGS];
	unsigned int nr_progs, nr_cpus;
	const struct prov_mark *marks;
	const struct prov_cpu *cpus;
	size_t marks_bytes, cpus_bytes;
	uint32_t *read; /* marks of a CPU that were read */
	struct ring_buffer *wake;
	bool begun;
	uint64_t t_end; /* no marks were taken since then; 0: they are */
	uint64_t overwritten;
} p;

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* Finds the function of a program, and says what is not there. */
static bool choose(struct bpf_program *prog, const struct btf *btf)
{
	const char *name = strchr(bpf_program__section_name(prog), '/') + 1;
	unsigned int i;

	if (has_function(btf, name))
		return true;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!strcmp(name, others[i].function) && has_function(btf, others[i].other))
			return !bpf_program__set_attach_target(prog, 0, others[i].other);
	}
	krp_note("The provider has no function %s: its time is in the stage before.", name);
	return false;
}

/* The functions that there are, of the providers that are loaded. Returns how many. */
static unsigned int choose_all(void)
{
	struct btf *vmlinux = btf__load_vmlinux_btf(), *btf;
	struct bpf_program *prog;
	unsigned int i, nr = 0;
	bool loads;

	for (i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
		btf = vmlinux ? btf__load_module_btf(providers[i].module, vmlinux) : NULL;
		bpf_object__for_each_program(prog, p.skel->obj) {
			if (strncmp(bpf_program__name(prog), providers[i].prefix,
				    strlen(providers[i].prefix)))
				continue;
			loads = btf && choose(prog, btf);
			bpf_program__set_autoload(prog, loads);
			nr += loads;
		}
		btf__free(btf);
	}
	btf__free(vmlinux);
	return nr;
}

static const void *map(const struct bpf_map *m, size_t bytes)
{
	void *v = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(m), 0);

	if (v == MAP_FAILED)
		krp_die("--provider: cannot map the marks: %s", strerror(errno));
	return v;
}

/* That it came is all that a wakeup says. */
static int woken(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

int provider_open(void)
{
	long page = sysconf(_SC_PAGESIZE);
	struct bpf_program *prog;
	struct bpf_link *link;
	int err = krp_cpu_ids();

	if (err < 0)
		krp_die("cannot read %s: %s", KRP_CPUS_POSSIBLE, strerror(-err));
	p.nr_cpus = err;
	p.skel = provider_bpf__open();
	krp_probe_opened(p.skel);
	if (!choose_all())
		krp_die("--provider: neither rdma_rxe nor siw is loaded with its BTF (/sys/kernel/btf)");
	p.skel->rodata->size = MARKS;
	err = bpf_map__set_max_entries(p.skel->maps.marks, MARKS * p.nr_cpus) ?:
		      bpf_map__set_max_entries(p.skel->maps.cpus, p.nr_cpus)  ?:
		      provider_bpf__load(p.skel);
	if (err)
		krp_die("--provider: cannot load its programs: %s", strerror(-err));
	p.marks_bytes = (sizeof(*p.marks) * MARKS * p.nr_cpus + page - 1) & -page;
	p.cpus_bytes = (sizeof(*p.cpus) * p.nr_cpus + page - 1) & -page;
	p.marks = map(p.skel->maps.marks, p.marks_bytes);
	p.cpus = map(p.skel->maps.cpus, p.cpus_bytes);
	p.read = krp_new(p.nr_cpus, sizeof(*p.read));
	bpf_object__for_each_program(prog, p.skel->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		link = bpf_program__attach(prog);
		if (!link)
			krp_die("--provider: cannot attach to %s: %s",
				strchr(bpf_program__section_name(prog), '/') + 1, strerror(errno));
		p.links[p.nr_progs] = link;
		p.prog_fds[p.nr_progs++] = bpf_program__fd(prog);
	}
	p.wake = ring_buffer__new(bpf_map__fd(p.skel->maps.wake), woken, NULL, NULL);
	if (!p.wake)
		krp_die("--provider: cannot map its wakeups: %s", strerror(errno));
	return bpf_map__fd(p.skel->maps.wake);
}

/* false: the mark is being written, or has been overwritten. */
static bool copy_mark(const struct prov_mark *from, uint32_t seq, struct prov_mark *to)
{
	if (__atomic_load_n(&from->seq, __ATOMIC_ACQUIRE) != seq)
		return false;
	*to = *from;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq;
}

uint64_t provider_read(void)
{
	static struct prov_mark copy[MARKS];
	uint32_t head, *at;
	unsigned int cpu;
	size_t n;

	if (p.t_end)
		return p.t_end;
	ring_buffer__consume(p.wake);
	for (cpu = 0; cpu < p.nr_cpus; cpu++) {
		at = &p.read[cpu];
		head = __atomic_load_n(&p.cpus[cpu].head, __ATOMIC_ACQUIRE);
		/* A quarter may be overwritten while it is read. */
		if (head - *at > MARKS) {
			/* What was before the first iteration that we see is no loss. */
			if (p.begun)
				p.overwritten += head - *at - MARKS / 4 * 3;
			*at = head - MARKS / 4 * 3;
		}
		for (n = 0; *at != head; ++*at) {
			if (copy_mark(&p.marks[(size_t)cpu * MARKS + (*at & (MARKS - 1))], *at + 1,
				      &copy[n]))
				n++;
			else if (head - *at < 8)
				break; /* it is being written */
			else
				p.overwritten++;
		}
		provider_add(copy, n);
	}
	p.begun = true;
	return UINT64_MAX;
}

void provider_end(void)
{
	uint64_t t = krp_time_now();

	provider_read();
	p.t_end = t;
}

struct krp_lost provider_lost(void)
{
	struct krp_lost lost = krp_lost_read(p.prog_fds, p.nr_progs, KRP_NO_COUNTERS);

	lost.dropped = p.overwritten;
	return lost;
}

void provider_close(void)
{
	unsigned int i;

	for (i = 0; i < p.nr_progs; i++)
		bpf_link__destroy(p.links[i]);
	ring_buffer__free(p.wake);
	munmap((void *)p.marks, p.marks_bytes);
	munmap((void *)p.cpus, p.cpus_bytes);
	provider_bpf__destroy(p.skel);
	free(p.read);
	provider_forget();
	memset(&p, 0, sizeof(p));
}
