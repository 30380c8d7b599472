// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-top: the runs, live, a line each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/probe.h"
#include "lib/tool.h"
#include "../bpf/top.h"
#include "krping_top.skel.h"

/* Of more runs than this the summary forgets those that ended first. */
#define KEEP		1024

/* Runs that have ended stay in sight for a while. */
#define LINGER_NS	5000000000ULL

struct row {
	struct krp_run_info info;
	struct top_run st;
	struct top_errs errs;
	struct krp_hist hist;		/* of the run, as far as it was watched */
	struct krp_hist last;		/* at the last display */
	uint64_t last_commits;
	uint64_t t_last;		/* when that was; 0: never */
	uint64_t t_ended;		/* when we saw it; 0: it runs */
	bool known;			/* the kernel side has it, or had */
	bool reported;			/* its cause was printed */
	/* Of the last interval: */
	double rate, mb;
	uint64_t interval_iters, p50, p99;
};

static const struct krp_col wide_cols[] = {
	{ "RUN", 4 }, { "ROLE", -6 }, { "TEST", -5 }, { "DEV", -6 }, { "PEER", -13 },
	{ "ITER/S", 6 }, { "MB/S", 6 }, { "P50", 6 }, { "P99", 6 }, { "ERR", 3 },
	{ "STATE", -8 },
};
#define NR_COLS	(sizeof(wide_cols) / sizeof(*wide_cols))
enum { COL_DEV = 3, COL_PEER, COL_STATE = NR_COLS - 1 };

static struct krp_probe probe;
static struct krp_runs runs;
static struct row *rows;
static size_t nr_rows;
static unsigned long nr_forgotten;
static uint64_t t_begin;
static bool no_clear, batch;
static unsigned int max_rows;

static const struct sort_key {
	const char *name;
	int (*cmp)(const void *a, const void *b);
} *sort_by;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int cmp_run(const void *a, const void *b)
{
	const struct row *l = a, *r = b;

	return (l->info.id > r->info.id) - (l->info.id < r->info.id);
}

#define CMP_DOWN(what)							\
static int cmp_##what(const void *a, const void *b)			\
{									\
	const struct row *l = a, *r = b;				\
									\
	if (l->what == r->what)						\
		return cmp_run(a, b);					\
	return l->what < r->what ? 1 : -1;				\
}
CMP_DOWN(rate)
CMP_DOWN(mb)
CMP_DOWN(p50)
CMP_DOWN(p99)

static const struct sort_key sort_keys[] = {
	{ "run", cmp_run },
	{ "rate", cmp_rate },
	{ "mb", cmp_mb },
	{ "p50", cmp_p50 },
	{ "p99", cmp_p99 },
};

static void forget_one(void)
{
	struct row *r, *oldest = NULL;

	for (r = rows; r < rows + nr_rows; r++) {
		if (r->t_ended && (!oldest || r->t_ended < oldest->t_ended))
			oldest = r;
	}
	if (!oldest)
		return;
	memmove(oldest, oldest + 1, (rows + --nr_rows - oldest) * sizeof(*rows));
	nr_forgotten++;
}

static struct row *row_of(uint32_t run)
{
	struct row *r;
	size_t i;

	for (i = 0; i < nr_rows; i++) {
		if (rows[i].info.id == run)
			return &rows[i];
	}
	if (nr_rows >= KEEP)
		forget_one();
	r = realloc(rows, (nr_rows + 1) * sizeof(*rows));
	if (!r)
		krp_die("out of memory");
	rows = r;
	r = &rows[nr_rows++];
	memset(r, 0, sizeof(*r));
	r->info.id = run;
	return r;
}

/*
 * Who is there comes from /proc, which knows of runs that began before us;
 * what they do comes from the kernel side.
 */
static void update(void)
{
	struct krp_array *errs = krp_probe_array(&probe, "errs");
	uint64_t now = now_ns();
	const struct krp_run_info *info;
	struct top_run st;
	struct row *r;
	uint32_t slot;
	size_t i;

	if (krp_runs_read(&runs))
		runs.nr = 0;
	for (i = 0; i < runs.nr; i++) {
		info = &runs.v[i];
		if (krp_tool.opts.run && krp_tool.opts.run != info->id)
			continue;
		/* What was over before we came is history. */
		if (krp_run_finished(info) && info->start_ns + info->elapsed_ns < t_begin)
			continue;
		if (!krp_filter(info))
			continue;
		r = row_of(info->id);
		r->info = *info;
		if (krp_run_finished(info) && !r->t_ended)
			r->t_ended = now;
	}
	for (slot = 0; slot < probe.nr_slots; slot++) {
		if (krp_slot_head(&probe, slot)->state == KRP_SLOT_FREE)
			continue;
		krp_slot_read(&probe, slot, &st, sizeof(st));
		info = krp_runs_find(&runs, st.head.run);
		if (krp_filter(info)) {
			r = row_of(st.head.run);
			if (info)
				r->info = *info;
			r->st = st;
			r->known = true;
			r->hist = *krp_slot_hist(&probe, slot, 0);
			memcpy(&r->errs, (char *)errs->base + errs->stride * slot,
			       sizeof(r->errs));
			if (st.head.state == KRP_SLOT_ENDED && !r->t_ended)
				r->t_ended = now;
		}
		if (st.head.state == KRP_SLOT_ENDED)
			krp_slot_release(&probe, slot);
	}
}

