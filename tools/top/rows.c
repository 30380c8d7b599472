// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <math.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/names.h"
#include "rows.h"

/* The place of the first row whose id is not below run. */
static size_t place_of(const struct top_rows *rows, uint32_t run)
{
	size_t low = 0, high = rows->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (rows->v[mid]->info.id < run)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct top_row *top_rows_find(const struct top_rows *rows, uint32_t run)
{
	size_t i = place_of(rows, run);

	return i < rows->nr && rows->v[i]->info.id == run ? rows->v[i] : NULL;
}

/* peer_run is a number of the peer's host: the addresses tell whether that is this host. */
const struct top_row *top_rows_other(const struct top_rows *rows, const struct top_row *r)
{
	const struct krp_run_info *i = &r->info;
	const struct top_row *o = i->peer_run ? top_rows_find(rows, i->peer_run) : NULL;

	return o && o->info.peer_run == i->id && strcmp(o->info.role, i->role) &&
			       !strcmp(o->info.src, i->dst) && !strcmp(o->info.dst, i->src) ?
		       o :
		       NULL;
}

bool top_row_second(const struct top_row *r, const struct top_row *other)
{
	bool passive = krp_run_may_be_passive(&r->info);

	return passive != krp_run_may_be_passive(&other->info) ?
		       passive :
		       strcmp(r->info.role, other->info.role) > 0;
}

double top_rows_rate(const struct top_rows *rows)
{
	const struct top_row *r, *other;
	double rate = 0;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		r = rows->v[i];
		other = top_rows_other(rows, r);
		if (!r->t_ended && (!other || other->t_ended || !top_row_second(r, other)))
			rate += r->last.rate;
	}
	return rate;
}

static void free_row(struct top_row *r)
{
	free(r->all.hist);
	free(r->prev.hist);
	free(r->cur.hist);
	free(r);
}

void top_rows_drop(struct top_rows *rows, struct top_row *row)
{
	size_t i = place_of(rows, row->info.id);

	memmove(&rows->v[i], &rows->v[i + 1], (--rows->nr - i) * sizeof(*rows->v));
	free_row(row);
	rows->dropped++;
}

static void forget_one(struct top_rows *rows)
{
	struct top_row *oldest = NULL;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		struct top_row *r = rows->v[i];

		if (r->t_ended && (!oldest || r->t_ended < oldest->t_ended))
			oldest = r;
	}
	if (!oldest)
		return;
	if (oldest->info.id > rows->forgotten_id)
		rows->forgotten_id = oldest->info.id;
	top_rows_drop(rows, oldest);
	rows->forgotten++;
}

struct top_row *top_rows_get(struct top_rows *rows, uint32_t run)
{
	struct top_row *r = top_rows_find(rows, run);
	size_t i;

	if (r)
		return r;
	if (rows->nr >= TOP_KEEP)
		forget_one(rows);
	if (rows->nr == rows->room)
		rows->v = krp_grow(rows->v, &rows->room, rows->room + 64, sizeof(*rows->v));
	r = krp_new(1, sizeof(*r));
	r->info.id = run;
	r->total = rows->total;
	i = place_of(rows, run);
	memmove(&rows->v[i + 1], &rows->v[i], (rows->nr - i) * sizeof(*rows->v));
	rows->v[i] = r;
	rows->nr++;
	return r;
}

void top_rows_free(struct top_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		free_row(rows->v[i]);
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}

/* Counts that are read while the run goes on may be a little behind those that were read before. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

uint64_t top_row_reg(const struct top_row *r)
{
	return since(r->info.fastreg, r->fastreg);
}

static uint64_t inv_of(const struct krp_run_info *info)
{
	return info->localinv + info->reminv + info->readinv;
}

uint64_t top_row_inv(const struct top_row *r)
{
	return since(inv_of(&r->info), r->inv);
}

uint64_t top_row_bytes(const struct top_row *r)
{
	return since(r->info.moved_bytes, r->bytes);
}

void top_row_info(struct top_row *r, const struct krp_run_info *info, uint64_t t_watch)
{
	if (!r->listed && info->start_ns < t_watch) {
		r->fastreg = info->fastreg;
		r->inv = inv_of(info);
		r->bytes = info->moved_bytes;
	}
	r->split_last = krp_split_since(&info->split, r->listed ? &r->info.split : &info->split);
	r->info = *info;
	r->phase = krp_name_find(&krp_phase_names, info->phase, strlen(info->phase));
	r->t_phase = info->phase_start_ns;
	r->listed = r->counts = true;
}

/* The time in a phase, with the part of it that goes on now. */
static uint64_t phase_ns(const struct top_row *r, uint32_t phase, uint64_t now)
{
	uint32_t current = r->phase < KRPING_NR_PHASES ? r->phase : KRPING_NR_PHASES;
	uint64_t ns = r->all.phases[phase].sum, t = r->t_phase;

	if (phase != current || !t || r->head.state != KRP_SLOT_RUNNING)
		return ns;
	/* Since /proc was read the iteration may have ended, and be in the sum. */
	if (t < r->head.t_last)
		t = r->head.t_last;
	return now > t ? ns + now - t : ns;
}

