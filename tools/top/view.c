// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The screens of krping-top, and the effect of keys. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/names.h"
#include "../lib/out.h"
#include "view.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* --- parts --- */

/*
 * Puts text into a column. Text that does not fit is cut and ends in a tilde,
 * except for results, which can be told by their beginnings.
 */
static void put_cell(struct krp_canvas *c, int y, int x, int width, int attr, const char *s,
		     bool mark)
{
	int room = abs(width), len = strlen(s), i;
	char cut[160];

	if (len > room) {
		snprintf(cut, sizeof(cut), "%.*s", room, s);
		if (mark && room > 0 && room < (int)sizeof(cut))
			cut[room - 1] = '~';
		s = cut;
		len = room;
	}
	for (i = 0; i < room; i++)
		krp_canvas_put(c, y, x + i, attr, " ");
	krp_canvas_text(c, y, width < 0 ? x : x + room - len, attr, s);
}

static void put_bar(struct krp_canvas *c, int y, int x, int width, const uint64_t *phase_ns,
		    int attr)
{
	int part[TOP_NR_CLASSES], i, colour;
	char ch[4] = "";
	unsigned int cls;

	top_bar(phase_ns, width, part);
	for (cls = 0; cls < TOP_NR_CLASSES; cls++) {
		ch[0] = top_class_letter(cls);
		colour = top_class_colour(cls);
		for (i = 0; i < part[cls]; i++)
			krp_canvas_put(c, y, x++, colour ? colour | KRP_REVERSE : attr, ch);
	}
}

static void put_legend(struct krp_canvas *c, int y, int x)
{
	char ch[4] = "";
	unsigned int i;

	for (i = 0; i < TOP_NR_CLASSES; i++) {
		ch[0] = top_class_letter(i);
		krp_canvas_put(c, y, x,
			       top_class_colour(i) ? top_class_colour(i) | KRP_REVERSE : KRP_BOLD,
			       ch);
		x = krp_canvas_text(c, y, x + 2, KRP_PLAIN, top_class_word(i)) + 2;
	}
}

int top_draw_head(struct krp_canvas *c, int y, const struct top_layout *l, int sort)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		put_cell(c, y, l->v[i].x, l->v[i].width,
			 (int)l->v[i].col == sort ? KRP_BOLD : KRP_REVERSE,
			 top_col_head(l->v[i].col), true);
	/* Mark the blanks between the columns, too. */
	for (i = 1; sort >= 0 && i < l->nr; i++)
		krp_canvas_attr(c, y, l->v[i].x - 1, 1, KRP_REVERSE);
	return y + 1;
}

int top_draw_row(struct krp_canvas *c, int y, const struct top_layout *l, const struct top_row *r,
		 bool selected)
{
	int err = top_row_fault(r), attr = selected ? KRP_REVERSE : KRP_PLAIN, a;
	unsigned int i;
	char text[128];

	if (selected)
		krp_canvas_attr(c, y, 0, c->width, attr);
	for (i = 0; i < l->nr; i++) {
		if (l->v[i].col == TOP_BAR) {
			put_bar(c, y, l->v[i].x, abs(l->v[i].width), top_row_figures(r)->phase_ns,
				attr);
			continue;
		}
		top_cell(r, l->v[i].col, text, sizeof(text));
		a = attr;
		if (l->v[i].col == TOP_STATE && (r->t_ended || err))
			a |= err ? KRP_RED : KRP_GREEN;
		else if (l->v[i].col == TOP_ERR && top_row_errs(r))
			a |= KRP_RED | KRP_BOLD;
		put_cell(c, y, l->v[i].x, l->v[i].width, a, text, l->v[i].col != TOP_STATE);
	}
	return y + 1;
}

int top_draw_ports(struct krp_canvas *c, int y, int max, const struct krp_hwports *ports,
		   unsigned int which)
{
	const struct krp_hwport *p;
	const struct krp_hwcnt *k;
	int x, len, end = y + max;
	char text[96];
	unsigned int i;

	for (p = ports->v; p < ports->v + ports->nr; p++) {
		x = 0;
		for (i = 0; i < p->nr && p->used && y < end; i++) {
			k = &p->v[i];
			if (!krp_hwcnt_delta(k) || !p->t_prev ||
			    !(which & (k->error ? TOP_ERRORS : TOP_TRAFFIC)))
				continue;
			len = snprintf(text, sizeof(text), "%s %s/s", k->name,
				       krp_rate(krp_hwcnt_rate(p, k)).s);
			if (x && x + 2 + len > c->width) {
				y++;
				x = 0;
			}
			if (y >= end)
				break;
			if (!x)
				x = krp_canvas_printf(c, y, 0, KRP_BOLD, "%s/%u", p->dev, p->port);
			x = krp_canvas_text(c, y, x + 2, k->error ? KRP_RED | KRP_BOLD : KRP_PLAIN,
					    text);
		}
		if (x)
			y++;
	}
	return y < end ? y : end;
}

void top_cause(const struct top_row *r, char *buf, size_t size)
{
	int err = top_row_errno(r);
	const char *name = err ? strerrorname_np(err) : "done";

	snprintf(buf, size, "run %u ended: %s%s%s", r->info.id, name ? name : "failed",
		 *r->info.reason ? ": " : "", r->info.reason);
}

