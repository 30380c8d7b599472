// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drain.h"

bool krp_ring_pos_map(struct krp_ring_pos *pos, int map_fd)
{
	long page = sysconf(_SC_PAGESIZE);

	/* Map one page each, as bpf(2) users do: the second page may only be read. */
	pos->producer = NULL;
	pos->consumer = mmap(NULL, page, PROT_READ, MAP_SHARED, map_fd, 0);
	if (pos->consumer != MAP_FAILED)
		pos->producer = mmap(NULL, page, PROT_READ, MAP_SHARED, map_fd, page);
	return pos->consumer != MAP_FAILED && pos->producer != MAP_FAILED;
}

void krp_ring_pos_unmap(struct krp_ring_pos *pos)
{
	long page = sysconf(_SC_PAGESIZE);

	if (pos->consumer && pos->consumer != MAP_FAILED)
		munmap(pos->consumer, page);
	if (pos->producer && pos->producer != MAP_FAILED)
		munmap(pos->producer, page);
	memset(pos, 0, sizeof(*pos));
}

bool krp_ring_drain(const struct krp_ring_pos *pos, void (*consume)(void *), void *arg,
		    unsigned int ms)
{
	unsigned int n;

	/*
	 * A program that has been detached may be about to reserve a record. membarrier() returns after a grace period,
	 * and programs run as RCU readers, so none is left then. If it is not available, we wait a millisecond instead.
	 */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(1000);
	for (n = 0;; n++) {
		consume(arg);
		if (__atomic_load_n(pos->consumer, __ATOMIC_ACQUIRE) ==
		    __atomic_load_n(pos->producer, __ATOMIC_ACQUIRE))
			return true;
		if (n >= ms)
			return false;
		usleep(1000);
	}
}
