// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages: reads the records of iterations, and makes the account of each run of
 * them. Only this process knows the accounts; runs and slots belong to the kernel side.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "stages.h"

_Static_assert(STG_DIST_ITER == JOIN_OTHER && STG_DIST_NONE == JOIN_NONE,
	       "a tile says something else");
_Static_assert(STG_DIST_PHASE(STG_PHASES) <= JOIN_ROWS, "a join has too few rows");
_Static_assert(STG_NR_TILES <= JOIN_COLS, "a join has too few columns");
_Static_assert(KRPING_SEG_STAGE(~0ULL) < KRPING_NR_REQUESTS, "a recording can name other stages");

#define ROW_BYTES (KRP_HIST_SUB * sizeof(uint64_t))
/* The octave of a distribution without values: no value is in it. */
#define NO_OCTAVE 63

/* Sums that an account has, by nth_sum(). */
#define NR_SUMS (1 + KRPING_NR_ONCE + STG_NR_DISTS)

struct account {
	/* What came since the last line. */
	struct stg_account a;
	struct join join;
	struct view *before; /* all the time up to that line; NULL: there was none */
	uint64_t slow;	     /* slow iterations */
	uint32_t peer;
	uint32_t peer_slot;   /* + 1 */
	uint32_t qp, peer_qp; /* 0: not known, or not on this host */
	struct provider_path path;
	uint8_t dist_of[STG_SEGS]; /* by KRPING_SEG_WHAT(); 0: not seen yet */
	/* A distribution's "row" is the row of its last octave, in these. */
	struct stg_hists hists;
};

/* Two peers that were connected before we attached. */
struct pair {
	uint32_t run, peer;
};

static struct account **accounts; /* by slot */
static struct pair *pairs;
static unsigned int nr_pairs;
struct krp_seen runs_seen;
static uint64_t slow_ns; /* iterations that take so long are counted, and handed over */
static void (*on_slow)(const struct krp_rec *rec, uint64_t ns);
static uint64_t no_place;	     /* values that found no distribution */
static uint64_t (*read_marks)(void); /* of the provider, by which wire is divided; or NULL */
static uint64_t t_marks;	     /* until when they are there */
static struct krp_runs *listed;

static void forget(uint32_t slot);

uint32_t account_peer(uint32_t slot)
{
	const struct krp_seen_run *r = &runs_seen.slot[slot];
	unsigned int i;

	if (r->peer || !r->head.late)
		return r->peer;
	for (i = 0; i < nr_pairs; i++) {
		if (pairs[i].run == r->head.run)
			return pairs[i].peer;
	}
	/*
	 * The run listened when we attached, and had no slot yet when it
	 * connected: its peer had one.
	 */
	for (i = 0; i < runs_seen.slots; i++) {
		if (runs_seen.slot[i].peer == r->head.run)
			return runs_seen.slot[i].head.run;
	}
	return 0;
}

static struct krp_sum *nth_sum(struct stg_account *a, unsigned int n)
{
	if (!n)
		return &a->aborted;
	if (--n < KRPING_NR_ONCE)
		return &a->once[n];
	return &a->dist[n - KRPING_NR_ONCE].s;
}

/* The account of the run in a slot, which begins where we do, or the run does. */
static struct account *account_of(uint32_t slot)
{
	const struct krp_seen_run *s = &runs_seen.slot[slot];
	struct account *acc = accounts[slot];
	unsigned int i;

	if (acc)
		return acc;
	acc = accounts[slot] = krp_new(1, sizeof(*acc));
	for (i = 0; i < STG_NR_DISTS; i++) {
		acc->a.dist[i].s.min = UINT64_MAX;
		acc->a.dist[i].octave = NO_OCTAVE;
	}
	acc->join.t_tiled = s->t_first;
	acc->path.message.stage = acc->path.request.stage = PROVIDER_PEER;
	acc->peer = account_peer(slot);
	return acc;
}

