/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Loads and attaches BPF programs: those of source.h, and what a tool has beside them.
 */
#ifndef KRP_LIB_PROBE_H
#define KRP_LIB_PROBE_H

#include <bpf/libbpf.h>
#include <json-c/json.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lost.h"
#include "../../bpf/event_table.h"

/* One for each event of ours, as krping-trace has, and some for those of the kernel. */
#define KRP_MAX_PROGS (KRP_NR_EVENTS + 8)

struct krp_probe {
	struct bpf_object *obj;
	struct bpf_link *links[KRP_MAX_PROGS];
	int prog_fds[KRP_MAX_PROGS];
	unsigned int nr_progs;
	int counters_fd;
	uint32_t *listening; /* NULL: the programs have none */
};

/* What a tool wants of its programs. KRP_SKELETON() fills in the first four members. */
struct krp_want {
	struct bpf_object_skeleton *skeleton;
	struct bpf_map *counters;
	uint32_t *only_run, *listening;	  /* these variables of bpf/base.bpf.h */
	uint32_t run;			  /* watch this run only; 0: all */
	bool (*event)(const char *event); /* attach to this event? NULL: to all */
};

/* libbpf leaves the variables at these addresses when it loads the programs. */
#define KRP_SKELETON(skel)                                               \
	.skeleton = (skel)->skeleton, .counters = (skel)->maps.counters, \
	.only_run = (uint32_t *)&(skel)->rodata->only_run,               \
	.listening = (uint32_t *)&(skel)->bss->listening

/* The event, or the function, that a program is for, as the name of its section has it. */
const char *krp_event_of(const struct bpf_program *prog);

/* Before a skeleton is opened: libbpf's messages go where ours go. */
void krp_probe_init(void);
/*
 * To be called next, with what the skeleton's open function has returned: dies, with
 * libbpf's reason, if that is NULL.
 */
void krp_probe_opened(const void *skel);
/* Both die, with the cause: programs could not be loaded, or not be attached to the event. */
void krp_probe_die_of_load(int err) __attribute__((noreturn));
void krp_probe_die_of_attach(const char *event, int err) __attribute__((noreturn));
/*
 * Loads the programs of an open skeleton and attaches them as raw tracepoints, or
 * dies with the cause. The tool sets sizes of maps and constants of the programs (skel->rodata) before.
 * The skeleton stays the tool's, and is destroyed after krp_probe_close().
 */
void krp_probe_open(struct krp_probe *p, const struct krp_want *want);
/*
 * Attaches the programs of a loaded object to their events or functions. 0, or -errno and which. krping_run_start, where it is
 * wanted, comes last: if we have seen a run start, we have seen all that came after.
 */
int krp_probe_attach(struct krp_probe *p, struct bpf_object *obj, const char **event);
/* Stops the events; the counts can still be read. */
void krp_probe_detach(struct krp_probe *p);
void krp_probe_close(struct krp_probe *p);

struct krp_lost krp_probe_lost(const struct krp_probe *p);

/*
 * Asks the module for what an event costs, where /proc tells the figures: attaches to the event until what it returns is closed, also
 * by the end of the tool. Dies with the cause if it cannot.
 */
int krp_ask(const char *event);

#endif /* KRP_LIB_PROBE_H */
