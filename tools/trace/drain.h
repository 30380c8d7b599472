/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads the rest of a ring buffer, once nothing new can come into it. */
#ifndef KRP_TRACE_DRAIN_H
#define KRP_TRACE_DRAIN_H

#include <stdbool.h>

/*
 * How far a ring buffer was read and written: the kernel's own numbers.
 * producer includes records that are only reserved.
 */
struct krp_ring_pos {
	unsigned long *consumer, *producer;
};

/* false, with errno: they cannot be mapped. */
bool krp_ring_pos_map(struct krp_ring_pos *pos, int map_fd);
void krp_ring_pos_unmap(struct krp_ring_pos *pos);

/*
 * Reads until nothing is left. A program that was interrupted, or has just been detached while it ran on another CPU,
 * has a record reserved that it has not committed: readers stop there, and get the records behind it only later.
 * Returns false if it was not committed within ms milliseconds.
 */
bool krp_ring_drain(const struct krp_ring_pos *pos, void (*consume)(void *), void *arg,
		    unsigned int ms);

#endif /* KRP_TRACE_DRAIN_H */
