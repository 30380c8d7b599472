// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping client, server, list, stop, help and bug-report: a front end of /proc/krping. It writes the text that
 * one would echo, shows its progress, and prints its result. No BPF.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/checked.h"
#include "classic.h"
#include "cmdtext.h"
#include "../lib/escape.h"
#include "../lib/names.h"
#include "holders.h"
#include "limit.h"
#include "optable.h"
#include "protect.h"
#include "result.h"
#include "runhist.h"
#include "../lib/procfile.h"
#include "report.h"
#include "../lib/runs.h"
#include "../lib/stop.h"
#include "../lib/tool.h"
#include "views.h"
#include "words.h"

#define PROC_KRPING "/proc/krping"

#define SHOW_TTY_MS 1000 /* a shorter run shows no progress */
#define SHOW_LOG_MS 10000
#define NUDGE_MS    50
#define CASES_MS    200	  /* a server of a list of cases looks whether it is over */
#define BUSY_MS	    10000 /* a client of such a list waits so long for its turn */

/*
 * From the main thread to the writer, to end its write; and back to the main
 * thread, when the write has ended.
 */
#define SIG_NUDGE   SIGUSR1
#define SIG_WRITTEN SIGUSR2

/* Wide enough for a line of any terminal; longer text is cut at the end of the buffer. */
#define LINE_MAX_BYTES 256

#define INTERVAL_MAX_S 86400

enum { OPT_FAIL = 256, OPT_CLASSIC, OPT_PLAIN };

static struct {
	bool dry_run, all, classic, plain;
	const char *output;	  /* a file that is made; NULL: stdout */
	unsigned int interval_ms; /* 0: none */
	struct krp_limit *limits;
	unsigned int nr_limits;
	const char *command;
	char **words;
	unsigned int nr_words;
} opt;

static const struct argp_option options[] = {
	{ "dry-run", 'n', NULL, 0,
	  "print the text that would be written to " PROC_KRPING ", and end", 1 },
	{ "all", 'a', NULL, 0, "list: also the runs that have ended", 1 },
	{ "interval", 'i', "SECONDS", 0,
	  "client, server: print what came in each interval; with a fraction if you like", 1 },
	{ "fail", OPT_FAIL, "LIMIT", 0,
	  "client, server: exit status 2 if a figure is beyond this, as 'p99>30us' or 'Gbit/s<10'; "
	  "may be given again",
	  1 },
	{ "json", 'j', NULL, 0, "the result, or the list, as one JSON object", 2 },
	{ "classic", OPT_CLASSIC, NULL, 0,
	  "client, server: of wlat, rlat and bw print only the line of older versions, as "
	  "awkit-klat and awkit-kbw read it",
	  2 },
	{ "output", 'o', "FILE", 0, "bug-report: into FILE, which must not exist yet", 2 },
	{ "plain", OPT_PLAIN, NULL, 0, "bug-report: with all addresses and names", 2 },
	{ "verbose", 'v', NULL, 0,
	  "print what is written, and the progress of a run also where stderr is no terminal", 2 },
	{ 0 }
};

static void parse_interval(const char *arg)
{
	const char *end;
	double v;

	if (!krp_parse_number(arg, &v, &end) || *end || v < 0.1 || v > INTERVAL_MAX_S)
		krp_die("-i: %s: a number of seconds from 0.1 to %d", arg, INTERVAL_MAX_S);
	opt.interval_ms = v * 1000;
}

static void parse_limit(const char *arg)
{
	char why[512];

	opt.limits = krp_resize(opt.limits, opt.nr_limits + 1, sizeof(*opt.limits));
	if (!krp_limit_parse(&opt.limits[opt.nr_limits], arg, why, sizeof(why)))
		krp_die("--fail: %s", why);
	opt.nr_limits++;
}

