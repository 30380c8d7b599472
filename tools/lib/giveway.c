// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "giveway.h"

/*
 * How much of a ring is not read yet, in per cent: from BEHIND on the tool takes its
 * priority back, and below AHEAD it gives way again.
 */
#define BEHIND 50
#define AHEAD  30

void krp_give_way(unsigned int behind)
{
	static bool gives, chosen;
	bool give = behind < (gives ? BEHIND : AHEAD);

	if (chosen || give == gives)
		return;
	errno = 0;
	if (!gives && (getpriority(PRIO_PROCESS, 0) || errno)) {
		chosen = true;
		return;
	}
	setpriority(PRIO_PROCESS, 0, give ? PRIO_MAX - 1 : 0);
	gives = give;
}
