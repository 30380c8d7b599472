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
#include "../../bpf/events.h"
#include "../../bpf/run.h"

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
	bool tp_btf;
};

/* A constant of the programs. */
struct krp_const {
	const char *name;
	uint64_t value;
};

#define KRP_MAX_CONSTS 4

/* What a tool wants of its programs. */
struct krp_want {
	uint32_t run;	     /* watch this run only; 0: all */
	uint32_t ring_bytes; /* least size of its ring buffers: a power of two, of whole pages */
	bool (*event)(const char *event);	 /* attach to this event? NULL: to all */
	struct krp_const consts[KRP_MAX_CONSTS]; /* up to the first one without a name */
};

/* Loads and attaches, or dies with the cause. elf is the object of a skeleton. */
void krp_probe_open(struct krp_probe *p, const void *elf, size_t size, const struct krp_want *want);
/* Stops the events; the counts can still be read. */
void krp_probe_detach(struct krp_probe *p);
void krp_probe_close(struct krp_probe *p);

struct krp_lost krp_probe_lost(const struct krp_probe *p);
/* Sets a variable of the programs, after krp_probe_open(). */
void krp_probe_var(struct krp_probe *p, const char *name, uint64_t value);

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
