/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Loads and attaches a tool's BPF programs, and reads the data that they keep.
 * The kernel side of all this is bpf/run.bpf.h.
 */
#ifndef KRP_LIB_PROBE_H
#define KRP_LIB_PROBE_H

#include <bpf/libbpf.h>
#include <json-c/json.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hist.h"
#include "lost.h"
#include "runs.h"
#include "../../bpf/event_table.h"
#include "../../bpf/slot.h"

/* One for each event of ours, as krping-trace has, and some for those of the kernel. */
#define KRP_MAX_PROGS  (KRP_NR_EVENTS + 8)
#define KRP_MAX_ARRAYS 4

/* An array map that is mapped here, with an element for each slot. */
struct krp_array {
	const char *name;
	void *base;
	size_t stride;
	size_t bytes;
};

struct krp_probe {
	struct bpf_object *obj;
	struct bpf_link *links[KRP_MAX_PROGS];
	int prog_fds[KRP_MAX_PROGS];
	unsigned int nr_progs;
	struct krp_array arrays[KRP_MAX_ARRAYS];
	unsigned int nr_arrays;
	struct krp_array *runs, *hists;
	int run_slots_fd, free_slots_fd, counters_fd;
	uint32_t nr_slots;
	uint32_t *listening;
};

/* What a tool wants of its programs. KRP_SKELETON() fills in the first three members. */
struct krp_want {
	struct bpf_object_skeleton *skeleton;
	uint32_t *only_run, *listening; /* these variables of bpf/base.bpf.h */
	uint32_t run;			/* watch this run only; 0: all */
	uint32_t ring_bytes; /* least size of its ring buffers: a power of two, of whole pages */
	bool (*event)(const char *event); /* attach to this event? NULL: to all */
};

/* libbpf leaves the variables at these addresses when it loads the programs. */
#define KRP_SKELETON(skel)                                                               \
	.skeleton = (skel)->skeleton, .only_run = (uint32_t *)&(skel)->rodata->only_run, \
	.listening = (uint32_t *)&(skel)->bss->listening

/* The event that a program is for, as the name of its section has it. */
const char *krp_event_of(const struct bpf_program *prog);

/* Before a skeleton is opened: libbpf's messages go where ours go. */
void krp_probe_init(void);
/*
 * To be called next, with what the skeleton's open function has returned: dies, with
 * libbpf's reason, if that is NULL.
 */
void krp_probe_opened(const void *skel);
/*
 * Loads the programs of an open skeleton and attaches them as raw tracepoints, or
 * dies with the cause. The tool sets constants of the programs (skel->rodata) before.
 * The skeleton stays the tool's, and is destroyed after krp_probe_close().
 */
void krp_probe_open(struct krp_probe *p, const struct krp_want *want);
/* Stops the events; the counts can still be read. */
void krp_probe_detach(struct krp_probe *p);
void krp_probe_close(struct krp_probe *p);

struct krp_lost krp_probe_lost(const struct krp_probe *p);

struct krp_array *krp_probe_array(struct krp_probe *p, const char *name);
/* The head of the state of the run in a slot; look at its state first. */
const struct krp_head *krp_slot_head(const struct krp_probe *p, uint32_t slot);
/*
 * Reads /proc/krping_runs, unless all runs in slots are known and have made
 * iterations: from then on only a run's counters change until it ends. The file
 * has lines for many runs that ended long ago, and reading it takes as long as
 * twenty pings.
 */
void krp_slot_runs(const struct krp_probe *p, struct krp_runs *runs);
/*
 * Copies the state of a run as it is between two events. false: it was written to
 * at each attempt, and the copy is of no use.
 */
bool krp_slot_read(const struct krp_probe *p, uint32_t slot, void *to, size_t size);
/* The result of reading the run in a slot. */
enum krp_taken {
	KRP_FILTERED, /* a filter says no */
	KRP_TORN,     /* its state was written at each attempt: try later */
	KRP_TAKEN,
};
const struct krp_hist *krp_slot_hist(const struct krp_probe *p, uint32_t slot, uint32_t hist);
/*
 * Frees the slot of a run that has ended, for another run; its run is set to 0
 * before the rest is cleared.
 */
void krp_slot_release(struct krp_probe *p, uint32_t slot);

#endif /* KRP_LIB_PROBE_H */
