// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes everything that can fail in one side's runs fail, one after another:
 *
 *	sweep LIMIT GRACE TO client|server SERVER-COMMAND CLIENT-COMMAND FAULT...
 *
 * For each FAULT and N = 1, 2, 3 ... a pair of runs is made, in one of which the N-th try fails, until a run ends without
 * having made N tries. FAULT is "alloc", an allocation of the run's thread (fail-nth, with what faults.t has set up in failslab
 * and fail_page_alloc), or the name of a function that fail_function can make fail: it then returns -ENOMEM. The other side is
 * healthy. LIMIT is how many seconds a run has to end, before it counts as hanging and is killed; GRACE how many milliseconds
 * the healthy side has to notice, before it is signalled; TO the last N of a part of the sweep, 0 for all of it.
 *
 * It prints a line for each N, with key=value as in /proc/krping_runs:
 *
 *	run   the fault was met: FAULT, N, what write() said, the peer's end, the run's line
 *	end   the fault was not met, so the pair is healthy, and the sweep of this FAULT is complete
 *	pair  two healthy runs, after others that failed: peer_ is the server's
 *	hang  a run did not end in time, with its kernel stack
 *
 * by= says how the peer ended: "itself"; "signal" if it had to be signalled; "killed" if it did not end on that, either;
 * "kept" for a server that had not heard of its client and serves the next one; "none" for a client that was not started,
 * since the server was gone.
 *
 * It is written in C, and two processes make all the runs, since in an emulated guest the start of a shell or of perl costs
 * more than a pair of runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE 4096

struct job {
	unsigned int nth; /* fail-nth, or 0 */
	int may_fail;	  /* fail_function may choose this task */
	char text[1024];
};

struct result {
	unsigned int left; /* tries that fail-nth still waits for */
	ssize_t ret;
	size_t len;
	int err;
	char line[LINE]; /* of krping_runs, or empty: nothing was begun */
};

struct worker {
	const char *name;
	pid_t pid;
	int fd, busy, said; /* said: the hang was reported */
};

static struct worker faulty = { .name = "faulty" };
static struct worker healthy = { .name = "healthy" };
static const char *commands[2]; /* the server's, the client's */
static int side;		/* the faulty one: 0 server, 1 client */
static double limit, grace;
static const double settle = 0.1; /* for a request to reach a server, after its client failed */
static unsigned int to;
static const char *fault; /* what is made to fail, in which try */
static unsigned int try;
static int failed; /* runs since the last healthy pair */

static void fatal(const char *what)
{
	printf("fatal %s: %s\n", what, strerror(errno));
	exit(3);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Reads a file, as far as there is room; nothing if there is none. */
static size_t slurp(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t used = f ? fread(buf, 1, size - 1, f) : 0;

	if (f)
		fclose(f);
	buf[used] = '\0';
	return used;
}

/* Writes all of it in one write(), as debugfs and proc want it. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = errno;
	close(fd);
	return err;
}

/* A setting of fail_function. */
static void setting(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/fail_function/%s", name);
	errno = put(path, text);
	if (errno)
		fatal(path);
}

/* The last line of a process in krping_runs, or an empty one. */
static void last_line(pid_t pid, char *line)
{
	static char buf[1 << 18];
	char key[32], *p, *end;

	line[0] = '\0';
	slurp("/proc/krping_runs", buf, sizeof(buf));
	snprintf(key, sizeof(key), " pid=%d ", pid);
	for (p = buf; *p; p = end) {
		end = strchrnul(p, '\n');
		if (*end)
			*end++ = '\0';
		if (strstr(p, key))
			snprintf(line, LINE, "%.*s", LINE - 1, p);
	}
}

/* The value of a key in a line, or "-" if the line does not have the key. */
static const char *field(const char *line, const char *name)
{
	static char values[8][256];
	static unsigned int next;
	char *value = values[next++ % 8], key[64];
	const char *p;

	snprintf(key, sizeof(key), " %s=", name);
	p = strstr(line, key);
	if (!p)
		return "-";
	snprintf(value, sizeof(values[0]), "%.*s", (int)strcspn(p + strlen(key), " "),
		 p + strlen(key));
	return value;
}

static void nothing(int sig)
{
	(void)sig;
}

/* A worker: a process that writes commands. */
static void work(int fd)
{
	struct sigaction action = { .sa_handler = nothing };
	int krping = open("/proc/krping", O_WRONLY);
	int nth = open("/proc/thread-self/fail-nth", O_RDWR);
	char seen[32] = "", n[16];
	struct result result;
	struct job job;

	sigaction(SIGINT, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (krping < 0 || nth < 0)
		fatal("open");
	for (;;) {
		ssize_t got = read(fd, &job, sizeof(job));

		if (got < 0 && errno == EINTR)
			continue;
		if (got != sizeof(job))
			_exit(0);
		memset(&result, 0, sizeof(result));
		result.len = strlen(job.text);
		put("/proc/thread-self/make-it-fail", job.may_fail ? "1" : "0");
		snprintf(n, sizeof(n), "%u", job.nth);
		if (pwrite(nth, n, strlen(n), 0) < 0)
			fatal("fail-nth");

		result.ret = write(krping, job.text, result.len);
		result.err = result.ret < 0 ? errno : 0;

		if (pread(nth, n, sizeof(n) - 1, 0) > 0)
			result.left = strtoul(n, NULL, 10);
		if (pwrite(nth, "0", 1, 0) < 0)
			fatal("fail-nth");
		put("/proc/thread-self/make-it-fail", "0");

		last_line(getpid(), result.line);
		if (!strncmp(result.line, seen, strcspn(result.line, " ")))
			result.line[0] = '\0';
		else
			snprintf(seen, sizeof(seen), "%.*s", (int)strcspn(result.line, " "),
				 result.line);
		while (write(fd, &result, sizeof(result)) < 0)
			if (errno != EINTR)
				_exit(1);
	}
}

static void spawn(struct worker *w)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		fatal("socketpair");
	fflush(stdout);
	w->pid = fork();
	if (w->pid < 0)
		fatal("fork");
	if (!w->pid) {
		close(fds[0]);
		work(fds[1]);
	}
	close(fds[1]);
	w->fd = fds[0];
	w->busy = 0;
}

static void submit(struct worker *w, const char *text, unsigned int nth, int may_fail)
{
	struct job job = { .nth = nth, .may_fail = may_fail };

	snprintf(job.text, sizeof(job.text), "%s", text);
	if (write(w->fd, &job, sizeof(job)) != sizeof(job))
		fatal("write to a worker");
	w->busy = 1;
	w->said = 0;
}

/* Waits for a result: 1, or 0 when the time is up. */
static int result_of(struct worker *w, struct result *r, double seconds)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	int n = poll(&p, 1, seconds * 1000);

	if (n <= 0)
		return 0;
	if (read(w->fd, r, sizeof(*r)) != sizeof(*r))
		fatal("a worker died");
	w->busy = 0;
	return 1;
}

