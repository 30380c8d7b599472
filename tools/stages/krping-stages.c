// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-stages: where the time of a run goes, by phase and by stage. */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../../trace/krping_stages.h"
#include "../lib/names.h"
#include "../lib/probe.h"
#include "stages.h"
#include "../krping/views.h"

static struct krp_runs runs;
static bool broken;
static bool with_peer, provider;
static struct slow_opts slow;

static const char *phase_name(unsigned int phase)
{
	return krp_name(&krp_phase_names, phase);
}

static const char *stage_name(unsigned int stage)
{
	return krp_name(&krp_stage_names, stage);
}

/*
 * Requests have one set of stages, and the requests of a disk that write have a second set behind
 * it. The first stage of a set, ALL, is the whole request.
 */
#define WRITE_ALL     (KRPING_NR_REQUESTS + KRPING_REQUEST_ALL)
#define is_all(stage) ((stage) == KRPING_REQUEST_ALL || (stage) == WRITE_ALL)
#define all_of(stage) ((stage) < WRITE_ALL ? KRPING_REQUEST_ALL : WRITE_ALL)

const char *request_name(unsigned int stage)
{
	if (stage == WRITE_ALL)
		return "write request";
	return krp_name(&krp_request_names, stage % KRPING_NR_REQUESTS);
}

static bool was_seen_whole(const struct view *v)
{
	return v->run.head.state == KRP_SLOT_ENDED && !v->run.head.late;
}

static int64_t residual(const struct view *v)
{
	return v->window - v->tiled;
}

static const struct krp_sum *request_sum(const struct view *v, unsigned int stage)
{
	return &v->a.dist[STG_DIST_REQUEST(stage)].s;
}

/* The sums of requests less those of their stages. */
static int64_t request_residual(const struct view *v)
{
	int64_t ns = 0;
	unsigned int s;

	for (s = KRPING_REQUEST_ALL; s < STG_NR_REQUESTS; s++)
		ns += is_all(s) ? (int64_t)request_sum(v, s)->sum :
				  -(int64_t)request_sum(v, s)->sum;
	return ns;
}

static bool has_requests(const struct view *v)
{
	return request_sum(v, KRPING_REQUEST_ALL)->count || request_sum(v, WRITE_ALL)->count;
}

bool wanted(uint32_t run, uint32_t peer)
{
	return !krp_tool.opts.run || run == krp_tool.opts.run ||
	       (with_peer && peer == krp_tool.opts.run);
}

static bool wanted_slot(uint32_t slot)
{
	return wanted(runs_seen.slot[slot].head.run, account_peer(slot));
}

static bool view(void *total, void *since, uint32_t slot, bool whole)
{
	struct view *v = total, *of_interval = since;

	if (!account_view(v, of_interval, slot, whole))
		return false;
	/* Compare two measurements: the clock of the module, and the sum of all pieces. */
	if (was_seen_whole(v)) {
		if (since)
			of_interval->window += v->run.head.duration_ns - v->window;
		v->window = v->run.head.duration_ns;
	}
	if (since)
		of_interval->run.info = v->run.info;
	return true;
}

static void run_ended(const void *total)
{
	const struct view *v = total;

	slow_ended(v);
	if ((was_seen_whole(v) && residual(v)) || request_residual(v))
		broken = true;
}

static void read_slow(void)
{
	if (slow_wanted(&slow) && !krp_tool.opts.input)
		slow_poll();
	if (provider)
		provider_read();
}

static void runs_ready(void)
{
	/* First, since they use the numbers of the run's phases, which are copied and then forgotten. */
	read_slow();
	account_join();
}