#define QUESTIONS                                                                          \
	"  krping server              wait for pings; and on another host, or this one:\n" \
	"  krping client HOST         does RDMA work between the two, and how fast?\n"     \
	"  krping client HOST split   is it this host, the peer's, or the network?\n"      \
	"  krping top                 how fast are all runs, now?\n"                       \
	"  krping stages              where does the time of pings go?\n"                  \
	"  krping slow 2ms            why did pings take 2 ms or more?\n"                  \
	"  krping mr                  what do registrations cost, is a key leaked?\n"      \
	"  krping ladder              what happened in one ping, at both ends?\n"          \
	"  krping trace               which requests and completions were there?\n"        \
	"  krping record              what was it like? The others read its file, -I\n"    \
	"  krping list -a             what failed, and why?\n"                             \
	"  krping stop ID             end that run\n"                                      \
	"  krping help [WORD]         what does an option, or a word of a screen, mean?\n" \
	"  krping bug-report          what belongs into the report of a bug?\n"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'i':
		parse_interval(arg);
		break;
	case OPT_FAIL:
		parse_limit(arg);
		break;
	case 'n':
		opt.dry_run = true;
		break;
	case 'a':
		opt.all = true;
		break;
	case 'j':
		krp_tool.opts.json = true;
		break;
	case OPT_CLASSIC:
		opt.classic = true;
		break;
	case 'o':
		opt.output = arg;
		break;
	case OPT_PLAIN:
		opt.plain = true;
		break;
	case 'v':
		krp_tool.opts.verbose = true;
		break;
	case ARGP_KEY_ARG:
		if (!opt.command) {
			opt.command = arg;
			break;
		}
		opt.words = krp_resize(opt.words, opt.nr_words + 1, sizeof(*opt.words));
		opt.words[opt.nr_words++] = arg;
		break;
	case ARGP_KEY_END:
		if (!opt.command && state->argc > 1)
			krp_die("say what: server, client, list, stop, help or bug-report (see --help)");
		if (!opt.command) {
			fputs("What can be asked of RDMA pings, each with --help:\n\n" QUESTIONS,
			      stdout);
			exit(KRP_EXIT_OK);
		}
		if (opt.classic && (krp_tool.opts.json || opt.interval_ms))
			krp_die("--classic: not with -j or -i");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "server [ADDRESS] [WORD...]\n"
		    "client ADDRESS [WORD...]\n"
		    "list\n"
		    "stop ID...\n"
		    "help [WORD]\n"
		    "bug-report",
	.doc = "RDMA ping between two ends, by the kernel module rdma_krping."
	       "\v"
	       "ADDRESS is the server's: ADDR, ADDR:PORT, [IPV6]:PORT, or for a client a name instead "
	       "of ADDR; the port is " KRP_PORT_DEFAULT " where none is given. "
	       "A server without an address listens on all. "
	       "A WORD is an option of the module, which \"krping help\" lists; several may be "
	       "between commas.\n\n"
	       "  krping server 10.9.0.1\n"
	       "  krping client 10.9.0.1 count=100 size=4096 validate\n\n"
	       "What can be asked; the options of top, stages, slow, mr, ladder, trace and record "
	       "come behind these words, as in \"krping top --help\":\n\n" QUESTIONS "\n"
	       "Exit status: 0 if the run did what was asked; one without end does, until Ctrl-C; "
	       "1 for a wrong usage or environment; 2 if the run failed, or broke a --fail.",
};

/*
 * Dies if a given option has no meaning for the command: to ignore it silently
 * would mislead the user.
 */
static void check_options(void)
{
	const struct {
		const char *name, *commands;
		bool given;
	} of[] = {
		{ "-n", "server client stop", opt.dry_run },
		{ "-a", "list", opt.all },
		{ "-j", "server client list", krp_tool.opts.json },
		{ "-v", "server client stop", krp_tool.opts.verbose },
		{ "-i", "server client", opt.interval_ms },
		{ "--fail", "server client", opt.nr_limits },
		{ "--classic", "server client", opt.classic },
		{ "-o", "bug-report", opt.output },
		{ "--plain", "bug-report", opt.plain },
	};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
		if (of[i].given && !strstr(of[i].commands, opt.command))
			krp_die("%s: not for \"krping %s\" (see --help)", of[i].name, opt.command);
	}
}

static void no_module(void)
{
	if (access(PROC_KRPING, F_OK))
		krp_die("the module is not loaded: try \"modprobe rdma_krping\"");
	krp_die("%s is there, but not what this needs: is the module loaded the one of this project?",
		PROC_KRPING);
}

static void read_runs(struct krp_runs *runs)
{
	int err = krp_runs_read(runs);

	if (err == -ENOENT)
		no_module();
	if (err)
		krp_die("cannot read %s: %s", KRP_PROC_RUNS, strerror(-err));
}

/*
 * The writer. A write lasts as long as its run, so it has a thread of its own.
 * If we are killed, in whatever way, the run ends with us.
 */

struct writer {
	int fd;
	const char *text;
	pthread_t thread, main;
	sem_t told; /* what to do when the write has ended */
	bool again;
	int err;
};

static void nothing(int sig)
{
	(void)sig;
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIG_NUDGE);
	do {
		/* A nudge that came too late is taken here, and is no second one. */
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		w->err = write(w->fd, w->text, strlen(w->text)) < 0 ? errno : 0;
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		pthread_kill(w->main, SIG_WRITTEN);
		while (sem_wait(&w->told))
			;
	} while (w->again);
	return NULL;
}

static void writer_open(struct writer *w)
{
	w->fd = open(PROC_KRPING, O_WRONLY | O_CLOEXEC);
	if (w->fd >= 0)
		return;
	if (errno == ENOENT)
		no_module();
	if (errno == EACCES || errno == EPERM)
		krp_die("needs root, with CAP_NET_ADMIN of the initial user namespace: try \"sudo krping %s\"",
			opt.command);
	krp_die("cannot open %s: %s", PROC_KRPING, strerror(errno));
}

static void writer_start(struct writer *w, sigset_t *stop)
{
	struct sigaction action = { .sa_handler = nothing };
	sigset_t own;
	int err;

	krp_stop_signals(stop);
	sigemptyset(&own);
	sigaddset(&own, SIG_NUDGE);
	sigaddset(&own, SIG_WRITTEN);
	pthread_sigmask(SIG_BLOCK, &own, NULL);
	/* Without SA_RESTART, so that the write returns. */
	sigaction(SIG_NUDGE, &action, NULL);

	w->main = pthread_self();
	sem_init(&w->told, 0, 0);
	err = pthread_create(&w->thread, NULL, writer_main, w);
	if (err)
		krp_die("cannot start a thread: %s", strerror(err));
}

