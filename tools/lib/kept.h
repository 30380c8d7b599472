/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The last ones of many, and how many there were before them. */
#ifndef KRP_LIB_KEPT_H
#define KRP_LIB_KEPT_H

#include <stdbool.h>
#include <stddef.h>

struct krp_kept {
	char *v;	       /* a ring */
	size_t size;	       /* of an element */
	unsigned int room, nr; /* elements: at most, and there are */
	unsigned int first;    /* the oldest */
	unsigned long dropped;
};

/* 0 or -ENOMEM. */
int krp_kept_init(struct krp_kept *k, unsigned int room, size_t size);
void krp_kept_free(struct krp_kept *k);
/* The n-th, from 0, the oldest. It stays where it is until it is dropped. */
void *krp_kept_at(const struct krp_kept *k, unsigned int n);
static inline bool krp_kept_full(const struct krp_kept *k)
{
	return k->nr == k->room;
}

/*
 * The place of a new one. When all is full that is the oldest's, which is counted
 * as dropped: what hangs on it is to be freed before, by whom krp_kept_full() tells.
 */
void *krp_kept_add(struct krp_kept *k);

#endif /* KRP_LIB_KEPT_H */
