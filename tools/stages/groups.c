// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages --by: the runs of a group together. Runs of one group may have different phases, so
 * these are by their names here, and not by the numbers that they have in a run. The rows of a group
 * are made once, and printed as text, JSON or CSV.
 */
#include <inttypes.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "../../trace/krping_stages.h"
#include "../lib/columns.h"
#include "breakdown.h"

/* The number of values of KRPING_SEG_PHASE(), also in a later module. */
#define NR_PHASES (KRPING_SEG_PHASE(~0ULL) + 1)

struct dist {
	struct krp_sum s;
	struct krp_hist *h; /* NULL: no value, or no histogram */
	uint64_t unknown;   /* of a stage: how often its times were not known */
};

struct group {
	struct dist phase[NR_PHASES][KRPING_NR_STAGES]; /* stage 0 is all of the phase */
	uint64_t early[NR_PHASES];
	bool waits[NR_PHASES]; /* the phase has stages */
	bool polls[NR_PHASES]; /* the thread polls, which decides their order */
	struct dist request[STG_NR_REQUESTS];
	struct dist once[KRPING_NR_ONCE], iteration, aborted;
	struct krp_totals missed; /* what was overwritten before it was read */
	struct dist not_seen;	  /* the same as a row */
	uint64_t tiled, window, holes, anomalies, unmatched, too_long;
	unsigned int residual_ends, late_ends;
};

/* A row: a phase, one of its stages, or the iterations. */
struct row {
	const char *phase, *stage, *kind;
	const struct dist *d;
	uint64_t early;
};

struct rows {
	struct row v[KRPING_NR_ONCE + NR_PHASES * KRPING_NR_STAGES + STG_NR_REQUESTS + 3];
	unsigned int nr;
};

static struct krp_groups groups;
static struct group **group; /* by the places in groups */
static unsigned int group_room;
static unsigned int *order, nr_order;

static void add_hist(struct dist *d, const struct krp_hist *h)
{
	if (!d->h)
		d->h = calloc(1, sizeof(*d->h));
	if (!d->h)
		krp_die("out of memory");
	krp_hist_add(d->h, h);
}

static void add_dist(struct dist *to, const struct view *v, unsigned int dist)
{
	if (!v->a.dist[dist].s.count)
		return;
	krp_by_sum(&to->s, &v->a.dist[dist].s);
	add_hist(to, account_hist(v, dist));
}

static void add_phase(struct group *g, const struct view *v, unsigned int i)
{
	unsigned int phase = v->a.phase_of[i], s;
	int w = wait_of_phase(v, phase);

	add_dist(&g->phase[phase][0], v, STG_DIST_PHASE(i));
	if (w < 0)
		return;
	g->waits[phase] = true;
	g->early[phase] += v->a.early[i];
	g->polls[phase] = thread_polls(&v->info);
	for (s = KRPING_STAGE_POST; s <= KRPING_STAGE_WAKE; s++) {
		add_dist(&g->phase[phase][s], v, STG_DIST_STAGE(w, s));
		g->phase[phase][s].unknown += unknown_stages(v, w, s);
	}
}

static void add_missed(struct group *g, const struct krp_totals *missed)
{
	g->missed.told += missed->told;
	g->missed.ns += missed->ns;
	g->missed.whole += missed->whole;
	g->not_seen.s = (struct krp_sum){
		.count = g->missed.whole,
		.sum = g->missed.ns,
		.min = KRP_NS_UNKNOWN,
		.max = KRP_NS_UNKNOWN,
	};
}

static void add_view(struct group *g, const struct view *v)
{
	unsigned int i;

	for (i = 0; i < v->a.nr_phases; i++)
		add_phase(g, v, i);
	for (i = 0; i < STG_NR_REQUESTS; i++)
		add_dist(&g->request[i], v, STG_DIST_REQUEST(i));
	for (i = 0; i < KRPING_NR_ONCE; i++)
		krp_by_sum(&g->once[i].s, &v->a.once[i]);
	add_dist(&g->iteration, v, STG_DIST_ITER);
	krp_by_sum(&g->aborted.s, &v->a.aborted);
	add_missed(g, &v->st.missed);
	g->tiled += v->tiled;
	g->window += v->window;
	g->holes += v->st.holes;
	g->anomalies += v->a.anomalies;
	g->unmatched += v->st.unmatched;
	g->too_long += v->a.too_long_ns;
	g->residual_ends += v->tiled != v->window;
	g->late_ends += v->st.head.late != 0;
}