/* --- the picture of a histogram --- */

static const char *const blocks[] = {
	" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};

/* Width of the numbers at the left. */
#define PICTURE_LEFT 7

void top_picture(struct krp_canvas *c, int y, int x, int height, int width,
		 const struct krp_hist *h, bool unicode)
{
	int bars = height - 2, first = -1, last = -1, i, row, col, step, nr, level, tick, labelled;
	uint64_t *count, most = 0;

	width -= PICTURE_LEFT;
	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		if (first < 0)
			first = i;
		last = i;
	}
	if (first < 0 || bars < 1 || width < 8)
		return;
	/*
	 * All bars have the same number of buckets, and each bucket is a 32nd
	 * of an octave: so the axis is logarithmic, and no bar is empty because
	 * it fell between two buckets.
	 */
	step = (last - first + width) / width;
	nr = (last - first) / step + 1;
	count = calloc(nr, sizeof(*count));
	if (!count)
		return;
	for (i = first; i <= last; i++)
		count[(i - first) / step] += h->bucket[i];
	for (i = 0; i < nr; i++) {
		if (count[i] > most)
			most = count[i];
	}
	for (row = 0; row < bars; row++) {
		for (col = 0; col < nr; col++) {
			/* In eighths of a line; one at least, so that a tail is seen. */
			level = (double)count[col] * bars * 8 / most + 0.5;
			if (count[col] && !level)
				level = 1;
			level -= (bars - 1 - row) * 8;
			if (level <= 0)
				continue;
			if (unicode)
				krp_canvas_put(c, y + row, x + PICTURE_LEFT + col, KRP_CYAN,
					       blocks[level < 8 ? level : 8]);
			else if (level >= 4 || row == bars - 1)
				krp_canvas_put(c, y + row, x + PICTURE_LEFT + col, KRP_CYAN, "#");
		}
		krp_canvas_put(c, y + row, x + PICTURE_LEFT - 1, KRP_PLAIN,
			       unicode ? "\u2502" : "|");
	}
	krp_canvas_printf(c, y, x, KRP_PLAIN, "%6s", krp_count(most).s);
	if (bars > 1)
		krp_canvas_printf(c, y + bars - 1, x, KRP_PLAIN, "%6s", "0");
	free(count);

	y += bars;
	krp_canvas_put(c, y, x + PICTURE_LEFT - 1, KRP_PLAIN, unicode ? "\u2514" : "+");
	for (col = 0, labelled = -1; col < width; col++) {
		/* A label is six columns wide: draw a tick for each label that has room. */
		tick = col % 10 == 0 && (col + 6 <= width || !col) && col < nr;
		if (unicode)
			krp_canvas_put(c, y, x + PICTURE_LEFT + col, KRP_PLAIN,
				       tick ? "\u252c" : "\u2500");
		else
			krp_canvas_put(c, y, x + PICTURE_LEFT + col, KRP_PLAIN, tick ? "+" : "-");
		if (!tick || col <= labelled)
			continue;
		i = first + col * step;
		labelled = krp_canvas_text(c, y + 1, x + PICTURE_LEFT + col, KRP_PLAIN,
					   krp_ns(krp_hist_low(i)).s) -
			   x - PICTURE_LEFT;
	}
}

/* --- the list --- */

void top_view_group(struct top_view *v)
{
	if (v->groups->keys.by != v->by) {
		/* The ids of groups have another meaning now. */
		top_groups_free(v->groups);
		v->groups->keys.by = v->by;
		v->within = 0;
	}
	if (v->by != KRP_BY_RUN)
		top_groups_make(v->groups, v->rows, v->now, v->keep_ns, v->rows->total);
}

/* The rows of the list are groups. */
static bool shows_groups(const struct top_view *v)
{
	return v->by != KRP_BY_RUN && !v->within;
}

/* The column by which the list is sorted: that of groups in the place of one that they do not have. */
static enum top_col sort_column(const struct top_view *v)
{
	return top_column_of(v->sort, shows_groups(v));
}

static bool is_within(const struct top_view *v, const struct top_row *r)
{
	char key[KRP_BY_KEY];

	if (!v->within)
		return true;
	krp_by_key(v->by, &r->info, key, sizeof(key));
	return v->within <= v->groups->keys.nr &&
	       !strcmp(key, v->groups->keys.v[v->within - 1].key);
}

static size_t collect_groups(struct top_view *v)
{
	struct top_row *r;
	size_t i, n = 0;

	for (i = 0; i < v->groups->room; i++) {
		r = v->groups->v[i];
		if (r->group->ends && top_match(r, &v->layout, v->filter))
			v->shown[n++] = r;
	}
	return n;
}

