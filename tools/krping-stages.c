// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-stages: where the time of a run goes, by phase and by stage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/probe.h"
#include "lib/tool.h"
#include "../bpf/stages.h"
#include "krping_stages.skel.h"

/* Runs that have ended and are still shown in the summary. */
#define KEEP	1024

struct view {
	struct stages_run st;
	struct krp_hist *hist;		/* STG_NR_DISTS */
	struct krp_run_info info;	/* zeroes where /proc does not know it */
	uint64_t tiled;			/* the sum of all phases */
	uint64_t window;		/* what it has to be */
};

#define x(n, s) s,
static const char *const phase_names[] = { KRPING_PHASES(x) };
static const char *const role_names[] = { KRPING_ROLES(x) };
static const char *const test_names[] = { KRPING_TESTS(x) };
#undef x
static const char *const stage_names[] = { "post", "wire", "cq", "wake" };

static const struct krp_col cols[] = {
	{ "PHASE", -14 }, { "COUNT", 7 }, { "MEAN", 6 }, { "P50", 6 }, { "P90", 6 },
	{ "P99", 6 }, { "P99.9", 6 }, { "MIN", 6 }, { "MAX", 6 }, { "SHARE%", 6 },
};
#define NR_COLS	(sizeof(cols) / sizeof(*cols))

static struct krp_probe probe;
static struct krp_runs runs;
static struct view *ended;
static unsigned int nr_ended;
static unsigned long nr_seen_ended;
static bool broken;

static const char *name_of(const char *const *names, unsigned int nr, unsigned int i)
{
	return i < nr ? names[i] : "?";
}

static const char *phase_name(unsigned int phase)
{
	return name_of(phase_names, KRPING_NR_PHASES, phase);
}

static bool was_seen_whole(const struct view *v)
{
	return v->st.head.state == KRP_SLOT_ENDED && !v->st.head.late;
}

static int64_t residual(const struct view *v)
{
	return v->window - v->tiled;
}

static void view_free(struct view *v)
{
	free(v->hist);
	v->hist = NULL;
}

/* false: a filter says no. */
static bool view_read(struct view *v, uint32_t slot)
{
	const struct krp_run_info *info;
	struct stages_run *st = &v->st;
	unsigned int i;

	memset(v, 0, sizeof(*v));
	krp_slot_read(&probe, slot, st, sizeof(*st));
	info = krp_runs_find(&runs, st->head.run);
	if (!krp_filter(info))
		return false;
	if (info)
		v->info = *info;
	if (!st->head.late) {
		snprintf(v->info.role, sizeof(v->info.role), "%s",
			 name_of(role_names, KRPING_NR_ROLES, st->head.role));
		snprintf(v->info.test, sizeof(v->info.test), "%s",
			 name_of(test_names, KRPING_NR_TESTS, st->head.test));
		if (!v->info.size)
			v->info.size = st->head.size;
	}
	v->hist = calloc(STG_NR_DISTS, sizeof(*v->hist));
	if (!v->hist)
		krp_die("out of memory");
	for (i = 0; i < STG_NR_DISTS; i++)
		v->hist[i] = *krp_slot_hist(&probe, slot, i);

	for (i = 0; i <= KRPING_PHASE_FREE; i++)
		v->tiled += st->once[i].sum;
	for (i = 0; i < STG_PHASES; i++) {
		v->tiled += st->dist[STG_DIST_PHASE(i)].sum;
		if (st->phase_mask & (1U << i))
			v->tiled += st->pending[i];
	}
	v->tiled += st->aborted.sum;
	/* Two measurements: the module's own clock, and the sum above. */
	v->window = was_seen_whole(v) ? st->head.duration_ns :
					st->head.t_last - st->head.t_first;
	return true;
}

/* Takes runs that have ended out of their slots. */
static void reap(void)
{
	struct view v;
	uint32_t slot;
	bool fresh = false;

	for (slot = 0; slot < probe.nr_slots; slot++) {
		if (krp_slot_head(&probe, slot)->state != KRP_SLOT_ENDED)
			continue;
		if (!fresh)
			fresh = !krp_runs_read(&runs);
		if (view_read(&v, slot)) {
			nr_seen_ended++;
			if (was_seen_whole(&v) && residual(&v))
				broken = true;
			if (nr_ended == KEEP) {
				view_free(&ended[0]);
				memmove(ended, ended + 1, --nr_ended * sizeof(*ended));
			}
			ended[nr_ended++] = v;
		}
		krp_slot_release(&probe, slot);
	}
}

