// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many runs at once, from one process:
 *
 *	many listen|ping N ADDRESS PORT
 *
 * listen: N runs, all of them servers on N ports that nobody connects to.
 * ping: N runs, half of them servers and half their clients, which ping without
 * end. The runs go on until the process is killed. A run that ends before that
 * is reported on stderr.
 *
 * The runs are threads, since in an emulated guest a process for each would
 * take longer than all that is tested with them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *address;
static unsigned int port;
static pid_t *tids;

static void fatal(const char *what)
{
	fprintf(stderr, "many: %s: %s\n", what, strerror(errno));
	exit(3);
}

/* What one writer writes: even numbers are servers, odd ones their clients. */
static void *writer(void *arg)
{
	unsigned long n = (unsigned long)arg;
	char text[128];
	int fd;

	/* What has begun to ping must not keep the next ones from beginning. */
	setpriority(PRIO_PROCESS, 0, 19);
	__atomic_store_n(&tids[n], gettid(), __ATOMIC_RELEASE);
	snprintf(text, sizeof(text), "%s,addr=%s,port=%lu", n % 2 ? "client" : "server", address,
		 port + n / 2);
	fd = open("/proc/krping", O_WRONLY);
	if (fd < 0)
		fatal("/proc/krping");
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "many: %s: %s\n", text, strerror(errno));
	else
		fprintf(stderr, "many: %s: it has ended\n", text);
	close(fd);
	return NULL;
}

static void start(unsigned long n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	errno = pthread_create(&thread, &attr, writer, (void *)n);
	if (errno)
		fatal("pthread_create");
	pthread_attr_destroy(&attr);
}

/* A thread that has not run yet has no number, and will be as nice as it was. */
static void all_alike(unsigned long nr)
{
	unsigned long n;
	pid_t tid;

	for (n = 0; n < nr; n++) {
		tid = __atomic_load_n(&tids[n], __ATOMIC_ACQUIRE);
		if (tid && setpriority(PRIO_PROCESS, tid, 0))
			fatal("setpriority");
	}
}

/* Servers that listen have a line "ID listen". */
static unsigned int listening(void)
{
	FILE *f = fopen("/proc/krping", "re");
	unsigned int n = 0;
	char line[256];

	if (!f)
		fatal("/proc/krping");
	while (fgets(line, sizeof(line), f))
		n += strstr(line, " listen") != NULL;
	fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long nr, i, others;
	int ping;

	if (argc != 5 || (strcmp(argv[1], "listen") && strcmp(argv[1], "ping"))) {
		fprintf(stderr, "usage: many listen|ping N ADDRESS PORT\n");
		return 2;
	}
	ping = !strcmp(argv[1], "ping");
	nr = strtoul(argv[2], NULL, 0);
	address = argv[3];
	port = strtoul(argv[4], NULL, 0);
	tids = calloc(2 * nr, sizeof(*tids));
	if (!tids)
		fatal("calloc");
	if (ping)
		nr /= 2;
	others = listening();
	for (i = 0; i < nr; i++)
		start(2 * i);
	if (ping) {
		while (listening() < others + nr)
			usleep(50 * 1000);
		/* Start the clients one by one: many at once would time out. */
		for (i = 0; i < nr; i++) {
			start(2 * i + 1);
			while (listening() > others + nr - i - 1)
				usleep(10 * 1000);
		}
		all_alike(2 * nr);
	}
	pause();
	return 0;
}
