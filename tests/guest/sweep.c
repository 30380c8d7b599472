// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes everything that can fail in one side's runs fail, one after another:
 *
 *	sweep [OPTION]... client|server SERVER-COMMAND CLIENT-COMMAND FAULT...
 *
 * For each FAULT and N = 1, 2, 3 ... a pair of runs is made, in one of which
 * the N-th try fails, until a run ends without having made N tries. FAULT is
 * "alloc", an allocation of the run's thread (fail-nth, with what faults.t has
 * set up in failslab and fail_page_alloc), or the name of a function that
 * fail_function can make fail: it then returns -ENOMEM. The other side is
 * healthy.
 *
 *	--limit SECONDS   for a run to end; a hang is reported, then killed (30)
 *	--grace MS        for the healthy side to notice, before it is signalled (1500)
 *	--settle MS       for a request to reach a server, after its client failed (100)
 *	--every N         a healthy pair after so many runs that failed (10)
 *	--sites DIR       ftrace instance whose events' stacks show what failed
 *	--from N, --to N  a part of the sweep
 *
 * It prints a line for each N, with key=value as in /proc/krping_runs:
 *
 *	run   the fault was met: FAULT, N, what write() said, the peer's end, the
 *	      run's line
 *	end   the fault was not met, so the pair is healthy, and the sweep of this
 *	      FAULT is complete
 *	pair  two healthy runs, after others that failed
 *	hang  a run did not end in time, with its kernel stack
 *
 * by= says how the peer ended: "itself"; "signal" if it had to be signalled;
 * "killed" if it did not end on that, either;
 * "kept" for a server that had not heard of its client and serves the next one;
 * "none" for a client that was not started, since the server was gone.
 *
 * It is written in C, since in an emulated guest the start of a shell or of perl
 * costs more than a pair of runs. For the same reason two processes make all
 * the runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEBUGFS "/sys/kernel/debug/fail_function/"
#define LINE	4096

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
	int fd;
	int busy;
	int said; /* the hang was reported */
};

static struct worker faulty = { .name = "faulty" };
static struct worker healthy = { .name = "healthy" };
static const char *commands[2]; /* the server's, the client's */
static int side;		/* the faulty one: 0 server, 1 client */
static const char *sites;
static double limit = 30, grace = 1.5, settle = 0.1;
static int every = 10;
static unsigned int from = 1, to = ~0U;
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

static void nap(int ms)
{
	poll(NULL, 0, ms);
}

static ssize_t slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while (used < size - 1 && (n = read(fd, buf + used, size - 1 - used)) > 0)
		used += n;
	close(fd);
	buf[used] = '\0';
	return used;
}

/* Writes all of it in one write(), as debugfs and proc want it. */
static int put(const char *path, const char *fmt, ...)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;
	char text[256];
	va_list args;
	int n;

	if (fd < 0)
		return errno;
	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (write(fd, text, n) != n)
		err = errno;
	close(fd);
	return err;
}

static void must_put(const char *path, const char *text)
{
	errno = put(path, "%s", text);
	if (errno)
		fatal(path);
}

/* The last line of a process in krping_runs, or an empty one. */
static void last_line(pid_t pid, char *line)
{
	static char buf[1 << 18];
	char key[32], *p, *end;

	line[0] = '\0';
	if (slurp("/proc/krping_runs", buf, sizeof(buf)) < 0)
		return;
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

/*
 * A worker: a process that writes commands
 */

static void nothing(int sig)
{
	(void)sig;
}

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
		put("/proc/thread-self/make-it-fail", "%d", job.may_fail);
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
	if (slurp(path, buf, sizeof(buf)) > 0)
		for (p = strtok(buf, "\n"); p; p = strtok(NULL, "\n"))
			printf("# %s\n", p);
}

static void hang(struct worker *w, const char *fault, unsigned int n)
{
	if (w->said)
		return;
	w->said = 1;
	printf("hang fault=%s n=%u who=%s\n", fault, n, w->name);
	print_stack(w);
	w = w == &faulty ? &healthy : &faulty;
	if (w->busy)
		print_stack(w);
}