/*
 * The progress of the run
 */

/* A client's run at a server of several, and what was in the lines of -i before. */
struct client {
	uint32_t id;
	struct krp_runhist before;
};

struct watch {
	const struct krp_cmdtext *cmd;
	uint32_t after; /* runs up to this one are not ours */
	uint32_t pid;	/* our PID; 0: this /proc does not know us */
	struct krp_runs runs;
	struct krp_runs at_line; /* the runs when the last line of -i was printed */
	struct client *clients;	 /* that go on */
	unsigned int nr_clients;
	uint32_t told;		  /* it was said with whom the runs up to this one are connected */
	struct krp_run_info last; /* the run as last shown; id 0: not shown yet */
	bool tty, shown, listens, disk;
	uint64_t begin, next_show, next_look, next_interval;
	unsigned int look_ms;
	bool serves_list;
	uint64_t next_cases;
	struct krp_protect cases;
	struct krp_runhist now, before, since; /* with -i */
	bool head_done, hist_failed;
};

static uint64_t now_ms(void)
{
	return krp_time_now() / 1000000;
}

/*
 * Our PID in the PID namespace that this /proc was mounted for, as its files
 * have it. getpid() gives the PID in our own namespace, which may be another
 * one.
 */
static uint32_t pid_in_proc(void)
{
	char link[16];
	ssize_t len = readlink("/proc/self", link, sizeof(link) - 1);

	if (len < 0)
		return 0;
	link[len] = '\0';
	return strtoul(link, NULL, 10);
}

/* The module knows a run by the process that wrote its command; the runs of a server's clients have a parent. */
static const struct krp_run_info *own_run(struct watch *w)
{
	size_t i;

	if (krp_runs_read(&w->runs))
		return NULL;
	for (i = w->runs.nr; i--;) {
		if (w->runs.v[i].id <= w->after)
			break;
		if (w->pid && w->runs.v[i].pid == w->pid && !w->runs.v[i].parent)
			return &w->runs.v[i];
	}
	return NULL;
}

static void watch_start(struct watch *w, const struct krp_cmdtext *cmd, bool serves_list)
{
	memset(w, 0, sizeof(*w));
	w->cmd = cmd;
	w->serves_list = serves_list;
	w->pid = pid_in_proc();
	read_runs(&w->runs);
	if (w->runs.nr)
		w->after = w->runs.v[w->runs.nr - 1].id;
	w->told = w->after;
	w->tty = isatty(STDERR_FILENO);
	w->begin = now_ms();
	w->next_show = UINT64_MAX;
	w->next_interval = UINT64_MAX;
	/* The lines of -i take the place of the progress. */
	if (opt.interval_ms)
		w->next_interval = w->begin + opt.interval_ms;
	else if (w->tty)
		w->next_show = w->begin + SHOW_TTY_MS;
	else if (krp_tool.opts.verbose)
		w->next_show = w->begin + SHOW_LOG_MS;
	/* Report when a server listens, and when an end has its peer. */
	w->look_ms = 10;
	w->next_look = UINT64_MAX;
	if (!krp_tool.opts.json)
		w->next_look = w->begin + w->look_ms;
	w->next_cases = w->serves_list ? w->begin + CASES_MS : UINT64_MAX;
}

/* A background job's progress would be drawn over the output of the foreground job. */
static bool in_background(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group > 0 && group != getpgrp();
}

static void show(struct watch *w, const struct krp_run_info *r)
{
	char line[LINE_MAX_BYTES];

	if (w->tty && in_background())
		return;
	krp_result_progress(line, sizeof(line), r, w->last.id ? &w->last : NULL, w->cmd);
	/* One column less: a full line could wrap. */
	if (w->tty)
		fprintf(stderr, "\r%.*s\033[K", (int)krp_columns(STDERR_FILENO) - 1, line);
	else
		fprintf(stderr, "%s: %s\n", krp_tool.name, line);
	w->shown = true;
	w->last = *r;
}

/* stopping: the terminal may show a ^C, too. */
static void unshow(struct watch *w, bool stopping)
{
	if (w->tty && (w->shown || stopping))
		fputs("\r\033[K", stderr);
	w->shown = false;
}

/*
 * Says with whom the run is connected, a server of several with each client, in the order in which they came. Whoever is
 * connected has a port of a device.
 */
static void tell_peers(struct watch *w, const struct krp_run_info *own)
{
	const struct krp_run_info *r;
	char line[LINE_MAX_BYTES];
	static bool said;

	for (r = w->runs.v; r < w->runs.v + w->runs.nr; r++) {
		if (r->id <= w->told || r->clients || (r != own && r->parent != own->id))
			continue;
		if (!r->port && !krp_run_finished(r))
			break;
		w->told = r->id;
		/* With --classic there is one line, or none, and for a list of cases one is enough. */
		if (!r->port || opt.classic || (w->cmd->list && said))
			continue;
		said = true;
		krp_result_connected(line, sizeof(line), r);
		unshow(w, false);
		krp_note("%s", line);
	}
}

