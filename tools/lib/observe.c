// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "observe.h"
#include "tool.h"

int krp_observe(const char *names)
{
	int fd = open(KRP_PROC_OBSERVE, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(names);

	if (fd < 0 || write(fd, names, len) != (ssize_t)len)
		krp_die("cannot ask for \"%s\" in %s: %s", names, KRP_PROC_OBSERVE,
			strerror(errno));
	return fd;
}
