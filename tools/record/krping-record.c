// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-record: writes the events of krping's runs to a file as the ring buffer has them, for
 * the other tools to read by --input. With --flight the last seconds stay in memory, and are
 * written when something has gone wrong, or takes long (--when).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/environment.h"
#include "../lib/events.h"
#include "../lib/hist.h"
#include "../lib/recording.h"
#include "../lib/source.h"
#include "../lib/tool.h"
#include "anonymize.h"
#include "../krping/views.h"

#define RING_KIB    8192
#define FLUSH_BYTES (256U << 10)

/* Chunks that were not written yet. */
struct part {
	char *data;
	size_t size, room;
};

extern char **environ;

static const char *path = "krping.rec";
static char file[4096]; /* the one that was opened last: path, or behind a dot its number */
static const char *globs;
static const char *original; /* of --anonymize */
static bool all_events;
static unsigned int flight; /* seconds; 0: all goes to the file */
/* --when: the percentile of this second's iterations that is to be longer than ns; 0: none. */
static struct {
	unsigned int p;
	uint64_t ns;
	bool held;
	struct krp_hist hist;
	struct krp_sum sum;
} when;
static char **command;
static pid_t child;
static int child_status;
static int fd = -1;
static unsigned int nr_files;
static struct krp_source source;
static struct krp_environment environment;
/* The part of this second, and with --flight those before it, of which the oldest one is behind it. */
static struct part *parts;
static unsigned int at;
static struct krp_lost lost_told;
static unsigned long nr_seen, nr_ended;
static uint64_t nr_events, nr_bytes;
static volatile sig_atomic_t asked; /* by SIGUSR1 */
static bool run_failed;

/* What the tools need that look at iterations. */
static const char standard[] =
	"run_start,conn,run_end,result,addr,iter_stages,iter_memory,cm_event,"
	"reject,async_event,wc_err,wc_flush,post_send_err,post_recv_err,request,"
	"block_issue,block_done,protect";

static bool is_wanted(const char *event)
{
	int id = krp_event_find(event);

	if (when.p && id == KRP_EV_iter)
		return true;
	if (id == KRP_EV_run_start || id == KRP_EV_run_end || id == KRP_EV_conn || all_events)
		return true;
	return krp_globs_match(globs ?: standard, event);
}

static void add(struct part *p, enum krp_chunk_kind kind, const void *data, uint32_t size)
{
	struct krp_chunk c = { .kind = kind, .size = size };
	size_t padded = (size + 7UL) & ~7UL;

	if (p->size + sizeof(c) + padded > p->room) {
		p->room = 2 * p->room + sizeof(c) + padded;
		p->data = krp_resize(p->data, p->room, 1);
	}
	memcpy(p->data + p->size, &c, sizeof(c));
	memcpy(p->data + p->size + sizeof(c), data, size);
	memset(p->data + p->size + sizeof(c) + size, 0, padded - size);
	p->size += sizeof(c) + padded;
}

static void put(const void *data, size_t size)
{
	ssize_t n;

	for (; size; data = (const char *)data + n, size -= n, nr_bytes += n) {
		n = write(fd, data, size);
		if (n < 0 && errno != EINTR)
			krp_die("%s: %s; the recording ends here", file, strerror(errno));
		if (n < 0)
			n = 0;
	}
}

static void flush(struct part *p)
{
	put(p->data, p->size);
	p->size = 0;
}

static void add_clock(struct part *p)
{
	struct krp_clock c = { .mono = krp_time_now(), .real = krp_time_real() };

	add(p, KRP_CHUNK_CLOCK, &c, sizeof(c));
}

static void add_lost(struct part *p, bool always)
{
	struct krp_lost now = krp_source_lost(&source);
	struct krp_chunk_lost c = {
		.missed = now.missed,
		.failed = now.failed,
		.dropped = now.dropped,
	};

	if (!always && krp_lost_sum(now) == krp_lost_sum(lost_told))
		return;
	lost_told = now;
	add(p, KRP_CHUNK_LOST, &c, sizeof(c));
}