static void forget(uint32_t slot)
{
	struct account *acc = accounts[slot];

	if (!acc)
		return;
	if (acc->before)
		account_view_free(acc->before);
	free(acc->before);
	free(acc->hists.bucket);
	free(acc);
	accounts[slot] = NULL;
}

/* A row of a histogram, made if it is not there yet; that may move other rows. */
static uint64_t *row_of(struct stg_hists *h, unsigned int dist, unsigned int row)
{
	uint16_t *nr = &h->row_of[dist][row];

	if (*nr)
		return h->bucket + (*nr - 1) * KRP_HIST_SUB;
	if (h->nr == h->room) {
		h->room += 64;
		h->bucket = krp_resize(h->bucket, h->room, ROW_BYTES);
	}
	*nr = ++h->nr;
	return memset(h->bucket + (*nr - 1) * KRP_HIST_SUB, 0, ROW_BYTES);
}

/* The rows may have moved: looks up where those are that were last used. */
static void find_rows(struct account *acc)
{
	struct stg_dist *d = acc->a.dist;
	unsigned int i;

	for (i = 0; i < STG_NR_DISTS; i++, d++) {
		if (d->octave != NO_OCTAVE)
			d->row = row_of(&acc->hists, i, d->octave + 1);
	}
}

/* Counts a value that is not in the octave of the last value. Out of line, since that is rare. */
static __attribute__((noinline)) void count_far(struct account *acc, unsigned int dist, uint64_t ns)
{
	unsigned int index = krp_hist_index(ns);
	unsigned int nr = acc->hists.nr;
	uint64_t *row = row_of(&acc->hists, dist, index / KRP_HIST_SUB);

	row[index % KRP_HIST_SUB]++;
	/*
	 * These are no octave: the row below the first octave, and the last
	 * bucket, which has all values that are too large.
	 */
	if (index >= KRP_HIST_SUB && index < KRP_HIST_BUCKETS - 1) {
		acc->a.dist[dist].octave = krp_hist_octave(index);
		acc->a.dist[dist].row = row;
	}
	if (acc->hists.nr != nr)
		find_rows(acc);
}

/*
 * A ping makes some fifty calls of this, and each instruction here may take CPU
 * time from the pings.
 */
static inline void record(struct account *acc, unsigned int dist, uint64_t ns)
{
	struct stg_dist *d = &acc->a.dist[dist];
	uint64_t sub = (ns >> d->octave) - KRP_HIST_SUB;

	d->s.count++;
	d->s.sum += ns;
	if (ns < d->s.min)
		d->s.min = ns;
	if (ns > d->s.max)
		d->s.max = ns;
	if (sub < KRP_HIST_SUB)
		d->row[sub]++;
	else
		count_far(acc, dist, ns);
}

static __attribute__((noinline)) unsigned int new_dist(struct account *acc, uint64_t word)
{
	unsigned int dist = stg_new_dist(&acc->a, word);

	/* Another one of this kind will be counted, too. */
	if ((dist & (STG_SUM - 1)) == STG_DIST_NONE)
		no_place++;
	else
		acc->dist_of[KRPING_SEG_WHAT(word)] = dist;
	return dist;
}

static inline unsigned int dist_of(struct account *acc, uint64_t word)
{
	return acc->dist_of[KRPING_SEG_WHAT(word)] ?: new_dist(acc, word);
}

/* A phase that waited is complete: its stages were tiles, and it ended at "at". */
static inline void take_wait(struct account *acc, uint64_t word, unsigned int dist, uint64_t at)
{
	if (acc->peer)
		krp_join_wait(&acc->join, at - KRPING_SEG_NS(word), at, dist);
	if (word & KRPING_SEG_F_EARLY && dist < STG_DIST_PHASE(STG_PHASES))
		acc->a.early[dist - STG_DIST_PHASE(0)]++;
}

static uint32_t qp_of(uint32_t run)
{
	const struct krp_run_info *info;
	int slot;

	if (!run)
		return 0;
	slot = krp_seen_find(&runs_seen, run);
	if (slot >= 0 && runs_seen.slot[slot].head.qp)
		return runs_seen.slot[slot].head.qp;
	info = krp_runs_find(listed, run);
	return info ? info->qp : 0;
}

