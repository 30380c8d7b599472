// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-top: shows the runs, live, one line for each. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../lib/hwcnt.h"
#include "../lib/names.h"
#include "../lib/probe.h"
#include "../lib/tool.h"
#include "curses.h"
#include "rows.h"
#include "sums.h"
#include "view.h"
#include "../krping/holders.h"
#include "../krping/views.h"

/* The width of text that is not for a screen: less than 80. */
#define TEXT_WIDTH 79

static struct krp_seen seen;
static struct krp_runs runs;
static struct top_rows rows;
static struct top_groups groups;
static struct krp_hwports ports;
static struct krp_environment environment;
static uint64_t t_begin, t_watch; /* when the tool began; when all its programs were attached */
static bool batch;
static struct top_view view = {
	.rows = &rows,
	.ports = &ports,
	.environment = &environment,
	.groups = &groups,
	.sort = TOP_NR_COLS,
	.keep_ns = 10000000000ULL,
	.lost = "0",
};

static bool is_grouped(void)
{
	return view.by != KRP_BY_RUN;
}

/* Are its iterations requests? Of krping_iter_phases only those of a disk tell of one. */
static bool is_disk(const struct krp_seen_run *s)
{
	const struct krp_run_info *info;

	if (!krp_tool.opts.input)
		return true;
	if (!s->head.late)
		return s->head.test == KRPING_TEST_BLOCK;
	info = krp_runs_find(&runs, s->head.run);
	return info && !strcmp(info->test, krp_name(&krp_test_names, KRPING_TEST_BLOCK));
}

static void take(struct krp_seen_run *s, const struct krp_rec *rec)
{
	struct top_row *r;

	if (krp_tool.opts.run && krp_tool.opts.run != s->head.run)
		return;
	r = top_rows_get(&rows, s->head.run);
	r->known = true;
	/* A run that has ended, and has left the screen, tells no more. */
	if (!r->shrunk)
		top_sums_take(&r->cur, rec, is_disk(s));
}

static void take_other(const struct krp_event_head *h)
{
	struct top_row *r;

	if (!h->run || (krp_tool.opts.run && krp_tool.opts.run != h->run))
		return;
	r = top_rows_find(&rows, h->run);
	/* A run that was forgotten does not come back. */
	if (!r && h->run > rows.forgotten_id)
		r = top_rows_get(&rows, h->run);
	if (r)
		top_sums_rare(&r->cur, &r->log, h);
}

static void take_head(const struct krp_seen_run *s, uint64_t now)
{
	struct top_row *r = top_rows_get(&rows, s->head.run);
	const struct krp_run_info *told;
	bool ended;

	r->head = s->head;
	r->known = true;
	told = krp_run_info_of(&r->head);
	if (!r->counts && told)
		r->info = *told;
	if (krp_tool.opts.input)
		r->info.iters = s->iter;
	ended = s->head.state == KRP_SLOT_ENDED;
	if (!r->counts)
		snprintf(r->info.state, sizeof(r->info.state), "%s",
			 !ended ? "RUNNING" :
				  krp_name(&krp_state_names,
					   s->head.err ? KRPING_STATE_ERROR : KRPING_STATE_DONE));
	if (ended && !r->t_ended)
		r->t_ended = now;
}

/* Takes over how far runs are: those that have ended, for the last time, and the others only if "all" is set. */
static void take_slots(bool all, uint64_t now)
{
	const struct krp_seen_run *s;
	uint32_t slot;

	krp_seen_read(&seen);
	/* The end of a run may be among what was lost. */
	if (all && krp_lost_sum(krp_seen_lost(&seen)))
		krp_seen_info(&seen, &runs);
	for (slot = 0; slot < seen.slots; slot++) {
		s = krp_seen_slot(&seen, slot);
		if (!s || (!all && s->head.state != KRP_SLOT_ENDED))
			continue;
		if (!krp_tool.opts.run || krp_tool.opts.run == s->head.run)
			take_head(s, now);
		if (s->head.state == KRP_SLOT_ENDED)
			krp_seen_drop(&seen, slot);
	}
}

/*
 * A recording has a copy of /proc's list, mostly of its end: what a run has done so far is told by its events, and what only
 * /proc counts is taken to be the same in each iteration.
 */