static void print_stack(const struct worker *w)
{
	char path[64], buf[8192], line[LINE], *p;

	last_line(w->pid, line);
	printf("# %s: %s\n", w->name, line);
	snprintf(path, sizeof(path), "/proc/%d/stack", w->pid);
	slurp(path, buf, sizeof(buf));
	for (p = strtok(buf, "\n"); p; p = strtok(NULL, "\n"))
		printf("# %s\n", p);
}

static void hang(struct worker *w)
{
	if (w->said)
		return;
	w->said = 1;
	printf("hang fault=%s n=%u who=%s\n", fault, try, w->name);
	print_stack(w);
	w = w == &faulty ? &healthy : &faulty;
	if (w->busy)
		print_stack(w);
}

/* Signals a run to end; 0 if it had to be killed. */
static int interrupt(struct worker *w, struct result *r)
{
	double end = now() + limit;
	int status;

	/* Signal more than once: the first signal can come before the write() has begun. */
	do {
		kill(w->pid, SIGINT);
		if (result_of(w, r, 0.2))
			return 1;
	} while (now() < end);
	hang(w);
	kill(w->pid, SIGKILL);
	for (end = now() + limit; waitpid(w->pid, &status, WNOHANG) == 0;) {
		if (now() > end) {
			printf("fatal fault=%s n=%u: %s cannot be killed\n", fault, try, w->name);
			exit(3);
		}
		usleep(50000);
	}
	close(w->fd);
	spawn(w);
	memset(r, 0, sizeof(*r));
	r->ret = -1;
	r->err = EINTR;
	return 0;
}

static int is_listening(const struct worker *w)
{
	char line[LINE];

	last_line(w->pid, line);
	return !strcmp(field(line, "state"), "IDLE") && strcmp(field(line, "src"), "-");
}

/* Waits until a server listens, and returns 1; if it ends before, returns 0, with its result. */
static int wait_listen(struct worker *w, struct result *r)
{
	double end = now() + limit;

	while (now() < end) {
		if (result_of(w, r, 0.003))
			return 0;
		if (is_listening(w))
			return 1;
	}
	hang(w);
	interrupt(w, r);
	return 0;
}

static const char *errno_name(int err)
{
	return err ? strerrorname_np(err) : "0";
}

static void print_run(const char *what, const struct result *f, const struct result *h,
		      const char *by, double began)
{
	printf("%s fault=%s n=%u ms=%.0f ret=%zd werr=%s len=%zu by=%s", what, fault, try,
	       (now() - began) * 1000, f->ret, errno_name(f->err), f->len, by);
	if (h)
		printf(" peer_ret=%zd peer_werr=%s peer_state=%s peer_iters=%s", h->ret,
		       errno_name(h->err), field(h->line, "state"), field(h->line, "iters"));
	printf(" %s\n", f->line[0] ? f->line : "id=-");
	fflush(stdout);
}