static void free_group(struct group *g)
{
	unsigned int i, s;

	for (i = 0; g && i < NR_PHASES; i++) {
		for (s = 0; s < KRPING_NR_STAGES; s++)
			free(g->phase[i][s].h);
	}
	for (i = 0; g && i < STG_NR_REQUESTS; i++)
		free(g->request[i].h);
	if (g)
		free(g->iteration.h);
	free(g);
}

/* The group at a place, empty if it has no run yet in this display. */
static struct group *group_at(int place)
{
	struct group **v;

	if (place < 0)
		krp_die("out of memory");
	if ((unsigned int)place >= group_room) {
		v = reallocarray(group, place + 1, sizeof(*v));
		if (!v)
			krp_die("out of memory");
		group = v;
		memset(group + group_room, 0, (place + 1 - group_room) * sizeof(*v));
		group_room = place + 1;
	}
	if (!group[place])
		group[place] = calloc(1, sizeof(*group[place]));
	if (!group[place])
		krp_die("out of memory");
	return group[place];
}

void groups_sum(struct view *const *v, unsigned int nr)
{
	unsigned int i;

	groups.by = krp_tool.opts.by;
	krp_groups_begin(&groups);
	for (i = 0; i < group_room; i++) {
		free_group(group[i]);
		group[i] = NULL;
	}
	for (i = 0; i < nr; i++)
		add_view(group_at(krp_groups_add(&groups, &v[i]->info,
						 v[i]->st.head.state != KRP_SLOT_ENDED)),
			 v[i]);
	free(order);
	order = calloc(groups.nr + 1, sizeof(*order));
	if (!order)
		krp_die("out of memory");
	nr_order = krp_groups_order(&groups, order);
}

static void add_row(struct rows *r, const char *phase, const char *stage, const char *kind,
		    const struct dist *d, uint64_t early)
{
	r->v[r->nr++] = (struct row){ phase, stage, kind, d, early };
}

static void add_once_rows(struct rows *r, const struct group *g, unsigned int from, unsigned int to)
{
	const struct dist *d;
	unsigned int i;

	for (i = from; i <= to; i++) {
		d = &g->once[KRPING_ONCE(i)];
		/* The time before the first phase gets a line only if it is not 0. */
		if (d->s.count && (i != KRPING_PHASE_NONE || d->s.sum))
			add_row(r, phase_name(i), "", once_kind(i), d, 0);
	}
}

/* In the order in which a run goes through them. */
static void make_rows(struct rows *r, const struct group *g)
{
	unsigned int i, k, s;

	r->nr = 0;
	add_once_rows(r, g, KRPING_PHASE_NONE, KRPING_PHASE_ACCEPT);
	add_once_rows(r, g, KRPING_PHASE_EXCHANGE, KRPING_PHASE_EXCHANGE);
	add_once_rows(r, g, KRPING_PHASE_WARMUP, KRPING_PHASE_WARMUP);
	for (i = 0; i < NR_PHASES; i++) {
		if (!g->phase[i][0].s.count)
			continue;
		add_row(r, phase_name(i), "", "iteration", &g->phase[i][0], g->early[i]);
		for (k = KRPING_STAGE_POST; g->waits[i] && k <= KRPING_STAGE_WAKE; k++) {
			s = krping_stage_in_order(g->polls[i], k);
			/* Not all waits have a post or a wake: see print_waits(). */
			if (g->phase[i][s].s.count || s == KRPING_STAGE_WIRE ||
			    s == KRPING_STAGE_CQ)
				add_row(r, phase_name(i), stage_name(s), "", &g->phase[i][s], 0);
		}
	}
	for (i = 0; i < STG_NR_REQUESTS; i++) {
		if (g->request[i].s.count)
			add_row(r, request_name(all_of(i)), is_all(i) ? "" : request_name(i), "",
				&g->request[i], 0);
	}
	if (g->aborted.s.count)
		add_row(r, "aborted", "", "", &g->aborted, 0);
	if (g->missed.told)
		add_row(r, "not_seen", "", "", &g->not_seen, 0);
	add_once_rows(r, g, KRPING_PHASE_PAUSE, KRPING_PHASE_PAUSE);
	add_once_rows(r, g, KRPING_PHASE_WAIT_END, KRPING_PHASE_WAIT_END);
	add_once_rows(r, g, KRPING_PHASE_DISCONNECT, KRPING_PHASE_FREE);
	if (g->iteration.s.count)
		add_row(r, "end_iteration", "", "", &g->iteration, 0);
}