static void recall_info(struct top_row *r, struct krp_run_info *info)
{
	uint64_t *const counts[] = { &info->fastreg, &info->localinv, &info->reminv, &info->readinv,
				     &info->moved_bytes };
	double share = info->iters ? (double)r->info.iters / info->iters : 0;
	unsigned int i;

	if (r->head.state != KRP_SLOT_RUNNING)
		return;
	for (i = 0; i < sizeof(counts) / sizeof(*counts) && share < 1; i++)
		*counts[i] *= share;
	info->iters = r->info.iters;
	snprintf(info->state, sizeof(info->state), "RUNNING");
	*info->phase = *info->reason = '\0';
	info->err = 0;
	info->phase_start_ns = 0;
	info->elapsed_ns = krp_seen_now(&seen) - info->start_ns;
}

/* Takes over what the list of runs says of this run. */
static void list_run(struct krp_run_info *info, uint64_t now)
{
	struct top_row *r = top_rows_find(&rows, info->id);

	if (krp_tool.opts.run && krp_tool.opts.run != info->id)
		return;
	/* Of a recording this may be the list of its end: the run is yet to begin, or was over before the recording began. */
	if (krp_tool.opts.input &&
	    (info->start_ns > now || ((!r || !r->known) && krp_run_finished(info))))
		return;
	/* Leave out a run that was over before we started. */
	if (krp_run_finished(info) && info->start_ns + info->elapsed_ns < t_begin)
		return;
	if (!krp_filter(info))
		return;
	/* A run that was forgotten does not come back. */
	if (!r && krp_run_finished(info) && info->id <= rows.forgotten_id)
		return;
	if (!r)
		r = top_rows_get(&rows, info->id);
	if (r->shrunk)
		return;
	if (krp_tool.opts.input)
		recall_info(r, info);
	top_row_info(r, info, !krp_tool.opts.input ? t_watch : r->head.late ? UINT64_MAX : 0);
	if (krp_tool.opts.input)
		return;
	krp_environment_run(&environment, info);
	if (r->head.tid && !krp_run_finished(info) && !krp_environment_has(&environment, info->id))
		krp_environment_thread(&environment, info->id, r->head.tid);
	if (krp_run_finished(info) && !r->t_ended)
		r->t_ended = now;
}

/*
 * The list of runs comes from /proc, which also has the runs that began before
 * us. It is read after the events, so that it has all runs that they have.
 */
static void update(void)
{
	uint64_t now = krp_seen_now(&seen);
	struct krp_run_info info;
	struct top_row *r;
	size_t i;

	take_slots(true, now);
	if (!krp_tool.opts.input && krp_runs_read(&runs))
		runs.nr = 0;
	for (i = 0; i < runs.nr; i++) {
		info = runs.v[i];
		list_run(&info, now);
	}
	for (i = rows.nr; i--;) {
		r = rows.v[i];
		if (r->listed)
			continue;
		if (!krp_filter(&r->info) || !r->known)
			top_rows_drop(&rows, r);
		else
			r->listed = true;
	}
	*view.absent = '\0';
	if (krp_tool.opts.input)
		snprintf(view.absent, sizeof(view.absent), "no run yet in the recording");
	else if (!rows.nr)
		krp_absent(view.absent, sizeof(view.absent));
}

/* The counters of the devices that runs are on. */
static void update_ports(uint64_t now)
{
	const struct top_row *r;
	size_t i;

	krp_hwcnt_begin(&ports);
	for (i = 0; i < rows.nr; i++) {
		r = rows.v[i];
		if (r->listed && r->info.port && strcmp(r->info.dev, "-") &&
		    top_row_visible(r, now, view.keep_ns))
			krp_hwcnt_port(&ports, KRP_RDMA_DEVICES, r->info.dev, r->info.port);
	}
	krp_hwcnt_read(&ports, now);
}

/* An interval is over. */
static void next_interval(void)
{
	struct top_row *r;
	size_t i;

	view.now = krp_seen_now(&seen);
	snprintf(view.lost, sizeof(view.lost), "%s", krp_lost_text(krp_seen_lost(&seen)));
	krp_time_clock(view.clock, sizeof(view.clock), krp_seen_clock(&seen));
	if (krp_tool.opts.input) {
		view.position = krp_recording_position(seen.recording);
		environment.recorded = seen.recording->about;
	}
	for (i = 0; i < rows.nr; i++) {
		r = rows.v[i];
		if (r->shrunk)
			continue;
		top_row_interval(r, view.now);
	}
	top_view_group(&view);
	for (i = 0; i < rows.nr; i++) {
		r = rows.v[i];
		if (!top_row_visible(r, view.now, view.keep_ns) && r->info.id != view.opened)
			top_row_shrink(r, rows.keep_hist);
	}
	if (!krp_tool.opts.input)
		update_ports(view.now);
}