static void add_about(struct part *p, json_object *about)
{
	const char *json = json_object_to_json_string_ext(about, JSON_C_TO_STRING_PLAIN);

	add(p, KRP_CHUNK_ABOUT, json, strlen(json));
}

/* What is known so far of the environment of the runs that were seen, and the copy of /proc that has their devices. */
static void add_runs(struct part *p)
{
	struct krp_runs runs = { 0 };
	json_object *about;
	struct utsname uts;
	FILE *f = fopen(KRP_PROC_RUNS, "re");
	size_t room = 0, n;
	char *text = NULL;
	/* All of it: it has no NUL. */
	ssize_t size = f ? getdelim(&text, &room, '\0', f) : 0;

	if (f)
		fclose(f);
	f = size > 0 ? fmemopen(text, size, "r") : NULL;
	if (f) {
		krp_runs_parse(&runs, f);
		fclose(f);
	}
	for (n = 0; n < runs.nr; n++) {
		if (krp_environment_has(&environment, runs.v[n].id))
			krp_environment_run(&environment, &runs.v[n]);
	}
	krp_runs_free(&runs);
	about = krp_environment_json(&environment);
	uname(&uts);
	krp_json_text(about, "host", uts.nodename);
	krp_json_text(about, "version", KRP_VERSION);
	add_about(p, about);
	json_object_put(about);
	add(p, KRP_CHUNK_RUNS, text ?: "", size > 0 ? size : 0);
	free(text);
}

static void open_file(struct part *p, int flags)
{
	char *table = krp_recording_table();

	snprintf(file, sizeof(file), nr_files ? "%s.%u" : "%s", path, nr_files + 1);
	nr_files++;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	if (fd < 0)
		krp_die("%s: %s", file, strerror(errno));
	put(KRP_RECORDING_MAGIC, sizeof(KRP_RECORDING_MAGIC) - 1);
	add(p, KRP_CHUNK_TABLE, table, strlen(table));
	free(table);
}

static void close_file(void)
{
	if (close(fd))
		krp_die("%s: %s; the recording ends here", file, strerror(errno));
	fd = -1;
}

/* A file begins: what a reader needs before the first event. */
static void begin_file(void)
{
	struct part head = { 0 };

	open_file(&head, O_TRUNC);
	add_runs(&head);
	add_clock(&head);
	flush(&head);
	free(head.data);
}

static void end_file(void)
{
	struct part tail = { 0 };

	add_lost(&tail, true);
	add_runs(&tail);
	add_clock(&tail);
	add(&tail, KRP_CHUNK_END, "", 0);
	flush(&tail);
	free(tail.data);
	close_file();
}

/* Writes what is in memory, and begins to remember again. */
static void write_flight(void)
{
	unsigned int i;

	begin_file();
	for (i = 1; i <= flight + 1; i++)
		flush(&parts[(at + i) % (flight + 1)]);
	end_file();
	krp_note("the last %u seconds are in %s", flight, file);
}

static void take_iteration(uint64_t t, const __u64 *args)
{
	uint64_t begin = args[KRP_ARG_iter_t_begin], ns = t > begin ? t - begin : 0;

	if ((__u32)args[KRP_ARG_iter_flags] != KRPING_PHASE_F_COMMIT)
		return;
	when.hist.bucket[krp_hist_index(ns)]++;
	krp_sum_add(&when.sum, ns);
}

/* Does it hold of the second that is over, and not of that before? */
static bool holds_now(void)
{
	bool held = when.held;

	when.held = when.sum.count && krp_hist_percentile(&when.hist, &when.sum, when.p) > when.ns;
	memset(&when.hist, 0, sizeof(when.hist));
	memset(&when.sum, 0, sizeof(when.sum));
	return when.held && !held;
}