static bool is_stage(const struct row *r)
{
	return *r->stage;
}

static bool is_phase(const struct row *r)
{
	return *r->kind;
}

static bool is_iteration(const struct row *r)
{
	return !is_phase(r) && !is_stage(r) && !strcmp(r->phase, "end_iteration");
}

static const struct krp_sum *request_sum(const void *g, unsigned int stage)
{
	return &((const struct group *)g)->request[stage].s;
}

static bool has_requests(const struct group *g)
{
	return g->request[KRPING_REQUEST_ALL].s.count || g->request[WRITE_ALL].s.count;
}

/* What a row has a share of. */
static uint64_t whole_of(const struct group *g, const struct row *r)
{
	unsigned int i;

	for (i = KRPING_REQUEST_ALL; i <= WRITE_ALL; i += WRITE_ALL)
		if (!strcmp(r->phase, request_name(i)))
			return request_sum(g, i)->sum;
	return is_iteration(r) ? 0 : g->window;
}

static void print_group(FILE *f, unsigned int place, bool since)
{
	const struct krp_group *key = &groups.v[place];
	const struct group *g = group[place];
	char name[64], note[64] = "";
	struct rows rows;
	unsigned int i;

	fprintf(f, "\n%s %s: ends %u, running %u, end iterations %" PRIu64 "\n",
		krp_by_word(groups.by), key->key, key->ends, key->running,
		(uint64_t)g->iteration.s.count);
	make_rows(&rows, g);
	print_row_head(f);
	for (i = 0; i < rows.nr; i++) {
		const struct row *r = &rows.v[i];

		snprintf(name, sizeof(name), "%s%s", is_stage(r) ? "  " : "",
			 is_iteration(r) ? "(end iteration)" :
			 is_stage(r)	 ? r->stage :
					   r->phase);
		print_row(f, name, &r->d->s, r->d->h, whole_of(g, r));
	}
	if (g->residual_ends)
		snprintf(note, sizeof(note), "  (not 0 at %u ends)", g->residual_ends);
	print_ns_line(f, "sum of all phases", g->tiled, "");
	print_ns_line(f, since ? "watched, this interval" : "watched", g->window, "");
	print_ns_line(f, "residual", (int64_t)(g->window - g->tiled), note);
	if (has_requests(g))
		print_ns_line(f, "residual of requests", request_residual(request_sum, g), "");
	if (g->late_ends)
		fprintf(f, "attached late: %u ends\n", g->late_ends);
}

void groups_text(FILE *f, bool since)
{
	unsigned int i, j;
	struct rows rows;
	char title[64];

	for (i = 0; i < nr_order; i++) {
		print_group(f, order[i], since);
		make_rows(&rows, group[order[i]]);
		for (j = 0; krp_tool.opts.histograms && j < rows.nr; j++) {
			const struct row *r = &rows.v[j];

			snprintf(title, sizeof(title), "%s%s%s", r->phase, is_stage(r) ? ", " : "",
				 r->stage);
			if (r->d->h)
				krp_hist_print(f, title, r->d->h);
		}
	}
}

static void dist_json(json_object *o, const struct dist *d)
{
	krp_json_sum(o, &d->s, d->h);
	if (krp_tool.opts.histograms && d->h)
		json_object_object_add(o, "buckets", krp_hist_json(d->h));
}