static json_object *row_json(const struct top_row *r, bool final)
{
	json_object *o = json_object_new_object();
	const struct top_figures *f = krp_tool.opts.total ? &r->whole : &r->last;
	const char *name;

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
	krp_json_s64(o, "errno", top_row_errno(r));
	krp_json_text(o, "reason", r->info.reason);
	krp_json_bool(o, "attached_late", r->known ? r->head.late : true);
	krp_json_u64(o, "iters", r->info.iters);
	krp_json_u64(o, "iters_seen", r->all.commits);
	krp_json_u64(o, "iters_aborted", r->all.aborts);
	krp_json_u64(o, "wc_err", r->all.wc_err);
	krp_json_u64(o, "wc_flush", r->all.wc_flush);
	if (final) {
		krp_json_sum(o, &r->all.iter, NULL);
		krp_json_ns(o, "p50_ns", r->all.iter.count ? r->p50 : KRP_NS_UNKNOWN);
		krp_json_ns(o, "p90_ns", r->all.iter.count ? r->p90 : KRP_NS_UNKNOWN);
		krp_json_ns(o, "p99_ns", r->all.iter.count ? r->p99 : KRP_NS_UNKNOWN);
		krp_json_ns(o, "p999_ns", r->all.iter.count ? r->p999 : KRP_NS_UNKNOWN);
	} else {
		krp_json_u64(o, "interval_iters", f->iters);
		krp_json_rate(o, "iters_per_s", f->rate);
		krp_json_rate(o, "mb_per_s", f->mb);
		krp_json_ns(o, "p50_ns", f->p50 ?: KRP_NS_UNKNOWN);
		krp_json_ns(o, "p99_ns", f->p99 ?: KRP_NS_UNKNOWN);
		krp_json_ns(o, "max_ns", f->max ?: KRP_NS_UNKNOWN);
		krp_json_rate(o, "reg_per_s", f->reg);
		krp_json_rate(o, "inv_per_s", f->inv);
	}
	krp_json_ns(o, "fastreg", r->counts ? top_row_reg(r) : KRP_NS_UNKNOWN);
	krp_json_ns(o, "inv", r->counts ? top_row_inv(r) : KRP_NS_UNKNOWN);
	krp_json_u64(o, "post_err", r->all.post_err);
	name = top_row_errno(r) ? strerrorname_np(top_row_errno(r)) : NULL;
	krp_json_text(o, "errno_name", name ? name : "");
	krp_split_json(o, &r->info.split);
	krp_json_text(o, "name", krp_run_label(&r->info) ?: "-");
	if (!final)
		krp_json_rate(o, "in_flight", f->in_flight < 0 ? NAN : f->in_flight);
	return o;
}

/* True if figures of all the time are shown, not of an interval. */
static bool is_total(bool final)
{
	return final || krp_tool.opts.total;
}

static const char *span(bool final)
{
	return is_total(final) ? "total" : "interval";
}

/* A row of a group, of the interval or, with total, of all the time. */
static json_object *group_json(const struct top_row *r, bool final)
{
	const struct top_figures *f = is_total(final) ? &r->whole : &r->last;
	json_object *o = json_object_new_object();
	bool known = f->iters && !(is_total(final) && r->part);

	krp_group_json(o, &groups.keys, r->info.id - 1);
	krp_json_u64(o, "end_iters", r->info.iters);
	krp_json_u64(o, "end_iters_seen", r->all.commits);
	krp_json_u64(o, "end_iters_aborted", r->all.aborts);
	krp_json_u64(o, "wc_err", r->all.wc_err);
	krp_json_u64(o, "wc_flush", r->all.wc_flush);
	krp_json_ns(o, "fastreg", r->counts ? top_row_reg(r) : KRP_NS_UNKNOWN);
	krp_json_ns(o, "inv", r->counts ? top_row_inv(r) : KRP_NS_UNKNOWN);
	krp_json_u64(o, "post_err", r->all.post_err);
	if (final) {
		krp_json_sum(o, &r->all.iter, known ? r->all.hist : NULL);
		return o;
	}
	krp_json_u64(o, "interval_end_iters", f->iters);
	krp_json_rate(o, "end_iters_per_s", f->rate);
	krp_json_rate(o, "end_mb_per_s", f->mb);
	krp_json_ns(o, "p50_ns", known && f->p50 ? f->p50 : KRP_NS_UNKNOWN);
	krp_json_ns(o, "p99_ns", known && f->p99 ? f->p99 : KRP_NS_UNKNOWN);
	krp_json_ns(o, "max_ns", f->max ?: KRP_NS_UNKNOWN);
	krp_json_rate(o, "reg_per_s", f->reg);
	krp_json_rate(o, "inv_per_s", f->inv);
	return o;
}

