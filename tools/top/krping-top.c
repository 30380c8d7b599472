// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-top: shows the runs, live, one line for each. */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "../lib/hwcnt.h"
#include "../lib/names.h"
#include "../lib/ask.h"
#include "../lib/probe.h"
#include "../lib/split.h"
#include "../lib/told.h"
#include "../lib/tool.h"
#include "curses.h"
#include "rows.h"
#include "sums.h"
#include "view.h"
#include "krping_top.skel.h"

/* The width of text that is not for a screen: less than 80. */
#define TEXT_WIDTH 79

static struct krping_top_bpf *skel;
static struct krp_probe probe;
static struct krp_seen seen;
static struct top_sums **sums; /* by slot */
static struct krp_runs runs;
static struct top_rows rows;
static struct top_groups groups;
static struct krp_hwports ports;
static struct krp_environment setting;
static uint64_t t_begin, t_watch; /* when the tool began; when all its programs were attached */
static bool no_clear, batch, split;
static struct top_view view = {
	.rows = &rows,
	.ports = &ports,
	.setting = &setting,
	.groups = &groups,
	.sort = TOP_RUN,
	.keep_ns = 10000000000ULL,
	.lost = "0",
};

static bool is_grouped(void)
{
	return view.by != KRP_BY_RUN;
}

static struct top_row *get_row(uint32_t run)
{
	struct top_row *r = top_rows_get(&rows, run);

	if (!r)
		krp_die("out of memory");
	return r;
}

static struct top_sums *sums_of(uint32_t slot)
{
	if (!sums[slot])
		sums[slot] = calloc(1, sizeof(**sums));
	if (!sums[slot])
		krp_die("out of memory");
	return sums[slot];
}

static void take(struct krp_seen_run *s, const struct krp_rec *rec)
{
	(void)s;
	top_sums_take(sums_of(rec->slot), rec);
}

/* The rows keep what was read of a run. */
static void drop(uint32_t slot)
{
	free(sums[slot]);
	sums[slot] = NULL;
}

static struct krp_lost lost_events(void)
{
	return krp_lost_add(krp_seen_lost(&seen), krp_probe_lost(&probe));
}

/* Reads what happened to a run beside its iterations; mostly nothing did. */
static void read_rare(uint32_t run, struct top_rare *rare)
{
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.rare), &run, rare))
		memset(rare, 0, sizeof(*rare));
}

static void take_run(const struct krp_seen_run *run, const struct top_sums *sum, uint64_t now)
{
	struct top_row *r = get_row(run->head.run);
	struct top_rare rare;
	struct top_run st = {
		.head = run->head,
		.commits = sum->commits,
		.aborts = sum->aborts,
		.cut_ns = sum->cut_ns,
		.iter = sum->iter,
		.nr_setup = sum->nr_setup,
	};

	read_rare(run->head.run, &rare);
	st.post_err = rare.post_err;
	st.nr_steps = rare.nr_steps;
	memcpy(st.phases, sum->phases, sizeof(st.phases));
	memcpy(st.setup, sum->setup, sizeof(st.setup));
	memcpy(st.steps, rare.steps, sizeof(st.steps));
	if (top_row_take(r, &st, &rare.errs, &rare.log, &sum->hist))
		krp_die("out of memory");
	if (!r->listed) {
		krp_told_info(&r->info, &r->st.head);
		r->info.start_ns = run->head.t_first;
	}
	if (st.head.state == KRP_SLOT_ENDED && !r->t_ended)
		r->t_ended = now;
}

/* Takes over what runs do: those that have ended, for the last time, and the others only if "all" is set. */
static void take_slots(bool all, uint64_t now)
{
	int fd = bpf_map__fd(skel->maps.rare);
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
			take_run(s, sums_of(slot), now);
		if (s->head.state != KRP_SLOT_ENDED)
			continue;
		bpf_map_delete_elem(fd, &s->head.run);
		krp_seen_drop(&seen, slot);
	}
	if (all)
		krp_seen_sweep(&seen, &runs, fd);
}

/*
 * The list of runs comes from /proc, which also has the runs that began before
 * us. It is read after the slots, so that it has all runs that they have.
 */