/* The stages of the phase at a row stand behind it. */
static json_object *phase_json(const struct rows *rows, unsigned int i)
{
	json_object *o = json_object_new_object(), *stages, *stage;
	const struct row *r = &rows->v[i];

	krp_json_text(o, "phase", r->phase);
	krp_json_text(o, "kind", r->kind);
	dist_json(o, r->d);
	if (i + 1 == rows->nr || !is_stage(&rows->v[i + 1]))
		return o;
	stages = json_object_new_object();
	for (i++; i < rows->nr && is_stage(&rows->v[i]); i++) {
		stage = json_object_new_object();
		dist_json(stage, rows->v[i].d);
		krp_json_u64(stage, "unknown", rows->v[i].d->unknown);
		json_object_object_add(stages, rows->v[i].stage, stage);
	}
	json_object_object_add(o, "stages", stages);
	krp_json_u64(o, "completed_early", r->early);
	return o;
}

static json_object *request_json(const void *g, unsigned int stage)
{
	json_object *o = json_object_new_object();

	dist_json(o, &((const struct group *)g)->request[stage]);
	return o;
}

static json_object *group_json(unsigned int place)
{
	json_object *o = json_object_new_object(), *a = json_object_new_array(), *d;
	const struct group *g = group[place];
	struct rows rows;
	unsigned int i;

	krp_group_json(o, &groups, place);
	krp_json_u64(o, "residual_ends", g->residual_ends);
	krp_json_u64(o, "late_ends", g->late_ends);
	make_rows(&rows, g);
	for (i = 0; i < rows.nr; i++) {
		if (is_phase(&rows.v[i]))
			json_object_array_add(a, phase_json(&rows, i));
	}
	json_object_object_add(o, "phases", a);
	d = json_object_new_object();
	dist_json(d, &g->iteration);
	json_object_object_add(o, "end_iteration", d);
	if (has_requests(g))
		json_object_object_add(o, "requests",
				       requests_json(request_json, g,
						     request_sum(g, WRITE_ALL)->count,
						     request_residual(request_sum, g)));
	d = json_object_new_object();
	krp_json_sum(d, &g->aborted.s, NULL);
	json_object_object_add(o, "aborted", d);
	krp_json_u64(o, "sum_ns", g->tiled);
	krp_json_u64(o, "window_ns", g->window);
	krp_json_s64(o, "residual_ns", g->window - g->tiled);
	json_object_object_add(o, "not_seen", missed_json(&g->missed));
	krp_json_u64(o, "holes", g->holes);
	krp_json_u64(o, "clock_anomalies", g->anomalies);
	krp_json_u64(o, "unmatched", g->unmatched);
	krp_json_u64(o, "too_long_ns", g->too_long);
	return o;
}

void groups_json(json_object *o)
{
	json_object *a = json_object_new_array();
	unsigned int i;

	krp_json_text(o, "by", krp_by_word(groups.by));
	for (i = 0; i < nr_order; i++)
		json_object_array_add(a, group_json(order[i]));
	json_object_object_add(o, "groups", a);
}

static json_object *csv_row(unsigned int place, const struct row *r, const char *span,
			    struct krp_lost lost, unsigned long dropped)
{
	json_object *o = json_object_new_object();
	char now[64];

	krp_time_rfc3339(now, sizeof(now));
	krp_json_text(o, "time", now);
	krp_group_json(o, &groups, place);
	krp_json_text(o, "phase", r->phase);
	krp_json_text(o, "stage", r->stage);
	krp_json_sum(o, &r->d->s, NULL);
	krp_json_percentiles(o, &r->d->s, r->d->h);
	krp_json_text(o, "span", span);
	krp_json_lost_sum(o, "lost", lost);
	krp_json_u64(o, "runs_dropped", dropped);
	return o;
}

void groups_csv(const char *span, struct krp_lost lost, unsigned long dropped)
{
	unsigned int i, j;
	struct rows rows;

	for (i = 0; i < nr_order; i++) {
		make_rows(&rows, group[order[i]]);
		for (j = 0; j < rows.nr; j++)
			krp_rows_add(csv_row(order[i], &rows.v[j], span, lost, dropped));
	}
}

json_object *groups_no_row(void)
{
	static const struct dist nothing;
	const struct row none = { .phase = "", .stage = "", .d = &nothing };

	groups.by = krp_tool.opts.by;
	return csv_row(KRP_NO_GROUP, &none, "", (struct krp_lost){ 0 }, 0);
}

void groups_free(void)
{
	unsigned int i;

	for (i = 0; i < group_room; i++)
		free_group(group[i]);
	free(group);
	free(order);
	krp_groups_free(&groups);
}
