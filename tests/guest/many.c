// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many runs at once:
 *
 *	many listen|ping N ADDRESS PORT
 *
 * listen: N runs, all of them servers on N ports that nobody connects to.
 * ping: N runs, half of them servers and half their clients, which ping without
 * end. The runs go on until this process is killed. A run that ends before that
 * is reported on stderr.
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

static const char *address;
static int port, pid;

static void check(int bad, const char *what)
{
	if (!bad)
		return;
	fprintf(stderr, "many: %s: %s\n", what, strerror(errno));
	exit(3);
}

/* A process that writes one command, and reports that its run has ended. */
static void start(const char *role, int nr)
{
	char text[128];
	int child = fork(), fd, n;

	check(child < 0, "fork");
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != pid)
		_exit(0);
	/* What has begun to ping must not keep the next ones from beginning. */
	setpriority(PRIO_PROCESS, 0, 19);
	n = snprintf(text, sizeof(text), "%s,addr=%s,port=%d", role, address, port + nr);
	fd = open("/proc/krping", O_WRONLY);
	check(fd < 0, "/proc/krping");
	check(write(fd, text, n) < 0, text);
	fprintf(stderr, "many: %s: it has ended\n", text);
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

int main(int argc, char **argv)
{
	int ping = argc > 1 && !strcmp(argv[1], "ping"), nr, i, others;

	if (argc != 5 || (!ping && strcmp(argv[1], "listen"))) {
		fprintf(stderr, "usage: many listen|ping N ADDRESS PORT\n");
		return 2;
	}
	nr = atoi(argv[2]) / (1 + ping);
	address = argv[3];
	port = atoi(argv[4]);
	pid = getpid();
	setpgid(0, 0);
	others = listening();
	for (i = 0; i < nr; i++)
		start("server", i);
	if (ping) {
		while (listening() < others + nr)
			usleep(50 * 1000);
		/* Start the clients one by one: many at once would time out. */
		for (i = 0; i < nr; i++) {
			start("client", i);
			while (listening() > others + nr - i - 1)
				usleep(10 * 1000);
		}
		check(setpriority(PRIO_PGRP, 0, 0), "setpriority");
	}
	pause();
	return 0;
}
