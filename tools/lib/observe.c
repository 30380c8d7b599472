// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "observe.h"
#include "tool.h"

/* The wish lasts as long as this is open. */
static int observe_fd = -1;

void krp_observe(const char *names)
{
	size_t len = strlen(names);

	if (observe_fd < 0)
		observe_fd = open(KRP_PROC_OBSERVE, O_WRONLY | O_CLOEXEC);
	if (observe_fd < 0 || write(observe_fd, names, len) != (ssize_t)len)
		krp_die("cannot ask for \"%s\" in %s: %s", names, KRP_PROC_OBSERVE,
			strerror(errno));
}

void krp_observe_end(void)
{
	if (observe_fd >= 0)
		close(observe_fd);
	observe_fd = -1;
}
