/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reads the records of iterations (bpf/iter.h) while they are written. A reader has
 * a place of its own in the ring of each CPU, and no part in what others read.
 */
#ifndef KRP_LIB_ITERS_H
#define KRP_LIB_ITERS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../bpf/iter.h"

/* A reader's place in the ring of a CPU. */
struct krp_cursor {
	const struct krp_ring *ring;
	uint64_t pos;			     /* the number of the next byte to read */
	uint64_t limit;			     /* where this reading ends */
	uint64_t rec[(KRP_REC_MAX + 7) / 8]; /* a copy of the record before pos */
};

struct krp_iters {
	uint64_t size; /* bytes of data in a ring */
	unsigned int nr;
	struct krp_cursor *cpu;
	/* The CPUs that have a record to hand over, by the time of these records. */
	struct krp_cursor **order;
	unsigned int nr_order;
	uint64_t overtaken; /* how often the writer was a round ahead */
};

/*
 * A reader of "nr" rings with "size" bytes of data each, which begins with the
 * records to come. 0 or -ENOMEM.
 */
int krp_iters_init(struct krp_iters *it, const void *rings, uint64_t size, unsigned int nr);
void krp_iters_free(struct krp_iters *it);

/*
 * Hands over each record that is complete when the call is made, by the times of
 * their ends, unless it was overwritten. Two records of a run can come in the wrong
 * order if its thread has moved to another CPU in between: then the later one is
 * handed over by this call, and the earlier one by the next.
 * Returns how many there were.
 */
unsigned long krp_iters_read(struct krp_iters *it,
			     void (*take)(void *ctx, const struct krp_rec *rec), void *ctx);
/* How much of the ring that is read the least was not read yet, in per cent; above 100: it was overwritten. */
unsigned int krp_iters_behind(const struct krp_iters *it);

#endif /* KRP_LIB_ITERS_H */