static bool has_disk(const struct krp_run_info *r)
{
	return *r->disk && strcmp(r->disk, "-");
}

/* Says that the disk of a run is there, and how large it is. */
static void tell_disk(struct watch *w, const struct krp_run_info *r)
{
	char path[64], line[32], size[32] = "";
	unsigned long long sectors;

	snprintf(path, sizeof(path), "/sys/class/block/%s/size", r->disk);
	krp_first_line(path, line, sizeof(line));
	sectors = strtoull(line, NULL, 10);
	if (sectors)
		snprintf(size, sizeof(size), sectors % 2048 ? " %llu KiB," : " %llu MiB,",
			 sectors / (sectors % 2048 ? 2 : 2048));
	unshow(w, false);
	krp_note("/dev/%s,%s is there until you press Ctrl-C", r->disk, size);
	w->disk = true;
}

/* Sets since to what came since the last time. 0 or -errno; -ENODATA before the first iteration, and of a run that is over. */
static int look_at_run(struct watch *w, const struct krp_run_info *r)
{
	int err = krp_runhist_read(&w->now, r->id);

	if (err)
		return err;
	/* The set-up and the wait for a client are in no interval: the iterations began as long ago as they took. */
	if (!w->before.sum.count)
		w->before.elapsed_ns =
			w->now.elapsed_ns > w->now.sum.sum ? w->now.elapsed_ns - w->now.sum.sum : 0;
	w->since = w->now;
	krp_runhist_since(&w->since, &w->before);
	w->before = w->now;
	w->since.bytes = w->since.sum.count * krp_run_bytes_of_iter(r);
	return 0;
}

static struct krp_runhist *before_of(struct watch *w, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < w->nr_clients; i++) {
		if (w->clients[i].id == id)
			return &w->clients[i].before;
	}
	w->clients = krp_resize(w->clients, i + 1, sizeof(*w->clients));
	w->clients[i] = (struct client){ .id = id };
	w->nr_clients++;
	return &w->clients[i].before;
}

/* The same of a server of several clients, which makes no iterations itself: the sum over its clients. */
static int look_at_clients(struct watch *w, const struct krp_run_info *r)
{
	const struct krp_run_info *c, *old = krp_runs_find(&w->at_line, r->id);
	struct krp_runhist *before, one;
	unsigned int i = 0;
	bool whole = true;
	int err;

	memset(&w->since, 0, sizeof(w->since));
	w->since.elapsed_ns = r->elapsed_ns - (old ? old->elapsed_ns : 0);
	for (c = w->runs.v; c < w->runs.v + w->runs.nr; c++) {
		old = krp_runs_find(&w->at_line, c->id);
		if (c->parent != r->id || (old && krp_run_finished(old)))
			continue;
		before = before_of(w, c->id);
		if (krp_run_finished(c)) {
			/* The module keeps the sums of a run that is over, and no histogram: so there is none of all clients. */
			one.sum = (struct krp_sum){ c->iters, c->lat_sum_ns, c->lat_min_ns,
						    c->lat_max_ns };
			krp_sum_since(&one.sum, &before->sum, NULL);
			whole = whole && !one.sum.count;
		} else {
			err = krp_runhist_read(&w->now, c->id);
			if (err == -ENODATA)
				continue;
			if (err)
				return err;
			one = w->now;
			krp_runhist_since(&one, before);
			*before = w->now;
			krp_hist_add(&w->since.hist, &one.hist);
		}
		krp_by_sum(&w->since.sum, &one.sum);
		w->since.bytes += one.sum.count * krp_run_bytes_of_iter(c);
	}
	if (!whole)
		memset(&w->since.hist, 0, sizeof(w->since.hist));
	while (i < w->nr_clients) {
		c = krp_runs_find(&w->runs, w->clients[i].id);
		if (!c || krp_run_finished(c))
			w->clients[i] = w->clients[--w->nr_clients];
		else
			i++;
	}
	w->now.elapsed_ns = r->elapsed_ns;
	w->before.sum.count += w->since.sum.count;
	return w->before.sum.count ? 0 : -ENODATA;
}

static void show_interval(struct watch *w, const struct krp_run_info *r)
{
	int err = r->clients ? look_at_clients(w, r) : look_at_run(w, r);
	json_object *o;

	if (err == -ENODATA)
		return;
	if (err) {
		/* The run goes on, and has a summary. */
		if (!w->hist_failed)
			krp_note("cannot read %s: %s", KRP_PROC_HIST, strerror(-err));
		w->hist_failed = true;
		return;
	}
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, false);
		krp_result_interval_json(o, r, &w->since, w->now.elapsed_ns);
		krp_json_emit(stdout, o);
		return;
	}
	krp_result_interval(stdout, &w->since, w->now.elapsed_ns, !w->head_done);
	w->head_done = true;
	fflush(stdout);
}

static bool is_protect(const struct krp_run_info *r)
{
	return r && !strcmp(r->test, "protect");
}

