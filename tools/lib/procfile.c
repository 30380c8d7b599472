// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "procfile.h"

FILE *krp_procfile_open(const char *path, uint32_t *from)
{
	int fd = -1, err;
	FILE *f;

	if (*from)
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "from=%" PRIu32, *from) < 0)
		*from = 0;
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	f = fdopen(fd, "r");
	if (!f) {
		err = errno;
		close(fd);
		errno = err;
	}
	return f;
}