static size_t collect_runs(struct top_view *v)
{
	bool pairs = v->full && !v->apart && v->by == KRP_BY_RUN;
	const struct top_row *o;
	struct top_row *r;
	size_t i, n = 0;

	for (i = 0; i < v->rows->nr; i++) {
		r = v->rows->v[i];
		r->other = NULL;
		/* The run that is open stays as long as somebody looks at it. */
		r->wanted = r->listed && is_within(v, r) && top_match(r, &v->layout, v->filter) &&
			    (top_row_visible(r, v->now, v->keep_ns) || r->info.id == v->opened);
	}
	for (i = 0; i < v->rows->nr; i++) {
		r = v->rows->v[i];
		o = pairs && r->listed ? top_rows_other(v->rows, r) : NULL;
		if (o && o->listed && top_row_second(r, o)) {
			if (v->selected == r->info.id)
				v->selected = o->info.id;
			continue;
		}
		if (o && o->listed)
			r->other = o;
		if (r->wanted || (r->other && o->wanted))
			v->shown[n++] = r;
	}
	return n;
}

void top_view_collect(struct top_view *v, int width)
{
	bool groups;
	size_t n;

	/* A key has chosen another way to sum up. */
	if (v->groups->keys.by != v->by)
		top_view_group(v);
	groups = shows_groups(v);
	top_layout(&v->layout, width, groups);
	v->shown = krp_grow(v->shown, &v->room_shown, groups ? v->groups->room : v->rows->nr,
			    sizeof(*v->shown));
	n = groups ? collect_groups(v) : collect_runs(v);
	v->shown_dropped = v->rows->dropped;
	v->shown_width = width;
	top_sort(v->shown, n, sort_column(v), v->reverse, v->full,
		 groups ? &v->groups->keys : NULL);
	v->nr_shown = v->max_rows && v->max_rows < n ? v->max_rows : n;
}

void top_view_free(struct top_view *v)
{
	free(v->shown);
	v->shown = NULL;
}

/* The place of the run that is selected. If it has left the list, the next run takes its place. */
static size_t selected_place(struct top_view *v)
{
	size_t i;

	for (i = 0; i < v->nr_shown; i++) {
		if (v->shown[i]->info.id == v->selected)
			return i;
	}
	return v->nr_shown;
}

static void select_place(struct top_view *v, size_t i)
{
	if (!v->nr_shown)
		return;
	if (i >= v->nr_shown)
		i = v->nr_shown - 1;
	v->selected = v->shown[i]->info.id;
}

static void draw_title(struct top_view *v, struct krp_canvas *c, const char *what)
{
	char at[16] = "";
	int x;

	/* Of a recording: where it is. */
	if (v->replays && v->position >= 0)
		snprintf(at, sizeof(at), " %3.0f%%", v->position * 100);
	krp_canvas_attr(c, 0, 0, c->width, KRP_BOLD);
	x = krp_canvas_printf(c, 0, 0, KRP_BOLD, "krping-top %s%s  %s", v->clock, at, what);
	if (strcmp(v->lost, "0"))
		x = krp_canvas_printf(c, 0, x + 2, KRP_BOLD | KRP_RED, "lost events %s", v->lost);
	else
		x = krp_canvas_text(c, 0, x + 2, KRP_BOLD, "lost events 0");
	if (v->paused || v->at_end)
		krp_canvas_text(c, 0, x + 2 < c->width - 6 ? x + 2 : c->width - 6,
				KRP_REVERSE | KRP_BOLD, v->at_end ? "END" : "PAUSED");
}

static void clear_line(struct krp_canvas *c, int y)
{
	int x;

	for (x = 0; x < c->width; x++)
		krp_canvas_put(c, y, x, KRP_PLAIN, " ");
}

/* Shows what the rows do not show: by which column they are sorted, and which of them are on the screen. */
static void put_order(const struct top_view *v, struct krp_canvas *c, int left, size_t last)
{
	char text[128];
	int x;

	snprintf(text, sizeof(text), "sort %s%s %zu-%zu/%zu", top_col_head(sort_column(v)),
		 v->reverse ? " reversed" : "", v->nr_shown ? v->first + 1 : 0, last, v->nr_shown);
	x = c->width - (int)strlen(text);
	if (x > left)
		krp_canvas_text(c, c->height - 1, x, KRP_BOLD, text);
}

void top_view_nothing(const struct top_view *v, char *text, size_t size)
{
	if (*v->filter)
		snprintf(text, size, "no run matches the filter");
	else if (*v->absent)
		snprintf(text, size, "%s", v->absent);
	else
		snprintf(text, size, "nothing running yet: waiting for a command to /proc/krping");
}

/* What went wrong, in max lines: errors that the devices count, and the causes of failed runs. Returns the line below. */
static int draw_faults(const struct top_view *v, struct krp_canvas *c, int y, int max)
{
	const struct top_row *r;
	int end = y + max;
	char text[256];
	size_t n;

	y = top_draw_ports(c, y, max, v->ports, TOP_ERRORS);
	for (n = 0; n < v->nr_shown && !shows_groups(v) && y < end; n++) {
		r = v->shown[n];
		if (!top_row_fault(r))
			continue;
		top_cause(top_row_errno(r) ? r : r->other, text, sizeof(text));
		krp_canvas_text(c, y++, 0, KRP_RED, text);
	}
	return y;
}