/* Where the time of a run went: of the last interval, or all of it. */
static json_object *phases_json(const struct top_row *r, bool final)
{
	json_object *a = json_object_new_array(), *o;
	struct top_figures f = r->last;
	unsigned int i;

	if (is_total(final) && r->group)
		f = r->whole;
	else if (is_total(final))
		top_row_whole(r, view.now, &f);
	for (i = 0; i < TOP_PHASES; i++) {
		if (!f.phase_ns[i] && (!f.phase_count[i] || i == KRPING_PHASE_NONE))
			continue;
		o = json_object_new_object();
		krp_json_text(o, "phase", krp_name(&krp_phase_names, i));
		krp_json_u64(o, "count", f.phase_count[i]);
		krp_json_u64(o, "sum_ns", f.phase_ns[i]);
		if (is_total(final))
			krp_json_u64(o, "max_ns", r->all.phases[i].max);
		json_object_array_add(a, o);
	}
	return a;
}

/* The counters that moved: in the last interval, or ever. */
static json_object *ports_json(bool final)
{
	json_object *a = json_object_new_array(), *o, *list, *c;
	const struct krp_hwcnt *k;
	const struct krp_hwport *p;
	uint64_t delta;

	for (p = ports.v; p < ports.v + ports.nr; p++) {
		if (!p->used && !final)
			continue;
		o = json_object_new_object();
		list = json_object_new_array();
		krp_json_text(o, "dev", p->dev);
		krp_json_u64(o, "port", p->port);
		for (k = p->v; k < p->v + p->nr; k++) {
			delta = is_total(final) ? k->now - k->first : krp_hwcnt_delta(k);
			if (!delta)
				continue;
			c = json_object_new_object();
			krp_json_text(c, "name", k->name);
			krp_json_bool(c, "error", k->error);
			krp_json_u64(c, "delta", delta);
			if (!is_total(final))
				krp_json_rate(c, "per_s", krp_hwcnt_rate(p, k));
			json_object_array_add(list, c);
		}
		json_object_object_add(o, "counters", list);
		json_object_array_add(a, o);
	}
	return a;
}

static void groups_json(json_object *o, bool final)
{
	json_object *a = json_object_new_array(), *row;
	size_t i;

	for (i = 0; i < view.nr_shown; i++) {
		row = group_json(view.shown[i], final);
		json_object_object_add(row, "phases", phases_json(view.shown[i], final));
		json_object_array_add(a, row);
	}
	krp_json_text(o, "by", krp_by_word(view.by));
	json_object_object_add(o, "groups", a);
}

static json_object *list_json(bool final)
{
	json_object *o = krp_json_new(krp_tool.name, final), *a = json_object_new_array(), *row;
	struct top_row **v = final || is_grouped() ? rows.v : view.shown;
	size_t i, nr = final || is_grouped() ? rows.nr : view.nr_shown;

	krp_json_lost(o, krp_seen_lost(&seen));
	krp_json_text(o, "span", span(final));
	krp_json_u64(o, "runs_dropped", rows.forgotten);
	for (i = 0; i < nr; i++) {
		if (is_grouped() && !v[i]->counted)
			continue;
		row = row_json(v[i], final);
		json_object_object_add(row, "phases", phases_json(v[i], final));
		json_object_array_add(a, row);
	}
	json_object_object_add(o, "runs", a);
	if (is_grouped())
		groups_json(o, final);
	json_object_object_add(o, "devices", ports_json(final));
	krp_environment_add(&environment, o, final);
	if (krp_tool.opts.input && seen.recording->damage)
		krp_json_text(o, "damage", seen.recording->damage);
	return o;
}

static void print_canvas(FILE *f, const struct krp_canvas *c, int lines)
{
	char line[4 * TEXT_WIDTH * 4];
	int y;

	for (y = 0; y < lines; y++) {
		krp_canvas_line(c, y, line, sizeof(line));
		fprintf(f, "%s\n", line);
	}
}

static void print_end(FILE *f, const struct top_row *r)
{
	char cause[256];

	top_cause(r, cause, sizeof(cause));
	fprintf(f, "%s\n", cause);
}

/* A terminal may be wider than the text that a file gets. */
static int text_width(void)
{
	int columns = krp_columns(STDOUT_FILENO);

	if (columns <= 80)
		return TEXT_WIDTH;
	return columns <= 4 * TEXT_WIDTH ? columns - 1 : 4 * TEXT_WIDTH;
}