/* The wire of a wait, from t to t_end, after a post or for a message. */
static void take_wire(struct account *acc, unsigned int phase, bool request, uint64_t t,
		      uint64_t t_end)
{
	uint64_t ns[PROVIDER_NR_STAGES] = { 0 };
	unsigned int w = stg_wait(&acc->a, phase), s;

	if (w >= STG_WAITS)
		return;
	provider_split(&acc->path, acc->qp, acc->peer_qp, request, t, t_end, ns);
	for (s = 0; s < PROVIDER_NR_STAGES; s++) {
		if (ns[s])
			record(acc, STG_DIST_PROVIDER(w, s), ns[s]);
	}
}

/* A request, or a stage of one, which was in flight in other iterations, too. */
static unsigned int dist_of_request(uint64_t word)
{
	return STG_DIST_REQUEST(KRPING_SEG_STAGE(word) +
				(word & KRPING_REQUEST_F_WRITES ? KRPING_NR_REQUESTS : 0));
}

/* Adds each piece to its distribution and to the time line. */
static void take_whole(struct account *acc, const __u64 *words, unsigned int nr, uint64_t t_begin,
		       uint64_t t)
{
	struct join *join = &acc->join;
	const __u64 *next, *end = words + nr;
	/* Where the tiles ended: iterations of a run may overlap. */
	uint64_t at = t_begin, t_tiled = join->t_tiled, ns;
	uint32_t head = join->head;
	/* Of requests in flight more than one is under way, so wire is not that of one. */
	bool divided = nr && KRPING_WORD_KIND(*words) != KRPING_WORD_REQUEST, request = false;
	unsigned int dist;

	for (next = words; next < end; next++) {
		if (!KRPING_WORD_IS_TIME(*next)) {
			if (KRPING_WORD_KIND(*next) == KRPING_WORD_REQUEST)
				record(acc, dist_of_request(*next), KRPING_SEG_NS(*next));
			continue;
		}
		ns = KRPING_SEG_NS(*next);
		dist = dist_of(acc, *next);
		record(acc, dist & (STG_NR_TILES - 1), ns);
		if (dist & STG_SUM) {
			take_wait(acc, *next, dist - STG_SUM, at);
			request = false;
			continue;
		}
		if (KRPING_SEG_STAGE(*next) == KRPING_STAGE_POST)
			request = true;
		else if (KRPING_SEG_STAGE(*next) == KRPING_STAGE_WIRE && divided &&
			 at + ns <= t_marks)
			take_wire(acc, KRPING_SEG_PHASE(*next), request, at, at + ns);
		at += ns;
		krp_join_tile_at(join, &t_tiled, &head, at, dist);
	}
	join->t_tiled = t_tiled;
	join->head = head;
	stg_check(&acc->a, t_begin, at, t);
	record(acc, STG_DIST_ITER, t - t_begin);
}

/* A request is longer or shorter than the iteration that ends with it. */
static void take_slow(struct account *acc, const struct krp_rec *rec)
{
	uint64_t ns = rec->t - rec->t_begin;

	if (rec->nr && KRPING_WORD_KIND(*rec->word) == KRPING_WORD_REQUEST)
		ns = KRPING_SEG_NS(*rec->word);
	if (ns < slow_ns)
		return;
	acc->slow++;
	if (on_slow)
		on_slow(rec, ns);
}

static bool is_run(uint32_t slot, uint32_t run)
{
	return runs_seen.slot[slot].head.run == run && krp_seen_slot(&runs_seen, slot);
}

static void join_with_peer(struct account *acc)
{
	if (acc->join.joined == acc->join.tail)
		return;
	if (!acc->peer_slot || !is_run(acc->peer_slot - 1, acc->peer))
		acc->peer_slot = krp_seen_find(&runs_seen, acc->peer) + 1;
	if (acc->peer_slot && accounts[acc->peer_slot - 1])
		krp_join(&acc->join, &accounts[acc->peer_slot - 1]->join,
			 runs_seen.slot[acc->peer_slot - 1].t_first);
}

