// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "checked.h"
#include "names.h"
#include "procfile.h"
#include "stop.h"
#include "tool.h"

/* How often to look for runs that have ended, in seconds. */
#define POLL_SECONDS 0.25

/* Limits of --records, in KiB. */
#define RECORDS_MIN 4
#define RECORDS_MAX (1024 * 1024)

enum {
	OPT_RUN = 256,
	OPT_QP,
	OPT_TEST,
	OPT_ROLE,
	OPT_NAME,
	OPT_MAX_RUNS,
	OPT_RECORDS,
	OPT_TOTAL,
	OPT_BY,
	OPT_SPLIT,
};

/* clang-format off */
static const struct tool_option {
	struct argp_option argp;
	unsigned int needs; /* which KRP_HAS_*; 0: all tools have it */
	size_t yes;	    /* what it says yes to, in krp_opts; 0: it has a value, which parse() looks at */
} options[] = {
#define HEAD(text, group)	{ { NULL, 0, NULL, 0, text, group }, 0, 0 }
#define OPT(name, key, arg, text, group, needs, yes) \
				{ { name, key, arg, 0, text, group }, needs, yes }
#define YES(member)		offsetof(struct krp_opts, member)
	HEAD("When:", 1),
	OPT("interval", 'i', "SECONDS",
	    "print each SECONDS (0.1 at least)", 1, KRP_HAS_INTERVAL, 0),
	OPT("total", OPT_TOTAL, NULL,
	    "at each interval what was since the start", 1, KRP_HAS_INTERVAL, YES(total)),
	OPT("duration", 't', "TIME", "stop after TIME: seconds, or with s, m, h", 1, 0, 0),
	OPT("until-done", 'e', NULL, "stop when all runs have ended", 1, 0, YES(until_done)),
	HEAD("Output:", 2),
	OPT("json", 'j', NULL, "JSON: one object a line and interval", 2, 0, YES(json)),
	OPT("timestamp", 'T', NULL, "the time on each line", 2, 0, YES(stamp)),
	OPT("verbose", 'v', NULL, "tell what is done, and libbpf's messages", 2, 0, YES(verbose)),
	OPT("histograms", 'H', NULL,
	    "print histograms too", 2, KRP_HAS_HISTOGRAMS, YES(histograms)),
	OPT("by", OPT_BY, "KEY", "sum runs by dev, peer, role, test or size", 2, KRP_HAS_BY, 0),
	OPT("split", OPT_SPLIT, NULL,
	    "ask whose time pings are: host or network", 2, KRP_HAS_SPLIT, YES(split)),
	HEAD("Which runs:", 3),
	OPT("input", 'I', "FILE",
	    "of a recording: krping record's, or trace-cmd's", 3, KRP_HAS_INPUT, 0),
	OPT("run", OPT_RUN, "ID", "this run; stops when it ends", 3, 0, 0),
	OPT("dev", 'd', "NAME", "on this RDMA device", 3, KRP_HAS_FILTERS, 0),
	OPT("test", OPT_TEST, "NAME", "of this test", 3, KRP_HAS_FILTERS, 0),
	OPT("role", OPT_ROLE, "ROLE", "server or client", 3, KRP_HAS_FILTERS, 0),
	OPT("name", OPT_NAME, "LABEL", "with this label, as name= gave it", 3, KRP_HAS_FILTERS, 0),
	OPT("qp", OPT_QP, "NUMBER", "on this queue pair", 3, KRP_HAS_FILTERS, 0),
	HEAD("Room:", 5),
	OPT("max-runs", OPT_MAX_RUNS, "N", "for N runs at once (512)", 5, KRP_HAS_MAX_RUNS, 0),
	OPT("records", OPT_RECORDS, "KIB",
	    "for events that are not read yet (8192)", 5, KRP_HAS_RECORDS, 0),
	HEAD("Help:", -1),
	{ { 0 }, 0, 0 }
#undef HEAD
#undef OPT
#undef YES
};
/* clang-format on */

unsigned long krp_arg_number(const char *what, const char *arg, unsigned long min,
			     unsigned long max)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || v < min || v > max)
		krp_die("%s: not a number from %lu to %lu: %s", what, min, max, arg);
	return v;
}

