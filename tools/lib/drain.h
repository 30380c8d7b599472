/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The last look at a ring buffer, once nothing new can come into it. */
#ifndef KRP_LIB_DRAIN_H
#define KRP_LIB_DRAIN_H

#include <stdbool.h>

/* Up to where a ring buffer was written, and was read: the kernel's own numbers, of which the first has what is reserved. */
struct krp_ring_pos {
	unsigned long *consumer, *producer;
};

/* false, with errno: they cannot be mapped. */
bool krp_ring_pos_map(struct krp_ring_pos *pos, int map_fd);
void krp_ring_pos_unmap(struct krp_ring_pos *pos);

/*
 * Reads until nothing is left. A program that was interrupted, or has just been detached while it ran on another CPU,
 * has a record reserved that it has not committed: readers stop there, and find what is behind it only later. false:
 * it did not come within so many milliseconds.
 */
bool krp_ring_drain(const struct krp_ring_pos *pos, void (*consume)(void *), void *arg,
		    unsigned int ms);

#endif /* KRP_LIB_DRAIN_H */