static void draw_list(struct top_view *v, struct krp_canvas *c)
{
	int height = c->height, y, bottom = height - 1, room, i, lines, left;
	struct krp_canvas part;
	unsigned int running = 0;
	size_t place, n, last;
	char text[256], by[64];

	for (n = 0; n < v->rows->nr; n++)
		running += v->rows->v[n]->listed && !v->rows->v[n]->t_ended;
	if (v->by == KRP_BY_RUN)
		snprintf(by, sizeof(by), "%u running", running);
	else if (v->within)
		snprintf(by, sizeof(by), "%s %.24s", krp_by_word(v->by),
			 v->groups->keys.v[v->within - 1].key);
	else
		snprintf(by, sizeof(by), "%u running by %s", running, krp_by_word(v->by));
	snprintf(text, sizeof(text), "%s  %s iter/s", by, krp_rate(top_rows_rate(v->rows)).s);
	draw_title(v, c, text);

	/* From the bottom: keys, legend, counters of devices. */
	if (*v->said)
		left = krp_canvas_text(c, bottom, 0, KRP_BOLD, v->said);
	else if (v->typing || *v->filter)
		left = krp_canvas_printf(c, bottom, 0, KRP_BOLD, "filter: %s%s", v->filter,
					 v->typing ? "_" : "");
	else
		left = krp_canvas_text(c, bottom, 0, KRP_PLAIN,
				       "h help  q quit  / filter  Enter open  x stop");
	if (height >= 30 && top_layout_find(&v->layout, TOP_BAR) >= 0)
		put_legend(c, --bottom, 0);
	room = height < 12 ? 1 : height / 6;
	krp_canvas_init(&part, room, c->width);
	lines = top_draw_ports(&part, 0, room, v->ports, TOP_TRAFFIC);
	bottom -= lines;
	for (i = 0; i < lines; i++)
		memcpy(&c->cell[(bottom + i) * c->width], &part.cell[i * c->width],
		       c->width * sizeof(*c->cell));
	krp_canvas_free(&part);

	y = draw_faults(v, c, 1, height / 8);
	y = top_draw_head(c, y, &v->layout, sort_column(v));
	v->page = bottom - y;
	if (v->page < 1)
		v->page = 1;
	place = selected_place(v);
	if (place == v->nr_shown) {
		select_place(v, v->first);
		place = selected_place(v);
	}
	/* Scroll no further than the end, and so that the selected run is seen. */
	if (v->first + v->page > v->nr_shown)
		v->first = v->nr_shown > (size_t)v->page ? v->nr_shown - v->page : 0;
	if (place < v->first)
		v->first = place;
	if (place < v->nr_shown && place >= v->first + v->page)
		v->first = place - v->page + 1;
	for (n = v->first, last = n; n < v->nr_shown && y < bottom; n++, last = n)
		y = top_draw_row(c, y, &v->layout, v->shown[n], n == place);
	if (!v->nr_shown) {
		top_view_nothing(v, text, sizeof(text));
		krp_canvas_text(c, y, 0, KRP_PLAIN, text);
	}
	put_order(v, c, left, last);
}

/* --- one run --- */

struct one {
	struct krp_canvas *c;
	struct top_view *v;
	const struct top_row *r;
	struct top_figures f; /* of the span that was chosen */
	int y;
};