static int on_event(void *ctx, void *data, size_t size)
{
	const struct krp_event_head *h = data;
	size_t full = krp_event_size(h);

	(void)ctx;
	/* In the ring is room for more words than there are. */
	if (full < size)
		size = full;
	add(&parts[at], KRP_CHUNK_EVENT, data, size);
	nr_events++;
	/* While the thread goes on: its CPUs; of a run that began before us the first iteration tells which it is. */
	if ((h->event == KRP_EV_conn || h->event == KRP_EV_iter_stages) &&
	    !krp_environment_has(&environment, h->run))
		krp_environment_thread(&environment, h->run, h->tid);
	if (h->event == KRP_EV_run_start) {
		nr_seen++;
	} else if (h->event == KRP_EV_run_end) {
		nr_ended++;
		run_failed |= (__u32)((const __u64 *)(h + 1))[KRP_ARG_run_end_err];
	}
	if (when.p && h->event == KRP_EV_iter)
		take_iteration(h->t, (const __u64 *)(h + 1));
	if (!flight && parts[at].size >= FLUSH_BYTES)
		flush(&parts[at]);
	return 0;
}

static void next_second(void)
{
	static unsigned long told_ended;

	/* /proc forgets them. */
	if (nr_ended != told_ended)
		add_runs(&parts[at]);
	told_ended = nr_ended;
	if (!flight) {
		add_clock(&parts[at]);
		add_lost(&parts[at], false);
		flush(&parts[at]);
		return;
	}
	if (when.p && holds_now())
		write_flight();
	at = (at + 1) % (flight + 1);
	parts[at].size = 0;
	add_clock(&parts[at]);
	add_lost(&parts[at], true);
}

static void on_usr1(int sig)
{
	(void)sig;
	asked = 1;
}

static void start_command(void)
{
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(&child, *command, NULL, &attr, command, environ);
	posix_spawnattr_destroy(&attr);
	if (err)
		krp_die("%s: %s", *command, strerror(err));
}

static bool command_is_over(void)
{
	if (child && waitpid(child, &child_status, WNOHANG) == child)
		child = 0;
	return !child;
}

static void copy_other(struct krp_recording *r, const struct krp_chunk *c)
{
	char *runs;

	if (c->kind == KRP_CHUNK_ABOUT) {
		krp_json_text(r->about, "host", "anonymous");
		add_about(parts, r->about);
	} else if (c->kind == KRP_CHUNK_RUNS) {
		runs = anonymize_runs(r->chunk);
		add(parts, KRP_CHUNK_RUNS, runs, strlen(runs));
		free(runs);
	} else if (c->kind == KRP_CHUNK_CLOCK || c->kind == KRP_CHUNK_LOST ||
		   c->kind == KRP_CHUNK_END) {
		add(parts, c->kind, r->chunk, c->size);
	}
}

/* What this version does not know is left out: it may be a name. */
static int anonymize(void)
{
	const struct krp_event_head *h;
	struct krp_recording r;
	struct krp_runs runs = { 0 };
	size_t size;

	krp_recording_input(&r, original, &runs);
	if (r.tracedat)
		krp_die("--anonymize: %s is not of krping-record", original);
	r.other = copy_other;
	open_file(parts, O_EXCL);
	while ((h = krp_recording_next(&r, &size))) {
		anonymize_event((void *)h);
		add(parts, KRP_CHUNK_EVENT, h, size);
		if (parts->size >= FLUSH_BYTES)
			flush(parts);
	}
	flush(parts);
	close_file();
	if (r.damage)
		krp_error("%s is damaged: %s", original, r.damage);
	krp_recording_close(&r);
	krp_runs_free(&runs);
	return r.damage ? KRP_EXIT_BROKEN : KRP_EXIT_OK;
}