static void update(void)
{
	const struct krp_run_info *info;
	uint64_t now = krp_time_now();
	struct top_row *r;
	size_t i;

	take_slots(true, now);
	if (krp_runs_read(&runs))
		runs.nr = 0;
	for (i = 0; i < runs.nr; i++) {
		info = &runs.v[i];
		if (krp_tool.opts.run && krp_tool.opts.run != info->id)
			continue;
		/* Leave out a run that was over before we started. */
		if (krp_run_finished(info) && info->start_ns + info->elapsed_ns < t_begin)
			continue;
		if (!krp_filter(info))
			continue;
		r = top_rows_find(&rows, info->id);
		/* A run that was forgotten does not come back. */
		if (!r && krp_run_finished(info) && info->id <= rows.forgotten_id)
			continue;
		if (!r)
			r = get_row(info->id);
		if (r->shrunk)
			continue;
		top_row_info(r, info, t_watch);
		if (!krp_environment_run(&setting, info))
			krp_die("out of memory");
		if (r->st.head.tid && !krp_run_finished(info) &&
		    !krp_environment_has(&setting, info->id))
			krp_environment_thread(&setting, info->id, r->st.head.tid);
		if (krp_run_finished(info) && !r->t_ended)
			r->t_ended = now;
	}
	for (i = rows.nr; i--;) {
		r = rows.v[i];
		if (r->listed)
			continue;
		if (krp_has_filter())
			top_rows_drop(&rows, r);
		else
			r->listed = true;
	}
	if (rows.nr || !krp_absent(view.absent, sizeof(view.absent)))
		*view.absent = '\0';
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
		    top_row_visible(r, now, view.keep_ns) &&
		    !krp_hwcnt_port(&ports, KRP_HWCNT_ROOT, r->info.dev, r->info.port))
			krp_die("out of memory");
	}
	krp_hwcnt_read(&ports, now);
}

/* An interval is over. */
static void next_interval(void)
{
	struct top_row *r;
	size_t i;

	view.now = krp_time_now();
	snprintf(view.lost, sizeof(view.lost), "%s", krp_lost_text(lost_events()));
	krp_time_clock(view.clock, sizeof(view.clock));
	for (i = 0; i < rows.nr; i++) {
		r = rows.v[i];
		if (r->shrunk)
			continue;
		top_row_interval(r, view.now);
	}
	if (top_view_group(&view))
		krp_die("out of memory");
	for (i = 0; i < rows.nr; i++) {
		r = rows.v[i];
		if (!top_row_visible(r, view.now, view.keep_ns) && r->info.id != view.opened)
			top_row_shrink(r, rows.keep_hist);
	}
	update_ports(view.now);
}

