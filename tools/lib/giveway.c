// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "giveway.h"

/* How much of a ring is not read yet, in per cent, when we give way again. */
#define AHEAD 30

/*
 * May we give way? Not if the user has chosen a priority, and not if we could not take ours
 * back, for which a process needs CAP_SYS_NICE or RLIMIT_NICE: trying to raise it shows that.
 */
static bool may_give(void)
{
	static int may = -1;

	if (may >= 0)
		return may;
	errno = 0;
	may = sched_getscheduler(0) == SCHED_OTHER && !getpriority(PRIO_PROCESS, 0) && !errno &&
	      !setpriority(PRIO_PROCESS, 0, -1);
	if (may)
		setpriority(PRIO_PROCESS, 0, 0);
	return may;
}

void krp_give_way(unsigned int behind)
{
	static bool gives;
	bool give = behind < (gives ? KRP_FAR_BEHIND : AHEAD);
	const struct sched_param param = { 0 };

	if (give != gives && may_give() &&
	    !sched_setscheduler(0, give ? SCHED_IDLE : SCHED_OTHER, &param))
		gives = give;
}
