// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages of a tool. They are not in tool.c, so that a tool without BPF needs no libbpf. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "tool.h"

struct krp_tool krp_tool;

/*
 * A file that is opened gets the lowest free descriptor. Where the caller closed its standard output, that could be
 * /proc/krping, and what is printed would become commands. /dev/null takes the place, for reading alone: whoever writes there
 * is still told that the output is closed.
 */
void krp_open_closed_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * A message may quote anything, such as words of a command line. It stays one
 * line, and cannot control the terminal.
 */
static void format(char *buf, size_t size, const char *fmt, va_list ap)
{
	char raw[2048];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	krp_clean(buf, size, raw);
}

static void verror(const char *fmt, va_list ap)
{
	json_object *o;
	char msg[2048];

	format(msg, sizeof(msg), fmt, ap);
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, false);
		krp_json_text(o, "error", msg);
		krp_json_emit(stdout, o);
	} else {
		fflush(stdout);
		fprintf(stderr, "%s: %s\n", krp_tool.name, msg);
	}
}

void krp_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verror(fmt, ap);
	va_end(ap);
}

void krp_die(const char *fmt, ...)
{
	va_list ap;

	if (krp_tool.give_back)
		krp_tool.give_back();
	krp_tool.status = KRP_EXIT_ENV;
	va_start(ap, fmt);
	verror(fmt, ap);
	va_end(ap);
	exit(KRP_EXIT_ENV);
}

void krp_write_failed(int err)
{
	if (krp_tool.give_back)
		krp_tool.give_back();
	if (err == EPIPE)
		_exit(krp_tool.status);
	fprintf(stderr, "%s: cannot write: %s (%s)\n", krp_tool.name,
		strerrorname_np(err) ?: "unknown error", strerror(err));
	/* Not exit(), which would write again. */
	_exit(KRP_EXIT_ENV);
}

static void to_stderr(const char *before, const char *fmt, va_list ap)
{
	char msg[2048];

	format(msg, sizeof(msg), fmt, ap);
	fprintf(stderr, "%s%s%s\n", before, *before ? ": " : "", msg);
}

void krp_verbose(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (krp_tool.opts.verbose)
		to_stderr(krp_tool.name, fmt, ap);
	va_end(ap);
}

void krp_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!krp_tool.opts.json)
		to_stderr("", fmt, ap);
	va_end(ap);
}