static void collect(int width)
{
	if (top_view_collect(&view, width))
		krp_die("out of memory");
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
	krp_json_bool(o, "attached_late", r->known ? r->st.head.late : true);
	krp_json_u64(o, "iters", r->info.iters);
	krp_json_u64(o, "iters_seen", r->st.commits);
	krp_json_u64(o, "iters_aborted", r->st.aborts);
	krp_json_u64(o, "wc_err", r->errs.wc_err);
	krp_json_u64(o, "wc_flush", r->errs.wc_flush);
	if (final) {
		krp_json_sum(o, &r->st.iter, NULL);
		krp_json_ns(o, "p50_ns", r->st.iter.count ? r->p50 : KRP_NS_UNKNOWN);
		krp_json_ns(o, "p90_ns", r->st.iter.count ? r->p90 : KRP_NS_UNKNOWN);
		krp_json_ns(o, "p99_ns", r->st.iter.count ? r->p99 : KRP_NS_UNKNOWN);
		krp_json_ns(o, "p999_ns", r->st.iter.count ? r->p999 : KRP_NS_UNKNOWN);
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
	krp_json_u64(o, "fastreg", top_row_reg(r));
	krp_json_u64(o, "inv", top_row_inv(r));
	krp_json_u64(o, "post_err", r->st.post_err);
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
	krp_json_u64(o, "end_iters_seen", r->st.commits);
	krp_json_u64(o, "end_iters_aborted", r->st.aborts);
	krp_json_u64(o, "wc_err", r->errs.wc_err);
	krp_json_u64(o, "wc_flush", r->errs.wc_flush);
	krp_json_u64(o, "fastreg", top_row_reg(r));
	krp_json_u64(o, "inv", top_row_inv(r));
	krp_json_u64(o, "post_err", r->st.post_err);
	if (final) {
		krp_json_sum(o, &r->st.iter, known ? r->hist : NULL);
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
			krp_json_u64(o, "max_ns", r->st.phases[i].max);
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

	krp_json_lost(o, lost_events());
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
	krp_environment_add(&setting, o, final);
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

/*
 * The text output has no page of a single run, so nobody would read the log
 * that these events fill.
 */
static bool text_needs(const char *event)
{
	static const char *const log[] = { "krping_state", "krping_conn", "krping_cm_event",
					   "krping_reject", "krping_async_event" };
	unsigned int i;

	for (i = 0; i < sizeof(log) / sizeof(*log); i++) {
		if (!strcmp(event, log[i]))
			return false;
	}
	return true;
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
	krp_environment_head(&setting, f, width);
	fprintf(f, "krping-top %s  %u running  lost events %s\n", view.clock, running, view.lost);
	if (!rows.nr) {
		top_view_nothing(&view, nothing, sizeof(nothing));
		fprintf(f, "%s\n", nothing);
	}
	if (krp_canvas_init(&c, view.nr_shown + 1 + room, width))
		krp_die("out of memory");
	if (rows.nr)
		y = top_draw_head(&c, y, &view.layout, -1);
	for (i = 0; i < view.nr_shown; i++)
		y = top_draw_row(&c, y, &view.layout, view.shown[i], false);
	y = top_draw_ports(&c, y, room, &ports);
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
	collect(text_width());
	if (krp_tool.opts.json)
		krp_json_emit(stdout, list_json(false));
	else
		print_table();
}

/* Iterations of a run or a group, and their times; known: the percentiles are. */
static void summary_cells(struct krp_table *t, const struct top_row *r, bool known,
			  const uint64_t percentile[4])
{
	const struct krp_sum *s = &r->st.iter;
	unsigned int i;

	krp_cell(t, "%s", krp_count(r->st.commits).s);
	krp_cell(t, "%s", s->count ? krp_ns(s->sum / s->count).s : "-");
	for (i = 0; i < 4; i++)
		krp_cell(t, "%s", s->count && known ? krp_ns(percentile[i]).s : "-");
	krp_cell(t, "%s", s->count ? krp_ns(s->max).s : "-");
	krp_cell(t, "%s", krp_count(r->errs.wc_err).s);
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
			percentile[i] = krp_hist_percentile(r->hist, &r->st.iter, percents[i]);
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

	view.now = krp_time_now();
	view.within = 0;
	view.max_rows = 0;
	*view.filter = '\0';
	/* The sums need the histograms that go. */
	rows.total = true;
	if (top_view_group(&view))
		krp_die("out of memory");
	for (n = 0; n < rows.nr; n++)
		top_row_shrink(rows.v[n], false);
	collect(TEXT_WIDTH);
	krp_hwcnt_read(&ports, view.now);
	if (krp_tool.opts.json) {
		krp_json_emit(stdout, list_json(true));
		return;
	}
	f = krp_text();
	fprintf(f, "Summary: %zu runs, lost events %s\n", rows.nr + rows.forgotten,
		krp_lost_text(lost_events()));
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
		take_slots(false, krp_time_now());
}

static struct termios line_mode;

static void restore_line_mode(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &line_mode);
}

/* Keys come one by one, where there is no full screen whose library does that. Returns false if stdin cannot. */
static bool start_keys(void)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &line_mode))
		return false;
	mode = line_mode;
	mode.c_lflag &= ~(ICANON | ECHO);
	krp_tool.give_back = restore_line_mode;
	return !atexit(restore_line_mode) && !tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

static bool has_key(int keys)
{
	struct pollfd p = { .fd = keys, .events = POLLIN };

	return keys >= 0 && poll(&p, 1, 0) > 0;
}

/* For a key, or for much that is to be read. */
static enum krp_wake wait_for_more(void)
{
	enum krp_wake wake = krp_wait_fd(krp_source_fd(&seen.source), INFINITY);

	krp_source_woken(&seen.source);
	return wake;
}

/* keys: where a q comes from that is the end; -1: nowhere. */
static void watch_text(int keys)
{
	enum krp_wake wake;
	char nothing[96], key;
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
		if (has_key(keys) && (read(keys, &key, 1) != 1 || key == 'q'))
			wake = KRP_WAKE_STOP;
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
	collect(width);
	if (krp_canvas_init(&c, height, width))
		krp_die("out of memory");
	top_view_draw(&view, &c);
	top_curses_show(&c);
	krp_canvas_free(&c);
}