/* Provides a healthy server that waits for its client: keeps the last one, or starts one. */
static int serve(void)
{
	struct result r;

	if (healthy.busy)
		return 1;
	submit(&healthy, commands[0], 0, 0);
	if (wait_listen(&healthy, &r))
		return 1;
	printf("pair fault=%s n=%u: the server does not listen: %s %s\n", fault, try,
	       errno_name(r.err), r.line);
	return 0;
}

/* Waits until the healthy side has ended, and returns how it ended. */
static const char *end_healthy(struct result *h)
{
	if (result_of(&healthy, h, grace))
		return "itself";
	return interrupt(&healthy, h) ? "signal" : "killed";
}

/* Waits for a run that has to end, and ends it if it hangs. */
static void end_of(struct worker *w, struct result *r)
{
	if (!result_of(w, r, limit)) {
		hang(w);
		interrupt(w, r);
	}
}

/*
 * Makes one pair with a fault, and returns the word for by=. The result of the
 * healthy side is in *h, unless the word is "kept" or "none".
 */
static const char *faulty_client(unsigned int nth, struct result *f, struct result *h)
{
	if (!serve())
		return "none";
	submit(&faulty, commands[1], nth, !nth);
	end_of(&faulty, f);
	if (!f->err)
		return end_healthy(h);
	/* A client without a CQ has not tried to connect; otherwise a request may be on its way. */
	if (atoi(field(f->line, "cq")) && result_of(&healthy, h, settle))
		return "itself";
	return is_listening(&healthy) ? "kept" : end_healthy(h);
}

static const char *faulty_server(unsigned int nth, struct result *f, struct result *h)
{
	submit(&faulty, commands[0], nth, !nth);
	if (!wait_listen(&faulty, f))
		return "none";
	submit(&healthy, commands[1], 0, 0);
	end_of(&faulty, f);
	return end_healthy(h);
}

/* Makes two healthy runs. The server may be one that still waits. */
static void healthy_pair(void)
{
	struct result s, c;

	if (!serve())
		return;
	submit(&faulty, commands[1], 0, 0);
	end_of(&faulty, &c);
	end_of(&healthy, &s);
	printf("pair fault=%s n=%u werr=%s peer_werr=%s peer_iters=%s %s\n", fault, try,
	       errno_name(c.err), errno_name(s.err), field(s.line, "iters"), c.line);
}

static void choose_function(const char *name)
{
	char retval[64];

	setting("inject", name ?: "\n");
	if (!name)
		return;
	snprintf(retval, sizeof(retval), "%s/retval", name);
	setting(retval, "0xfffffffffffffff4"); /* -ENOMEM */
	setting("probability", "100");
	setting("interval", "1");
	setting("task-filter", "Y");
	setting("verbose", "0");
}

static void sweep(void)
{
	int alloc = !strcmp(fault, "alloc");
	struct result f, h;

	choose_function(alloc ? NULL : fault);
	for (try = 1; !to || try <= to; try++) {
		double began = now();
		char times[16] = "";
		const char *by;
		int met;

		if (!alloc) {
			/* Each call before the N-th costs 1 of the space, and does not fail. */
			setting("times", "1");
			snprintf(times, sizeof(times), "%u", try);
			setting("space", times);
		}
		h.line[0] = '\0';
		by = (side ? faulty_client : faulty_server)(alloc ? try : 0, &f, &h);
		if (alloc) {
			met = !f.left;
		} else {
			slurp("/sys/kernel/debug/fail_function/times", times, sizeof(times));
			met = !atoi(times);
			setting("times", "0");
		}
		print_run(met ? "run" : "end", &f,
			  strcmp(by, "kept") && strcmp(by, "none") ? &h : NULL, by, began);
		if (!met)
			break;
		failed += f.err != 0;
		/* A healthy pair after so many that failed. */
		if (failed >= 10) {
			healthy_pair();
			failed = 0;
		}
	}
	choose_function(NULL);
}

int main(int argc, char **argv)
{
	struct result r;
	int i;

	if (argc < 8 || (strcmp(argv[4], "client") && strcmp(argv[4], "server"))) {
		fputs("usage: sweep LIMIT GRACE TO client|server SERVER-COMMAND CLIENT-COMMAND FAULT...\n",
		      stderr);
		return 2;
	}
	limit = atof(argv[1]);
	grace = atof(argv[2]) / 1000;
	to = atoi(argv[3]);
	side = !strcmp(argv[4], "client");
	commands[0] = argv[5];
	commands[1] = argv[6];
	spawn(&faulty);
	spawn(&healthy);
	for (i = 7; i < argc; i++) {
		fault = argv[i];
		sweep();
	}
	fault = "-";
	try = 0;
	healthy_pair();
	if (healthy.busy)
		interrupt(&healthy, &r);
	puts("done");
	return 0;
}