static void rates(struct top_figures *f, const struct top_row *r, uint64_t reg, uint64_t inv,
		  uint64_t bytes, uint64_t iter_ns)
{
	double seconds = f->ns / 1e9;

	f->rate = f->ns ? f->iters / seconds : 0;
	f->reg = f->ns ? reg / seconds : 0;
	f->inv = f->ns ? inv / seconds : 0;
	f->mb = f->ns ? bytes / seconds / 1e6 : 0;
	if (!r->counts)
		f->reg = f->inv = f->mb = NAN;
	/* Requests in flight are as many as come in a second, times the seconds that one takes. */
	f->in_flight = strcmp(r->info.test, "block") ? -1 : f->ns ? (double)iter_ns / f->ns : 0;
}

/* The latencies of a span of time; 0: there is none. */
static void latencies(struct top_figures *f, const struct top_sums *s)
{
	if (!s->iter.count || !s->hist)
		return;
	f->p50 = krp_hist_percentile(s->hist, &s->iter, KRP_P50);
	f->p99 = krp_hist_percentile(s->hist, &s->iter, KRP_P99);
	f->max = s->iter.max;
}

void top_row_interval(struct top_row *r, uint64_t now)
{
	struct top_figures *f = &r->last;
	struct top_mark *m = &r->mark;
	struct top_sums empty = r->prev;
	unsigned int i;
	uint64_t v;

	/* A run that we saw begin is measured from its beginning. */
	if (!m->t)
		m->t = r->known ? r->head.t_first : now;
	top_sums_clear(&empty);
	r->prev = r->cur;
	r->cur = empty;
	top_sums_add(&r->all, &r->prev);
	memset(f, 0, sizeof(*f));
	f->ns = since(now, m->t);
	f->iters = r->prev.commits;
	rates(f, r, since(top_row_reg(r), m->fastreg), since(top_row_inv(r), m->inv),
	      since(top_row_bytes(r), m->bytes), r->prev.iter.sum);
	latencies(f, &r->prev);
	for (i = 0; i < TOP_PHASES; i++) {
		v = phase_ns(r, i, now);
		f->phase_ns[i] = since(v, m->phase_ns[i]);
		/*
		 * The time of a phase that is over goes back until its
		 * iteration is told: keep the mark then.
		 */
		if (v > m->phase_ns[i])
			m->phase_ns[i] = v;
		f->phase_count[i] = r->prev.phases[i].count;
	}
	m->t = now;
	m->fastreg = top_row_reg(r);
	m->inv = top_row_inv(r);
	m->bytes = top_row_bytes(r);
	if (r->t_ended || r->total)
		top_row_whole(r, now, &r->whole);
}

void top_row_whole(const struct top_row *r, uint64_t now, struct top_figures *f)
{
	const struct krp_head *head = &r->head;
	unsigned int i;

	memset(f, 0, sizeof(*f));
	f->in_flight = -1;
	if (!r->known)
		return;
	f->ns = since(head->state == KRP_SLOT_ENDED ? head->t_last : now, head->t_first);
	f->iters = r->all.commits;
	rates(f, r, top_row_reg(r), top_row_inv(r), top_row_bytes(r), r->all.iter.sum);
	latencies(f, &r->all);
	for (i = 0; i < TOP_PHASES; i++) {
		f->phase_ns[i] = phase_ns(r, i, now);
		f->phase_count[i] = r->all.phases[i].count;
	}
}

const struct top_figures *top_row_figures(const struct top_row *r)
{
	return r->t_ended || r->total ? &r->whole : &r->last;
}

void top_row_shrink(struct top_row *r, bool keep_hist)
{
	const struct krp_hist *h = r->all.hist;

	if (r->shrunk || !h)
		return;
	r->p50 = krp_hist_percentile(h, &r->all.iter, KRP_P50);
	r->p90 = krp_hist_percentile(h, &r->all.iter, KRP_P90);
	r->p99 = krp_hist_percentile(h, &r->all.iter, KRP_P99);
	r->p999 = krp_hist_percentile(h, &r->all.iter, KRP_P999);
	if (!keep_hist) {
		free(r->all.hist);
		r->all.hist = NULL;
	}
	free(r->prev.hist);
	free(r->cur.hist);
	r->prev.hist = r->cur.hist = NULL;
	r->shrunk = true;
}

bool top_row_visible(const struct top_row *r, uint64_t now, uint64_t keep_ns)
{
	return !r->t_ended || r->t_ended + keep_ns >= now;
}

int top_row_errno(const struct top_row *r)
{
	return r->info.err ? r->info.err : -r->head.err;
}

int top_row_fault(const struct top_row *r)
{
	return top_row_errno(r) ?: r->other ? top_row_errno(r->other) : 0;
}