static double seconds(const char *what, const char *arg, bool units)
{
	static const char names[] = "smh"; /* each one is 60 of that before it */
	const char *end, *unit;
	bool good;
	double v;

	good = krp_parse_number(arg, &v, &end);
	unit = units && *end && !end[1] ? strchr(names, *end) : NULL;
	if (unit)
		v *= pow(60, unit - names);
	if (!good || (*end && !unit) || v < 0.1 || v > 1e7)
		krp_die("%s: not a time of 0.1 seconds or more: %s", what, arg);
	return v;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct krp_opts *o = &krp_tool.opts;
	size_t i;
	int by;

	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (options[i].yes && options[i].argp.key == key) {
			*(bool *)((char *)o + options[i].yes) = true;
			return 0;
		}
	}
	switch (key) {
	case 'i':
		o->interval = seconds("--interval", arg, false);
		break;
	case 't':
		o->duration = seconds("--duration", arg, true);
		break;
	case 'I':
		o->input = arg;
		break;
	case OPT_RUN:
		o->run = krp_arg_number("--run", arg, 1, UINT32_MAX);
		break;
	case OPT_QP:
		o->qp = krp_arg_number("--qp", arg, 1, UINT32_MAX);
		break;
	case 'd':
		/* -d was --duration once. */
		if (*arg >= '0' && *arg <= '9')
			krp_die("-d: a device, not %s; a duration is -t %s", arg, arg);
		/* Escaped, like the names that it is compared with. */
		o->dev = krp_escape_dup(arg);
		break;
	case OPT_NAME:
		o->name = arg;
		break;
	case OPT_TEST:
		if (krp_name_find(&krp_test_names, arg, strlen(arg)) < 0)
			krp_die("--test: no such test: %s", arg);
		o->test = arg;
		break;
	case OPT_ROLE:
		if (krp_name_find(&krp_role_names, arg, strlen(arg)) < 0)
			krp_die("--role: server or client, not %s", arg);
		o->role = arg;
		break;
	case OPT_BY:
		by = krp_by_find(arg);
		if (by < 0)
			krp_die("--by: one of dev, peer, role, test, size, not %s", arg);
		o->by = by;
		break;
	case OPT_MAX_RUNS:
		o->max_runs = krp_arg_number("--max-runs", arg, 1, 65536);
		break;
	case OPT_RECORDS:
		o->records = krp_arg_number("--records", arg, RECORDS_MIN, RECORDS_MAX);
		if (o->records & (o->records - 1))
			krp_die("--records: not a power of two: %s", arg);
		break;
	case ARGP_KEY_ARG:
		if (!(krp_tool.has & KRP_HAS_INTERVAL))
			return ARGP_ERR_UNKNOWN;
		if (state->arg_num == 0)
			o->interval = seconds("interval", arg, false);
		else if (state->arg_num == 1)
			o->count = krp_arg_number("count", arg, 1, UINT32_MAX);
		else
			krp_die("too many arguments: %s (see --help)", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void version(FILE *f, struct argp_state *state)
{
	(void)state;
	fprintf(f, "%s %s (libbpf %d.%d, krping events ABI %d)\n", krp_tool.name, KRP_VERSION,
		libbpf_major_version(), libbpf_minor_version(), KRPING_EVENTS_ABI);
}

void krp_tool_begin(const char *name)
{
	krp_open_closed_streams();
	krp_tool.name = name;
	argp_program_version_hook = version;
	argp_err_exit_status = KRP_EXIT_ENV;
	krp_check_stdout(krp_write_failed);
}

void krp_tool_init(int argc, char **argv, const char *name, const char *doc, const struct argp *own)
{
	const struct argp_child children[] = { { own, 0, NULL, 0 }, { 0 } };
	/* Static, since argp may look at them again after we have returned. */
	static struct argp_option shown[sizeof(options) / sizeof(*options)];
	const struct argp argp = {
		.options = shown,
		.parser = parse,
		.args_doc = krp_tool.args_doc ?: "[INTERVAL [COUNT]]",
		.doc = doc,
		.children = own ? children : NULL,
	};

	unsigned int i, n = 0;

	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!(options[i].needs & ~krp_tool.has))
			shown[n++] = options[i].argp;
	}
	krp_tool_begin(name);
	/* As the link is called, whoever asked: for ps(1), and for krping slow, which tells who had the CPUs. */
	prctl(PR_SET_NAME, name);
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (krp_tool.opts.input) {
		if (krp_tool.opts.split)
			krp_die("--split is not for --input");
	} else if (krp_tool.has & KRP_HAS_INPUT) {
		krp_preflight();
		krp_check_filter();
	}
}

