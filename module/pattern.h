/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The data of a ping: its text, and the comparison with what came back. */
#ifndef KRPING_PATTERN_H
#define KRPING_PATTERN_H

#include <linux/types.h>

/* The result of a comparison. */
struct krping_diff {
	__s64 at; /* offset of the first byte that differed; -1: none did */
	/* It had another value when it was read again: the peer wrote meanwhile. */
	bool changed;
};

void krping_pattern_fill(void *buf, size_t size, __u64 iter);
struct krping_diff krping_pattern_check(const void *buf, size_t size, __u64 iter);
struct krping_diff krping_pattern_compare(const void *buf, const void *want, size_t size);

#endif /* KRPING_PATTERN_H */
