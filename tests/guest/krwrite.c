// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One write() to /proc/krping, and its result:
 *
 *	krwrite [--out FILE] [--fd N] [--die] TEXT
 *	krwrite --batch < COMMANDS
 *	krwrite --many listen|ping N ADDRESS PORT
 *
 * Prints "ret=BYTES|-1 werr=0|ENAME len=BYTES " and then the run's line of /proc/krping_runs, found by this process' id. TEXT and
 * COMMANDS may have \n, \t, \\ and \xNN. INT and TERM interrupt the write, which then fails with an errno; with --die they
 * kill the process, as they would kill an echo. --batch carries out one command after another, one for each line.
 *
 * --many: N runs at once, until this process is killed. listen: all of them servers on N ports that nobody connects to; ping:
 * half of them servers and half their clients, which ping without end. A run that ends before that is reported on stderr.
 *
 * It is written in C, since in an emulated guest the start of a shell or of perl costs more than all that the tests then do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *out;
static int fd = -1;

static void nothing(int sig)
{
	(void)sig;
}

static void check(int bad, const char *what)
{
	if (!bad)
		return;
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
	if (h >= 0)
		ret = write(h, text, len);
	if (ret < 0)
		err = errno;
	if (out) {
		snprintf(tmp, sizeof(tmp), "%s.new", out);
		to = fopen(tmp, "w");
		check(!to, tmp);
	}
	fprintf(to, "ret=%zd werr=%s len=%zu %s", ret, err ? strerrorname_np(err) : "0", len,
		h < 0 ? "at=open " : "");
	print_run(to);
	if (h >= 0 && h != fd)
		close(h);
	fflush(to);
	if (out) {
		fclose(to);
		check(rename(tmp, out), out);
	}
}

/* A process that writes one command, and reports that its run has ended. */
static void start(const char *role, const char *address, int port)
{
	pid_t parent = getpid(), child = fork();
	char text[128];
	int n;

	check(child < 0, "fork");
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	/* What has begun to ping must not keep the next ones from beginning. */
	setpriority(PRIO_PROCESS, 0, 19);
	n = snprintf(text, sizeof(text), "%s,addr=%s,port=%d", role, address, port);
	fd = open("/proc/krping", O_WRONLY);
	check(fd < 0 || write(fd, text, n) < 0, text);
	fprintf(stderr, "krwrite: %s: it has ended\n", text);
	_exit(0);
}

/* Servers that listen have a line "ID listen". */
static int listening(void)
{
	FILE *f = fopen("/proc/krping", "re");
	char line[256];
	int n = 0;

	check(!f, "/proc/krping");
	while (fgets(line, sizeof(line), f))
		n += strstr(line, " listen") != NULL;
	fclose(f);
	return n;
}

static void many(int ping, int nr, const char *address, int port)
{
	int i, others = listening();

	setpgid(0, 0);
	for (i = 0; i < nr; i++)
		start("server", address, port + i);
	while (ping && listening() < others + nr)
		usleep(50 * 1000);
	/* Start the clients one by one: many at once would time out. */
	for (i = 0; ping && i < nr; i++) {
		start("client", address, port + i);
		while (listening() > others + nr - i - 1)
			usleep(10 * 1000);
	}
	check(ping && setpriority(PRIO_PGRP, 0, 0), "setpriority");
	pause();
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = nothing };
	int batch = 0, die = 0, i;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (argc == 6 && !strcmp(argv[1], "--many")) {
		i = !strcmp(argv[2], "ping");
		many(i, atoi(argv[3]) / (1 + i), argv[4], atoi(argv[5]));
		return 0;
	}
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
		fprintf(stderr,
			"usage: krwrite [--out FILE] [--fd N] [--die] TEXT | --batch | --many ...\n");
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