static unsigned long nr_running(void)
{
	unsigned long n = 0;
	uint32_t slot;

	for (slot = 0; slot < probe.nr_slots; slot++) {
		const struct krp_head *h = krp_slot_head(&probe, slot);

		if (h->state != KRP_SLOT_FREE && krp_filter(krp_runs_find(&runs, h->run)))
			n++;
	}
	return n;
}

static void print_row(FILE *f, const char *name, const struct krp_sum *s,
		      const struct krp_hist *h, uint64_t whole)
{
	struct krp_num num[NR_COLS];
	const char *cells[NR_COLS];
	unsigned int i;
	static const unsigned int pct[] = { KRP_P50, KRP_P90, KRP_P99, KRP_P999 };

	for (i = 0; i < NR_COLS; i++) {
		strcpy(num[i].s, "-");
		cells[i] = num[i].s;
	}
	cells[0] = name;
	num[1] = krp_count(s->count);
	if (s->count) {
		num[2] = krp_ns(s->sum / s->count);
		for (i = 0; i < 4; i++) {
			if (h)
				num[3 + i] = krp_ns(krp_hist_percentile(h, s, pct[i]));
			else if (s->min == s->max)
				num[3 + i] = krp_ns(s->min);
		}
		num[7] = krp_ns(s->min);
		num[8] = krp_ns(s->max);
	}
	if (whole)
		snprintf(num[9].s, sizeof(num[9].s), "%.2f", 100.0 * s->sum / whole);
	krp_table_row(f, cols, NR_COLS, cells);
}

/* Nothing is worth a line that took no time before the first phase. */
static bool has_once(const struct view *v, unsigned int phase)
{
	return v->st.once[phase].count &&
	       (phase != KRPING_PHASE_NONE || v->st.once[phase].sum);
}

static void print_once(FILE *f, const struct view *v, unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = from; i <= to; i++) {
		if (has_once(v, i))
			print_row(f, phase_name(i), &v->st.once[i], NULL, v->window);
	}
}

/* The n-th phase of an iteration in the order of the test, from 0; -1: no more. */
static int nth_phase(const struct view *v, unsigned int n)
{
	unsigned int i, j, before;

	for (i = 0; i < v->st.nr_phases; i++) {
		before = 0;
		for (j = 0; j < v->st.nr_phases; j++)
			before += v->st.phase_of[j] < v->st.phase_of[i];
		if (before == n)
			return i;
	}
	return -1;
}

static int wait_of_phase(const struct view *v, unsigned int phase)
{
	unsigned int i;

	for (i = 0; i < v->st.nr_waits; i++) {
		if (v->st.wait_of[i] == phase)
			return i;
	}
	return -1;
}

static void print_waits(FILE *f, const struct view *v, unsigned int phase)
{
	int w = wait_of_phase(v, phase);
	char name[16];
	unsigned int s, d;

	if (w < 0)
		return;
	for (s = 0; s < STG_NR_STAGES; s++) {
		d = STG_DIST_STAGE(w, s);
		snprintf(name, sizeof(name), "  %s", stage_names[s]);
		/* A receive was posted long before: it has no such stage. */
		if (s == STG_POST && !v->st.dist[d].count)
			continue;
		print_row(f, name, &v->st.dist[d], &v->hist[d], v->window);
	}
}

static void print_hists(FILE *f, const struct view *v)
{
	char title[64];
	unsigned int s, n;
	int i, w;

	krp_hist_print(f, "iteration", &v->hist[STG_DIST_ITER]);
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		krp_hist_print(f, phase_name(v->st.phase_of[i]), &v->hist[STG_DIST_PHASE(i)]);
		w = wait_of_phase(v, v->st.phase_of[i]);
		for (s = 0; w >= 0 && s < STG_NR_STAGES; s++) {
			snprintf(title, sizeof(title), "%s, %s",
				 phase_name(v->st.phase_of[i]), stage_names[s]);
			krp_hist_print(f, title, &v->hist[STG_DIST_STAGE(w, s)]);
		}
	}
}

static void print_ns_line(FILE *f, const char *what, int64_t ns, const char *note)
{
	fprintf(f, "%-24s %14" PRId64 " ns%s\n", what, ns, note);
}