/* whole is 100 %; 0: no share. */
static void add_row(struct krp_table *t, const char *name, const struct krp_sum *s,
		    const struct krp_hist *h, uint64_t whole)
{
	static const unsigned int pct[] = { KRP_P50, KRP_P90, KRP_P99, KRP_P999 };
	uint64_t ns[4 + 3];
	unsigned int i;

	ns[0] = s->count ? s->sum / s->count : KRP_NS_UNKNOWN;
	for (i = 0; i < 4; i++)
		ns[1 + i] = s->count && h		 ? krp_hist_percentile(h, s, pct[i]) :
			    s->count && s->min == s->max ? s->min :
							   KRP_NS_UNKNOWN;
	ns[5] = s->count ? s->min : KRP_NS_UNKNOWN;
	ns[6] = s->count ? s->max : KRP_NS_UNKNOWN;
	krp_cell(t, "%s", name);
	krp_cell(t, "%s", krp_count(s->count).s);
	for (i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		krp_cell(t, "%s", krp_ns(ns[i]).s);
	if (whole)
		krp_cell(t, "%.2f", 100.0 * s->sum / whole);
	else
		krp_cell(t, "-");
}

/* The phases of no iteration, in the order of a run, and what they are parts of. */
static const struct {
	unsigned int from, to;
	const char *kind;
} once[] = {
	{ KRPING_PHASE_NONE, KRPING_PHASE_ACCEPT, "setup" },
	{ KRPING_PHASE_EXCHANGE, KRPING_PHASE_EXCHANGE, "setup" },
	{ KRPING_PHASE_WARMUP, KRPING_PHASE_WARMUP, "setup" },
	{ KRPING_PHASE_PAUSE, KRPING_PHASE_PAUSE, "test" },
	/* Of an end that does not post it is all of the test. */
	{ KRPING_PHASE_WAIT_END, KRPING_PHASE_WAIT_END, "test" },
	{ KRPING_PHASE_DISCONNECT, KRPING_PHASE_FREE, "teardown" },
};

/* Rows of that before the iterations, and behind them. */
#define ONCE_BEFORE 0, 3
#define ONCE_BEHIND 3, 6

/* The time before the first phase gets a line only if it is not 0. */
static const struct krp_sum *once_sum(const struct view *v, unsigned int phase)
{
	const struct krp_sum *s = &v->a.once[KRPING_ONCE(phase)];

	return s->count && (phase != KRPING_PHASE_NONE || s->sum) ? s : NULL;
}

static void add_once(struct krp_table *t, const struct view *v, unsigned int row, unsigned int end)
{
	unsigned int i;

	for (; row < end; row++) {
		for (i = once[row].from; i <= once[row].to; i++) {
			if (once_sum(v, i))
				add_row(t, phase_name(i), once_sum(v, i), NULL, v->window);
		}
	}
}

/* The n-th phase of an iteration in the order of the test, from 0; -1: no more. */
static int nth_phase(const struct view *v, unsigned int n)
{
	unsigned int i, j, before;

	for (i = 0; i < v->a.nr_phases; i++) {
		before = 0;
		for (j = 0; j < v->a.nr_phases; j++)
			before += v->a.phase_of[j] < v->a.phase_of[i];
		if (before == n)
			return i;
	}
	return -1;
}

/* The number of a phase among the phases that wait; -1: it does not wait. */
static int wait_of_phase(const struct view *v, unsigned int phase)
{
	unsigned int i;

	for (i = 0; i < v->a.nr_waits; i++) {
		if (v->a.wait_of[i] == phase)
			return i;
	}
	return -1;
}

/* The number, among all phases, of a phase that waits; -1 if it was not seen yet. */
static int phase_of_wait(const struct view *v, unsigned int w)
{
	unsigned int i;

	for (i = 0; i < v->a.nr_phases; i++) {
		if (v->a.phase_of[i] == v->a.wait_of[w])
			return i;
	}
	return -1;
}

static const struct krp_sum *wait_sum(const struct view *v, unsigned int w)
{
	int p = phase_of_wait(v, w);

	return p < 0 ? NULL : &v->a.dist[STG_DIST_PHASE(p)].s;
}

bool thread_polls(const struct krp_run_info *info)
{
	return !strcmp(info->poll_ctx, "thread") || !strcmp(info->poll_ctx, "busy");
}

/* The stage at the i-th place of a wait. */
static unsigned int stage_in_order(const struct view *v, unsigned int i)
{
	return krping_stage_in_order(thread_polls(&v->run.info), i);
}

/* How often a wait had no such stage, or the times of the stage were not known. */
static uint64_t unknown_stages(const struct view *v, unsigned int wait, unsigned int stage)
{
	const struct krp_sum *whole = wait_sum(v, wait);

	return whole ? whole->count - v->a.dist[STG_DIST_STAGE(wait, stage)].s.count : 0;
}

static void add_provider(struct krp_table *t, const struct view *v, unsigned int wait)
{
	char name[16];
	unsigned int s, d;

	for (s = 0; s < PROVIDER_NR_STAGES; s++) {
		d = STG_DIST_PROVIDER(wait, s);
		snprintf(name, sizeof(name), "    %s", provider_stage_name(s));
		if (v->a.dist[d].s.count)
			add_row(t, name, &v->a.dist[d].s, account_hist(v, d), v->window);
	}
}

static void add_waits(struct krp_table *t, const struct view *v, unsigned int phase)
{
	int w = wait_of_phase(v, phase);
	char name[16];
	unsigned int i, s, d;

	if (w < 0)
		return;
	for (i = KRPING_STAGE_POST; i <= KRPING_STAGE_WAKE; i++) {
		s = stage_in_order(v, i);
		d = STG_DIST_STAGE(w, s);
		snprintf(name, sizeof(name), "  %s", stage_name(s));
		/*
		 * A receive was posted long before the wait, so it has no post
		 * stage; a thread that polls all the time is hardly ever woken.
		 */
		if ((s == KRPING_STAGE_POST || s == KRPING_STAGE_WAKE) && !v->a.dist[d].s.count)
			continue;
		add_row(t, name, &v->a.dist[d].s, account_hist(v, d), v->window);
		if (s == KRPING_STAGE_WIRE)
			add_provider(t, v, w);
	}
}

/*
 * The share of a stage is that of the time of its requests, and not of the run: several requests
 * are in flight at once.
 */
static void add_requests(struct krp_table *t, const struct view *v)
{
	char name[16];
	unsigned int s, d;

	for (s = KRPING_REQUEST_ALL; s < STG_NR_REQUESTS; s++) {
		d = STG_DIST_REQUEST(s);
		snprintf(name, sizeof(name), "%s%s", is_all(s) ? "" : "  ", request_name(s));
		if (v->a.dist[d].s.count)
			add_row(t, name, &v->a.dist[d].s, account_hist(v, d),
				request_sum(v, all_of(s))->sum);
	}
}

static void print_hists(FILE *f, const struct view *v)
{
	char title[64];
	unsigned int k, s, n;
	int i, w;

	krp_hist_print(f, "iteration", account_hist(v, STG_DIST_ITER));
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		krp_hist_print(f, phase_name(v->a.phase_of[i]), account_hist(v, STG_DIST_PHASE(i)));
		w = wait_of_phase(v, v->a.phase_of[i]);
		for (k = KRPING_STAGE_POST; w >= 0 && k <= KRPING_STAGE_WAKE; k++) {
			s = stage_in_order(v, k);
			snprintf(title, sizeof(title), "%s, %s", phase_name(v->a.phase_of[i]),
				 stage_name(s));
			krp_hist_print(f, title, account_hist(v, STG_DIST_STAGE(w, s)));
		}
	}
	for (s = KRPING_REQUEST_ALL; s < STG_NR_REQUESTS; s++) {
		if (!request_sum(v, all_of(s))->count)
			continue;
		snprintf(title, sizeof(title), "%s%s%s", is_all(s) ? "" : request_name(all_of(s)),
			 is_all(s) ? "" : ", ", request_name(s));
		krp_hist_print(f, title, account_hist(v, STG_DIST_REQUEST(s)));
	}
}