static bool may_use_bpf(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	uint64_t caps;

	if (syscall(SYS_capget, &head, data))
		return geteuid() == 0;
	caps = data[0].effective | (uint64_t)data[1].effective << 32;
	if (caps & 1ULL << CAP_SYS_ADMIN)
		return true;
	return (caps & 1ULL << CAP_BPF) && (caps & 1ULL << CAP_PERFMON);
}

void krp_preflight(void)
{
	static const char abi_file[] = "/sys/module/rdma_krping/parameters/events_abi";
	unsigned int abi;
	char line[32];

	if (!may_use_bpf())
		krp_die("needs root, or the capabilities CAP_BPF and CAP_PERFMON: try \"sudo %s\"",
			krp_tool.name);
	if (access("/sys/module/rdma_krping", F_OK))
		krp_die("the module is not loaded: try \"modprobe rdma_krping\"");
	krp_first_line(abi_file, line, sizeof(line));
	if (sscanf(line, "%u", &abi) != 1)
		krp_die("cannot read %s: is the module loaded the one of this project?", abi_file);
	if (abi != KRPING_EVENTS_ABI)
		krp_die("the module has events ABI %u, this tool knows %d: install module and tools of one version",
			abi, KRPING_EVENTS_ABI);
	if (access(KRP_PROC_RUNS, R_OK))
		krp_die("cannot read %s: %s", KRP_PROC_RUNS, strerror(errno));
}

bool krp_has_filter(void)
{
	const struct krp_opts *o = &krp_tool.opts;

	return o->dev || o->test || o->role || o->name || o->qp;
}

bool krp_filter(const struct krp_run_info *info)
{
	const struct krp_opts *o = &krp_tool.opts;

	if (!krp_has_filter())
		return true;
	return info && (!o->dev || !strcmp(o->dev, info->dev) || !strcmp(o->dev, info->dev_was)) &&
	       (!o->test || !strcmp(o->test, info->test)) &&
	       (!o->role || !strcmp(o->role, info->role)) &&
	       (!o->name || !strcmp(o->name, info->name)) && (!o->qp || o->qp == info->qp);
}

bool krp_shows(uint32_t run, const struct krp_run_info *info)
{
	return (!krp_tool.opts.run || krp_tool.opts.run == run) && krp_filter(info);
}

bool krp_all_done(unsigned long seen, unsigned long ended)
{
	const struct krp_opts *o = &krp_tool.opts;
	struct krp_runs runs = { 0 };
	bool running = false;
	size_t i;

	if ((!o->until_done && !o->run) || !seen || seen != ended)
		return false;
	/* A run may have raised no event yet: a server that listens. */
	if (!krp_runs_read(&runs)) {
		for (i = 0; i < runs.nr; i++) {
			if (o->run && o->run != runs.v[i].id)
				continue;
			if (!krp_run_finished(&runs.v[i]) && krp_filter(&runs.v[i]))
				running = true;
		}
	}
	krp_runs_free(&runs);
	return !running;
}

bool krp_absent(char *text, size_t size)
{
	const struct krp_opts *o = &krp_tool.opts;
	struct krp_runs runs = { 0 };
	char path[PATH_MAX];
	bool absent = false;

	if (o->dev) {
		snprintf(path, sizeof(path), "%s/%s", KRP_RDMA_DEVICES, o->dev);
		absent = access(path, F_OK);
	}
	if (absent) {
		snprintf(text, size, "there is no device %s yet: waiting for it", o->dev);
	} else if (o->run && !krp_runs_read(&runs)) {
		absent = !krp_runs_find(&runs, o->run);
		if (absent)
			snprintf(text, size,
				 "there is no run %u yet (the last one is %u): waiting for it",
				 o->run, runs.nr ? runs.v[runs.nr - 1].id : 0);
		krp_runs_free(&runs);
	}
	return absent;
}

void krp_check_filter(void)
{
	struct krp_runs runs = { 0 };
	const struct krp_run_info *info;
	char text[128];

	if (krp_absent(text, sizeof(text))) {
		krp_note("%s", text);
		return;
	}
	if (!krp_tool.opts.run || krp_runs_read(&runs))
		return;
	info = krp_runs_find(&runs, krp_tool.opts.run);
	if (info && krp_run_finished(info))
		krp_die("run %u has ended already: see %s", info->id, KRP_PROC_RUNS);
	krp_runs_free(&runs);
}

FILE *krp_text(void)
{
	if (!krp_tool.text)
		krp_tool.text = krp_text_open(&krp_tool.text_buf, &krp_tool.text_size);
	return krp_tool.text;
}