static void print_run(FILE *f, const struct view *v)
{
	const struct stages_run *st = &v->st;
	bool over = st->head.state == KRP_SLOT_ENDED;
	uint64_t unknown = 0;
	unsigned int n, w;
	int i;

	fprintf(f, "\nrun %u  %s %s  %s/%u  size %u  %" PRIu64 " iterations  ",
		st->head.run, v->info.role, v->info.test, v->info.dev, v->info.port,
		v->info.size, (uint64_t)st->dist[STG_DIST_ITER].count);
	if (!over)
		fputs("running", f);
	else if (st->head.err)
		fprintf(f, "%s", strerrorname_np(-st->head.err) ?: "failed");
	else
		fputs("done", f);
	fputs(st->head.late ? ", attached late\n" : "\n", f);
	if (over && st->head.err && *v->info.reason)
		fprintf(f, "%s\n", v->info.reason);

	krp_table_head(f, cols, NR_COLS);
	print_once(f, v, KRPING_PHASE_NONE, KRPING_PHASE_ACCEPT);
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		print_row(f, phase_name(st->phase_of[i]), &st->dist[STG_DIST_PHASE(i)],
			  &v->hist[STG_DIST_PHASE(i)], v->window);
		print_waits(f, v, st->phase_of[i]);
	}
	if (st->aborted.count)
		print_row(f, "aborted", &st->aborted, NULL, v->window);
	print_once(f, v, KRPING_PHASE_DISCONNECT, KRPING_PHASE_FREE);
	if (st->dist[STG_DIST_ITER].count)
		print_row(f, "(iteration)", &st->dist[STG_DIST_ITER],
			  &v->hist[STG_DIST_ITER], 0);

	print_ns_line(f, "sum of all phases", v->tiled, "");
	print_ns_line(f, was_seen_whole(v) ? "run, the module's clock" : "watched", v->window, "");
	print_ns_line(f, "residual", residual(v),
		      residual(v) && was_seen_whole(v) ? "  <-- not 0: phases are missing" : "");
	for (w = 0; w < st->nr_waits; w++)
		unknown += st->wait[w].unknown[STG_CQ];
	if (unknown)
		fprintf(f, "cq stage unknown %" PRIu64 " times: not signalled, counted as wire\n",
			unknown);
	if (st->holes || st->anomalies || st->unmatched)
		fprintf(f, "without a beginning %" PRIu64 ", clock anomalies %" PRIu64
			", unmatched waits %" PRIu64 "\n", (uint64_t)st->holes,
			(uint64_t)st->anomalies, (uint64_t)st->unmatched);
}

static json_object *dist_json(const struct view *v, unsigned int d)
{
	json_object *o = json_object_new_object();

	krp_json_sum(o, &v->st.dist[d], &v->hist[d]);
	if (krp_tool.opts.histograms)
		json_object_object_add(o, "buckets", krp_hist_json(&v->hist[d]));
	return o;
}

static json_object *once_json(const struct view *v, unsigned int phase)
{
	json_object *o = json_object_new_object();

	krp_json_text(o, "phase", phase_name(phase));
	krp_json_text(o, "kind", phase < KRPING_PHASE_DISCONNECT ? "setup" : "teardown");
	krp_json_sum(o, &v->st.once[phase], NULL);
	return o;
}

static void once_range_json(json_object *a, const struct view *v, unsigned int from,
			    unsigned int to)
{
	unsigned int i;

	for (i = from; i <= to; i++) {
		if (has_once(v, i))
			json_object_array_add(a, once_json(v, i));
	}
}

static json_object *phases_json(const struct view *v)
{
	json_object *a = json_object_new_array(), *o, *p, *stages, *stage;
	const struct stages_run *st = &v->st;
	unsigned int n, s;
	int i, w;

	once_range_json(a, v, KRPING_PHASE_NONE, KRPING_PHASE_ACCEPT);
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		/* The names first: this is what a person looks for in a line. */
		o = json_object_new_object();
		krp_json_text(o, "phase", phase_name(st->phase_of[i]));
		krp_json_text(o, "kind", "iteration");
		p = dist_json(v, STG_DIST_PHASE(i));
		json_object_object_foreach(p, key, value)
			json_object_object_add(o, key, json_object_get(value));
		json_object_put(p);
		w = wait_of_phase(v, st->phase_of[i]);
		if (w >= 0) {
			stages = json_object_new_object();
			for (s = 0; s < STG_NR_STAGES; s++) {
				stage = dist_json(v, STG_DIST_STAGE(w, s));
				krp_json_u64(stage, "unknown", st->wait[w].unknown[s]);
				json_object_object_add(stages, stage_names[s], stage);
			}
			json_object_object_add(o, "stages", stages);
			krp_json_u64(o, "completed_early", st->wait[w].early);
		}
		json_object_array_add(a, o);
	}
	once_range_json(a, v, KRPING_PHASE_DISCONNECT, KRPING_PHASE_FREE);
	return a;
}