/* The name of what a tile of a run means, in two parts; stage may be "". */
void tile_names(const struct view *v, unsigned int what, const char **phase, const char **stage)
{
	unsigned int i;

	*stage = "";
	if (what >= STG_DIST_REQUEST(0)) {
		*phase = request_name(all_of(what - STG_DIST_REQUEST(0)));
		*stage = request_name(what - STG_DIST_REQUEST(0));
	} else if (what == JOIN_OTHER || what == JOIN_NONE) {
		*phase = what == JOIN_OTHER ? "other" : "unattributed";
	} else if (what < STG_DIST_PHASE(STG_PHASES)) {
		*phase = phase_name(v->a.phase_of[what - STG_DIST_PHASE(0)]);
	} else {
		i = what - STG_DIST_STAGE(0, KRPING_STAGE_POST);
		*phase = phase_name(v->a.wait_of[i / STG_NR_STAGES]);
		i = KRPING_STAGE_POST + i % STG_NR_STAGES;
		if (i != KRPING_STAGE_OWN)
			*stage = stage_name(i);
	}
}

/*
 * The n-th of a run's tiles in the order of the test: a phase, then its stages,
 * then the phases of set-up and tear-down together, then the part that is not
 * known. -1: no more.
 */
static int nth_tile(const struct view *v, unsigned int n)
{
	unsigned int i, s;
	int p, w;

	for (i = 0; (p = nth_phase(v, i)) >= 0; i++) {
		if (!n--)
			return STG_DIST_PHASE(p);
		w = wait_of_phase(v, v->a.phase_of[p]);
		if (w < 0)
			continue;
		if (!n--)
			return STG_DIST_STAGE(w, KRPING_STAGE_OWN);
		for (s = KRPING_STAGE_POST; s <= KRPING_STAGE_WAKE; s++) {
			if (!n--)
				return STG_DIST_STAGE(w, stage_in_order(v, s));
		}
	}
	return n == 0 ? JOIN_OTHER : n == 1 ? JOIN_NONE : -1;
}

/*
 * For an interval: the waits that were laid over the peer in it. The last one
 * or two waits of a running run count in the next interval.
 */
static struct krp_sum joined_whole(const struct view *v, unsigned int w)
{
	const struct krp_sum *whole = wait_sum(v, w);
	struct krp_sum sum = { 0 };
	const uint64_t *cell;
	unsigned int i;

