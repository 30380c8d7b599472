/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The programs of bpf/krping_iter.bpf.c, and their maps. */
#ifndef KRP_LIB_PROGRAMS_H
#define KRP_LIB_PROGRAMS_H

#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../bpf/iter.h"
#include "lost.h"
#include "runs.h"
#include "environment.h"

/* The programs: one for each event. */
#define KRP_NR_PROGRAMS 4

struct krp_programs {
	struct krping_iter_bpf *skel;
	int link_fds[KRP_NR_PROGRAMS], prog_fds[KRP_NR_PROGRAMS];
	uint32_t slots, cpus;		  /* of runs, and rings */
	uint64_t ring;			  /* bytes of data in a ring: a power of two */
	const char *runs, *hists, *rings; /* mapped */
	struct ring_buffer *wakeups;	  /* NULL: the rings are not read */
};

/*
 * Loads and attaches the programs, or dies with the cause. krp_probe_init() comes before. Until
 * krp_programs_begin() they do nothing.
 */
void krp_programs_open(struct krp_programs *w, enum krp_kind kind);
void krp_programs_begin(const struct krp_programs *w);
void krp_programs_close(struct krp_programs *w);

static inline uint32_t krp_programs_slots(const struct krp_programs *w)
{
	return w->slots;
}

/* The state of the run in a slot; look at head.state first. */
static inline const struct krp_run *krp_programs_run(const struct krp_programs *w, uint32_t slot)
{
	return (const struct krp_run *)(w->runs + (size_t)slot * sizeof(struct krp_run));
}

static inline const struct krp_hist *krp_programs_hist(const struct krp_programs *w, uint32_t slot)
{
	return (const struct krp_hist *)(w->hists + (size_t)slot * sizeof(struct krp_hist));
}

/*
 * Copies the state of a run as it is between two events. false: it was written to
 * at each attempt, and the copy is of no use.
 */
bool krp_programs_read(const struct krp_programs *w, uint32_t slot, struct krp_run *to);
/* The result of reading the run in a slot. */
enum krp_taken {
	KRP_FILTERED, /* a filter says no */
	KRP_TORN,     /* its state was written at each attempt: try later */
	KRP_TAKEN,
};
/*
 * Reads /proc/krping_runs, unless all runs in slots are known and have made
 * iterations: from then on only a run's counters change until it ends. The file
 * has lines for many runs that ended long ago, and reading it takes as long as
 * twenty pings.
 */
void krp_programs_info(const struct krp_programs *w, struct krp_runs *runs);
/* Notes on which CPUs the threads of new runs are. Only if there is a filter it reads /proc/krping_runs. */
void krp_programs_environment(const struct krp_programs *w, struct krp_runs *runs,
			      struct krp_environment *setting);
/*
 * Deletes from a map by run the runs that have no slot any more. A run whose end this tool did not see, since the
 * tool was stopped for a while, would keep its place in the map for good.
 */
void krp_programs_sweep(const struct krp_programs *w, int map_fd);
struct krp_lost krp_programs_lost(const struct krp_programs *w);

/* Becomes readable when a ring should be read; not with KRP_KIND_PHASES. */
static inline int krp_programs_fd(const struct krp_programs *w)
{
	return ring_buffer__epoll_fd(w->wakeups);
}

/* It also becomes readable when this one is. */
void krp_programs_also(struct krp_programs *w, int fd);
/* To be called before the rings are read: the descriptor is not readable until it is time again. */
void krp_programs_woken(struct krp_programs *w);

#endif /* KRP_LIB_PROGRAMS_H */