/* Signals a run to end; 0 if it had to be killed. */
static int interrupt(struct worker *w, struct result *r, const char *fault, unsigned int n)
{
	double end = now() + limit;
	int status;

	/* Signal more than once: the first signal can come before the write() has begun. */
	do {
		kill(w->pid, SIGINT);
		if (result_of(w, r, 0.2))
			return 1;
	} while (now() < end);
	hang(w, fault, n);
	kill(w->pid, SIGKILL);
	for (end = now() + limit; waitpid(w->pid, &status, WNOHANG) == 0;) {
		if (now() > end) {
			printf("fatal fault=%s n=%u: %s cannot be killed\n", fault, n, w->name);
			exit(3);
		}
		nap(50);
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
static int wait_listen(struct worker *w, struct result *r, const char *fault, unsigned int n)
{
	double end = now() + limit;

	while (now() < end) {
		if (result_of(w, r, 0.003))
			return 0;
		if (is_listening(w))
			return 1;
	}
	hang(w, fault, n);
	interrupt(w, r, fault, n);
	return 0;
}

/*
 * Prints what failed: the first functions of the stack that are not part of
 * the allocator.
 */
static void print_site(void)
{
	/* clang-format off */
	static const char *const dull[] = {
		"should_fail", "__should_fail", "kmem_cache_alloc", "kmalloc",
		"__kmalloc", "__do_kmalloc", "kvmalloc", "__kvmalloc",
		"__alloc_pages", "alloc_pages", "__alloc_frozen", "get_free",
		"__get_free", "allocate_slab", "new_slab", "___slab_alloc",
		"__slab_alloc", "__kmem_cache_alloc", "arch_rethook",
		"alloc_frozen", "folio_alloc", "__folio_alloc", "prepare_alloc",
	};
	/* clang-format on */
	static char buf[1 << 16];
	char path[256], *p, *func;
	unsigned int i, shown = 0;

	if (!sites)
		return;
	snprintf(path, sizeof(path), "%s/trace", sites);
	if (slurp(path, buf, sizeof(buf)) < 0)
		return;
	for (p = buf; (p = strstr(p, "\n => ")); p = func) {
		func = p + 5;
		for (i = 0; i < sizeof(dull) / sizeof(dull[0]); i++)
			if (!shown && !strncmp(func, dull[i], strlen(dull[i])))
				break;
		if (i < sizeof(dull) / sizeof(dull[0]) || shown == 8)
			continue;
		printf("%s%.*s", shown++ ? "<" : " site=", (int)strcspn(func, " \n+"), func);
	}
	fclose(fopen(path, "w"));
}

static const char *errno_name(int err)
{
	return err ? strerrorname_np(err) : "0";
}

static void print_run(const char *what, const char *fault, unsigned int n, const struct result *f,
		      const struct result *h, const char *by, double began)
{
	printf("%s fault=%s n=%u ms=%.0f ret=%zd werr=%s len=%zu by=%s", what, fault, n,
	       (now() - began) * 1000, f->ret, errno_name(f->err), f->len, by);
	if (h)
		printf(" peer_ret=%zd peer_werr=%s peer_state=%s peer_iters=%s", h->ret,
		       errno_name(h->err), field(h->line, "state"), field(h->line, "iters"));
	print_site();
	printf(" %s\n", f->line[0] ? f->line : "id=-");
	fflush(stdout);
}

/* Provides a healthy server that waits for its client: keeps the last one, or starts one. */
static int serve(const char *fault, unsigned int n)
{
	struct result r;

	if (healthy.busy)
		return 1;
	submit(&healthy, commands[0], 0, 0);
	if (wait_listen(&healthy, &r, fault, n))
		return 1;
	printf("pair fault=%s n=%u bad: the server does not listen: %s %s\n", fault, n,
	       errno_name(r.err), r.line);
	return 0;
}

/* Waits until the healthy side has ended, and returns how it ended. */
static const char *end_healthy(struct result *h, const char *fault, unsigned int n)
{
	if (result_of(&healthy, h, grace))
		return "itself";
	return interrupt(&healthy, h, fault, n) ? "signal" : "killed";
}

static void end_faulty(struct result *f, const char *fault, unsigned int n)
{
	if (result_of(&faulty, f, limit))
		return;
	hang(&faulty, fault, n);
	interrupt(&faulty, f, fault, n);
}

/*
 * Makes one pair with a fault, and returns the word for by=. The result of the
 * healthy side is in *h, unless the word is "kept" or "none".
 */
static const char *faulty_client(const char *fault, unsigned int n, unsigned int nth,
				 struct result *f, struct result *h)
{
	if (!serve(fault, n))
		return "none";
	submit(&faulty, commands[1], nth, !nth);
	end_faulty(f, fault, n);
	if (!f->err)
		return end_healthy(h, fault, n);
	/* A client without a CQ has not tried to connect; otherwise a request may be on its way. */
	if (atoi(field(f->line, "cq")) && result_of(&healthy, h, settle))
		return "itself";
	return is_listening(&healthy) ? "kept" : end_healthy(h, fault, n);
}

static const char *faulty_server(const char *fault, unsigned int n, unsigned int nth,
				 struct result *f, struct result *h)
{
	submit(&faulty, commands[0], nth, !nth);
	if (!wait_listen(&faulty, f, fault, n))
		return "none";
	submit(&healthy, commands[1], 0, 0);
	end_faulty(f, fault, n);
	return end_healthy(h, fault, n);
}

/* Makes two healthy runs. The server may be one that still waits. */
static void healthy_pair(const char *fault, unsigned int n)
{
	struct worker *client = &faulty;
	struct result s, c;
	const char *made, *served, *test;
	int good;

	if (!serve(fault, n))
		return;
	submit(client, commands[1], 0, 0);
	end_faulty(&c, fault, n);
	if (!result_of(&healthy, &s, limit)) {
		hang(&healthy, fault, n);
		interrupt(&healthy, &s, fault, n);
	}
	/* An end that does not post has no iterations. */
	test = field(c.line, "test");
	made = strcmp(test, "fast") ? field(c.line, "count") : "0";
	served = field(c.line, "count");
	if (!strcmp(test, "fr") || !strcmp(test, "rlat") || !strcmp(test, "bw"))
		served = "0";
	good = !s.err && !c.err && !strcmp(field(c.line, "iters"), made) &&
	       !strcmp(field(s.line, "iters"), served);
	printf("pair fault=%s n=%u %s\n", fault, n, good ? "good" : "bad");
	if (!good)
		printf("# %s %s\n# %s %s\n", errno_name(s.err), s.line, errno_name(c.err), c.line);
}

static void choose_function(const char *name)
{
	char path[128];

	must_put(DEBUGFS "inject", "\n");
	if (!name)
		return;
	must_put(DEBUGFS "inject", name);
	snprintf(path, sizeof(path), DEBUGFS "%s/retval", name);
	errno = put(path, "%#llx", (unsigned long long)-ENOMEM);
	if (errno)
		fatal(path);
	must_put(DEBUGFS "probability", "100");
	must_put(DEBUGFS "interval", "1");
	must_put(DEBUGFS "task-filter", "Y");
	must_put(DEBUGFS "verbose", "0");
}

static void sweep(const char *fault)
{
	int alloc = !strcmp(fault, "alloc");
	struct result f, h;
	unsigned int n;

	choose_function(alloc ? NULL : fault);
	for (n = from; n <= to; n++) {
		double began = now();
		const char *by;
		char times[16] = "";
		int met;

		if (!alloc) {
			/* Each call before the N-th costs 1 of the space, and does not fail. */
			must_put(DEBUGFS "times", "1");
			snprintf(times, sizeof(times), "%u", n);
			must_put(DEBUGFS "space", times);
		}
		h.line[0] = '\0';
		by = (side ? faulty_client : faulty_server)(fault, n, alloc ? n : 0, &f, &h);
		if (alloc) {
			met = !f.left;
		} else {
			slurp(DEBUGFS "times", times, sizeof(times));
			met = !atoi(times);
			must_put(DEBUGFS "times", "0");
		}
		print_run(met ? "run" : "end", fault, n, &f,
			  strcmp(by, "kept") && strcmp(by, "none") ? &h : NULL, by, began);
		if (!met)
			break;
		failed += f.err != 0;
		if (failed >= every) {
			healthy_pair(fault, n);
			failed = 0;
		}
	}
	choose_function(NULL);
}

int main(int argc, char **argv)
{
	struct result r;
	int i;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		const char *value = argv[i + 1];

		if (!strcmp(argv[i], "--limit"))
			limit = atof(value);
		else if (!strcmp(argv[i], "--grace"))
			grace = atof(value) / 1000;
		else if (!strcmp(argv[i], "--settle"))
			settle = atof(value) / 1000;
		else if (!strcmp(argv[i], "--every"))
			every = atoi(value);
		else if (!strcmp(argv[i], "--sites"))
			sites = value;
		else if (!strcmp(argv[i], "--from"))
			from = atoi(value);
		else if (!strcmp(argv[i], "--to"))
			to = atoi(value);
		else
			break;
	}
	if (argc - i < 4 || (strcmp(argv[i], "client") && strcmp(argv[i], "server"))) {
		fprintf(stderr,
			"usage: sweep [OPTION]... client|server SERVER-COMMAND CLIENT-COMMAND FAULT...\n");
		return 2;
	}
	side = !strcmp(argv[i], "client");
	commands[0] = argv[i + 1];
	commands[1] = argv[i + 2];
	spawn(&faulty);
	spawn(&healthy);
	for (i += 3; i < argc; i++)
		sweep(argv[i]);
	healthy_pair("-", 0);
	if (healthy.busy)
		interrupt(&healthy, &r, "-", 0);
	puts("done");
	return 0;
}