	if (!whole || !whole->count)
		return sum;
	if (!v->run.since)
		return *whole;
	cell = v->join.cell[STG_DIST_PHASE(phase_of_wait(v, w))];
	sum.count = whole->count;
	for (i = 0; i < JOIN_COLS; i++)
		sum.sum += cell[i];
	return sum;
}

/*
 * The part of a wait in which the peer was in "what". JOIN_NONE is the rest,
 * which no tile of the peer covers.
 */
static uint64_t joined_ns(const struct view *v, unsigned int w, unsigned int what)
{
	int p = phase_of_wait(v, w);
	const uint64_t *cell;
	uint64_t known = 0;
	unsigned int i;

	if (p < 0)
		return 0;
	cell = v->join.cell[STG_DIST_PHASE(p)];
	if (what != JOIN_NONE || v->run.since)
		return cell[what];
	for (i = 0; i < JOIN_NONE; i++)
		known += cell[i];
	return v->a.dist[STG_DIST_PHASE(p)].s.sum > known ?
		       v->a.dist[STG_DIST_PHASE(p)].s.sum - known :
		       0;
}

const struct view *view_of(void *const *v, unsigned int nr, uint32_t run)
{
	const struct view *one;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		one = v[i];
		if (one->run.head.run == run)
			return one;
	}
	return NULL;
}

static const struct view *peer_among(void *const *v, unsigned int nr, const struct view *of)
{
	const struct view *peer = of->peer ? view_of(v, nr, of->peer) : NULL;

	return peer && peer->peer == of->run.head.run ? peer : NULL;
}

/* One side of the joined view. */
#define SIDE_WIDTH 38
/* Rows below this, in hundredths of a per cent, share a line. */
#define SIDE_FOLD  50

struct side {
	char line[JOIN_ROWS * (JOIN_COLS + 1) + 1][SIDE_WIDTH + 1];
	unsigned int nr;
};

static void side_line(struct side *s, const char *name, uint64_t ns, const struct krp_sum *whole)
{
	snprintf(s->line[s->nr++], sizeof(*s->line), "%-22.22s %8.1f %6.1f", name,
		 ns / 1e3 / whole->count, 100.0 * ns / whole->sum);
}

static void side_make(struct side *s, const struct view *v, const struct view *peer)
{
	const char *phase, *stage;
	struct krp_sum whole;
	unsigned int i, n;
	uint64_t ns, folded;
	char name[32];
	int w;
	int p, what;

	snprintf(s->line[0], sizeof(*s->line), "%-22.22s %8s %6s",
		 v->run.info.role[0] == 's' ? "SERVER WAITS IN" : "CLIENT WAITS IN", "US/ITER",
		 "%");
	s->nr = 1;
	for (i = 0; (p = nth_phase(v, i)) >= 0; i++) {
		w = wait_of_phase(v, v->a.phase_of[p]);
		if (w < 0)
			continue;
		whole = joined_whole(v, w);
		if (!whole.sum)
			continue;
		side_line(s, phase_name(v->a.phase_of[p]), whole.sum, &whole);
		folded = 0;
		for (n = 0; (what = nth_tile(peer, n)) >= 0; n++) {
			ns = joined_ns(v, w, what);
			if (ns && 10000.0 * ns / whole.sum < SIDE_FOLD) {
				folded += ns;
				continue;
			}
			tile_names(peer, what, &phase, &stage);
			snprintf(name, sizeof(name), " %s%s%s", phase, *stage ? " " : "", stage);
			if (ns)
				side_line(s, name, ns, &whole);
		}
		if (folded)
			side_line(s, " below 0.5 % each", folded, &whole);
	}
}

/* The thread of an end that only its peer reads or writes has no phases to show. */
static bool is_passive(const struct view *v)
{
	return krp_run_may_be_passive(&v->run.info) && !v->a.dist[STG_DIST_ITER].s.count;
}

static void print_joined(FILE *f, const struct view *left, const struct view *right)
{
	const struct view *passive = is_passive(left) ? left : right;
	struct side *s;
	unsigned int i;

	if (is_passive(left) || is_passive(right)) {
		fprintf(f,
			"\nrun %u is the passive peer of run %u: its device answers, without a phase\n",
			passive->run.head.run, (passive == left ? right : left)->run.head.run);
		return;
	}
	/* Where requests are in flight no thread may wait. */
	if (!left->a.nr_waits && !right->a.nr_waits)
		return;
	s = krp_new(2, sizeof(*s));
	side_make(&s[0], left, right);
	side_make(&s[1], right, left);
	fprintf(f, "\nruns %u and %u are peers: what one did while the other waited\n",
		left->run.head.run, right->run.head.run);
	for (i = 0; i < s[0].nr || i < s[1].nr; i++) {
		const char *l = i < s[0].nr ? s[0].line[i] : "";
		const char *r = i < s[1].nr ? s[1].line[i] : "";

		if (*r)
			fprintf(f, "%-*s  %s\n", SIDE_WIDTH, l, r);
		else
			fprintf(f, "%s\n", l);
	}
	if (left->join.overrun || right->join.overrun)
		fprintf(f, "lost track of the peer %" PRIu64 " times: that is unattributed\n",
			(uint64_t)(left->join.overrun + right->join.overrun));
	free(s);
}