uint64_t top_row_errs(const struct top_row *r)
{
	return r->all.wc_err + (r->other ? r->other->all.wc_err : 0);
}

bool top_row_bad(const struct top_row *r)
{
	return top_row_fault(r) || top_row_errs(r) || r->all.post_err ||
	       (r->other && r->other->all.post_err);
}

/* --- groups --- */

static void free_sum(struct top_row *r)
{
	if (r)
		free_row(r);
}

void top_groups_free(struct top_groups *g)
{
	unsigned int i;

	for (i = 0; i < g->room; i++)
		free_sum(g->v[i]);
	free(g->v);
	krp_groups_free(&g->keys);
	memset(g, 0, sizeof(*g));
}

/* The sum at a place. */
static struct top_row *sum_at(struct top_groups *g, int place)
{
	if ((size_t)place >= g->room)
		g->v = krp_grow(g->v, &g->room, place + 1, sizeof(*g->v));
	if (!g->v[place]) {
		g->v[place] = krp_new(1, sizeof(**g->v));
		g->v[place]->info.id = place + 1;
		g->v[place]->listed = g->v[place]->known = g->v[place]->counts = true;
	}
	return g->v[place];
}

static void clear_sum(struct top_row *r)
{
	struct top_row empty = { .all = r->all,
				 .prev = r->prev,
				 .info.id = r->info.id,
				 .listed = true,
				 .known = true,
				 .counts = true };

	top_sums_clear(&empty.all);
	top_sums_clear(&empty.prev);
	*r = empty;
}

/* Adds what is counted; rates are made of the sums, since runs have different times. */
static void add_figures(struct top_figures *to, const struct top_figures *f)
{
	unsigned int i;

	if (f->ns > to->ns)
		to->ns = f->ns;
	to->iters += f->iters;
	to->mb += f->mb * f->ns;
	to->reg += f->reg * f->ns;
	to->inv += f->inv * f->ns;
	for (i = 0; i < TOP_PHASES; i++) {
		to->phase_ns[i] += f->phase_ns[i];
		to->phase_count[i] += f->phase_count[i];
	}
}

static void end_figures(struct top_figures *f)
{
	if (!f->ns)
		return;
	f->rate = f->iters / (f->ns / 1e9);
	f->mb /= f->ns;
	f->reg /= f->ns;
	f->inv /= f->ns;
}

/* The time from the first to the last that was watched of a run. */
static void add_window(struct top_row *to, const struct top_row *r, uint64_t now)
{
	const struct krp_head *head = &r->head;
	uint64_t end = head->state == KRP_SLOT_ENDED ? head->t_last : now;

	if (!r->known)
		return;
	if (!to->head.t_first || head->t_first < to->head.t_first)
		to->head.t_first = head->t_first;
	if (end > to->head.t_last)
		to->head.t_last = end;
}

static void add_row(struct top_row *to, const struct top_row *r, uint64_t now, bool all)
{
	struct top_figures whole;

	top_sums_add(&to->all, &r->all);
	add_window(to, r, now);
	to->info.iters += r->info.iters;
	to->info.fastreg += top_row_reg(r);
	to->info.localinv += top_row_inv(r);
	if (!r->shrunk) {
		top_sums_add(&to->prev, &r->prev);
		add_figures(&to->last, &r->last);
	}
	if (!all)
		return;
	top_row_whole(r, now, &whole);
	add_figures(&to->whole, &whole);
	to->part |= r->all.iter.count && !r->all.hist;
}

static void end_sum(struct top_row *r, bool all)
{
	struct top_figures *f = &r->last;

	end_figures(f);
	latencies(f, &r->prev);
	if (!all)
		return;
	f = &r->whole;
	/* The runs may have followed each other. */
	f->ns = since(r->head.t_last, r->head.t_first);
	end_figures(f);
	latencies(f, &r->all);
	if (r->part)
		f->p50 = f->p99 = KRP_NS_UNKNOWN;
	f->max = r->all.iter.count ? r->all.iter.max : 0;
}

void top_groups_make(struct top_groups *g, const struct top_rows *rows, uint64_t now,
		     uint64_t keep_ns, bool all)
{
	struct top_row *r;
	size_t i, n;
	int place;

	krp_groups_begin(&g->keys);
	for (n = 0; n < g->room; n++) {
		if (g->v[n])
			clear_sum(g->v[n]);
	}
	for (i = 0; i < rows->nr; i++) {
		r = rows->v[i];
		r->counted = r->listed && (all || top_row_visible(r, now, keep_ns) ||
					   (!r->shrunk && r->last.iters));
		if (!r->counted)
			continue;
		place = krp_groups_add(&g->keys, &r->info, !r->t_ended);
		add_row(sum_at(g, place), r, now, all);
	}
	for (n = 0; n < g->room; n++) {
		r = g->v[n];
		r->group = &g->keys.v[n];
		r->total = all;
		end_sum(r, all);
	}
}