/* Runs that were over for long leave, but for the summary at the end. */
static bool visible(const struct row *r, uint64_t now)
{
	return !r->t_ended || r->t_ended + LINGER_NS >= now;
}

/* What happened since the last display. */
static void take_interval(struct row *r, uint64_t now)
{
	struct krp_hist delta = r->hist;
	double seconds;

	/* A run that we saw begin is measured from there. */
	if (!r->t_last)
		r->t_last = r->known ? r->st.head.t_first : now;
	seconds = (now - r->t_last) / 1e9;
	krp_hist_sub(&delta, &r->last);
	r->interval_iters = r->st.commits - r->last_commits;
	r->rate = seconds > 0 ? r->interval_iters / seconds : 0;
	/* A ping moves its data twice: read by the server, and written back. */
	r->mb = r->rate * 2 * r->info.size / 1e6;
	r->p50 = krp_hist_percentile(&delta, NULL, KRP_P50);
	r->p99 = krp_hist_percentile(&delta, NULL, KRP_P99);
	r->last = r->hist;
	r->last_commits = r->st.commits;
	r->t_last = now;
}

static int errno_of(const struct row *r)
{
	return r->info.err ? r->info.err : -r->st.head.err;
}

static const char *short_state(const struct row *r)
{
	if (*r->info.state)
		return krp_state_short(r->info.state);
	return !r->t_ended ? "-" : r->st.head.err ? "ERROR" : "DONE";
}

static void print_row(FILE *f, const struct krp_col *cols, const struct row *r)
{
	const char *cells[NR_COLS];
	struct krp_num num[6];
	char run[16], err[16], peer[80];

	snprintf(run, sizeof(run), "%u", r->info.id);
	/* The port of a peer is a number nobody chose. */
	snprintf(peer, sizeof(peer), "%.*s", (int)(strrchr(r->info.dst, ':') ?
		 strrchr(r->info.dst, ':') - r->info.dst : (long)strlen(r->info.dst)),
		 r->info.dst);
	num[0] = krp_rate(r->rate);
	num[1] = krp_rate(r->mb);
	num[2] = krp_ns(r->p50);
	num[3] = krp_ns(r->p99);
	snprintf(err, sizeof(err), "%s", krp_count(r->errs.wc_err).s);
	cells[0] = run;
	cells[1] = r->info.role;
	cells[2] = r->info.test;
	cells[COL_DEV] = *r->info.dev ? r->info.dev : "-";
	cells[COL_PEER] = *peer ? peer : "-";
	cells[5] = num[0].s;
	cells[6] = num[1].s;
	cells[7] = r->interval_iters ? num[2].s : "-";
	cells[8] = r->interval_iters ? num[3].s : "-";
	cells[9] = err;
	cells[COL_STATE] = short_state(r);
	krp_table_row(f, cols, NR_COLS, cells);
}

static void print_end(FILE *f, const struct row *r)
{
	int err = errno_of(r);
	const char *name = err ? strerrorname_np(err) : NULL;

	fprintf(f, "run %u ended: %s%s%s\n", r->info.id,
		!err ? "done" : name ? name : "failed", *r->info.reason ? ": " : "",
		r->info.reason);
}

static json_object *row_json(const struct row *r, bool final)
{
	json_object *o = json_object_new_object();

	krp_json_u64(o, "run", r->info.id);
	krp_json_u64(o, "parent", r->info.parent);
	krp_json_u64(o, "peer_run", r->info.peer_run);
	krp_json_u64(o, "pid", r->info.pid);
	krp_json_text(o, "role", r->info.role);
	krp_json_text(o, "test", r->info.test);
	krp_json_text(o, "dev", r->info.dev);
	krp_json_u64(o, "port", r->info.port);
	krp_json_u64(o, "qp", r->info.qp);
	krp_json_text(o, "src", r->info.src);
	krp_json_text(o, "dst", r->info.dst);
	krp_json_u64(o, "size", r->info.size);
	krp_json_text(o, "state", r->info.state);
	krp_json_s64(o, "errno", errno_of(r));
	krp_json_text(o, "reason", r->info.reason);
	krp_json_bool(o, "attached_late", r->known ? r->st.head.late : true);
	krp_json_u64(o, "iters", r->info.iters);
	krp_json_u64(o, "iters_seen", r->st.commits);
	krp_json_u64(o, "iters_aborted", r->st.aborts);
	krp_json_u64(o, "wc_err", r->errs.wc_err);
	krp_json_u64(o, "wc_flush", r->errs.wc_flush);
	if (final) {
		krp_json_sum(o, &r->st.iter, &r->hist);
		return o;
	}
	krp_json_u64(o, "interval_iters", r->interval_iters);
	krp_json_rate(o, "iters_per_s", r->rate);
	krp_json_rate(o, "mb_per_s", r->mb);
	krp_json_u64(o, "p50_ns", r->p50);
	krp_json_u64(o, "p99_ns", r->p99);
	return o;
}