static json_object *joined_json(const struct view *v, const struct view *peer)
{
	json_object *o = json_object_new_object(), *phases = json_object_new_array(), *p, *by, *b;
	const char *phase, *stage;
	struct krp_sum whole;
	unsigned int w, n;
	uint64_t ns;
	int what;

	krp_json_u64(o, "peer_run", peer->run.head.run);
	krp_json_u64(o, "overrun", v->join.overrun);
	for (w = 0; w < v->a.nr_waits; w++) {
		whole = joined_whole(v, w);
		if (!whole.count)
			continue;
		p = json_object_new_object();
		by = json_object_new_array();
		krp_json_text(p, "phase", phase_name(v->a.wait_of[w]));
		krp_json_u64(p, "count", whole.count);
		krp_json_u64(p, "sum_ns", whole.sum);
		for (n = 0; (what = nth_tile(peer, n)) >= 0; n++) {
			ns = joined_ns(v, w, what);
			if (!ns)
				continue;
			tile_names(peer, what, &phase, &stage);
			b = json_object_new_object();
			krp_json_text(b, "peer_phase", phase);
			krp_json_text(b, "peer_stage", stage);
			krp_json_u64(b, "sum_ns", ns);
			krp_json_u64(b, "mean_ns", ns / whole.count);
			krp_json_rate(b, "percent", 100.0 * ns / whole.sum);
			json_object_array_add(by, b);
		}
		json_object_object_add(p, "by", by);
		json_object_array_add(phases, p);
	}
	json_object_object_add(o, "waits", phases);
	return o;
}

/* Nothing, if it is 0. */
static void print_ns(FILE *f, const char *what, int64_t ns, const char *note)
{
	if (ns)
		fprintf(f, "%-24s %14" PRId64 " ns  <-- %s\n", what, ns, note);
}

static void print_run(FILE *f, const struct view *v)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "PHASE", -15 }, { "COUNT", 6 }, { "MEAN", 6 }, { "P50", 6 }, { "P90", 6 },
		{ "P99", 6 }, { "P99.9", 6 }, { "MIN", 6 }, { "MAX", 6 }, { "SHARE%", 6 },
	} };
	/* clang-format on */
	const struct stages_run *st = &v->st;
	/* What was overwritten before it was read: iterations, and all time. */
	const struct krp_sum missed = { st->missed.whole, st->missed.ns, KRP_NS_UNKNOWN,
					KRP_NS_UNKNOWN };
	bool over = v->run.head.state == KRP_SLOT_ENDED;
	char split[KRP_SPLIT_TEXT];
	uint64_t unknown = 0;
	unsigned int n, w;
	int i;

	fprintf(f, "\nrun %u  %s %s  %s/%u  size %u  %" PRIu64 " iterations in %s  ",
		v->run.head.run, v->run.info.role, v->run.info.test, v->run.info.dev,
		v->run.info.port, v->run.info.size, (uint64_t)v->a.dist[STG_DIST_ITER].s.count,
		krp_ns(v->window).s);
	if (!over)
		fputs("running", f);
	else if (v->run.head.err)
		fprintf(f, "%s", strerrorname_np(-v->run.head.err) ?: "failed");
	else
		fputs("done", f);
	fputs(v->run.head.late ? ", late\n" : "\n", f);
	if (krp_run_label(&v->run.info))
		fprintf(f, "  name %s\n", v->run.info.name);
	if (over && v->run.head.err && *v->run.info.reason)
		krp_fold(f, v->run.info.reason, 2, 77);

	if (v->a.dist[STG_DIST_ITER].s.count)
		add_row(&t, "(iteration)", &v->a.dist[STG_DIST_ITER].s,
			account_hist(v, STG_DIST_ITER), 0);
	add_once(&t, v, ONCE_BEFORE);
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		add_row(&t, phase_name(v->a.phase_of[i]), &v->a.dist[STG_DIST_PHASE(i)].s,
			account_hist(v, STG_DIST_PHASE(i)), v->window);
		add_waits(&t, v, v->a.phase_of[i]);
	}
	add_requests(&t, v);
	if (v->a.aborted.count)
		add_row(&t, "aborted", &v->a.aborted, NULL, v->window);
	if (st->missed.records)
		add_row(&t, "not_seen", &missed, NULL, v->window);
	add_once(&t, v, ONCE_BEHIND);
	krp_table_print(f, &t, 0);
	/* The run's line has sums from its beginning on. */
	krp_split_text(split, sizeof(split), &v->run.info.split);
	if (*split && !v->run.since)
		fprintf(f, "%s\n", split);

	print_ns(f, "residual", residual(v), "not 0: phases are missing");
	print_ns(f, "residual of requests", request_residual(v), "not 0: stages are missing");
	print_ns(f, "beyond 26 days", v->a.too_long_ns, "and more: not known in which phase");
	for (w = 0; w < v->a.nr_waits; w++)
		unknown += unknown_stages(v, w, KRPING_STAGE_CQ);
	if (unknown)
		fprintf(f, "cq stage unknown %" PRIu64 " times: not signalled, counted as wire\n",
			unknown);
	if (st->holes || v->a.anomalies || st->unmatched)
		fprintf(f,
			"gaps in the time line %" PRIu64 ", that do not add up %" PRIu64
			", out of order %" PRIu64 "\n",
			(uint64_t)st->holes, (uint64_t)v->a.anomalies, (uint64_t)st->unmatched);
}