static void one_line(struct one *o, int attr, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void one_line(struct one *o, int attr, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	krp_canvas_text(o->c, o->y++, 0, attr, text);
}

static void one_head(struct one *o)
{
	const struct krp_run_info *i = &o->r->info;
	const struct top_sums *all = &o->r->all;
	char peer_run[32] = "", of[32] = "", cut[48] = "", flight[48] = "",
	     name[KRPING_DEV_NAME_MAX] = "", cause[256];
	/* When the module wrote the line: what this tool does after that is not the phase's. */
	uint64_t t_read = i->start_ns + i->elapsed_ns;

	if (i->peer_run)
		snprintf(peer_run, sizeof(peer_run), "  peer run %u", i->peer_run);
	top_cell(o->r, TOP_NAME, name, sizeof(name));
	one_line(o, KRP_PLAIN, "%s %s  %s/%u qp %u  size %u  pid %u %s%s", i->role, i->test, i->dev,
		 i->port, i->qp, i->size, i->pid, name, peer_run);
	one_line(o, KRP_PLAIN, "%s > %s%s", i->src, i->dst, i->classic ? "  classic peer" : "");
	if (o->r->t_ended) {
		top_cause(o->r, cause, sizeof(cause));
		one_line(o, top_row_errno(o->r) ? KRP_RED : KRP_GREEN, "%s, after %s", cause,
			 krp_ns(i->elapsed_ns).s);
	} else if (o->r->t_phase) {
		one_line(o, KRP_PLAIN, "%s, in phase %s for %s, running for %s", i->state, i->phase,
			 krp_ns(t_read > o->r->t_phase ? t_read - o->r->t_phase : 0).s,
			 krp_ns(i->elapsed_ns).s);
	} else {
		one_line(o, KRP_PLAIN, "%s, running for %s", i->state, krp_ns(i->elapsed_ns).s);
	}
	if (i->count)
		snprintf(of, sizeof(of), " of %" PRIu64, i->count);
	if (all->aborts)
		snprintf(cut, sizeof(cut), ", %s cut short", krp_count(all->aborts).s);
	if (o->f.in_flight >= 0)
		snprintf(flight, sizeof(flight), "  %s in flight", krp_rate(o->f.in_flight).s);
	one_line(o, KRP_PLAIN, "%" PRIu64 "%s iterations%s%s  %s/s  %s MB/s%s", i->iters, of, cut,
		 o->r->known && o->r->head.late ? ", watched from the middle" : "",
		 krp_rate(o->f.rate).s, krp_rate(o->f.mb).s, flight);
}

static const struct krp_hist *one_hist(const struct one *o)
{
	return o->v->interval_only ? o->r->prev.hist : o->r->all.hist;
}

static const char *picture_head(const struct top_row *r)
{
	return strcmp(krp_run_time_word(&r->info), "spacing") ? "LATENCY OF AN ITERATION" :
								"SPACING OF ITERATIONS";
}

static void one_latency(struct one *o)
{
	const struct krp_hist *h = one_hist(o);
	const struct krp_sum *s = o->v->interval_only ? &o->r->prev.iter : &o->r->all.iter;
	const char *word = krp_run_time_word(&o->r->info);

	if (!h || !s->count) {
		one_line(o, KRP_PLAIN, "no iteration %s",
			 o->v->interval_only ? "in the last interval" :
					       "was watched from its beginning to its end");
		return;
	}
	one_line(o, KRP_PLAIN, "%s mean %s p50 %s p90 %s p99 %s p99.9 %s max %s", word,
		 krp_ns(s->sum / s->count).s, krp_ns(krp_hist_percentile(h, s, KRP_P50)).s,
		 krp_ns(krp_hist_percentile(h, s, KRP_P90)).s,
		 krp_ns(krp_hist_percentile(h, s, KRP_P99)).s,
		 krp_ns(krp_hist_percentile(h, s, KRP_P999)).s, krp_ns(s->max).s);
}

static void one_split(struct one *o)
{
	char text[KRP_SPLIT_TEXT];

	krp_split_text(text, sizeof(text),
		       o->v->interval_only ? &o->r->split_last : &o->r->info.split);
	if (*text)
		one_line(o, KRP_PLAIN, "%s", text);
}

static const struct krp_col phase_cols[] = {
	{ "PHASE", -15 }, { "COUNT", 6 }, { "MEAN", 6 }, { "MAX", 6 }, { "SHARE%", 6 },
};
#define PHASES_WIDTH (15 + 4 * 7)

static void phase_line(struct one *o, int y, int attr, const char *const *cells)
{
	unsigned int i;
	int x = 0;

	for (i = 0; i < COUNT(phase_cols); i++) {
		put_cell(o->c, y, x, phase_cols[i].width, attr, cells[i], true);
		x += abs(phase_cols[i].width) + 1;
	}
}

/* Returns how many lines it has. */
static int one_phases(struct one *o)
{
	const struct top_sums *all = &o->r->all, *span = o->v->interval_only ? &o->r->prev : all;
	const char *cells[COUNT(phase_cols)];
	struct krp_num num[3];
	char name[32], share[16];
	uint64_t total = 0, ns, count;
	int y = o->y, attr;
	bool current;
	unsigned int i;

	for (i = 0; i < COUNT(phase_cols); i++)
		cells[i] = phase_cols[i].head;
	phase_line(o, y++, KRP_REVERSE, cells);
	krp_canvas_attr(o->c, o->y, 0, PHASES_WIDTH, KRP_REVERSE);
	for (i = 0; i < TOP_PHASES; i++)
		total += o->f.phase_ns[i];
	for (i = 0; i < TOP_PHASES; i++) {
		ns = o->f.phase_ns[i];
		count = o->f.phase_count[i];
		current = !o->r->t_ended && o->r->t_phase && o->r->phase == i;
		/* NONE is the time before the first phase, which is 0. */
		if (!ns && (!count || i == KRPING_PHASE_NONE) && !current)
			continue;
		snprintf(name, sizeof(name), "%c%s", current ? '>' : ' ',
			 krp_name(&krp_phase_names, i));
		num[0] = krp_count(count);
		/*
		 * The sum of all the time is exact; it does not have the
		 * present turn of a phase that goes on.
		 */
		if (!o->v->interval_only && count)
			ns = all->phases[i].sum;
		num[1] = krp_ns(count ? ns / count : 0);
		num[2] = krp_ns(span->phases[i].max);
		snprintf(share, sizeof(share), "%.2f",
			 total ? o->f.phase_ns[i] * 100.0 / total : 0);
		cells[0] = name;
		cells[1] = num[0].s;
		cells[2] = count ? num[1].s : "-";
		cells[3] = count ? num[2].s : "-";
		cells[4] = share;
		attr = top_class_colour(top_phase_class(i));
		phase_line(o, y++, current ? attr | KRP_BOLD : attr, cells);
	}
	if (!o->v->interval_only && all->cut_ns)
		krp_canvas_printf(o->c, y++, 1, KRP_PLAIN, "cut short: %s in all",
				  krp_ns(all->cut_ns).s);
	return y - o->y;
}

static void one_requests(struct one *o)
{
	const struct krp_run_info *i = &o->r->info;

	one_line(o, KRP_PLAIN, "requests       SEND %s  RECV %s  READ %s  WRITE %s",
		 krp_count(i->send_msgs).s, krp_count(i->recv_msgs).s, krp_count(i->read_msgs).s,
		 krp_count(i->write_msgs).s);
	one_line(o, KRP_PLAIN,
		 "registrations  REG_MR %s  LOCAL_INV %s  by READs %s  by the peer %s",
		 krp_count(i->fastreg).s, krp_count(i->localinv).s, krp_count(i->readinv).s,
		 krp_count(i->reminv).s);
}

static const char *errno_name(int err)
{
	const char *name = err ? strerrorname_np(err < 0 ? -err : err) : NULL;

	return name ? name : "";
}

static void entry_text(const struct top_entry *e, char *buf, size_t size)
{
	switch (e->kind) {
	case TOP_LOG_CM:
		if (e->err)
			snprintf(buf, size, "CM     %s, status %d",
				 krp_name(&krp_cm_event_names, e->a), e->err);
		else
			snprintf(buf, size, "CM     %s", krp_name(&krp_cm_event_names, e->a));
		break;
	case TOP_LOG_REJECT:
		snprintf(buf, size, "CM     a client was refused: %s, its run %u",
			 errno_name(e->err), e->a);
		break;
	case TOP_LOG_ASYNC:
		snprintf(buf, size, "async  %s", krp_name(&krp_ib_event_names, e->a));
		break;
	case TOP_LOG_WC_ERR:
		snprintf(buf, size, "error  %s failed: %s, vendor's 0x%x",
			 krp_name(&krp_wr_names, e->a), krp_name(&krp_wc_status_names, e->err),
			 e->b);
		break;
	case TOP_LOG_POST_ERR:
		snprintf(buf, size, "error  %s was not posted: %s", krp_name(&krp_wr_names, e->a),
			 errno_name(e->err));
		break;
	default:
		snprintf(buf, size, "?");
	}
}

/* How many errors there were, and what the first ones were, which mostly caused the others. */
static void one_errors(struct one *o)
{
	const struct top_sums *all = &o->r->all;
	const struct top_log *log = &o->r->log;
	const struct top_entry *e;
	unsigned int i, n = 0;
	char text[112];

	one_line(o, all->wc_err || all->post_err ? KRP_RED | KRP_BOLD : KRP_PLAIN,
		 "errors         failed %s  flushed %s  refused by the verbs call %s",
		 krp_count(all->wc_err).s, krp_count(all->wc_flush).s, krp_count(all->post_err).s);
	if (o->r->info.rejects)
		one_line(o, KRP_PLAIN, "clients that were refused: %u", o->r->info.rejects);
	for (i = log->nr > TOP_LOG ? log->nr - TOP_LOG : 0; i < log->nr && n < 3; i++) {
		e = &log->entry[i % TOP_LOG];
		if (e->kind != TOP_LOG_WC_ERR && e->kind != TOP_LOG_POST_ERR)
			continue;
		entry_text(e, text, sizeof(text));
		one_line(o, KRP_RED, "  %s", text);
		n++;
	}
}

/* Shows the last events first. */
static void one_events(struct one *o)
{
	const struct top_log *log = &o->r->log;
	uint64_t t0 = o->r->info.start_ns ?: o->r->head.t_first, i;
	uint64_t nr = log->nr < TOP_LOG ? log->nr : TOP_LOG;
	const struct top_entry *e;
	char text[112];

	krp_canvas_attr(o->c, o->y, 0, o->c->width, KRP_REVERSE);
	one_line(o, KRP_REVERSE,
		 "LAST EVENTS, and when in the run; earlier ones that were not kept: %s",
		 krp_count(log->nr - nr).s);
	for (i = log->nr; i > log->nr - nr; i--) {
		e = &log->entry[(i - 1) % TOP_LOG];
		entry_text(e, text, sizeof(text));
		one_line(o, KRP_PLAIN, "%13.6fs  %s", e->t > t0 ? (e->t - t0) / 1e9 : 0, text);
	}
}

static void draw_one(struct top_view *v, struct krp_canvas *c)
{
	struct one o = { .c = c, .v = v, .r = top_rows_find(v->rows, v->opened) };
	int phases, height, x, width, begin, most;
	const struct krp_hist *h;
	char title[64];

	if (!o.r) {
		v->screen = TOP_LIST;
		v->opened = 0;
		draw_list(v, c);
		return;
	}
	if (v->interval_only)
		o.f = o.r->last;
	else
		top_row_whole(o.r, v->now, &o.f);
	/* Drawn at its scrolled place; parts outside the screen are cut, or drawn over. */
	most = v->lines - (c->height - 2);
	if (v->scroll > most)
		v->scroll = most;
	if (v->scroll < 0)
		v->scroll = 0;
	begin = o.y = 1 - v->scroll;
	one_head(&o);
	one_errors(&o);
	one_latency(&o);
	one_split(&o);
	put_bar(c, o.y++, 0, c->width, o.f.phase_ns, KRP_PLAIN);
	put_legend(c, o.y++, 0);
	phases = one_phases(&o);
	h = one_hist(&o);
	/* Draw it beside the table if there is room, else below. */
	if (c->width >= PHASES_WIDTH + 2 + PICTURE_LEFT + 20) {
		x = PHASES_WIDTH + 2;
		width = c->width - x;
		height = c->height / 3 > 10 ? c->height / 3 : 10;
		if (height < phases)
			height = phases;
		krp_canvas_attr(c, o.y, x, width, KRP_REVERSE);
		krp_canvas_text(c, o.y, x, KRP_REVERSE, picture_head(o.r));
		if (h)
			top_picture(c, o.y + 1, x, height - 1, width, h, v->unicode);
		o.y += height;
	} else {
		o.y += phases;
		if (h && krp_hist_total(h)) {
			krp_canvas_attr(c, o.y, 0, c->width, KRP_REVERSE);
			krp_canvas_text(c, o.y, 0, KRP_REVERSE, picture_head(o.r));
			top_picture(c, o.y + 1, 0, 9, c->width, h, v->unicode);
			o.y += 10;
		}
	}
	one_requests(&o);
	one_events(&o);
	v->lines = o.y - begin;

	clear_line(c, 0);
	clear_line(c, c->height - 1);
	snprintf(title, sizeof(title), "run %u  %s", v->opened,
		 v->interval_only ? "the last interval" : "all its time");
	draw_title(v, c, title);
	krp_canvas_text(c, c->height - 1, 0, *v->said ? KRP_BOLD : KRP_PLAIN,
			*v->said ? v->said : "Esc back  t span  x stop  s stages  m keys  h help");
	if (v->lines > c->height - 2 && !*v->said)
		krp_canvas_printf(c, c->height - 1, c->width - 18 > 58 ? c->width - 18 : 59,
				  KRP_BOLD, "j k: line %d/%d", v->scroll + 1, v->lines);
}

/* --- help --- */

static const char *const help[] = {
	"Up Down j k PgUp PgDn Home End   move     Enter   open the run",
	"Esc Backspace   back to the list; in the list: clear the filter",
	"/        filter as you type: text in any column; Enter keeps it",
	"< >      sort by the column to the left, to the right; R  the other way round",
	"a        two ends that are both here: apart, or in one row; in a run: the other",
	"b        sum runs by dev, peer, role, test, size; Enter: runs of a group",
	"x x      stop the run, as krping stop does",
	"s m      its stages, its keys of memory: krping stages, krping mr; q: back",
	"t        in a run: the last interval, or all its time",
	"p Space  pause     .  of a recording: the next interval     q  quit",
	"",
	"Figures are of the last interval, of a run that has ended of all its time. Of",
	"two ends in one row they are the client's, and ERR is of both. Of a disk an",
	"iteration is a request: ITER/S are its IOPS, QD its requests in flight. The",
	"head counts iterations of two ends that are here once, a group at each end.",
	"What failed is first. STATE of a run that iterates: where most of its time",
	"went; TIME SPENT has all of it:",
};

static void draw_help(struct top_view *v, struct krp_canvas *c)
{
	char text[KRP_ENVIRONMENT_TEXT];
	unsigned int i;
	int y = 1;

	draw_title(v, c, "keys");
	krp_environment_text(v->environment, text, sizeof(text), c->width);
	krp_canvas_text(c, y++, 0, KRP_PLAIN, text);
	for (i = 0; i < COUNT(help) && y < c->height - 1; i++)
		krp_canvas_text(c, y++, 1, KRP_PLAIN, help[i]);
	if (y < c->height - 1)
		put_legend(c, y, 1);
	krp_canvas_text(c, c->height - 1, 0, KRP_PLAIN, "any key: back");
}

/* --- all --- */

void top_view_draw(struct top_view *v, struct krp_canvas *c)
{
	if (c->width < TOP_MIN_WIDTH || c->height < TOP_MIN_HEIGHT) {
		krp_canvas_text(c, 0, 0, KRP_PLAIN, "too small");
		krp_canvas_printf(c, 1, 0, KRP_PLAIN, "%dx%d, needs", c->width, c->height);
		krp_canvas_printf(c, 2, 0, KRP_PLAIN, "%dx%d; q quits", TOP_MIN_WIDTH,
				  TOP_MIN_HEIGHT);
		return;
	}
	switch (v->screen) {
	case TOP_LIST:
		draw_list(v, c);
		break;
	case TOP_ONE:
		draw_one(v, c);
		break;
	case TOP_HELP:
		draw_help(v, c);
		break;
	}
}

static void move(struct top_view *v, long by)
{
	size_t place = selected_place(v);

	if (v->screen == TOP_ONE) {
		v->scroll += by;
		if (v->scroll < 0)
			v->scroll = 0;
		if (v->scroll > v->lines)
			v->scroll = v->lines;
		return;
	}
	if (place == v->nr_shown)
		place = v->first;
	if (by < 0 && (size_t)-by > place)
		place = 0;
	else
		place += by;
	select_place(v, place);
}

/* Sorts by the column beside the present one, among those that are shown. */
static void move_sort(struct top_view *v, int by)
{
	int at = top_layout_find(&v->layout, sort_column(v)), n = v->layout.nr;

	if (at < 0) {
		v->sort = shows_groups(v) ? TOP_GROUP : TOP_RUN;
		return;
	}
	at += by;
	if (at < 0 || at >= n || v->layout.v[at].col == TOP_BAR)
		return;
	v->sort = v->layout.v[at].col;
}

static bool move_key(struct top_view *v, int key)
{
	int page = v->screen == TOP_ONE ? 10 : v->page;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		move(v, -1);
		return true;
	case TOP_KEY_DOWN:
	case 'j':
		move(v, 1);
		return true;
	case TOP_KEY_PAGE_UP:
		move(v, -page);
		return true;
	case TOP_KEY_PAGE_DOWN:
		move(v, page);
		return true;
	case TOP_KEY_HOME:
	case 'g':
		move(v, -1000000);
		return true;
	case TOP_KEY_END:
	case 'G':
		move(v, 1000000);
		return true;
	}
	return false;
}