/* The case of a run, or those of a server's clients, as far as they were made. */
static void read_cases(struct watch *w, const struct krp_run_info *r)
{
	int err;

	if (!is_protect(r))
		return;
	err = krp_protect_read(&w->cases, r->id);
	if (err)
		krp_note("cannot read %s: %s", KRP_PROC_PROTECT, strerror(-err));
	if (w->serves_list)
		krp_protect_last_list(&w->cases);
}

/* Has a client made all cases, and left? */
static bool list_is_over(struct watch *w, const struct krp_run_info *r)
{
	size_t i;

	if (!r)
		return false;
	/* The module forgets runs that are over. */
	read_cases(w, r);
	for (i = 0; i < w->runs.nr; i++) {
		if (w->runs.v[i].parent == r->id && !krp_run_finished(&w->runs.v[i]))
			return false;
	}
	return krp_protect_list_is_over(&w->cases);
}

static uint64_t watch_next(const struct watch *w)
{
	uint64_t next = w->next_show < w->next_look ? w->next_show : w->next_look;

	if (w->next_cases < next)
		next = w->next_cases;
	return next < w->next_interval ? next : w->next_interval;
}

/* Returns whether the run has to end now. */
static bool watch(struct watch *w)
{
	uint64_t now = now_ms();
	const struct krp_run_info *r;
	struct krp_runs at_line;

	if (now < watch_next(w))
		return false;
	r = own_run(w);
	if (now >= w->next_cases) {
		if (list_is_over(w, r))
			return true;
		w->next_cases = now + CASES_MS;
	}
	if (now >= w->next_look) {
		/*
		 * Look often at first, then less often: the server may listen
		 * at once, or much later.
		 */
		if (w->look_ms < 1000)
			w->look_ms *= 2;
		w->next_look = now + w->look_ms;
		if (r && krp_run_listens(r) && !w->listens) {
			unshow(w, false);
			krp_note("run %u listens on %s", r->id, w->cmd->target);
			w->listens = true;
		}
		if (r)
			tell_peers(w, r);
		if (r && has_disk(r) && !w->disk)
			tell_disk(w, r);
		if (r && w->told >= r->id && !r->clients && (w->disk || strcmp(r->test, "block")))
			w->next_look = UINT64_MAX;
	}
	if (now >= w->next_show) {
		if (r && !krp_run_finished(r))
			show(w, r);
		w->next_show = now + (w->tty ? SHOW_TTY_MS : SHOW_LOG_MS);
	}
	if (now >= w->next_interval) {
		if (r) {
			show_interval(w, r);
			at_line = w->at_line;
			w->at_line = w->runs;
			w->runs = at_line;
		}
		w->next_interval += opt.interval_ms;
		/* Stopped and continued, or the machine is slow: do not make up for it. */
		if (w->next_interval <= now)
			w->next_interval = now + opt.interval_ms;
	}
	return false;
}

/*
 * The write has returned. If the run goes on, since its disk is open, the same thread has to write
 * the same text again, to wait on. EBUSY is also the result of a run that the server refused, but
 * that has no disk.
 */
static bool goes_on(struct writer *writer, struct watch *w)
{
	const struct krp_run_info *r = writer->err == EBUSY ? own_run(w) : NULL;
	char holders[512];

	writer->again = r && has_disk(r);
	if (writer->again) {
		unshow(w, true);
		krp_note("run %u goes on until /dev/%s is closed (%s); a second signal ends it at once, with I/O errors",
			 r->id, r->disk, krp_holders(holders, sizeof(holders), r->disk));
	}
	sem_post(&writer->told);
	return writer->again;
}

/*
 * Waits until the write has returned, and the run is over. A first signal ends the write, and the
 * figures are shown; a second one kills us, see krp_next_signal_kills(). Returns whether
 * there was one.
 */
static bool wait_for_writer(struct writer *writer, struct watch *w, const sigset_t *stop)
{
	bool stopped = false, nudges = false;
	struct timespec ts;
	uint64_t next, now;
	siginfo_t info;
	sigset_t set;
	int sig;

	set = *stop;
	sigaddset(&set, SIG_WRITTEN);
	for (;;) {
		next = nudges ? now_ms() + NUDGE_MS : watch_next(w);
		now = now_ms();
		if (next != UINT64_MAX) {
			next = next > now ? next - now : 0;
			ts.tv_sec = next / 1000;
			ts.tv_nsec = next % 1000 * 1000000;
			sig = sigtimedwait(&set, &info, &ts);
		} else {
			sig = sigwaitinfo(&set, &info);
		}
		if (sig == SIG_WRITTEN) {
			if (!goes_on(writer, w))
				break;
			/* Another one would be a second signal. */
			nudges = false;
			continue;
		}
		if (sig > 0) {
			stopped = nudges = true;
			sigemptyset(&set);
			sigaddset(&set, SIG_WRITTEN);
			krp_next_signal_kills(stop, &info);
			unshow(w, true);
		}
		/* Signal again and again: the first signal may come before the write has begun. */
		if (nudges)
			pthread_kill(writer->thread, SIG_NUDGE);
		else
			nudges = watch(w);
	}
	pthread_join(writer->thread, NULL);
	unshow(w, stopped);
	return stopped;
}

