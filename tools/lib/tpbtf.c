// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * libbpf finds an event by looking at each type of the kernel, for each program
 * anew. There are a hundred thousand types, and that took most of the time that
 * a tool needs to start. The module has only a few hundred types, and we know
 * that the event is in the module.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tpbtf.h"

#define MODULE	   "rdma_krping"
#define MODULE_BTF "/sys/kernel/btf/" MODULE
/* The prefix of the event's name, in the name of the type that has its prototype. */
#define PROTOTYPE  "btf_trace_"

static struct btf *kernel, *module;
static int module_fd = -1;
static int handler = -1;

bool krp_tp_btf_has(void)
{
	return !access(MODULE_BTF, R_OK);
}

/* Opens the BTF of the module, which is one of all BTF that the kernel has. */
static int open_module_btf(void)
{
	struct bpf_btf_info info;
	char name[64];
	uint32_t id = 0, len;
	int fd;

	while (!bpf_btf_get_next_id(id, &id)) {
		fd = bpf_btf_get_fd_by_id(id);
		if (fd < 0) {
			/* It has gone meanwhile. */
			if (errno == ENOENT)
				continue;
			return -errno;
		}
		memset(&info, 0, sizeof(info));
		info.name = (uintptr_t)name;
		info.name_len = sizeof(name);
		len = sizeof(info);
		*name = '\0';
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, MODULE))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static int find_prototype(const char *event)
{
	const struct btf_type *t;
	const char *name;
	uint32_t id;

	for (id = btf__type_cnt(kernel); id < btf__type_cnt(module); id++) {
		t = btf__type_by_id(module, id);
		if (!btf_is_typedef(t))
			continue;
		name = btf__name_by_offset(module, t->name_off);
		if (!strncmp(name, PROTOTYPE, strlen(PROTOTYPE)) &&
		    !strcmp(name + strlen(PROTOTYPE), event))
			return id;
	}
	return -ENOENT;
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *load, long cookie)
{
	int id = find_prototype(krp_event_of(prog));

	(void)cookie;
	if (id < 0)
		return id;
	load->attach_btf_obj_fd = module_fd;
	load->attach_btf_id = id;
	return 0;
}

int krp_tp_btf_begin(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	int err;

	kernel = btf__load_vmlinux_btf();
	if (!kernel)
		return -errno;
	module = btf__load_module_btf(MODULE, kernel);
	if (!module)
		return -errno;
	module_fd = open_module_btf();
	if (module_fd < 0)
		return module_fd;
	err = libbpf_register_prog_handler(KRP_RAW_TP, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
					   &opts);
	if (err < 0)
		return err;
	handler = err;
	return 0;
}

void krp_tp_btf_end(void)
{
	if (handler >= 0)
		libbpf_unregister_prog_handler(handler);
	handler = -1;
	if (module_fd >= 0)
		close(module_fd);
	module_fd = -1;
	btf__free(module);
	btf__free(kernel);
	module = kernel = NULL;
}
