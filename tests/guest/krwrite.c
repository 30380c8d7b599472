// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One write() to /proc/krping, and its result:
 *
 *	krwrite [--out FILE] [--fd N] [--die] TEXT
 *	krwrite --batch < COMMANDS
 *
 * Prints "ret=BYTES|-1 werr=0|ENAME len=BYTES " and then the run's line of
 * /proc/krping_runs, found by this process' id. TEXT and COMMANDS may have \n,
 * \t, \\ and \xNN. INT and TERM interrupt the write, which then fails with an
 * errno; with --die they kill the process, as they would kill an echo. --batch
 * carries out one command after another, one for each line.
 *
 * It is written in C, since in an emulated guest the start of a shell or of perl
 * costs more than all that the tests then do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *out;
static int fd = -1;

static void nothing(int sig)
{
	(void)sig;
}

static void fatal(const char *what)
{
	fprintf(stderr, "krwrite: %s: %m\n", what);
	exit(3);
}

static size_t unescape(char *s)
{
	char *from = s, *to = s;
	unsigned int hex;

	while (*from) {
		if (*from != '\\' || !from[1]) {
			*to++ = *from++;
			continue;
		}
		from++;
		if (*from == 'x' && sscanf(from + 1, "%2x", &hex) == 1) {
			*to++ = hex;
			from += 3;
			continue;
		}
		*to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
		from++;
	}
	return to - s;
}

static void print_run(FILE *to)
{
	char *line = NULL, *found = NULL, pid[32];
	size_t size = 0;
	FILE *f = fopen("/proc/krping_runs", "r");

	snprintf(pid, sizeof(pid), " pid=%d ", getpid());
	while (f && getline(&line, &size, f) > 0)
		/* The runs of a server's clients have a parent, and the same writer. */
		if (strstr(line, pid) && strstr(line, " parent=0 ")) {
			free(found);
			found = strdup(line);
		}
	fputs(found ? found : "id=-\n", to);
	free(found);
	free(line);
	if (f)
		fclose(f);
}

static void command(char *text)
{
	size_t len = unescape(text);
	FILE *to = stdout;
	char tmp[4096];
	ssize_t ret = -1;
	int h = fd, err = 0;

	if (h < 0)
		h = open("/proc/krping", O_WRONLY);
	if (h < 0) {
		err = errno;
	} else {
		ret = write(h, text, len);
		if (ret < 0)
			err = errno;
	}
	if (out) {
		snprintf(tmp, sizeof(tmp), "%s.new", out);
		to = fopen(tmp, "w");
		if (!to)
			fatal(tmp);
	}
	fprintf(to, "ret=%zd werr=%s len=%zu %s", ret, err ? strerrorname_np(err) : "0", len,
		h < 0 ? "at=open " : "");
	print_run(to);
	if (h >= 0 && h != fd)
		close(h);
	fflush(to);
	if (out) {
		fclose(to);
		if (rename(tmp, out))
			fatal(out);
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = nothing };
	int batch = 0, die = 0, i;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	for (i = 1; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--batch"))
			batch = 1;
		else if (!strcmp(argv[i], "--die"))
			die = 1;
		else if (!strcmp(argv[i], "--out") && i + 1 < argc)
			out = argv[++i];
		else if (!strcmp(argv[i], "--fd") && i + 1 < argc)
			fd = atoi(argv[++i]);
		else
			break;
	}
	if (argc - i != !batch) {
		fprintf(stderr, "usage: krwrite [--out FILE] [--fd N] [--die] TEXT | --batch\n");
		return 2;
	}
	/* A script starts its background commands with INT ignored. */
	if (die)
		action.sa_handler = SIG_DFL;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!batch) {
		command(argv[i]);
		return 0;
	}
	while ((n = getline(&line, &size, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		command(line);
	}
	free(line);
	return 0;
}
