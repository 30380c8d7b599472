/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Keeps the last of many elements, and counts those before them. */
#ifndef KRP_LIB_KEPT_H
#define KRP_LIB_KEPT_H

#include <stdbool.h>
#include <stddef.h>

struct krp_kept {
	char *v;	       /* a ring */
	size_t size;	       /* of an element */
	unsigned int room, nr; /* elements: at most, and now */
	unsigned int first;    /* the oldest */
	unsigned long dropped;
};

/* 0 or -ENOMEM. */
int krp_kept_init(struct krp_kept *k, unsigned int room, size_t size);
void krp_kept_free(struct krp_kept *k);
/* The n-th element; 0 is the oldest. It stays where it is until it is dropped. */
void *krp_kept_at(const struct krp_kept *k, unsigned int n);
static inline bool krp_kept_full(const struct krp_kept *k)
{
	return k->nr == k->room;
}

/*
 * The place of a new element. If all places are taken it is the place of the
 * oldest, which is counted as dropped: if that owns memory, the caller frees it
 * before, when krp_kept_full() is true.
 */
void *krp_kept_add(struct krp_kept *k);

#endif /* KRP_LIB_KEPT_H */