/* Returns false if the tool is to end. */
static bool take_keys(void)
{
	int key;

	while ((key = top_curses_key()) >= 0) {
		if (!top_view_key(&view, key))
			return false;
	}
	return true;
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

/*
 * Every ping of every run pays for the event of transitions while a program is
 * attached to it, so it is attached only while a run that goes on is open.
 */
static void follow_opened(void)
{
	const struct top_row *r = view.opened ? top_rows_find(&rows, view.opened) : NULL;
	bool on = r && !r->t_ended;

	skel->bss->open_run = on ? view.opened : 0;
	krp_probe_switch(&probe, on);
	ask_for_split(on || split);
}

static void watch_screen(void)
{
	enum krp_wake wake;
	bool go_on = true, key;

	krp_tool.give_back = top_curses_stop;
	view.unicode = top_curses_unicode();
	update();
	next_interval();
	draw();
	while (go_on) {
		wake = wait_for_more();
		/* A key wakes once, perhaps when it is time for something else; and so does a resized terminal. */
		key = wake == KRP_WAKE_FD || has_key(STDIN_FILENO);
		if (key && !take_keys())
			break;
		switch (wake) {
		case KRP_WAKE_FD:
			between();
			break;
		case KRP_WAKE_TICK:
			if (!view.paused) {
				update();
				next_interval();
				break;
			}
			/* fall through */
		case KRP_WAKE_POLL:
			between();
			go_on = !all_done();
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
		follow_opened();
	}
	top_curses_stop();
}

enum {
	OPT_KEEP = 512,
	OPT_SPLIT,
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	int col;

	(void)state;
	switch (key) {
	case 'b':
		batch = true;
		break;
	case 'C':
		no_clear = true;
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
	case OPT_SPLIT:
		split = true;
		break;
	case OPT_KEEP:
		view.keep_ns = krp_arg_number("--keep", arg, 0, 86400) * 1000000000ULL;
		break;
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
		"On a terminal a full-screen view (h: its keys), else tables. Refreshed each "
		"INTERVAL (1 second), COUNT times or until Ctrl-C; a summary is the end.\n\n"
		"  krping-top             watch\n"
		"  krping-top -b 5 12     twelve tables, each 5 seconds, for a log\n"
		"  krping-top -j -e       JSON, until all runs have ended\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment.";
	static const struct argp_option own_options[] = {
		{ "batch", 'b', NULL, 0, "tables, for logs and scripts", 2 },
		{ "no-clear", 'C', NULL, 0, "the same: no full screen", 2 },
		{ "rows", 'r', "N", 0, "N runs at most", 2 },
		{ "sort", 's', "KEY", 0, "by the column KEY (see the manual), as p99 or rate", 2 },
		{ "split", OPT_SPLIT, NULL, 0, "ask whose time pings are: host or network", 2 },
		{ "keep", OPT_KEEP, "SECONDS", 0, "show runs that have ended so long (10)", 2 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = parse_own };
	bool screen, keys;

	krp_tool.opts.interval = 1;
	krp_tool_init(argc, argv, "krping-top", doc, &own);
	rows.total = krp_tool.opts.total;
	view.by = groups.keys.by = krp_tool.opts.by;
	rows.keep_hist = is_grouped();
	krp_preflight();
	krp_check_filter();
	keys = !batch && !krp_tool.opts.json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	screen = keys && !no_clear;
	t_begin = krp_time_now();
	krp_start();
	krp_probe_init();
	skel = krping_top_bpf__open();
	krp_probe_opened(skel);
	ask_for_split(split);
	krp_seen_open(&seen, KRP_EV_iter_phases, NULL, &runs, take, drop);
	sums = calloc(seen.slots, sizeof(*sums));
	if (!sums)
		krp_die("out of memory");
	krp_probe_open(&probe, &(struct krp_want){
				       KRP_SKELETON(skel),
				       .run = krp_tool.opts.run,
				       .runs = seen.slots,
				       .event = screen ? NULL : text_needs,
				       .later = "krping_state",
			       });
	if (keys)
		krp_source_also(&seen.source, STDIN_FILENO);
	t_watch = krp_time_now();
	krp_environment_open(&setting, "");
	if (!screen || !top_curses_start()) {
		keys = keys && start_keys();
		krp_note("Watching krping's runs... %sCtrl-C to end.", keys ? "q or " : "");
		watch_text(keys ? STDIN_FILENO : -1);
	} else {
		watch_screen();
	}

	krp_probe_detach(&probe);
	krp_seen_end(&seen);
	update();
	summary();
	krp_environment_close(&setting);
	krp_probe_close(&probe);
	krping_top_bpf__destroy(skel);
	krp_seen_close(&seen);
	return KRP_EXIT_OK;
}