/* Adds a distribution to an object. */
static json_object *dist_json(json_object *o, const struct view *v, unsigned int d)
{
	krp_json_sum(o, &v->a.dist[d].s, account_hist(v, d));
	if (krp_tool.opts.histograms)
		json_object_object_add(o, "buckets", krp_hist_json(account_hist(v, d)));
	return o;
}

static json_object *provider_json(const struct view *v, unsigned int wait)
{
	json_object *o = json_object_new_object();
	unsigned int s;

	for (s = 0; s < PROVIDER_NR_STAGES; s++) {
		if (v->a.dist[STG_DIST_PROVIDER(wait, s)].s.count)
			json_object_object_add(o, provider_stage_name(s),
					       dist_json(json_object_new_object(), v,
							 STG_DIST_PROVIDER(wait, s)));
	}
	return o;
}

static json_object *request_json(const struct view *v, unsigned int all)
{
	json_object *o = dist_json(json_object_new_object(), v, STG_DIST_REQUEST(all)),
		    *stages = json_object_new_object();
	unsigned int s;

	for (s = all + 1; s < all + KRPING_NR_REQUESTS; s++)
		json_object_object_add(stages, request_name(s),
				       dist_json(json_object_new_object(), v, STG_DIST_REQUEST(s)));
	json_object_object_add(o, "stages", stages);
	return o;
}

static json_object *requests_json(const struct view *v)
{
	json_object *o = request_json(v, KRPING_REQUEST_ALL);

	if (request_sum(v, WRITE_ALL)->count)
		json_object_object_add(o, "writes", request_json(v, WRITE_ALL));
	krp_json_s64(o, "residual_ns", request_residual(v));
	return o;
}

static void once_json(json_object *a, const struct view *v, unsigned int row, unsigned int end)
{
	json_object *o;
	unsigned int i;

	for (; row < end; row++) {
		for (i = once[row].from; i <= once[row].to; i++) {
			if (!once_sum(v, i))
				continue;
			o = json_object_new_object();
			krp_json_text(o, "phase", phase_name(i));
			krp_json_text(o, "kind", once[row].kind);
			krp_json_sum(o, once_sum(v, i), NULL);
			json_object_array_add(a, o);
		}
	}
}

static json_object *phases_json(const struct view *v)
{
	json_object *a = json_object_new_array(), *o, *stages, *stage;
	unsigned int n, k, s;
	int i, w;

	once_json(a, v, ONCE_BEFORE);
	for (n = 0; (i = nth_phase(v, n)) >= 0; n++) {
		/* The names come first, since a person looks for them in a line. */
		o = json_object_new_object();
		krp_json_text(o, "phase", phase_name(v->a.phase_of[i]));
		krp_json_text(o, "kind", "iteration");
		dist_json(o, v, STG_DIST_PHASE(i));
		w = wait_of_phase(v, v->a.phase_of[i]);
		if (w >= 0) {
			stages = json_object_new_object();
			for (k = KRPING_STAGE_POST; k <= KRPING_STAGE_WAKE; k++) {
				s = stage_in_order(v, k);
				stage = dist_json(json_object_new_object(), v,
						  STG_DIST_STAGE(w, s));
				krp_json_u64(stage, "unknown", unknown_stages(v, w, s));
				if (s == KRPING_STAGE_WIRE && provider)
					json_object_object_add(stage, "provider",
							       provider_json(v, w));
				json_object_object_add(stages, stage_name(s), stage);
			}
			json_object_object_add(o, "stages", stages);
			krp_json_u64(o, "completed_early", v->a.early[i]);
		}
		json_object_array_add(a, o);
	}
	once_json(a, v, ONCE_BEHIND);
	return a;
}

