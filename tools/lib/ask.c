// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "ask.h"
#include "probe.h"

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
