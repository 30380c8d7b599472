// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include "../lib/names.h"
#include "../lib/split.h"
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
static bool is_counted_at_client(const struct top_rows *rows, const struct top_row *r)
{
	const struct top_row *peer;

	if (!r->info.peer_run ||
	    strcmp(r->info.role, krp_name(&krp_role_names, KRPING_ROLE_SERVER)))
		return false;
	peer = top_rows_find(rows, r->info.peer_run);
	return peer && !peer->t_ended && peer->info.peer_run == r->info.id &&
	       !strcmp(peer->info.src, r->info.dst) && !strcmp(peer->info.dst, r->info.src);
}

double top_rows_rate(const struct top_rows *rows)
{
	double rate = 0;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		if (!rows->v[i]->t_ended && !is_counted_at_client(rows, rows->v[i]))
			rate += rows->v[i]->last.rate;
	}
	return rate;
}

static void free_row(struct top_row *r)
{
	free(r->hist);
	free(r->delta);
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
	struct top_row *r = top_rows_find(rows, run), **v;
	size_t i;

	if (r)
		return r;
	if (rows->nr >= TOP_KEEP)
		forget_one(rows);
	if (rows->nr == rows->room) {
		v = realloc(rows->v, (rows->room + 64) * sizeof(*v));
		if (!v)
			return NULL;
		rows->v = v;
		rows->room += 64;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
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

/* Clears the delta if it is of an interval that is over. */
static void begin_delta(struct top_row *r)
{
	if (r->delta_done && r->delta)
		memset(r->delta, 0, sizeof(*r->delta));
	r->delta_done = false;
}

int top_row_take(struct top_row *r, const struct top_run *st, const struct top_errs *errs,
		 const struct top_log *log, const struct krp_hist *hist)
{
	/* The histogram is large: it is looked at only if something is new in it. */
	bool more = st->iter.count != r->st.iter.count && !r->shrunk;
	unsigned int i;

	if (more && !r->hist) {
		r->hist = calloc(1, sizeof(*r->hist));
		r->delta = calloc(1, sizeof(*r->delta));
		if (!r->hist || !r->delta)
			return -ENOMEM;
	}
	begin_delta(r);
	for (i = 0; more && i < KRP_HIST_BUCKETS; i++) {
		uint64_t n = hist->bucket[i];

		r->delta->bucket[i] += n - r->hist->bucket[i];
		r->hist->bucket[i] = n;
	}
	r->st = *st;
	r->errs = *errs;
	r->log = *log;
	r->known = true;
	return 0;
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
	r->listed = true;
}

/* The time in a phase, with the part of it that goes on now. */
static uint64_t phase_ns(const struct top_row *r, uint32_t phase, uint64_t now)
{
	const struct top_run *st = &r->st;
	uint32_t current = r->phase < KRPING_NR_PHASES ? r->phase : KRPING_NR_PHASES;
	uint64_t ns = st->phases[phase].sum, t = r->t_phase;

	if (phase != current || !t || st->head.state != KRP_SLOT_RUNNING)
		return ns;
	/* Since /proc was read the iteration may have ended, and be in the sum. */
	if (t < st->head.t_last)
		t = st->head.t_last;
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
	/* Requests in flight are as many as come in a second, times the seconds that one takes. */
	f->in_flight = strcmp(r->info.test, "block") ? -1 : f->ns ? (double)iter_ns / f->ns : 0;
}

/* A percentile of an interval. Its minimum and maximum are not known, but those of the run are. */
static uint64_t percentile(const struct top_row *r, unsigned int p)
{
	uint64_t v = krp_hist_percentile(r->delta, NULL, p);

	if (v == KRP_NS_UNKNOWN)
		return v;
	if (v > r->st.iter.max)
		return r->st.iter.max;
	return v < r->st.iter.min ? r->st.iter.min : v;
}

void top_row_interval(struct top_row *r, uint64_t now)
{
	struct top_figures *f = &r->last;
	struct top_mark *m = &r->mark;
	const struct top_run *st = &r->st;
	unsigned int i;
	uint64_t v;

	/* A run that we saw begin is measured from its beginning. */
	if (!m->t)
		m->t = r->known ? st->head.t_first : now;
	begin_delta(r);
	r->delta_done = true;
	memset(f, 0, sizeof(*f));
	f->ns = since(now, m->t);
	f->iters = since(st->commits, m->commits);
	rates(f, r, since(top_row_reg(r), m->fastreg), since(top_row_inv(r), m->inv),
	      since(top_row_bytes(r), m->bytes), since(st->iter.sum, m->iter_ns));
	if (f->iters && r->delta) {
		f->p50 = percentile(r, KRP_P50);
		f->p99 = percentile(r, KRP_P99);
		f->max = percentile(r, 10000);
	}
	for (i = 0; i < TOP_PHASES; i++) {
		v = phase_ns(r, i, now);
		f->phase_ns[i] = since(v, m->phase_ns[i]);
		/*
		 * The time of a phase that is over goes back until its
		 * iteration is told: keep the mark then.
		 */
		if (v > m->phase_ns[i])
			m->phase_ns[i] = v;
		f->phase_count[i] = since(st->phases[i].count, m->phase_count[i]);
		m->phase_count[i] = st->phases[i].count;
	}
	m->t = now;
	m->commits = st->commits;
	m->fastreg = top_row_reg(r);
	m->inv = top_row_inv(r);
	m->bytes = top_row_bytes(r);
	m->iter_ns = st->iter.sum;
	if (r->t_ended || r->total)
		top_row_whole(r, now, &r->whole);
}

void top_row_whole(const struct top_row *r, uint64_t now, struct top_figures *f)
{
	const struct top_run *st = &r->st;
	unsigned int i;

	memset(f, 0, sizeof(*f));
	if (!r->known)
		return;
	f->ns = since(st->head.state == KRP_SLOT_ENDED ? st->head.t_last : now, st->head.t_first);
	f->iters = st->commits;
	rates(f, r, top_row_reg(r), top_row_inv(r), top_row_bytes(r), st->iter.sum);
	if (r->hist) {
		f->p50 = krp_hist_percentile(r->hist, &st->iter, KRP_P50);
		f->p99 = krp_hist_percentile(r->hist, &st->iter, KRP_P99);
		f->max = st->iter.max;
	}
	for (i = 0; i < TOP_PHASES; i++) {
		f->phase_ns[i] = phase_ns(r, i, now);
		f->phase_count[i] = st->phases[i].count;
	}
}

const struct top_figures *top_row_figures(const struct top_row *r)
{
	return r->t_ended || r->total ? &r->whole : &r->last;
}

void top_row_shrink(struct top_row *r, bool keep_hist)
{
	if (r->shrunk || !r->hist)
		return;
	r->p50 = krp_hist_percentile(r->hist, &r->st.iter, KRP_P50);
	r->p90 = krp_hist_percentile(r->hist, &r->st.iter, KRP_P90);
	r->p99 = krp_hist_percentile(r->hist, &r->st.iter, KRP_P99);
	r->p999 = krp_hist_percentile(r->hist, &r->st.iter, KRP_P999);
	if (!keep_hist) {
		free(r->hist);
		r->hist = NULL;
	}
	free(r->delta);
	r->delta = NULL;
	r->shrunk = true;
}

bool top_row_visible(const struct top_row *r, uint64_t now, uint64_t keep_ns)
{
	return !r->t_ended || r->t_ended + keep_ns >= now;
}

int top_row_errno(const struct top_row *r)
{
	return r->info.err ? r->info.err : -r->st.head.err;
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

/* The sum at a place; NULL: out of memory. */
static struct top_row *sum_at(struct top_groups *g, int place)
{
	struct top_row **v, *r;

	if (place < 0)
		return NULL;
	if ((unsigned int)place >= g->room) {
		v = reallocarray(g->v, place + 1, sizeof(*v));
		if (!v)
			return NULL;
		g->v = v;
		memset(v + g->room, 0, (place + 1 - g->room) * sizeof(*v));
		g->room = place + 1;
	}
	if (g->v[place])
		return g->v[place];
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->hist = calloc(1, sizeof(*r->hist));
	r->delta = calloc(1, sizeof(*r->delta));
	if (!r->hist || !r->delta) {
		free_row(r);
		return NULL;
	}
	r->info.id = place + 1;
	g->v[place] = r;
	return r;
}

static void clear_sum(struct top_row *r)
{
	struct top_row empty = { .hist = r->hist, .delta = r->delta, .info.id = r->info.id };

	memset(r->hist, 0, sizeof(*r->hist));
	memset(r->delta, 0, sizeof(*r->delta));
	*r = empty;
	r->listed = r->known = true;
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
	if (f->max > to->max)
		to->max = f->max;
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

static void add_state(struct top_run *to, const struct top_run *st)
{
	struct top_phase_sum *p;
	unsigned int i;

	to->commits += st->commits;
	to->aborts += st->aborts;
	to->post_err += st->post_err;
	to->cut_ns += st->cut_ns;
	krp_by_sum(&to->iter, &st->iter);
	for (i = 0; i < TOP_PHASES; i++) {
		p = &to->phases[i];
		p->count += st->phases[i].count;
		p->sum += st->phases[i].sum;
		if (st->phases[i].max > p->max)
			p->max = st->phases[i].max;
	}
}

/* The time from the first to the last that was watched of a run. */
static void add_window(struct top_row *to, const struct top_row *r, uint64_t now)
{
	const struct krp_head *head = &r->st.head;
	uint64_t end = head->state == KRP_SLOT_ENDED ? head->t_last : now;

	if (!r->known)
		return;
	if (!to->st.head.t_first || head->t_first < to->st.head.t_first)
		to->st.head.t_first = head->t_first;
	if (end > to->st.head.t_last)
		to->st.head.t_last = end;
}

static void add_row(struct top_row *to, const struct top_row *r, uint64_t now, bool all)
{
	struct top_figures whole;

	add_state(&to->st, &r->st);
	add_window(to, r, now);
	to->errs.wc_err += r->errs.wc_err;
	to->errs.wc_flush += r->errs.wc_flush;
	to->info.iters += r->info.iters;
	to->info.fastreg += top_row_reg(r);
	to->info.localinv += top_row_inv(r);
	if (!r->shrunk)
		add_figures(&to->last, &r->last);
	if (!r->shrunk && r->delta && r->delta_done && r->last.iters)
		krp_hist_add(to->delta, r->delta);
	if (!all)
		return;
	top_row_whole(r, now, &whole);
	add_figures(&to->whole, &whole);
	if (r->hist)
		krp_hist_add(to->hist, r->hist);
	else
		to->part |= r->st.iter.count != 0;
}

static void end_sum(struct top_row *r, bool all)
{
	struct top_figures *f = &r->last;

	end_figures(f);
	if (f->iters) {
		f->p50 = percentile(r, KRP_P50);
		f->p99 = percentile(r, KRP_P99);
	}
	if (!all)
		return;
	f = &r->whole;
	/* The runs may have followed each other. */
	f->ns = since(r->st.head.t_last, r->st.head.t_first);
	end_figures(f);
	if (f->iters && !r->part) {
		f->p50 = krp_hist_percentile(r->hist, &r->st.iter, KRP_P50);
		f->p99 = krp_hist_percentile(r->hist, &r->st.iter, KRP_P99);
	} else if (f->iters) {
		f->p50 = f->p99 = KRP_NS_UNKNOWN;
	}
	f->max = r->st.iter.count ? r->st.iter.max : 0;
}

int top_groups_make(struct top_groups *g, const struct top_rows *rows, uint64_t now,
		    uint64_t keep_ns, bool all)
{
	struct top_row *r, *sum;
	unsigned int n;
	size_t i;

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
		n = g->room;
		sum = sum_at(g, krp_groups_add(&g->keys, &r->info, !r->t_ended));
		if (!sum)
			return -ENOMEM;
		if (g->room > n)
			clear_sum(sum);
		add_row(sum, r, now, all);
	}
	for (n = 0; n < g->room; n++) {
		r = g->v[n];
		r->group = &g->keys.v[n];
		r->total = all;
		end_sum(r, all);
	}
	return 0;
}