/* The table as text. */
static void print_table(void)
{
	int width = text_width(), y = 0, room = 64;
	struct krp_canvas c;
	unsigned int running = 0;
	struct top_row *r;
	char nothing[96];
	FILE *f = krp_text();
	size_t i;

	for (i = 0; i < rows.nr; i++)
		running += rows.v[i]->listed && !rows.v[i]->t_ended;
	krp_environment_head(&environment, f, width);
	fprintf(f, "krping-top %s  %u running  lost events %s\n", view.clock, running, view.lost);
	if (!rows.nr) {
		top_view_nothing(&view, nothing, sizeof(nothing));
		fprintf(f, "%s\n", nothing);
	}
	krp_canvas_init(&c, view.nr_shown + 1 + room, width);
	if (rows.nr)
		y = top_draw_head(&c, y, &view.layout, -1);
	for (i = 0; i < view.nr_shown; i++)
		y = top_draw_row(&c, y, &view.layout, view.shown[i], false);
	y = top_draw_ports(&c, y, room, &ports, TOP_ERRORS | TOP_TRAFFIC);
	print_canvas(f, &c, y);
	krp_canvas_free(&c);
	/* Groups do not end, but their runs do. */
	for (i = 0; i < (is_grouped() ? rows.nr : view.nr_shown); i++) {
		r = is_grouped() ? rows.v[i] : view.shown[i];
		if (!r->t_ended || r->reported || (is_grouped() && !r->counted))
			continue;
		r->reported = true;
		if (top_row_errno(r))
			print_end(f, r);
	}
	fputc('\n', f);
	krp_show(false);
}

static void display(void)
{
	next_interval();
	top_view_collect(&view, text_width());
	if (krp_tool.opts.json)
		krp_json_emit(stdout, list_json(false));
	else
		print_table();
}

/* Iterations of a run or a group, and their times; known: the percentiles are. */
static void summary_cells(struct krp_table *t, const struct top_row *r, bool known,
			  const uint64_t percentile[4])
{
	const struct krp_sum *s = &r->all.iter;
	unsigned int i;

	krp_cell(t, "%s", krp_count(r->all.commits).s);
	krp_cell(t, "%s", s->count ? krp_ns(s->sum / s->count).s : "-");
	for (i = 0; i < 4; i++)
		krp_cell(t, "%s", s->count && known ? krp_ns(percentile[i]).s : "-");
	krp_cell(t, "%s", s->count ? krp_ns(s->max).s : "-");
	krp_cell(t, "%s", krp_count(r->all.wc_err).s);
}

static void summary_groups(FILE *f)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "GROUP", -5 }, { "ENDS", 4 }, { "END-ITERS", 9 }, { "MEAN", 6 }, { "P50", 6 },
		{ "P90", 6 }, { "P99", 6 }, { "P99.9", 6 }, { "MAX", 6 }, { "ERR", 3 },
	} };
	static const unsigned int percents[] = { KRP_P50, KRP_P90, KRP_P99, KRP_P999 };
	/* clang-format on */
	uint64_t percentile[4];
	unsigned int i;
	size_t n;

	for (n = 0; n < view.nr_shown; n++) {
		const struct top_row *r = view.shown[n];

		for (i = 0; i < 4 && !r->part; i++)
			percentile[i] = krp_hist_percentile(r->all.hist, &r->all.iter, percents[i]);
		krp_cell(&t, "%s", r->group->key);
		krp_cell(&t, "%s", krp_count(r->group->ends).s);
		summary_cells(&t, r, !r->part, percentile);
	}
	if (view.nr_shown)
		krp_table_print(f, &t, TEXT_WIDTH);
}

static void summary(void)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "RUN", 4 }, { "ROLE", -6 }, { "ITERS", 7 }, { "MEAN", 6 }, { "P50", 6 },
		{ "P90", 6 }, { "P99", 6 }, { "P99.9", 6 }, { "MAX", 6 }, { "ERR", 3 },
		{ "STATE", -12 },
	} };
	/* clang-format on */
	const struct top_row *r;
	char state[32];
	size_t n;
	FILE *f;

	next_interval();
	view.full = false;
	view.within = 0;
	view.max_rows = 0;
	*view.filter = '\0';
	/* The sums need the histograms that go. */
	rows.total = true;
	top_view_group(&view);
	for (n = 0; n < rows.nr; n++)
		top_row_shrink(rows.v[n], false);
	top_view_collect(&view, TEXT_WIDTH);
	if (krp_tool.opts.json) {
		krp_json_emit(stdout, list_json(true));
		return;
	}
	f = krp_text();
	fprintf(f, "Summary: %zu runs, lost events %s\n", rows.nr + rows.forgotten,
		krp_lost_text(krp_seen_lost(&seen)));
	if (rows.forgotten)
		fprintf(f, "%lu runs that ended before the last %u are not listed\n",
			rows.forgotten, TOP_KEEP);
	for (n = 0; n < rows.nr && !is_grouped(); n++) {
		r = rows.v[n];
		krp_cell(&t, "%u", r->info.id);
		krp_cell(&t, "%s", r->info.role);
		summary_cells(&t, r, true, (uint64_t[]){ r->p50, r->p90, r->p99, r->p999 });
		top_cell(r, TOP_STATE, state, sizeof(state));
		krp_cell(&t, "%s", state);
	}
	if (is_grouped())
		summary_groups(f);
	else if (rows.nr)
		krp_table_print(f, &t, 0);
	for (n = 0; n < rows.nr; n++) {
		if (top_row_errno(rows.v[n]))
			print_end(f, rows.v[n]);
	}
	krp_show(false);
}

