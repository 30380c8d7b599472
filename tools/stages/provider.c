// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attaches to a software provider's functions, and reads the marks that they make. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/probe.h"
#include "../lib/tool.h"
#include "flight-ring.h"
#include "provider.h"
#include "rings.h"
#include "provider.skel.h"

/* Marks of a CPU: as many as fit into WHOLE_BYTES for all CPUs, within these limits. */
#define MARKS_MAX   65536
#define MARKS_MIN   1024
#define WHOLE_BYTES (64UL << 20)

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
	struct krp_probe probe;
	struct krp_rings rings;
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
	const char *name = krp_event_of(prog);
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
	const char *function;
	int err;

	krp_rings_choose(&p.rings, MARKS_MIN, MARKS_MAX, WHOLE_BYTES);
	p.skel = provider_bpf__open();
	krp_probe_opened(p.skel);
	if (!choose_all())
		krp_die("--provider: neither rdma_rxe nor siw is loaded with its BTF (/sys/kernel/btf)");
	p.skel->rodata->rec_size = p.rings.size;
	err = krp_rings_set(&p.rings, p.skel->maps.rec_events, p.skel->maps.rec_cpus) ?:
		      provider_bpf__load(p.skel);
	if (err)
		krp_probe_die_of_load(err);
	krp_rings_map(&p.rings, p.skel->maps.rec_events, p.skel->maps.rec_cpus);
	p.read = krp_new(p.rings.nr_cpus, sizeof(*p.read));
	p.probe.counters_fd = KRP_NO_COUNTERS;
	err = krp_probe_attach(&p.probe, p.skel->obj, &function);
	if (err)
		krp_probe_die_of_attach(function, err);
	p.wake = ring_buffer__new(bpf_map__fd(p.skel->maps.wake), woken, NULL, NULL);
	if (!p.wake)
		krp_die("--provider: cannot map its wakeups: %s", strerror(errno));
	return bpf_map__fd(p.skel->maps.wake);
}

/* Takes the marks of a CPU. */
static void read_cpu(unsigned int cpu)
{
	const struct rec_event *ring = krp_ring_of(&p.rings, cpu);
	uint32_t *at = &p.read[cpu], head = krp_rings_head(&p.rings, cpu), size = p.rings.size;
	struct rec_event e;

	/* A quarter may be overwritten while it is read. */
	if (head - *at > size) {
		/* What was before the first iteration that we see is no loss. */
		if (p.begun)
			p.overwritten += head - *at - size / 4 * 3;
		*at = head - size / 4 * 3;
	}
	for (; *at != head; ++*at) {
		if (krp_ring_event(&ring[*at & (size - 1)], *at + 1, &e))
			provider_add(e.t, e.id, e.kind);
		else if (head - *at <= KRP_RING_NEWEST)
			break; /* it is being written */
		else
			p.overwritten++;
	}
}

uint64_t provider_read(void)
{
	unsigned int cpu;

	if (p.t_end)
		return p.t_end;
	ring_buffer__consume(p.wake);
	for (cpu = 0; cpu < p.rings.nr_cpus; cpu++)
		read_cpu(cpu);
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
	struct krp_lost lost = krp_probe_lost(&p.probe);

	lost.dropped = p.overwritten;
	return lost;
}

void provider_close(void)
{
	krp_probe_close(&p.probe);
	ring_buffer__free(p.wake);
	krp_rings_unmap(&p.rings);
	provider_bpf__destroy(p.skel);
	free(p.read);
	provider_forget();
	memset(&p, 0, sizeof(p));
}