static void parse_when(const char *arg)
{
	static const struct {
		const char *name;
		unsigned int p;
	} of[] = { { "p50>", KRP_P50 }, { "p99>", KRP_P99 }, { "max>", 10000 } };
	unsigned int i;

	for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
		if (!strncmp(arg, of[i].name, 4) && krp_parse_ns(arg + 4, &when.ns))
			when.p = of[i].p;
	}
	if (!when.p)
		krp_die("--when: p50, p99 or max, >, and a time as 5ms: \"%s\"", arg);
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'o':
		path = arg;
		break;
	case 'a':
		all_events = true;
		break;
	case 'E':
		globs = krp_source_globs(arg);
		break;
	case 'W':
		parse_when(arg);
		break;
	case 'A':
		original = arg;
		break;
	case 'F':
		flight = krp_arg_number("--flight", arg, 1, 3600);
		break;
	case ARGP_KEY_ARGS:
		command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (krp_tool.opts.stamp)
			krp_die("--timestamp: a recording has all times");
		if (when.p && !flight)
			krp_die("--when needs --flight");
		if (all_events && globs)
			krp_die("--all and --event: one of them");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void record(void)
{
	struct sigaction usr1 = { .sa_handler = on_usr1 };
	enum krp_wake wake;
	bool done;

	sigaction(SIGUSR1, &usr1, NULL);
	add_clock(&parts[at]);
	if (!flight)
		begin_file();
	if (command)
		start_command();
	do {
		/* The pings may want the CPU on which we read: events wait for their second, or until much of the ring is full. */
		wake = krp_wait_fd(krp_source_fd(&source), INFINITY);
		krp_source_woken(&source);
		if (wake != KRP_WAKE_POLL || asked)
			krp_source_read(&source);
		if (flight && (asked || run_failed)) {
			asked = run_failed = false;
			write_flight();
		}
		if (wake == KRP_WAKE_TICK)
			next_second();
		done = command ? command_is_over() : krp_all_done(nr_seen, nr_ended);
	} while (wake != KRP_WAKE_STOP && !done);
	if (child)
		kill(child, SIGTERM);
	while (!command_is_over()) {
		usleep(10000);
		krp_source_read(&source);
	}
	krp_source_end(&source);
	if (flight && run_failed)
		write_flight();
	if (!flight) {
		flush(&parts[at]);
		end_file();
	}
}

int krp_record_main(int argc, char **argv)
{
	static const char doc[] =
		"Records the events of krping's runs to a file, which top, stages, slow, mr, trace and ladder read by --input."
		"\v"
		"Ends at Ctrl-C, or with COMMAND. The events are those of iterations, requests and errors; "
		"--all adds each post and completion, which a ladder needs."
		"\n\n"
		"  krping record -o slow.rec          all runs until Ctrl-C\n"
		"  krping record --all -- krping client 10.9.0.1 count=1000\n"
		"  krping record --flight 30          a file when a run fails, or by SIGUSR1\n"
		"  krping record --flight 30 --when 'p99>5ms'\n"
		"  krping stages -I krping.rec        what was recorded\n\n"
		"Exit status: that of COMMAND; else 0, or 1 for a wrong usage or environment.";
	static const struct argp_option own_options[] = {
		{ "output", 'o', "FILE", 0, "the recording (krping.rec)", 1 },
		{ "all", 'a', NULL, 0, "all events", 2 },
		{ "event", 'E', "GLOB[,GLOB]", 0, "these events, and beginnings and ends of runs",
		  2 },
		{ "anonymize", 'A', "FILE", 0,
		  "copy this recording with other addresses, names and PIDs", 2 },
		{ "flight", 'F', "SECONDS", 0, "keep the last SECONDS in memory", 1 },
		{ "when", 'W', "WHAT>TIME", 0,
		  "write them when p50, p99 or max of a second's iterations is longer", 1 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = parse_own };

	krp_tool.args_doc = "[-- COMMAND...]";
	krp_tool.opts.interval = 1;
	krp_tool_init(argc, argv, "krping-record", doc, &own);
	parts = krp_new(flight + 1, sizeof(*parts));
	if (original)
		return anonymize();
	krp_preflight();
	krp_check_filter();
	krp_environment_open(&environment, "");
	krp_start();
	krp_source_open(&source, is_wanted, krp_tool.opts.run, RING_KIB * 1024, RING_KIB * 512,
			on_event, NULL);
	krp_note("Recording krping's events... %s", command ? "" : "Ctrl-C to end.");
	record();
	if (nr_files)
		krp_note("%s: %" PRIu64 " events, %" PRIu64 " bytes, lost %s", file, nr_events,
			 nr_bytes, krp_lost_text(krp_source_lost(&source)));
	krp_source_close(&source);
	krp_environment_close(&environment);
	free(parts);
	if (command)
		return WIFEXITED(child_status) ? WEXITSTATUS(child_status) :
						 128 + WTERMSIG(child_status);
	return KRP_EXIT_OK;
}