static void take(struct krp_seen_run *s, const struct krp_rec *rec)
{
	struct account *acc = account_of(rec->slot);

	if (!acc->peer)
		acc->peer = s->peer;
	if (read_marks) {
		if (!acc->qp)
			acc->qp = qp_of(s->head.run);
		if (!acc->peer_qp)
			acc->peer_qp = qp_of(acc->peer);
		t_marks = read_marks();
	}
	/* No event told of the time from the last tile to the beginning of this record. */
	krp_join_tile(&acc->join, rec->t_begin, JOIN_NONE);
	if (rec->whole) {
		take_whole(acc, rec->word, rec->nr, rec->t_begin, rec->t);
		take_slow(acc, rec);
	} else {
		stg_once(&acc->a, rec->word, rec->nr, rec->t_begin, rec->t);
		krp_join_tile(&acc->join, rec->t, JOIN_OTHER);
	}
	join_with_peer(acc);
}

void account_open(uint64_t slow, void (*take_slow_one)(const struct krp_rec *rec, uint64_t ns),
		  const char *input, struct krp_runs *runs, uint64_t (*provider)(void))
{
	read_marks = provider;
	listed = runs;
	slow_ns = slow;
	on_slow = take_slow_one;
	krp_seen_open(&runs_seen, KRP_EV_iter_stages, input, runs, take, forget);
	accounts = krp_new(runs_seen.slots, sizeof(*accounts));
}

void account_close(void)
{
	uint32_t slot;

	for (slot = 0; slot < runs_seen.slots; slot++)
		forget(slot);
	krp_seen_close(&runs_seen);
	free(accounts);
	free(pairs);
	pairs = NULL;
	nr_pairs = 0;
}

void account_pair(uint32_t run, uint32_t peer)
{
	pairs = krp_resize(pairs, nr_pairs + 1, sizeof(*pairs));
	pairs[nr_pairs++] = (struct pair){ run, peer };
}

uint64_t account_failed(void)
{
	return no_place;
}

unsigned int account_what(uint32_t slot, uint64_t seg)
{
	if (KRPING_WORD_KIND(seg) == KRPING_WORD_REQUEST)
		return dist_of_request(seg);
	return dist_of(account_of(slot), seg) & (STG_NR_TILES - 1);
}

static uint64_t sum_of_pieces(const struct stg_account *a)
{
	uint64_t sum = a->aborted.sum + a->too_long_ns;
	unsigned int i;

	for (i = 0; i < KRPING_NR_ONCE; i++)
		sum += a->once[i].sum;
	for (i = 0; i < STG_PHASES; i++)
		sum += a->dist[STG_DIST_PHASE(i)].s.sum;
	return sum;
}

static void copy_hists(struct stg_hists *to, const struct stg_hists *from)
{
	*to = *from;
	to->room = to->nr;
	to->bucket = NULL;
	if (!to->nr)
		return;
	to->bucket = krp_resize(NULL, to->nr, ROW_BYTES);
	memcpy(to->bucket, from->bucket, to->nr * ROW_BYTES);
}

const struct krp_hist *account_hist(const struct view *v, unsigned int dist)
{
	static struct krp_hist hist;
	static bool filled[STG_ROWS];
	unsigned int i, nr;

	for (i = 0; i < STG_ROWS; i++) {
		nr = v->hists.row_of[dist][i];
		if (nr)
			memcpy(hist.bucket + i * KRP_HIST_SUB,
			       v->hists.bucket + (nr - 1) * KRP_HIST_SUB, ROW_BYTES);
		else if (filled[i])
			memset(hist.bucket + i * KRP_HIST_SUB, 0, ROW_BYTES);
		filled[i] = nr;
	}
	return &hist;
}

void account_view_free(void *view)
{
	struct view *v = view;

	free(v->hists.bucket);
	v->hists.bucket = NULL;
}