static void type_key(struct top_view *v, int key)
{
	size_t n = strlen(v->filter);

	switch (key) {
	case TOP_KEY_ENTER:
		v->typing = false;
		break;
	case TOP_KEY_ESC:
		v->typing = false;
		*v->filter = '\0';
		break;
	case TOP_KEY_BACKSPACE:
		if (n)
			v->filter[n - 1] = '\0';
		else
			v->typing = false;
		break;
	default:
		if (key >= ' ' && key <= '~' && n + 1 < sizeof(v->filter)) {
			v->filter[n] = key;
			v->filter[n + 1] = '\0';
		} else if (key > '~') {
			move_key(v, key);
		}
	}
}

/* From the runs of a group to the groups, at that group; or to the first row of another list. */
static void go_back(struct top_view *v)
{
	v->selected = v->within;
	v->within = 0;
	v->first = 0;
}

/* Of the run that is open, or selected: x stops it, s and m show more of it. */
static void run_key(struct top_view *v, int key, uint32_t asked)
{
	uint32_t run = v->screen == TOP_ONE ? v->opened : shows_groups(v) ? 0 : v->selected;
	const struct top_row *r = run ? top_rows_find(v->rows, run) : NULL;

	if (!r) {
		snprintf(v->said, sizeof(v->said), "select a run first");
	} else if (v->replays && key == 'x') {
		snprintf(v->said, sizeof(v->said), "this is a recording: there is no run to stop");
	} else if (r->t_ended && !v->replays) {
		snprintf(v->said, sizeof(v->said), "run %u has ended", run);
	} else if (key == 'x' && asked != run) {
		v->asked = run;
		snprintf(v->said, sizeof(v->said), "stop run %u, %s %s?  x: yes  other keys: no",
			 run, r->info.role, r->info.test);
	} else {
		v->wish = key;
		v->wish_run = run;
	}
}