static void id_json(json_object *o, const struct view *v)
{
	const struct stages_run *st = &v->st;

	krp_json_u64(o, "run", st->head.run);
	krp_json_u64(o, "peer_run", v->info.peer_run);
	krp_json_text(o, "role", v->info.role);
	krp_json_text(o, "test", v->info.test);
	krp_json_text(o, "dev", v->info.dev);
	krp_json_u64(o, "port", v->info.port);
	krp_json_u64(o, "qp", v->info.qp);
	krp_json_u64(o, "size", v->info.size);
	krp_json_bool(o, "ended", st->head.state == KRP_SLOT_ENDED);
	krp_json_bool(o, "attached_late", st->head.late);
	krp_json_s64(o, "errno", -st->head.err);
}

static json_object *run_json(const struct view *v)
{
	json_object *o = json_object_new_object(), *aborted = json_object_new_object();
	const struct stages_run *st = &v->st;

	id_json(o, v);
	krp_json_text(o, "reason", v->info.reason);
	json_object_object_add(o, "phases", phases_json(v));
	json_object_object_add(o, "iteration", dist_json(v, STG_DIST_ITER));
	krp_json_sum(aborted, &st->aborted, NULL);
	json_object_object_add(o, "aborted", aborted);
	krp_json_u64(o, "sum_ns", v->tiled);
	krp_json_u64(o, "window_ns", v->window);
	krp_json_s64(o, "residual_ns", residual(v));
	krp_json_u64(o, "holes", st->holes);
	krp_json_u64(o, "clock_anomalies", st->anomalies);
	krp_json_u64(o, "unmatched", st->unmatched);
	return o;
}

static void csv_row(const struct view *v, const char *phase, const char *stage,
		    const struct krp_sum *s, const struct krp_hist *h)
{
	struct krp_hist one = { 0 };
	json_object *o = json_object_new_object();
	char now[64];

	krp_time_rfc3339(now, sizeof(now));
	krp_json_text(o, "time", now);
	id_json(o, v);
	krp_json_text(o, "phase", phase);
	krp_json_text(o, "stage", stage);
	if (!h) {
		/* The mean stands for all: of a phase that comes once it is exact. */
		if (s->count)
			one.bucket[krp_hist_index(s->sum / s->count)] = s->count;
		h = &one;
	}
	krp_json_sum(o, s, h);
	krp_csv_emit(stdout, o, &krp_tool.csv_head_done);
}

static void csv_run(const struct view *v)
{
	const struct stages_run *st = &v->st;
	unsigned int n, s;
	int i, w;

	for (n = 0; n <= KRPING_PHASE_FREE; n++) {
		if (has_once(v, n))
			csv_row(v, phase_name(n), "", &st->once[n], NULL);
	}
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		csv_row(v, phase_name(st->phase_of[i]), "", &st->dist[STG_DIST_PHASE(i)],
			&v->hist[STG_DIST_PHASE(i)]);
		w = wait_of_phase(v, st->phase_of[i]);
		for (s = 0; w >= 0 && s < STG_NR_STAGES; s++)
			csv_row(v, phase_name(st->phase_of[i]), stage_names[s],
				&st->dist[STG_DIST_STAGE(w, s)],
				&v->hist[STG_DIST_STAGE(w, s)]);
	}
	csv_row(v, "iteration", "", &st->dist[STG_DIST_ITER], &v->hist[STG_DIST_ITER]);
	csv_row(v, "aborted", "", &st->aborted, NULL);
}

static int by_run(const void *a, const void *b)
{
	uint32_t l = (*(const struct view *const *)a)->st.head.run;
	uint32_t r = (*(const struct view *const *)b)->st.head.run;

	return (l > r) - (l < r);
}