static void add_hists(struct stg_hists *to, const struct stg_hists *from)
{
	unsigned int dist, row, i, nr;
	uint64_t *bucket;

	for (dist = 0; dist < STG_NR_DISTS; dist++) {
		for (row = 0; row < STG_ROWS; row++) {
			nr = from->row_of[dist][row];
			if (!nr)
				continue;
			bucket = row_of(to, dist, row);
			for (i = 0; i < KRP_HIST_SUB; i++)
				bucket[i] += from->bucket[(nr - 1) * KRP_HIST_SUB + i];
		}
	}
}

/* Adds what came before: counts and distributions. The rest of v is as of now. */
static void add_before(struct view *v, struct view *before)
{
	unsigned int i, k;

	for (i = 0; i < NR_SUMS; i++)
		krp_sum_merge(nth_sum(&v->a, i), nth_sum(&before->a, i));
	for (i = 0; i < STG_PHASES; i++)
		v->a.early[i] += before->a.early[i];
	v->a.anomalies += before->a.anomalies;
	v->a.too_long_ns += before->a.too_long_ns;
	v->join.overrun += before->join.overrun;
	for (i = 0; i < JOIN_ROWS; i++) {
		for (k = 0; k < JOIN_COLS; k++)
			v->join.cell[i][k] += before->join.cell[i][k];
	}
	add_hists(&v->hists, &before->hists);
}

/* What runs count by themselves is of all the time. */
static void since_line(struct view *v, const struct view *before)
{
	v->st.holes -= before->st.holes;
	v->st.unmatched -= before->st.unmatched;
	v->st.missed.records -= before->st.missed.records;
	v->st.missed.ns -= before->st.missed.ns;
	v->st.missed.whole -= before->st.missed.whole;
	v->window -= before->window;
}

static void copy_account(struct view *v, const struct account *acc)
{
	v->a = acc->a;
	v->join = acc->join;
	copy_hists(&v->hists, &acc->hists);
}

bool account_view(struct view *v, struct view *since, uint32_t slot, bool whole)
{
	const struct krp_seen_run *s = &runs_seen.slot[slot];
	struct account *acc = account_of(slot);

	if (!acc->peer)
		acc->peer = account_peer(slot);
	v->run.head = s->head;
	v->run.head.state = whole ? KRP_SLOT_ENDED : KRP_SLOT_RUNNING;
	v->st.holes = s->holes;
	v->st.unmatched = s->unmatched;
	v->st.slow = acc->slow;
	v->st.missed = s->missed;
	v->peer = acc->peer;
	v->window = s->t_end - s->t_first;
	if (since) {
		*since = *v;
		since->run.since = true;
		copy_account(since, acc);
		if (acc->before)
			since_line(since, acc->before);
		since->tiled = sum_of_pieces(&since->a) + since->st.missed.ns;
	}
	copy_account(v, acc);
	if (acc->before)
		add_before(v, acc->before);
	v->tiled = sum_of_pieces(&v->a) + v->st.missed.ns;
	return true;
}

void account_line(uint32_t slot, void *view)
{
	struct account *acc = account_of(slot);
	struct view *total = view;
	struct krp_sum *s;
	unsigned int i;

	if (acc->before)
		account_view_free(acc->before);
	else
		acc->before = krp_new(1, sizeof(*acc->before));
	*acc->before = *total;
	total->hists.bucket = NULL;
	for (i = 0; i < NR_SUMS; i++) {
		s = nth_sum(&acc->a, i);
		*s = (struct krp_sum){ .min = UINT64_MAX };
	}
	memset(acc->a.early, 0, sizeof(acc->a.early));
	acc->a.anomalies = acc->a.too_long_ns = acc->join.overrun = 0;
	memset(acc->join.cell, 0, sizeof(acc->join.cell));
	if (acc->hists.nr)
		memset(acc->hists.bucket, 0, acc->hists.nr * ROW_BYTES);
}

void account_join(void)
{
	uint32_t slot;

	for (slot = 0; slot < runs_seen.slots; slot++) {
		if (accounts[slot])
			join_with_peer(accounts[slot]);
	}
}