static json_object *missed_json(const struct krp_totals *missed)
{
	json_object *o = json_object_new_object();

	krp_json_u64(o, "count", missed->whole);
	krp_json_u64(o, "records", missed->records);
	krp_json_u64(o, "sum_ns", missed->ns);
	return o;
}

static json_object *run_json(const struct view *v, const struct view *peer)
{
	json_object *o = krp_view_json(&v->run), *aborted = json_object_new_object();
	const struct stages_run *st = &v->st;

	krp_json_text(o, "reason", v->run.info.reason);
	json_object_object_add(o, "phases", phases_json(v));
	json_object_object_add(o, "iteration",
			       dist_json(json_object_new_object(), v, STG_DIST_ITER));
	if (has_requests(v))
		json_object_object_add(o, "requests", requests_json(v));
	krp_json_sum(aborted, &v->a.aborted, NULL);
	json_object_object_add(o, "aborted", aborted);
	if (peer && !is_passive(peer))
		json_object_object_add(o, "joined", joined_json(v, peer));
	krp_json_u64(o, "sum_ns", v->tiled);
	krp_json_u64(o, "window_ns", v->window);
	krp_json_s64(o, "residual_ns", residual(v));
	json_object_object_add(o, "not_seen", missed_json(&st->missed));
	krp_json_u64(o, "holes", st->holes);
	krp_json_u64(o, "clock_anomalies", v->a.anomalies);
	krp_json_u64(o, "unmatched", st->unmatched);
	krp_json_u64(o, "too_long_ns", v->a.too_long_ns);
	if (!v->run.since)
		krp_split_json(o, &v->run.info.split);
	return o;
}

static struct krp_lost lost_events(void)
{
	struct krp_lost lost = krp_seen_lost(&runs_seen);

	lost.failed += account_failed();
	if (provider)
		lost = krp_lost_add(lost, provider_lost());
	return slow_wanted(&slow) ? krp_lost_add(lost, slow_lost_events()) : lost;
}

static void join_peers(const struct krp_shown *s)
{
	const struct view *peer;
	struct view *v;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		v = s->v[i];
		peer = peer_among(s->v, s->nr, v);
		/* The rest of a running run is joined in the next interval. */
		if (peer && (!s->since || v->run.head.state == KRP_SLOT_ENDED))
			krp_join(&v->join, &peer->join, peer->run.head.t_first);
	}
}

static void print_json(json_object *o, const struct krp_shown *s)
{
	json_object *a = json_object_new_array();
	unsigned int i;

	join_peers(s);
	for (i = 0; i < s->nr; i++)
		json_object_array_add(a, run_json(s->v[i], peer_among(s->v, s->nr, s->v[i])));
	json_object_object_add(o, "runs", a);
	if (slow_wanted(&slow))
		slow_json(o, s->total, s->nr, s->final);
}

static void print_text(FILE *f, const struct krp_shown *s)
{
	const struct view *v, *peer;
	unsigned int i;

	join_peers(s);
	for (i = 0; i < s->nr; i++) {
		print_run(f, s->v[i]);
		if (krp_tool.opts.histograms)
			print_hists(f, s->v[i]);
	}
	for (i = 0; i < s->nr; i++) {
		v = s->v[i];
		peer = peer_among(s->v, s->nr, v);
		/* Print a pair once, with the client at the left. */
		if (peer &&
		    !strcmp(v->run.info.role, krp_name(&krp_role_names, KRPING_ROLE_CLIENT)))
			print_joined(f, v, peer);
	}
	/* The usual times are known best from all the time. */
	if (slow_wanted(&slow))
		slow_print(f, s->total, s->nr, s->final);
}

static const char *what_is_broken(void)
{
	return broken ? "phases do not add up to the duration of a run" : NULL;
}

/*
 * For runs that began before we attached: /proc tells which run is the peer,
 * but not whether the peer is on this host. The addresses tell that.
 */
static void tell_peers(void)
{
	const struct krp_run_info *r, *p;

	if (!krp_tool.opts.input && krp_runs_read(&runs))
		return;
	for (r = runs.v; r < runs.v + runs.nr; r++) {
		p = r->peer_run ? krp_runs_find(&runs, r->peer_run) : NULL;
		if (p && p->peer_run == r->id && !krp_run_finished(r) && !krp_run_finished(p) &&
		    !strcmp(r->src, p->dst) && !strcmp(r->dst, p->src))
			account_pair(r->id, p->id);
	}
}