/* The run of a client's list is only that of its last case. */
static void print_result(FILE *f, const struct krp_run_info *r, const struct krp_cmdtext *cmd,
			 const struct krp_protect *cases)
{
	if (cases->nr)
		/* In a file nothing is cut. */
		krp_protect_table(f, cases,
				  isatty(STDOUT_FILENO) ? krp_columns(STDOUT_FILENO) - 1 :
							  UINT16_MAX);
	if (r && (!cmd->list || r->clients))
		krp_result_summary(f, r, cmd);
}

/* Printed with one write, since the other end often prints to the same terminal at the same time. */
static void print_summary(const struct krp_run_info *r, const struct krp_cmdtext *cmd,
			  const struct krp_protect *cases)
{
	size_t size;
	char *text;
	FILE *f = krp_text_open(&text, &size);

	print_result(f, r, cmd, cases);
	krp_text_close(f);
	krp_write_whole(text, size);
	free(text);
}

/* The limits of --fail: why has all that are broken, as far as there is room. A run without figures keeps none of them. */
static bool beyond_limits(const struct krp_run_info *r, char *why, size_t size)
{
	char one[128];
	bool any = false;
	size_t len = 0;
	unsigned int i;

	if (opt.nr_limits && !r) {
		snprintf(why, size, "--fail: the run has no figures here");
		return true;
	}
	for (i = 0; i < opt.nr_limits; i++) {
		if (!krp_limit_broken(&opt.limits[i], r, one, sizeof(one)))
			continue;
		if (len < size)
			len += snprintf(why + len, size - len, "%s%s", any ? "; " : "", one);
		any = true;
	}
	return any;
}

/* Of a run that ended well. */
static void print_classic(const struct krp_run_info *r)
{
	char text[160] = "no classic line: the run is not in " KRP_PROC_RUNS;

	if (r && krp_classic_line(text, sizeof(text), r))
		puts(text);
	else
		krp_note("%s", text);
}

static int report(int err, const struct krp_run_info *r, const struct krp_cmdtext *cmd,
		  const struct krp_protect *cases)
{
	static const struct krp_run_info none;
	enum krp_exit code = krp_result_exit(err, r);
	const struct krp_case *first = NULL;
	size_t bad = krp_protect_bad(cases, &first);
	char cause[512] = "";
	json_object *o;

	if (code != KRP_EXIT_OK)
		krp_result_cause(cause, sizeof(cause), err, r, cmd);
	else if (beyond_limits(r, cause, sizeof(cause)))
		code = KRP_EXIT_BROKEN;
	/* All cases were made. */
	if (cmd->list && bad && krp_protect_list_is_over(cases)) {
		snprintf(cause, sizeof(cause),
			 "%zu of %zu cases are not as they have to be, the first one is %s", bad,
			 cases->nr, first->name);
		code = KRP_EXIT_BROKEN;
	}
	krp_tool.status = code;
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, true);
		krp_json_text(o, "command", cmd->text);
		krp_json_bool(o, "good", code == KRP_EXIT_OK);
		if (code != KRP_EXIT_OK)
			krp_json_text(o, "error", cause);
		else
			json_object_object_add(o, "error", NULL);
		krp_result_json(o, r ?: &none);
		/*
		 * The errno of the write has the last word, also if /proc has
		 * no line of the run.
		 */
		krp_json_s64(o, "errno", err);
		if (is_protect(r))
			json_object_object_add(o, "cases", krp_protect_json(cases));
		krp_json_emit(stdout, o);
		return code;
	}
	if (!opt.classic && (cases->nr || krp_result_has_figures(err, r)))
		print_summary(r, cmd, cases);
	if (opt.classic && krp_result_exit(err, r) == KRP_EXIT_OK)
		print_classic(r);
	if (code != KRP_EXIT_OK)
		krp_error("%s", cause);
	if (!r && code != KRP_EXIT_ENV && !opt.classic)
		krp_note("no figures: the run is not in %s (its history is short, or this /proc is that of a PID namespace which does not see us)",
			 KRP_PROC_RUNS);
	return code;
}

/* Writes a command, and waits until its run is over, which is in w. Returns the errno of the write. */
static int run_command(struct watch *w, const struct krp_cmdtext *cmd, const char *text,
		       bool serves_list, bool *stopped)
{
	struct writer writer = { .text = text };
	const struct krp_run_info *r;
	sigset_t stop;

	writer_open(&writer);
	if (opt.interval_ms && access(KRP_PROC_HIST, R_OK))
		krp_die("-i: cannot read %s: %s", KRP_PROC_HIST, strerror(errno));
	watch_start(w, cmd, serves_list);
	krp_verbose("writes \"%s\" to %s", text, PROC_KRPING);
	writer_start(&writer, &stop);
	*stopped = wait_for_writer(&writer, w, &stop);
	close(writer.fd);
	r = own_run(w);
	/* A run may be over before it is looked at. */
	if (r)
		tell_peers(w, r);
	read_cases(w, r);
	return writer.err;
}

static void watch_end(struct watch *w)
{
	krp_runs_free(&w->runs);
	krp_runs_free(&w->at_line);
	krp_protect_free(&w->cases);
	free(w->clients);
}

/*
 * A run for each case, until one has no verdict. Another client may be served between two
 * of them, and the place of the last run be taken for a moment.
 */