static bool all_done(void)
{
	unsigned long seen = rows.forgotten, ended = rows.forgotten;
	size_t i;

	for (i = 0; i < rows.nr; i++) {
		seen += rows.v[i]->listed;
		ended += rows.v[i]->listed && rows.v[i]->t_ended;
	}
	return krp_all_done(seen, ended);
}

/*
 * Frees slots between two displays, for other runs. With --until-done or --run
 * the end of a run is noticed at once.
 */
static void between(void)
{
	if (krp_tool.opts.until_done || krp_tool.opts.run)
		update();
	else
		take_slots(false, krp_seen_now(&seen));
}

static bool has_key(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* For a key, or for much that is to be read. */
static enum krp_wake wait_for_more(void)
{
	enum krp_wake wake;

	if (krp_tool.opts.input)
		return krp_wait_fd(STDIN_FILENO, INFINITY);
	wake = krp_wait_fd(krp_source_fd(&seen.source), INFINITY);
	krp_source_woken(&seen.source);
	return wake;
}

/* Goes on in a recording to the end of the interval; false: to the end of the recording. */
static bool advance(void)
{
	enum krp_replay step;

	do {
		step = krp_seen_replay(&seen, krp_tool.opts.interval * 1e9);
		if (step == KRP_REPLAY_RUN_END)
			take_slots(false, krp_seen_now(&seen));
	} while (step != KRP_REPLAY_TICK && step != KRP_REPLAY_END);
	update();
	return step == KRP_REPLAY_TICK;
}

static void replay_text(void)
{
	unsigned long left = krp_tool.opts.count;
	bool more;

	do {
		more = advance();
		display();
	} while (more && --left);
}

static void watch_text(void)
{
	enum krp_wake wake;
	char nothing[96];
	bool done;

	update();
	update_ports(krp_time_now());
	/* krp_check_filter() has said what is absent. */
	if (!rows.nr && !*view.absent) {
		top_view_nothing(&view, nothing, sizeof(nothing));
		krp_note("%s", nothing);
	}
	do {
		wake = wait_for_more();
		if (wake == KRP_WAKE_POLL || wake == KRP_WAKE_FD)
			between();
		else
			update();
		done = all_done();
		/* A short run may begin and end between two displays. */
		if (wake == KRP_WAKE_TICK || done || (wake == KRP_WAKE_STOP && krp_tool.opts.count))
			display();
	} while (wake != KRP_WAKE_STOP && !done);
}

static void draw(void)
{
	struct krp_canvas c;
	int height, width;

	top_curses_size(&height, &width);
	top_view_collect(&view, width);
	krp_canvas_init(&c, height, width);
	top_view_draw(&view, &c);
	top_curses_show(&c);
	krp_canvas_free(&c);
}

/* To the end of an interval: of the one that is over, or of the next one of a recording. */
static void go_on_screen(void)
{
	if (view.at_end)
		return;
	if (krp_tool.opts.input)
		view.at_end = !advance();
	else
		update();
	next_interval();
}

/* Asks the run to end, as "krping stop" does, and has the screen say what came of it. */
static void stop_run(uint32_t run)
{
	int fd = open("/proc/krping", O_WRONLY | O_CLOEXEC), err;
	const struct top_row *r = top_rows_find(&rows, run);
	char text[32], who[160], said[64];

	snprintf(text, sizeof(text), "stop,id=%u", run);
	err = fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	snprintf(said, sizeof(said), err ? "run %u: %s" : "run %u was asked to end", run,
		 strerrorname_np(err));
	if (err == EBUSY && r && strcmp(r->info.disk, "-"))
		snprintf(view.said, sizeof(view.said),
			 "%s until /dev/%s is closed; x x ends it now, with I/O errors: %s", said,
			 r->info.disk, krp_holders(who, sizeof(who), r->info.disk));
	else
		snprintf(view.said, sizeof(view.said), "%s%s", said,
			 err == ENOENT ? ", it has ended" : "");
}

static struct termios line_mode;

static void restore_line_mode(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &line_mode);
}