static void list_key(struct top_view *v, int key)
{
	switch (key) {
	case '/':
		v->typing = true;
		break;
	case '<':
		move_sort(v, -1);
		break;
	case '>':
		move_sort(v, 1);
		break;
	case 'R':
		v->reverse = !v->reverse;
		break;
	case 'a':
		v->apart = !v->apart;
		break;
	case 'b':
		v->by = (v->by + 1) % KRP_NR_BYS;
		v->within = 0;
		go_back(v);
		break;
	case TOP_KEY_BACKSPACE:
	case TOP_KEY_LEFT:
		if (v->within)
			go_back(v);
		break;
	case TOP_KEY_ENTER:
	case TOP_KEY_RIGHT:
		if (selected_place(v) == v->nr_shown)
			break;
		if (shows_groups(v)) {
			v->within = v->selected;
			v->first = 0;
			*v->filter = '\0';
			break;
		}
		v->opened = v->selected;
		v->screen = TOP_ONE;
		v->scroll = 0;
		break;
	case TOP_KEY_ESC:
		if (!*v->filter && v->within)
			go_back(v);
		*v->filter = '\0';
		break;
	}
}

bool top_view_key(struct top_view *v, int key)
{
	const struct top_row *r, *other;
	uint32_t asked = v->asked;

	v->asked = 0;
	*v->said = '\0';
	/* A row that is shown may have been forgotten since. */
	if (v->shown_dropped != v->rows->dropped)
		top_view_collect(v, v->shown_width);
	if (v->screen == TOP_LIST && v->typing) {
		type_key(v, key);
		return true;
	}
	if (key == 'q')
		return false;
	if (v->screen == TOP_HELP) {
		v->screen = v->below_help;
		return true;
	}
	if (move_key(v, key))
		return true;
	switch (key) {
	case 'h':
	case '?':
		v->below_help = v->screen;
		v->screen = TOP_HELP;
		return true;
	case 'p':
	case ' ':
		v->paused = !v->paused;
		return true;
	case '.':
		v->steps += v->replays;
		v->paused |= v->replays;
		return true;
	case 'x':
	case 's':
	case 'm':
		run_key(v, key, asked);
		return true;
	}
	if (v->screen == TOP_LIST) {
		list_key(v, key);
		return true;
	}
	switch (key) {
	case TOP_KEY_ESC:
	case TOP_KEY_BACKSPACE:
	case TOP_KEY_LEFT:
		v->screen = TOP_LIST;
		v->opened = 0;
		break;
	case 'a':
		r = top_rows_find(v->rows, v->opened);
		other = r ? top_rows_other(v->rows, r) : NULL;
		if (other)
			v->opened = other->info.id;
		else
			snprintf(v->said, sizeof(v->said), "the other end is not here");
		break;
	case 't':
		v->interval_only = !v->interval_only;
		v->scroll = 0;
		break;
	}
	return true;
}