static int run_cases(struct watch *w, const struct krp_cmdtext *cmd)
{
	struct krp_protect all = { 0 };
	uint64_t until = 0;
	unsigned int nr = 0;
	bool stopped;
	char *text;
	int err;

	for (;;) {
		text = krp_format("%s,case=%s", cmd->text, krp_name(&krp_protect_case_names, nr));
		err = run_command(w, cmd, text, false, &stopped);
		free(text);
		if (w->cases.nr) {
			all.v = krp_resize(all.v, all.nr + 1, sizeof(*all.v));
			all.v[all.nr++] = *w->cases.v;
			until = 0;
			nr++;
		} else if (err == EBUSY && nr && !stopped && (!until || now_ms() < until)) {
			if (!until)
				until = now_ms() + BUSY_MS;
			usleep(NUDGE_MS * 1000);
		} else {
			/* Nobody knows what became of the case: /proc has no line of its run. */
			if (!err)
				err = ENODATA;
			break;
		}
		if (stopped || nr == KRPING_NR_CASES)
			break;
		watch_end(w);
	}
	/* A case that is not as it has to be fails its run, and the list goes on. */
	if (nr == KRPING_NR_CASES)
		err = 0;
	else if (stopped && !err)
		err = EINTR;
	krp_protect_free(&w->cases);
	w->cases = all;
	return err;
}

static int run(void)
{
	struct krp_cmdtext cmd;
	bool server, stopped, serves_list;
	char err[256], *text;
	struct watch w;
	int ret, code;

	if (krp_cmdtext_build(&cmd, opt.command, opt.words, opt.nr_words, err, sizeof(err)))
		krp_die("%s", err);
	if (opt.classic && !krp_classic_fits(&cmd))
		krp_die("--classic: only test=wlat, rlat and bw have that line");
	server = !strcmp(cmd.role, "server");
	/* A server of one run would serve one case. */
	serves_list = cmd.list && server && !krp_cmdtext_has(&cmd, "persistent") &&
		      !krp_cmdtext_has(&cmd, "clients=");
	if (serves_list) {
		text = krp_format("%s,persistent", cmd.text);
		free(cmd.text);
		cmd.text = text;
	}
	if (opt.dry_run) {
		text = krp_clean_dup(cmd.text);
		if (cmd.list && !server)
			printf("%s,case=NAME\n", text);
		else
			puts(text);
		free(text);
		krp_cmdtext_free(&cmd);
		return KRP_EXIT_OK;
	}
	/* rdma_cm listens there all the same. */
	if (server && krp_cmdtext_is_loopback(&cmd))
		krp_note("no RDMA device has the address %s, so no client can come; compare \"ip address\" with \"rdma link\", or give no address",
			 cmd.host);
	if (cmd.list && !server)
		ret = run_cases(&w, &cmd);
	else
		ret = run_command(&w, &cmd, cmd.text, serves_list, &stopped);
	code = report(ret, own_run(&w), &cmd, &w.cases);
	watch_end(&w);
	krp_cmdtext_free(&cmd);
	return code;
}

static int list(void)
{
	const struct krp_run_info **v;
	struct krp_runs runs = { 0 };
	json_object *o, *a, *one;
	size_t i, nr = 0;

	if (opt.nr_words)
		krp_die("list: there is nothing to add to it: %s", opt.words[0]);
	read_runs(&runs);
	v = krp_new(runs.nr + 1, sizeof(*v));
	for (i = 0; i < runs.nr; i++) {
		if (opt.all || !krp_run_finished(&runs.v[i]))
			v[nr++] = &runs.v[i];
	}
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, true);
		krp_json_u64(o, "evicted", runs.evicted);
		a = json_object_new_array();
		for (i = 0; i < nr; i++) {
			one = json_object_new_object();
			krp_result_json(one, v[i]);
			json_object_array_add(a, one);
		}
		json_object_object_add(o, "runs", a);
		krp_json_emit(stdout, o);
	} else {
		/* Leave out the last column of a terminal, since some terminals wrap there. */
		krp_result_list(stdout, v, nr, krp_columns(STDOUT_FILENO) - 1);
		fflush(stdout);
		if (nr < runs.nr)
			krp_note("%zu have ended: \"krping list -a\"", runs.nr - nr);
		if (opt.all && runs.evicted)
			krp_note("%" PRIu64 " more have ended, and the module has forgotten them",
				 runs.evicted);
	}
	free(v);
	krp_runs_free(&runs);
	return KRP_EXIT_OK;
}

/* A run that is told to end goes on while its disk is open. */
static void say_open(const char *id)
{
	struct krp_runs runs = { 0 };
	const struct krp_run_info *r;
	char holders[512];

	read_runs(&runs);
	r = krp_runs_find(&runs, strtoul(id, NULL, 10));
	/* The run may be over by now. */
	if (r && has_disk(r) && !krp_run_finished(r))
		krp_error("run %s goes on until /dev/%s is closed (%s); \"krping stop %s\" again ends it at once, with I/O errors",
			  id, r->disk, krp_holders(holders, sizeof(holders), r->disk), id);
	krp_runs_free(&runs);
}