static void csv_row(const struct row *r)
{
	json_object *o = json_object_new_object(), *rest;
	char now[64];

	krp_time_rfc3339(now, sizeof(now));
	krp_json_text(o, "time", now);
	rest = row_json(r, false);
	json_object_object_foreach(rest, key, value)
		json_object_object_add(o, key, json_object_get(value));
	json_object_put(rest);
	krp_csv_emit(stdout, o, &krp_tool.csv_head_done);
}

static json_object *list_json(bool final, uint64_t now)
{
	json_object *o = krp_json_new(krp_tool.name, final), *a = json_object_new_array();
	struct krp_lost lost = krp_probe_lost(&probe);
	size_t i;

	krp_json_bool(o, "tp_btf", probe.tp_btf);
	krp_json_u64(o, "lost", krp_lost_sum(lost));
	krp_json_u64(o, "lost_missed", lost.missed);
	krp_json_u64(o, "lost_failed", lost.failed);
	for (i = 0; i < nr_rows; i++) {
		if (final || visible(&rows[i], now))
			json_object_array_add(a, row_json(&rows[i], final));
	}
	json_object_object_add(o, "runs", a);
	return o;
}

static void display(bool clear)
{
	struct krp_col cols[NR_COLS];
	unsigned int shown = 0, running = 0, width = krp_columns(STDOUT_FILENO), extra;
	uint64_t now = now_ns();
	char clock[16];
	struct row *r;
	FILE *f;

	for (r = rows; r < rows + nr_rows; r++) {
		take_interval(r, now);
		running += !r->t_ended;
	}
	qsort(rows, nr_rows, sizeof(*rows), sort_by->cmp);
	if (krp_tool.opts.json) {
		krp_json_emit(stdout, list_json(false, now));
		return;
	}
	if (krp_tool.opts.csv) {
		for (r = rows; r < rows + nr_rows; r++) {
			if (visible(r, now))
				csv_row(r);
		}
		return;
	}

	memcpy(cols, wide_cols, sizeof(cols));
	extra = width > 80 ? width - 80 : 0;
	/* Most of a wide screen is for names that did not fit. */
	cols[COL_DEV].width -= extra / 3 < 10 ? extra / 3 : 10;
	cols[COL_PEER].width -= extra / 2 < 26 ? extra / 2 : 26;
	krp_time_clock(clock, sizeof(clock));
	f = krp_text();
	fprintf(f, "krping-top %s  %u running  lost events %" PRIu64 "\n", clock, running,
		krp_lost_sum(krp_probe_lost(&probe)));
	if (!nr_rows)
		fputs("nothing running yet: waiting for a command to /proc/krping\n", f);
	else
		krp_table_head(f, cols, NR_COLS);
	for (r = rows; r < rows + nr_rows; r++) {
		if (!visible(r, now))
			continue;
		if (max_rows && shown == max_rows)
			break;
		print_row(f, cols, r);
		shown++;
	}
	for (r = rows; r < rows + nr_rows; r++) {
		if (!r->t_ended || !visible(r, now) || (r->reported && !clear))
			continue;
		r->reported = true;
		if (errno_of(r))
			print_end(f, r);
	}
	if (!clear)
		fputc('\n', f);
	krp_show(clear);
}

