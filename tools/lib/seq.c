// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "seq.h"

/* All but a few copies in a million are good at the first attempt. */
#define READ_ATTEMPTS 1000

/* Reads seq after all reads before it are done. */
static uint32_t seq_after(const uint32_t *seq)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(seq, __ATOMIC_RELAXED);
}

/*
 * Two readings have to agree, and seq has to be even and the same before,
 * between and after them. seq alone is enough if the stores of the writer are
 * seen in their order, which the programs ensure with atomic instructions. But
 * a JIT compiler that makes weaker instructions of these must not make us judge
 * a run by half a copy.
 */
bool krp_seq_read(const uint32_t *seq, void *to, size_t size)
{
	unsigned int i;
	uint32_t begin;

	for (i = 0; i < READ_ATTEMPTS; i++) {
		begin = __atomic_load_n(seq, __ATOMIC_ACQUIRE);
		if (begin & 1)
			continue;
		memcpy(to, seq, size);
		if (seq_after(seq) != begin)
			continue;
		if (!memcmp(to, seq, size) && seq_after(seq) == begin)
			return true;
	}
	return false;
}