/* Asks one run to end. 0, or the errno of the write. */
static int stop_run(struct writer *w, const char *id)
{
	char text[64];

	snprintf(text, sizeof(text), "stop,id=%s", id);
	if (opt.dry_run) {
		puts(text);
		return 0;
	}
	krp_verbose("writes \"%s\" to %s", text, PROC_KRPING);
	return write(w->fd, text, strlen(text)) < 0 ? errno : 0;
}

static void check_id(const char *id)
{
	char *end;
	unsigned long long n = strtoull(id, &end, 10);

	if (!*id || id[strspn(id, "0123456789")] || *end || !n || n > UINT32_MAX || *id == '0')
		krp_die("stop: %s: not the number of a run; \"krping list\" has them", id);
}

static int stop(void)
{
	int code = KRP_EXIT_OK, err;
	struct writer w = { .fd = -1 };
	unsigned int i;

	if (!opt.nr_words)
		krp_die("stop: say which run, by its number; \"krping list\" has them");
	for (i = 0; i < opt.nr_words; i++)
		check_id(opt.words[i]);
	if (!opt.dry_run)
		writer_open(&w);
	for (i = 0; i < opt.nr_words; i++) {
		err = stop_run(&w, opt.words[i]);
		if (err == EBUSY) {
			say_open(opt.words[i]);
			code = KRP_EXIT_BROKEN;
			continue;
		}
		if (err && err != ENOENT)
			krp_die("cannot stop run %s: %s", opt.words[i], strerror(err));
		if (!err)
			continue;
		krp_error("no run %s goes on; \"krping list\" has those that do", opt.words[i]);
		code = KRP_EXIT_BROKEN;
	}
	if (w.fd >= 0)
		close(w.fd);
	return code;
}

/* The table of the loaded module; false: it is not loaded. */
static bool read_options(struct krp_optable *table)
{
	FILE *f = fopen(KRP_PROC_HELP, "re");
	int err;

	if (!f)
		return false;
	err = krp_optable_parse(table, f);
	fclose(f);
	if (err)
		krp_die("cannot read %s: %s", KRP_PROC_HELP, strerror(-err));
	return true;
}

/* A word may be an option, and also stand in tables. */
static void explain(const char *word, const struct krp_optable *table, bool loaded)
{
	unsigned int width = krp_columns(STDOUT_FILENO) - 1;
	const struct krp_option *o = krp_optable_find(table, word);
	char *near;
	size_t size;
	FILE *f;

	if (o)
		krp_optable_print(stdout, table, o, width);
	if (krp_words_explain(stdout, word, width) || o)
		return;
	f = krp_text_open(&near, &size);
	krp_words_near(f, word, table);
	krp_text_close(f);
	krp_die("help: no table has the word %s, and %s%s", word,
		loaded ? "the module no such option" :
			 "the module, which has the options, is not loaded",
		near);
}

static int help(void)
{
	struct krp_optable table = { 0 };
	unsigned int i;
	char word[128];
	bool loaded;

	if (!opt.nr_words) {
		argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
			  (char *)krp_tool.name);
		puts("\nAny word of a table or a screen can be asked, too: krping help wire\n");
		fflush(stdout);
	}
	loaded = read_options(&table);
	if (!loaded && !opt.nr_words)
		no_module();
	if (opt.nr_words) {
		/* Some heads of columns are several words. */
		snprintf(word, sizeof(word), "%s", opt.words[0]);
		for (i = 1; i < opt.nr_words; i++)
			snprintf(word + strlen(word), sizeof(word) - strlen(word), " %s",
				 opt.words[i]);
		explain(word, &table, loaded);
	} else {
		fputs(table.intro, stdout);
		krp_optable_print(stdout, &table, NULL, krp_columns(STDOUT_FILENO) - 1);
	}
	krp_optable_free(&table);
	return KRP_EXIT_OK;
}

static int bug_report(void)
{
	int fd, failed;
	FILE *f;

	if (opt.nr_words)
		krp_die("bug-report: there is nothing to add to it: %s", opt.words[0]);
	if (!opt.output) {
		krp_report(stdout, "", opt.plain);
		return KRP_EXIT_OK;
	}
	fd = open(opt.output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		krp_die("-o: %s: %s", opt.output, strerror(errno));
	krp_report(f, "", opt.plain);
	failed = ferror(f);
	if (fclose(f) || failed)
		krp_die("-o: cannot write %s: %s", opt.output, strerror(errno));
	krp_note("read %s before you send it", opt.output);
	return KRP_EXIT_OK;
}

int krp_runs_main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*main)(void);
	} commands[] = {
		{ "server", run }, { "client", run }, { "list", list },
		{ "stop", stop },  { "help", help },  { "bug-report", bug_report },
	};
	size_t i;

	krp_tool_begin("krping");
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!strcmp(commands[i].name, opt.command)) {
			check_options();
			return commands[i].main();
		}
	}
	if (krp_is_view(opt.command))
		krp_die("options of %s come behind that word: try \"krping %s --help\"",
			opt.command, opt.command);
	krp_die("no such command: %s; \"krping\" alone says what can be asked", opt.command);
}