static void summary(void)
{
	static const struct krp_col cols[] = {
		{ "RUN", 4 }, { "ROLE", -6 }, { "ITERS", 7 }, { "MEAN", 6 }, { "P50", 6 },
		{ "P90", 6 }, { "P99", 6 }, { "P99.9", 6 }, { "MAX", 6 }, { "ERR", 3 },
		{ "STATE", -12 },
	};
	const struct krp_sum *s;
	const char *cells[11];
	struct krp_num num[8];
	struct row *r;
	char run[16];
	unsigned int i;
	FILE *f;

	qsort(rows, nr_rows, sizeof(*rows), cmp_run);
	if (krp_tool.opts.json) {
		krp_json_emit(stdout, list_json(true, now_ns()));
		return;
	}
	if (krp_tool.opts.csv)
		return;
	f = krp_text();
	fprintf(f, "Summary: %zu runs, lost events %" PRIu64 "\n", nr_rows + nr_forgotten,
		krp_lost_sum(krp_probe_lost(&probe)));
	if (nr_rows)
		krp_table_head(f, cols, 11);
	for (r = rows; r < rows + nr_rows; r++) {
		s = &r->st.iter;
		for (i = 0; i < 8; i++)
			strcpy(num[i].s, "-");
		snprintf(run, sizeof(run), "%u", r->info.id);
		num[0] = krp_count(r->st.commits);
		if (s->count) {
			num[1] = krp_ns(s->sum / s->count);
			num[2] = krp_ns(krp_hist_percentile(&r->hist, s, KRP_P50));
			num[3] = krp_ns(krp_hist_percentile(&r->hist, s, KRP_P90));
			num[4] = krp_ns(krp_hist_percentile(&r->hist, s, KRP_P99));
			num[5] = krp_ns(krp_hist_percentile(&r->hist, s, KRP_P999));
			num[6] = krp_ns(s->max);
		}
		num[7] = krp_count(r->errs.wc_err);
		cells[0] = run;
		cells[1] = r->info.role;
		for (i = 0; i < 8; i++)
			cells[2 + i] = num[i].s;
		cells[10] = short_state(r);
		krp_table_row(f, cols, 11, cells);
	}
	for (r = rows; r < rows + nr_rows; r++) {
		if (errno_of(r))
			print_end(f, r);
	}
	krp_show(false);
}

static unsigned long nr_ended(void)
{
	unsigned long n = 0;
	size_t i;

	for (i = 0; i < nr_rows; i++)
		n += rows[i].t_ended != 0;
	return n;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	size_t i;

	(void)state;
	switch (key) {
	case 'b':
		batch = true;
		break;
	case 'C':
		no_clear = true;
		break;
	case 'r':
		max_rows = krp_arg_number("--rows", arg, 1, 100000);
		break;
	case 's':
		for (i = 0; i < sizeof(sort_keys) / sizeof(*sort_keys); i++) {
			if (!strcmp(arg, sort_keys[i].name)) {
				sort_by = &sort_keys[i];
				return 0;
			}
		}
		krp_die("--sort: run, rate, mb, p50 or p99, not %s", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char doc[] =
		"The runs of krping, live, a line each: iterations a second, throughput and "
		"latency of the last interval, errors and state."
		"\v"
		"Refreshes each INTERVAL (1 second), COUNT times or until Ctrl-C, and ends with "
		"a summary. Where the output is no terminal the screen is not cleared.\n\n"
		"  krping-top             watch\n"
		"  krping-top -b 5 12     twelve times, each 5 seconds, for a log\n"
		"  krping-top -j -e       JSON, until all runs have ended\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment.";
	static const struct argp_option own_options[] = {
		{ "batch", 'b', NULL, 0, "for logs and scripts: same as -C", 2 },
		{ "no-clear", 'C', NULL, 0, "do not clear the screen", 2 },
		{ "rows", 'r', "N", 0, "N runs at most", 2 },
		{ "sort", 's', "KEY", 0, "by run, rate, mb, p50 or p99", 2 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = parse_own };
	enum krp_wake wake;
	const void *elf;
	size_t size;
	bool clear, done;

	sort_by = sort_keys;
	krp_tool.opts.interval = 1;
	krp_tool.opts.max_runs = 256;
	krp_tool_init(argc, argv, "krping-top", doc, &own);
	krp_preflight();
	krp_check_run();
	clear = !batch && !no_clear && isatty(STDOUT_FILENO);
	elf = krping_top_bpf__elf_bytes(&size);
	t_begin = now_ns();
	krp_start();
	krp_probe_open(&probe, elf, size, KRP_TOP_HISTS);
	krp_note("Watching krping's runs by %s... Ctrl-C to end.",
		 probe.tp_btf ? "tp_btf" : "raw tracepoints");

	update();
	if (clear) {
		fputs("\033[2J", stdout);
		display(true);
	} else if (!nr_rows) {
		krp_note("nothing running yet: waiting for a command to /proc/krping");
	}
	do {
		wake = krp_wait();
		update();
		done = krp_all_done(nr_rows, nr_ended());
		/* A short run may begin and end between two displays. */
		if (wake == KRP_WAKE_TICK || done ||
		    (wake == KRP_WAKE_STOP && krp_tool.opts.count))
			display(clear);
	} while (wake != KRP_WAKE_STOP && !done);

	krp_probe_detach(&probe);
	update();
	summary();
	krp_probe_close(&probe);
	return KRP_EXIT_OK;
}