void krp_show(bool redraw)
{
	static unsigned int drawn;
	unsigned int left = UINT_MAX;
	char *line, *end, now[16];
	struct winsize w;

	if (!krp_tool.text)
		return;
	if (redraw && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row)
		left = w.ws_row - 1;
	krp_text_close(krp_tool.text);
	krp_tool.text = NULL;
	/*
	 * Move up, clear each line behind its text, then the rest: this does not flicker. A long line is cut by
	 * the terminal, or it would be two to move up.
	 */
	if (redraw) {
		if (drawn)
			printf("\033[%uA", drawn);
		fputs("\r\033[?7l", stdout);
	}
	drawn = 0;
	krp_time_clock(now, sizeof(now), time(NULL));
	for (line = krp_tool.text_buf; *line && left; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			end++;
		if (!--left && *end)
			end = line = "... and more than this terminal has lines";
		if (krp_tool.opts.stamp)
			printf("%s ", now);
		printf("%.*s%s\n", (int)strcspn(line, "\n"), line, redraw ? "\033[K" : "");
		drawn += redraw;
	}
	if (redraw)
		fputs("\033[J\033[?7h", stdout);
	fflush(stdout);
	free(krp_tool.text_buf);
	krp_tool.text_buf = NULL;
}

static struct {
	sigset_t signals;
	int signal_fd;
	bool begun;
	double end, next_tick, next_poll;
	unsigned long ticks;
} run_state;

static double now_seconds(void)
{
	return krp_time_now() / 1e9;
}

void krp_start(void)
{
	krp_stop_signals(&run_state.signals);
	run_state.signal_fd = signalfd(-1, &run_state.signals, SFD_CLOEXEC);
	if (run_state.signal_fd < 0)
		krp_die("cannot wait for signals: %s", strerror(errno));
}

/*
 * Returns 1 if fd can be read, or the tool itself has handled a signal; 0 if
 * neither came in time; -1 if a signal to stop came, or the other end of fd has
 * gone.
 */
static int wait_until(double until, int fd)
{
	struct pollfd fds[2] = {
		{ .fd = run_state.signal_fd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	double left;
	struct timespec ts;
	siginfo_t info = { 0 };
	int n;

	do {
		left = until - now_seconds();
		if (left < 0)
			left = 0;
		ts.tv_sec = left;
		ts.tv_nsec = (left - ts.tv_sec) * 1e9;
		n = ppoll(fds, fd < 0 ? 1 : 2, &ts, NULL);
	} while (n < 0 && errno == EINTR && fd < 0);
	if (n < 0)
		return errno == EINTR;
	if (!n)
		return 0;
	if (!fds[0].revents)
		/* A terminal that has gone hangs up: there is nobody to go on for. */
		return fds[1].revents & (POLLHUP | POLLERR | POLLNVAL) ? -1 : 1;
	/* Another signal kills us, whatever we are doing: see krp_next_signal_kills(). */
	ts = (struct timespec){ 0 };
	sigtimedwait(&run_state.signals, &info, &ts);
	krp_next_signal_kills(&run_state.signals, &info);
	return -1;
}

enum krp_wake krp_wait_fd(int fd, double seconds)
{
	const struct krp_opts *o = &krp_tool.opts;
	double now = now_seconds(), until;
	int ready;

	/* Time begins here: the time to load the programs does not count. */
	if (!run_state.begun) {
		run_state.begun = true;
		run_state.end = o->duration ? now + o->duration : INFINITY;
		run_state.next_tick = o->interval ? krp_time_tick(now, o->interval) : INFINITY;
	}
	/* This also polls if there is always something to read. */
	if (run_state.next_poll <= now)
		run_state.next_poll = now + POLL_SECONDS;
	until = run_state.next_poll;
	if (now + seconds < until)
		until = now + seconds;
	if (run_state.next_tick < until)
		until = run_state.next_tick;
	if (run_state.end < until)
		until = run_state.end;
	ready = wait_until(until, fd);
	if (ready < 0)
		return KRP_WAKE_STOP;
	now = now_seconds();
	if (now >= run_state.end)
		return KRP_WAKE_STOP;
	if (now < run_state.next_tick)
		return ready && now < run_state.next_poll ? KRP_WAKE_FD : KRP_WAKE_POLL;
	run_state.ticks++;
	if (o->count && run_state.ticks >= o->count)
		return KRP_WAKE_STOP;
	/* Missed ticks are not made up for. */
	run_state.next_tick += o->interval * (floor((now - run_state.next_tick) / o->interval) + 1);
	return KRP_WAKE_TICK;
}
