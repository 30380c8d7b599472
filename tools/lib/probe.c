// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "procfile.h"
#include "tool.h"

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
	return strchr(bpf_program__section_name(prog), '/') + 1;
}

static int load(struct krp_probe *p, const struct krp_want *want)
{
	struct bpf_program *prog;
	int err;

	p->obj = *want->skeleton->obj;
	p->listening = want->listening;
	bpf_object__for_each_program(prog, p->obj) {
		if (want->event && !want->event(krp_event_of(prog)))
			bpf_program__set_autoload(prog, false);
	}
	*want->only_run = want->run;
	err = bpf_object__load_skeleton(want->skeleton);
	p->counters_fd = bpf_map__fd(want->counters);
	return err;
}

static int attach_one(struct krp_probe *p, struct bpf_program *prog)
{
	struct bpf_link *link;

	if (p->nr_progs == KRP_MAX_PROGS)
		return -E2BIG;
	link = bpf_program__attach(prog);
	if (!link)
		return -errno;
	p->prog_fds[p->nr_progs] = bpf_program__fd(prog);
	p->links[p->nr_progs++] = link;
	return 0;
}

int krp_probe_attach(struct krp_probe *p, struct bpf_object *obj, const char **event)
{
	struct bpf_program *prog, *last = NULL;
	int err;

	bpf_object__for_each_program(prog, obj) {
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
	char line[128];
	int probed;

	if (err == -ENOMEM || err == -E2BIG)
		return krp_tool.has & KRP_HAS_RECORDS ? " (try a smaller --records)" : "";
	if (err == -EMFILE || err == -ENFILE)
		return " (try a larger \"ulimit -n\")";
	if (err != -EPERM) {
		/* This is not looked for before the start, since it takes as long as all the rest of it. */
		probed = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL);
		return probed == 0 || probed == -ENOSYS ?
			       " (this kernel has no BPF for tracing: it needs CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS)" :
			       "";
	}
	krp_first_line("/sys/kernel/security/lockdown", line, sizeof(line));
	if (strstr(line, "[confidentiality]"))
		return " (the kernel is locked down for confidentiality)";
	return " (libbpf needs root, or CAP_BPF and CAP_PERFMON, or a larger RLIMIT_MEMLOCK)";
}

void krp_probe_init(void)
{
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(print_libbpf);
}

void krp_probe_die_of_load(int err)
{
	krp_die("cannot load the BPF programs: %s%s%s%s", strerror(-err), hint(err),
		*first_warning ? ": " : "", first_warning);
}

void krp_probe_opened(const void *skel)
{
	if (!skel)
		krp_probe_die_of_load(-errno);
}

void krp_probe_die_of_attach(const char *event, int err)
{
	krp_die("cannot attach to %s: %s%s", event, strerror(-err),
		err == -ENOENT ? " (the module has no such event)" :
		err == -EINVAL ? " (the module's event has fewer arguments)" :
				 "");
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
		krp_probe_die_of_load(err);
	err = krp_probe_attach(p, p->obj, &event);
	if (err)
		krp_probe_die_of_attach(event, err);
	__atomic_store_n(p->listening, 1, __ATOMIC_SEQ_CST);
	krp_verbose("attached to %u events", p->nr_progs);
}

void krp_probe_detach(struct krp_probe *p)
{
	unsigned int i;

	if (p->listening && p->nr_progs)
		__atomic_store_n(p->listening, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < p->nr_progs; i++) {
		bpf_link__destroy(p->links[i]);
		p->links[i] = NULL;
	}
}

void krp_probe_close(struct krp_probe *p)
{
	krp_probe_detach(p);
	memset(p, 0, sizeof(*p));
}

struct krp_lost krp_probe_lost(const struct krp_probe *p)
{
	return krp_lost_read(p->prog_fds, p->nr_progs, p->counters_fd);
}

int krp_ask(const char *event)
{
	static const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int prog_fd, fd;

	prog_fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "krp_ask", "Dual BSD/GPL", return_0,
				sizeof(return_0) / sizeof(*return_0), NULL);
	if (prog_fd < 0)
		krp_probe_die_of_load(prog_fd);
	fd = bpf_raw_tracepoint_open(event, prog_fd);
	if (fd < 0)
		krp_probe_die_of_attach(event, fd);
	close(prog_fd);
	return fd;
}
