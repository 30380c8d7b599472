// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked.h"

static krp_write_failed_fn *give_up;

/*
 * Writes all of buf, so that we need not guess what stdio does with a short
 * write, and how it sets errno.
 */
static ssize_t write_all(void *unused, const char *buf, size_t size)
{
	struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	size_t done = 0;
	ssize_t n;

	(void)unused;
	while (done < size) {
		n = write(STDOUT_FILENO, buf + done, size - done);
		if (n >= 0)
			done += n;
		else if (errno == EAGAIN)
			/* Somebody else made the pipe or the terminal non-blocking. */
			poll(&fd, 1, -1);
		else if (errno != EINTR)
			give_up(errno);
	}
	return size;
}

/* Some file systems report only when a file is closed that there was no room. */
static void close_stdout(void)
{
	fflush(stdout);
	/*
	 * EBADF: we were started without stdout. That matters only to a write,
	 * and nothing was written.
	 */
	if (close(STDOUT_FILENO) && errno != EBADF)
		give_up(errno);
}

void krp_check_stdout(krp_write_failed_fn *failed)
{
	static const cookie_io_functions_t io = { .write = write_all };
	FILE *f = fopencookie(NULL, "w", io);

	give_up = failed;
	signal(SIGPIPE, SIG_IGN);
	if (!f || setvbuf(f, NULL, _IOLBF, 0) || atexit(close_stdout))
		give_up(ENOMEM);
	/* In the GNU C library stdout is a variable, so that it can be replaced. */
	stdout = f;
}

void krp_write_whole(const char *text, size_t size)
{
	fflush(stdout);
	write_all(NULL, text, size);
}