static void print_views(struct view **v, unsigned int nr, bool final)
{
	struct krp_lost lost = krp_probe_lost(&probe);
	json_object *o, *a;
	unsigned int i;
	FILE *f;

	if (krp_tool.opts.csv) {
		for (i = 0; i < nr; i++)
			csv_run(v[i]);
		return;
	}
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, final);
		krp_json_bool(o, "tp_btf", probe.tp_btf);
		krp_json_u64(o, "lost", krp_lost_sum(lost));
		krp_json_u64(o, "lost_missed", lost.missed);
		krp_json_u64(o, "lost_failed", lost.failed);
		krp_json_bool(o, "broken", broken);
		a = json_object_new_array();
		for (i = 0; i < nr; i++)
			json_object_array_add(a, run_json(v[i]));
		json_object_object_add(o, "runs", a);
		krp_json_emit(stdout, o);
		return;
	}
	f = krp_text();
	for (i = 0; i < nr; i++) {
		print_run(f, v[i]);
		if (krp_tool.opts.histograms)
			print_hists(f, v[i]);
	}
	if (!nr)
		fputs("no runs seen: write a command to /proc/krping\n", f);
	fprintf(f, "%sruns %u, lost events %" PRIu64 "\n", nr ? "\n" : "", nr,
		krp_lost_sum(lost));
	krp_show(false);
}

/* All runs that are there; those that have ended only with the last print. */
static void print_all(bool final, unsigned int nr_new)
{
	unsigned int nr = 0, room = KEEP + probe.nr_slots, i, running = 0;
	struct view **v, *now;
	uint32_t slot;

	v = calloc(room, sizeof(*v));
	now = calloc(probe.nr_slots, sizeof(*now));
	if (!v || !now)
		krp_die("out of memory");
	for (i = final || nr_new > nr_ended ? 0 : nr_ended - nr_new; i < nr_ended; i++)
		v[nr++] = &ended[i];
	krp_runs_read(&runs);
	for (slot = 0; slot < probe.nr_slots; slot++) {
		if (krp_slot_head(&probe, slot)->state == KRP_SLOT_FREE)
			continue;
		if (view_read(&now[running], slot))
			v[nr++] = &now[running++];
	}
	qsort(v, nr, sizeof(*v), by_run);
	print_views(v, nr, final);
	for (i = 0; i < running; i++)
		view_free(&now[i]);
	free(now);
	free(v);
}

int main(int argc, char **argv)
{
	static const char doc[] =
		"Where the time of krping's runs goes: the phases of each run, which add up "
		"to its duration, and the stages of those that wait."
		"\v"
		"Prints at each INTERVAL, if there is one, and a summary at the end: after COUNT "
		"intervals, or at Ctrl-C.\n\n"
		"  krping-stages                watch until Ctrl-C, then print\n"
		"  krping-stages -e -j          until all runs have ended; JSON\n"
		"  krping-stages --run 7 5      run 7, each 5 seconds, until it ends\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment, or 2 if the phases "
		"of a run did not add up to its duration.";
	unsigned long printed = 0;
	enum krp_wake wake;
	const void *elf;
	size_t size;

	krp_tool_init(argc, argv, "krping-stages", doc, &krp_histogram_argp);
	krp_preflight();
	krp_check_run();
	ended = calloc(KEEP, sizeof(*ended));
	if (!ended)
		krp_die("out of memory");
	elf = krping_stages_bpf__elf_bytes(&size);
	krp_start();
	krp_probe_open(&probe, elf, size, STG_NR_DISTS);
	krp_note("Tracing the phases of krping's runs by %s... Ctrl-C to end.",
		 probe.tp_btf ? "tp_btf" : "raw tracepoints");

	do {
		wake = krp_wait();
		reap();
		if (wake == KRP_WAKE_TICK) {
			print_all(false, nr_seen_ended - printed);
			printed = nr_seen_ended;
		}
	} while (wake != KRP_WAKE_STOP &&
		 !krp_all_done(nr_seen_ended + nr_running(), nr_seen_ended));

	krp_probe_detach(&probe);
	reap();
	print_all(true, 0);
	/* With -j the last object has told it. */
	if (broken && !krp_tool.opts.json)
		krp_error("phases do not add up to the duration of a run (lost events: %" PRIu64 ")",
			  krp_lost_sum(krp_probe_lost(&probe)));
	krp_probe_close(&probe);
	return broken ? KRP_EXIT_BROKEN : KRP_EXIT_OK;
}