enum {
	OPT_SLOW = 512,
	OPT_SLOWEST,
	OPT_FAIL,
	OPT_PROVIDER,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'p':
		with_peer = true;
		break;
	case OPT_SLOW:
		if (!krp_parse_ns(arg, &slow.ns) || !slow.ns)
			krp_die("--slow: not a time with its unit (ns, us, ms or s): %s", arg);
		break;
	case OPT_SLOWEST:
		slow.slowest = krp_arg_number("--slowest", arg, 1, SLOW_KEEP);
		break;
	case OPT_FAIL:
		slow.fail = true;
		break;
	case OPT_PROVIDER:
		provider = true;
		break;
	case ARGP_KEY_END:
		if (with_peer && !krp_tool.opts.run)
			krp_die("--peer needs --run: without it peers are always shown");
		if (slow.fail && !slow.ns)
			krp_die("--fail needs --slow TIME");
		if (provider && krp_tool.opts.input)
			krp_die("--provider is not for --input");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "provider", OPT_PROVIDER, NULL, 0, "what soft-RoCE or soft-iWARP does in wire", 2 },
	{ "peer", 'p', NULL, 0, "with --run: its peer on this host, too", 3 },
	{ NULL, 0, NULL, 0, "Slow iterations, and why they were:", 4 },
	{ "slow", OPT_SLOW, "TIME", 0, "those of TIME or more (ns, us, ms, s): the ten slowest",
	  4 },
	{ "slowest", OPT_SLOWEST, "N", 0, "the N slowest; with --slow: N instead of ten", 4 },
	{ "fail", OPT_FAIL, NULL, 0, "with --slow: exit status 2 if there was one", 4 },
	{ 0 }
};

int krp_stages_main(int argc, char **argv)
{
	static const struct argp own = { .options = options, .parser = parse };
	static const char doc[] =
		"Where the time of krping's runs goes: the phases of each run, which add up "
		"to its duration, and the stages of those that wait."
		"\v"
		"Prints at each INTERVAL, if there is one, what was in it, and a summary of all "
		"the time at the end: after COUNT intervals, or at Ctrl-C.\n\n"
		"  krping stages                watch until Ctrl-C, then print\n"
		"  krping stages -e -j          until all runs have ended; JSON\n"
		"  krping stages --run 7 5      run 7, each 5 seconds, until it ends\n"
		"  krping stages --slow 2ms     why iterations took 2 ms or more\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment, or 2 if the phases "
		"of a run did not add up to its duration, or for --fail.";
	enum krp_exit status;
	int asked = -1, marks = -1;

	krp_tool.has = KRP_HAS_VIEW | KRP_HAS_HISTOGRAMS | KRP_HAS_SPLIT;
	krp_tool_init(argc, argv, "krping-stages", doc, &own);
	krp_start();
	krp_probe_init();
	/* The recorder must run before the first run is seen. */
	if (slow_wanted(&slow))
		slow_open(&slow, krp_tool.opts.input ? &runs : NULL);
	if (krp_tool.opts.split)
		asked = krp_ask("krping_iter_split");
	if (provider)
		marks = provider_open();
	account_open(slow_wanted(&slow) ? slow.ns : UINT64_MAX,
		     slow_wanted(&slow) ? slow_take : NULL, krp_tool.opts.input, &runs,
		     provider ? provider_read : NULL);
	if (provider)
		krp_source_also(&runs_seen.source, marks);
	tell_peers();
	if (slow_wanted(&slow) && !krp_tool.opts.input)
		krp_source_slow(&runs_seen.source, slow.ns);

	status = krp_display_run(&(struct krp_display){
		.traces = "the phases of krping's runs",
		.seen = &runs_seen,
		.runs = &runs,
		.size = sizeof(struct view),
		/* Slow iterations are told at once. */
		.eager = slow_wanted(&slow),
		.wanted = wanted_slot,
		.view = view,
		.line = account_line,
		.free = account_view_free,
		.ended = run_ended,
		.json = print_json,
		.text = print_text,
		.lost = lost_events,
		.broken = what_is_broken,
		.read = read_slow,
		.ends = provider ? provider_end : NULL,
		.ready = runs_ready,
	});
	if (slow.fail && slow_seen()) {
		status = KRP_EXIT_BROKEN;
		if (!krp_tool.opts.json)
			krp_error("%" PRIu64 " iterations took %s or more", slow_seen(),
				  krp_ns(slow.ns).s);
	}
	if (slow_wanted(&slow))
		slow_close();
	account_close();
	if (provider)
		provider_close();
	if (asked >= 0)
		close(asked);
	return status;
}
