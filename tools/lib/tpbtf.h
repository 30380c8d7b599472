/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Loads programs that are written as raw tracepoints as programs that the kernel checks: tp_btf. */
#ifndef KRP_LIB_TPBTF_H
#define KRP_LIB_TPBTF_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <string.h>

/* The prefix of the event's name, in the name of a program's section. */
#define KRP_RAW_TP "raw_tp/"

static inline const char *krp_event_of(const struct bpf_program *prog)
{
	return bpf_program__section_name(prog) + strlen(KRP_RAW_TP);
}

/* Has the module BTF that can be read? */
bool krp_tp_btf_has(void);
/*
 * From begin to end libbpf opens and loads all programs of sections "raw_tp/EVENT"
 * as BPF_TRACE_RAW_TP of the module's event. begin gives 0 or -errno, and end is
 * called after it in any case.
 */
int krp_tp_btf_begin(void);
void krp_tp_btf_end(void);

#endif /* KRP_LIB_TPBTF_H */