/* Begins another part of this program, for one run, with the same terminal. */
static pid_t start_view(const char *word, uint32_t run)
{
	const char *args[8] = { "krping", word, "--run" };
	unsigned int n = 3;
	char id[16];
	sigset_t none;
	pid_t pid;

	snprintf(id, sizeof(id), "%u", run);
	args[n++] = id;
	if (krp_tool.opts.input) {
		args[n++] = "-I";
		args[n++] = krp_tool.opts.input;
	} else {
		if (!strcmp(word, "mr"))
			args[n++] = "--keys";
		args[n++] = "1";
	}
	pid = fork();
	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The keys are for us, and what else is open, too. */
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	close_range(3, ~0U, 0);
	execv("/proc/self/exe", (char **)args);
	_exit(KRP_EXIT_ENV);
}

/* The terminal is for another view of the run, until that ends and a key comes, or q or Ctrl-C. false: the tool is to end. */
static bool show_view(const char *word, uint32_t run)
{
	enum krp_wake wake = KRP_WAKE_STOP;
	struct termios mode;
	bool asked = false;
	char key[16];
	ssize_t n = 1;
	pid_t pid;

	top_curses_stop();
	if (tcgetattr(STDIN_FILENO, &line_mode))
		return false;
	/* Keys come one by one, and Ctrl-C is one of them, since it is not for us. */
	mode = line_mode;
	mode.c_lflag &= ~(ICANON | ECHO | ISIG);
	krp_tool.give_back = restore_line_mode;
	tcsetattr(STDIN_FILENO, TCSANOW, &mode);
	printf("krping %s of run %u; q or Ctrl-C: back to krping top\n", word, run);
	fflush(stdout);
	pid = start_view(word, run);
	while (n > 0) {
		wake = wait_for_more();
		if (wake == KRP_WAKE_STOP)
			break;
		/* The runs are watched all the time. */
		if (wake == KRP_WAKE_TICK && !view.replays && !view.paused)
			go_on_screen();
		else
			between();
		if (pid > 0 && waitpid(pid, NULL, WNOHANG) == pid) {
			pid = 0;
			if (asked)
				break;
			printf("any key: back to krping top\n");
			fflush(stdout);
		}
		if (!has_key())
			continue;
		n = read(STDIN_FILENO, key, sizeof(key));
		if (pid <= 0)
			break;
		asked |= n > 0 && (memchr(key, 'q', n) || memchr(key, 'C' - '@', n));
		if (asked)
			kill(pid, SIGINT);
	}
	if (pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
	restore_line_mode();
	krp_tool.give_back = top_curses_stop;
	return n > 0 && wake != KRP_WAKE_STOP && top_curses_start();
}

/* Does what a key has asked the view for. false: the tool is to end. */
static bool grant(char wish)
{
	view.wish = 0;
	if (wish == 'x')
		stop_run(view.wish_run);
	return !wish || wish == 'x' || show_view(wish == 's' ? "stages" : "mr", view.wish_run);
}

/* Returns false if the tool is to end. */
static bool take_keys(void)
{
	struct pollfd terminal = { .fd = STDIN_FILENO };
	int key;

	while ((key = top_curses_key()) >= 0) {
		if (!top_view_key(&view, key) || !grant(view.wish))
			return false;
	}
	/* What is told without being asked for is that the terminal has gone: there is nobody to go on for. */
	return poll(&terminal, 1, 0) <= 0;
}

/* Whose time each ping is costs the pings clock readings, so it is asked for only where it is shown. */
static void ask_for_split(bool ask)
{
	static int asked = -1;

	if (ask && asked < 0) {
		asked = krp_ask("krping_iter_split");
	} else if (!ask && asked >= 0) {
		close(asked);
		asked = -1;
	}
}

/* Only the page of a run shows whose time its pings are. */
static void follow_opened(void)
{
	const struct top_row *r = view.opened ? top_rows_find(&rows, view.opened) : NULL;

	ask_for_split(krp_tool.opts.split || (r && !r->t_ended));
}

static void watch_screen(void)
{
	enum krp_wake wake;
	bool go_on = true, key;

	krp_tool.give_back = top_curses_stop;
	view.full = true;
	view.unicode = top_curses_unicode();
	go_on_screen();
	draw();
	while (go_on) {
		wake = wait_for_more();
		/* A key wakes once, perhaps when it is time for something else; and so does a resized terminal. */
		key = wake == KRP_WAKE_FD || has_key();
		if (key && !take_keys())
			break;
		for (; view.steps; view.steps--)
			go_on_screen();
		switch (wake) {
		case KRP_WAKE_FD:
			between();
			break;
		case KRP_WAKE_TICK:
			if (!view.paused) {
				go_on_screen();
				break;
			}
			/* fall through */
		case KRP_WAKE_POLL:
			between();
			go_on = krp_tool.opts.input || !all_done();
			if (!key)
				continue;
			break;
		case KRP_WAKE_STOP:
			go_on = false;
			break;
		}
		if (!go_on)
			break;
		draw();
		if (!krp_tool.opts.input)
			follow_opened();
	}
	top_curses_stop();
}

enum {
	OPT_KEEP = 512,
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	int col;

	(void)state;
	switch (key) {
	case 'b':
		batch = true;
		break;
	case 'r':
		view.max_rows = krp_arg_number("--rows", arg, 1, 100000);
		break;
	case 's':
		col = top_sort_column(arg);
		if (col < 0)
			krp_die("--sort: one of %s, not %s", top_sort_words(), arg);
		view.sort = col;
		break;
	case OPT_KEEP:
		view.keep_ns = krp_arg_number("--keep", arg, 0, 86400) * 1000000000ULL;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void watch(bool keys)
{
	keys = keys && top_curses_start();
	if (view.sort == TOP_NR_COLS)
		view.sort = keys ? TOP_RATE : TOP_RUN;
	if (keys) {
		watch_screen();
	} else if (krp_tool.opts.input) {
		replay_text();
	} else {
		krp_note("Watching krping's runs... Ctrl-C to end.");
		watch_text();
	}
}

int krp_top_main(int argc, char **argv)
{
	static const char doc[] =
		"The runs of krping, live, a line each: iterations a second, throughput and "
		"latency of the last interval, errors and state."
		"\v"
		"On a terminal a full-screen view (h: its keys), else tables. Refreshed each "
		"INTERVAL (1 second), COUNT times or until Ctrl-C; a summary is the end.\n\n"
		"  krping top             watch\n"
		"  krping top -b 5 12     twelve tables, each 5 seconds, for a log\n"
		"  krping top -j -e       JSON, until all runs have ended\n"
		"  krping top -I ping.rec a recording, as if it went on now\n\n"
		"Exit status: 0, 1 for a wrong usage or environment, or 2 for a damaged recording.";
	static const struct argp_option own_options[] = {
		{ "batch", 'b', NULL, 0, "tables, for logs and scripts", 2 },
		{ "rows", 'r', "N", 0, "N runs at most", 2 },
		{ "sort", 's', "KEY", 0, "by the column KEY (see the manual), as p99 or rate", 2 },
		{ "keep", OPT_KEEP, "SECONDS", 0, "show runs that have ended so long (10)", 2 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = parse_own };
	bool keys, damaged;

	krp_tool.opts.interval = 1;
	krp_tool.has = KRP_HAS_VIEW | KRP_HAS_BY | KRP_HAS_SPLIT;
	krp_tool_init(argc, argv, "krping-top", doc, &own);
	rows.total = krp_tool.opts.total;
	view.by = groups.keys.by = krp_tool.opts.by;
	rows.keep_hist = is_grouped();
	if (!krp_tool.opts.input)
		t_begin = krp_time_now();
	keys = !batch && !krp_tool.opts.json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	krp_start();
	seen.also = keys ? top_log_event : top_sums_event;
	seen.other = take_other;
	if (!krp_tool.opts.input)
		ask_for_split(krp_tool.opts.split);
	/* A recording has the stages of phases, which cost a ping more, and not their sums. */
	krp_seen_open(&seen, krp_tool.opts.input ? KRP_EV_iter_stages : KRP_EV_iter_phases,
		      krp_tool.opts.input, &runs, take, NULL);
	if (krp_tool.opts.input) {
		krp_recording_last_runs(seen.recording);
		view.replays = true;
	} else {
		t_watch = krp_time_now();
		krp_environment_open(&environment, "");
		if (keys)
			krp_source_also(&seen.source, STDIN_FILENO);
	}
	watch(keys);
	krp_seen_end(&seen);
	update();
	summary();
	damaged = krp_seen_damaged(&seen);
	krp_environment_close(&environment);
	krp_seen_close(&seen);
	return damaged ? KRP_EXIT_BROKEN : KRP_EXIT_OK;
}
