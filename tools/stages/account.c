// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages: reads the iterations that the kernel side tells, and makes the
 * account of each run of them. Only this thread knows the accounts; runs and
 * slots belong to the kernel side.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "breakdown.h"

_Static_assert(STG_DIST_ITER == JOIN_OTHER && STG_DIST_NONE == JOIN_NONE,
	       "a tile says something else");
_Static_assert(STG_DIST_PHASE(STG_PHASES) <= JOIN_ROWS, "a join has too few rows");
_Static_assert(STG_NR_DISTS <= JOIN_COLS, "a join has too few columns");

/* After so many reads without any data we sleep until there is some. */
#define QUIET_READS 20
#define ROW_BYTES   (KRP_HIST_SUB * sizeof(uint64_t))
/* The octave of a distribution without values: no value is in it. */
#define NO_OCTAVE   63
/*
 * The most records that are read at once. This is more than the ring has: it
 * may be filled as fast as we read.
 */
#define READ_MAX    8192

/* Sums that an account has, by nth_sum(). */
#define NR_SUMS (1 + KRPING_NR_ONCE + STG_NR_DISTS)

struct account {
	/* Counts and sums of all the time; minimum and maximum since the mark. */
	struct stg_account a;
	struct krp_sum before[NR_SUMS]; /* as they were at the mark */
	struct view *mark;		/* the run at the mark; NULL: no mark yet */
	struct join join;
	uint64_t taken;	     /* records taken */
	uint64_t t_end;	     /* the account ends here */
	uint64_t spilled_ns; /* time up to t_end that the kernel side has accounted for */
	uint32_t peer;
	uint32_t peer_slot; /* + 1 */
	/* A distribution's "row" is the first bucket, in hists, of the row of its last octave. */
	struct stg_hists hists;
};

/* Two peers that were connected before we attached. */
struct pair {
	uint32_t run, peer;
};

static struct account **accounts; /* by slot */
static struct pair *pairs;
static unsigned int nr_pairs;
static struct ring_buffer *ring;
static uint32_t *asleep;   /* a variable of the programs */
static unsigned int quiet; /* reads since the last data */
static unsigned int nr_read;
static uint64_t no_place; /* values that found no distribution */

static const struct stages_run *slot_state(uint32_t slot)
{
	return (const struct stages_run *)krp_slot_head(&probe, slot);
}

uint32_t account_peer(uint32_t slot)
{
	const struct stages_run *st = slot_state(slot);
	unsigned int i;

	if (st->peer || !st->head.late)
		return st->peer;
	for (i = 0; i < nr_pairs; i++) {
		if (pairs[i].run == st->head.run)
			return pairs[i].peer;
	}
	/*
	 * The run listened when we attached, and had no slot yet when it
	 * connected: its peer had one.
	 */
	for (i = 0; i < probe.nr_slots; i++) {
		if (slot_state(i)->peer == st->head.run)
			return slot_state(i)->head.run;
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

/* The number of the sum of a distribution. */
#define SUM_OF_DIST(dist) (1 + KRPING_NR_ONCE + (dist))

/* The slot's account, which begins where the run does. */
static struct account *account_of(uint32_t slot)
{
	struct account *acc = accounts[slot];
	unsigned int i;

	if (acc)
		return acc;
	acc = accounts[slot] = calloc(1, sizeof(*acc));
	if (!acc)
		krp_die("out of memory");
	for (i = 0; i < STG_NR_DISTS; i++) {
		acc->a.dist[i].s.min = UINT64_MAX;
		acc->a.dist[i].octave = NO_OCTAVE;
	}
	for (i = 0; i < NR_SUMS; i++)
		acc->before[i].min = UINT64_MAX;
	acc->t_end = acc->join.t_tiled = slot_state(slot)->head.t_first;
	acc->peer = account_peer(slot);
	return acc;
}

static void drop_mark(struct account *acc)
{
	if (acc->mark)
		account_view_free(acc->mark);
	free(acc->mark);
	acc->mark = NULL;
}

void account_drop(uint32_t slot)
{
	struct account *acc = accounts[slot];

	if (!acc)
		return;
	drop_mark(acc);
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
		h->bucket = reallocarray(h->bucket, h->room, ROW_BYTES);
		if (!h->bucket)
			krp_die("out of memory");
	}
	*nr = ++h->nr;
	return memset(h->bucket + (*nr - 1) * KRP_HIST_SUB, 0, ROW_BYTES);
}

/* The bucket of a value that is not in the octave of the last value. */
static uint64_t *far_bucket(struct account *acc, unsigned int dist, uint64_t ns)
{
	unsigned int index = krp_hist_index(ns);
	struct krp_dist *d = &acc->a.dist[dist];
	uint64_t *row = row_of(&acc->hists, dist, index / KRP_HIST_SUB);

	/*
	 * These are no octave: the row below the first octave, and the last
	 * bucket, which has all values that are too large.
	 */
	if (index >= KRP_HIST_SUB && index < KRP_HIST_BUCKETS - 1) {
		d->octave = krp_hist_octave(index);
		d->row = row - acc->hists.bucket;
	}
	return &row[index % KRP_HIST_SUB];
}

/*
 * A ping makes some fifty calls of this, and each instruction here may take CPU
 * time from the pings.
 */
static inline void record(struct account *acc, unsigned int dist, uint64_t ns)
{
	struct krp_dist *d = &acc->a.dist[dist];
	uint64_t sub = (ns >> d->octave) - KRP_HIST_SUB;

	d->s.count++;
	d->s.sum += ns;
	if (ns < d->s.min)
		d->s.min = ns;
	if (ns > d->s.max)
		d->s.max = ns;
	if (sub < KRP_HIST_SUB)
		acc->hists.bucket[d->row + sub]++;
	else
		(*far_bucket(acc, dist, ns))++;
}

static unsigned int dist_of(struct account *acc, uint64_t seg)
{
	unsigned int dist = acc->a.dist_of[KRPING_SEG_WHAT(seg)];

	if (!dist) {
		dist = stg_new_dist(&acc->a, seg);
		no_place += (dist & (STG_SUM - 1)) == STG_DIST_NONE;
	}
	return dist;
}

/* Adds each piece to its distribution and to the time line. */
static void take_complete(struct account *acc, const struct stg_iter *it)
{
	uint64_t at = it->t_begin, seg, ns;
	const uint64_t *next;
	unsigned int dist;

	for (next = (const uint64_t *)it->seg; (seg = *next); next++) {
		ns = KRPING_SEG_NS(seg);
		dist = dist_of(acc, seg);
		record(acc, dist & (STG_NR_DISTS - 1), ns);
		if (!(dist & STG_SUM)) {
			at += ns;
			krp_join_tile(&acc->join, at, dist);
			continue;
		}
		dist -= STG_SUM;
		if (acc->peer)
			krp_join_wait(&acc->join, at - ns, at, dist);
		if (seg & KRPING_SEG_F_EARLY && dist < STG_DIST_PHASE(STG_PHASES))
			acc->a.early[dist - STG_DIST_PHASE(0)]++;
	}
	stg_check(&acc->a, at, it->t_end);
	record(acc, STG_DIST_ITER, it->t_end - it->t_begin);
}

static void join_with_peer(struct account *acc)
{
	uint32_t slot;

	if (acc->join.joined == acc->join.tail)
		return;
	if (!acc->peer_slot || slot_state(acc->peer_slot - 1)->head.run != acc->peer) {
		acc->peer_slot = 0;
		for (slot = 0; slot < probe.nr_slots && !acc->peer_slot; slot++) {
			if (slot_state(slot)->head.run == acc->peer)
				acc->peer_slot = slot + 1;
		}
	}
	if (acc->peer_slot && accounts[acc->peer_slot - 1])
		krp_join(&acc->join, &accounts[acc->peer_slot - 1]->join,
			 slot_state(acc->peer_slot - 1)->head.t_first);
}

static int take(void *ctx, void *data, size_t size)
{
	const struct stg_iter *it = data;
	struct account *acc;

	(void)ctx;
	if (size < sizeof(*it) || it->slot >= probe.nr_slots ||
	    slot_state(it->slot)->head.run != it->run)
		return 0;
	acc = account_of(it->slot);
	acc->taken++;
	acc->spilled_ns = it->spilled_ns;
	if (!acc->peer)
		acc->peer = slot_state(it->slot)->peer;
	/* The time that was spilled, or was never told. */
	krp_join_tile(&acc->join, it->t_begin, JOIN_NONE);
	if (it->complete) {
		take_complete(acc, it);
	} else {
		stg_once(&acc->a, it->seg, it->t_begin, it->t_end);
		krp_join_tile(&acc->join, it->t_end, JOIN_OTHER);
	}
	acc->t_end = it->t_end;
	join_with_peer(acc);
	return ++nr_read < READ_MAX ? 0 : -E2BIG;
}

void account_open(uint32_t *wake)
{
	int fd = bpf_object__find_map_fd_by_name(probe.obj, "iters");

	asleep = wake;
	accounts = calloc(probe.nr_slots, sizeof(*accounts));
	ring = ring_buffer__new(fd, take, NULL, NULL);
	if (!accounts || !ring)
		krp_die("cannot read the iterations: %s", strerror(errno));
}

void account_close(void)
{
	uint32_t slot;

	ring_buffer__free(ring);
	for (slot = 0; slot < probe.nr_slots; slot++)
		account_drop(slot);
	free(accounts);
	free(pairs);
}

void account_pair(uint32_t run, uint32_t peer)
{
	pairs = reallocarray(pairs, nr_pairs + 1, sizeof(*pairs));
	if (!pairs)
		krp_die("out of memory");
	pairs[nr_pairs++] = (struct pair){ run, peer };
}

int account_fd(void)
{
	return ring_buffer__epoll_fd(ring);
}

void account_read(void)
{
	bool any;

	nr_read = 0;
	any = ring_buffer__consume(ring) != 0;
	if (any && quiet >= QUIET_READS)
		__atomic_store_n(asleep, 0, __ATOMIC_SEQ_CST);
	if (any)
		quiet = 0;
}

bool account_is_quiet(void)
{
	if (quiet < QUIET_READS && ++quiet == QUIET_READS)
		__atomic_store_n(asleep, 1, __ATOMIC_SEQ_CST);
	/*
	 * A record that came just before is read with the next one, or when the
	 * next poll is due.
	 */
	return quiet >= QUIET_READS;
}

bool account_is_whole(uint32_t slot)
{
	return slot_state(slot)->told == (accounts[slot] ? accounts[slot]->taken : 0);
}

uint64_t account_failed(void)
{
	return no_place;
}

unsigned int account_what(uint32_t slot, uint64_t seg)
{
	return dist_of(account_of(slot), seg) & (STG_NR_DISTS - 1);
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

static void merge_dist(struct view *v, unsigned int to, uint32_t slot, unsigned int from)
{
	const struct krp_hist *h = krp_slot_hist(&probe, slot, from);
	unsigned int i;

	if (!v->st.spilled.dist[from].s.count)
		return;
	krp_sum_merge(&v->a.dist[to].s, &v->st.spilled.dist[from].s);
	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		if (h->bucket[i])
			row_of(&v->hists, to, i / KRP_HIST_SUB)[i % KRP_HIST_SUB] += h->bucket[i];
	}
}

/* Gives numbers to the phases of the spilled part, which stay the same from view to view. */
static void number_spilled(struct stg_account *a, const struct stg_account *spilled)
{
	unsigned int i;

	for (i = 0; i < spilled->nr_phases; i++)
		stg_phase(a, spilled->phase_of[i]);
	for (i = 0; i < spilled->nr_waits; i++)
		stg_wait(a, spilled->wait_of[i]);
}

/* Adds what the kernel side has accounted for, whose numbers of phases are not ours. */
static void merge_spilled(struct view *v, uint32_t slot)
{
	const struct stg_account *from = &v->st.spilled;
	unsigned int i, s, to;

	v->a.anomalies += from->anomalies;
	v->a.too_long_ns += from->too_long_ns;
	krp_sum_merge(&v->a.aborted, &from->aborted);
	for (i = 0; i < KRPING_NR_ONCE; i++)
		krp_sum_merge(&v->a.once[i], &from->once[i]);
	merge_dist(v, STG_DIST_ITER, slot, STG_DIST_ITER);
	merge_dist(v, STG_DIST_NONE, slot, STG_DIST_NONE);
	for (i = 0; i < from->nr_phases; i++) {
		to = stg_phase(&v->a, from->phase_of[i]);
		if (to < STG_PHASES)
			v->a.early[to] += from->early[i];
		merge_dist(v, to < STG_PHASES ? STG_DIST_PHASE(to) : STG_DIST_NONE, slot,
			   STG_DIST_PHASE(i));
	}
	for (i = 0; i < from->nr_waits; i++) {
		to = stg_wait(&v->a, from->wait_of[i]);
		for (s = KRPING_STAGE_POST; s < KRPING_NR_STAGES; s++)
			merge_dist(v, to < STG_WAITS ? STG_DIST_STAGE(to, s) : STG_DIST_NONE, slot,
				   STG_DIST_STAGE(i, s));
	}
}

static void copy_hists(struct stg_hists *to, const struct stg_hists *from)
{
	*to = *from;
	to->room = to->nr;
	to->bucket = NULL;
	if (!to->nr)
		return;
	to->bucket = reallocarray(NULL, to->nr, ROW_BYTES);
	if (!to->bucket)
		krp_die("out of memory");
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

void account_view_free(struct view *v)
{
	free(v->hists.bucket);
	v->hists.bucket = NULL;
}

/* Sets minimum and maximum to those of all the time. */
static void whole_extremes(struct view *v, const struct account *acc)
{
	const struct krp_sum *b;
	struct krp_sum *s;
	unsigned int i;

	for (i = 0; i < NR_SUMS; i++) {
		s = nth_sum(&v->a, i);
		b = &acc->before[i];
		if (b->count && b->min < s->min)
			s->min = b->min;
		if (b->count && b->max > s->max)
			s->max = b->max;
	}
}

bool account_view(struct view *v, uint32_t slot)
{
	struct account *acc;

	acc = account_of(slot);
	if (!acc->peer)
		acc->peer = account_peer(slot);
	if (!krp_slot_read(&probe, slot, &v->st, sizeof(v->st)))
		return false;
	/* If not all records of an ended run were read yet, it still goes on for us. */
	if (v->st.told != acc->taken)
		v->st.head.state = KRP_SLOT_RUNNING;
	if (v->st.spilled_ns)
		number_spilled(&acc->a, &v->st.spilled);
	v->a = acc->a;
	whole_extremes(v, acc);
	v->join = acc->join;
	v->peer = acc->peer;
	copy_hists(&v->hists, &acc->hists);
	/*
	 * A running run may have spilled more since: count all only up to the
	 * last record that we have read.
	 */
	v->tiled = sum_of_pieces(&v->a) + acc->spilled_ns;
	v->window = acc->t_end - v->st.head.t_first;
	if (v->st.spilled_ns)
		merge_spilled(v, slot);
	if (v->st.head.state == KRP_SLOT_ENDED) {
		v->tiled = sum_of_pieces(&v->a);
		v->window = v->st.head.t_last - v->st.head.t_first;
	}
	return true;
}

static void sub_hists(struct stg_hists *h, const struct stg_hists *before)
{
	unsigned int dist, row, i, nr;
	uint64_t *to;

	for (dist = 0; dist < STG_NR_DISTS; dist++) {
		for (row = 0; row < STG_ROWS; row++) {
			nr = before->row_of[dist][row];
			if (!nr)
				continue;
			to = row_of(h, dist, row);
			for (i = 0; i < KRP_HIST_SUB; i++)
				to[i] -= before->bucket[(nr - 1) * KRP_HIST_SUB + i];
		}
	}
}

static void sub_sums(struct view *since, struct account *acc)
{
	struct krp_sum *s, *own, was;
	const struct krp_hist *h;
	uint64_t taken;
	unsigned int i;

	for (i = 0; i < NR_SUMS; i++) {
		s = nth_sum(&since->a, i);
		was = *nth_sum(&acc->mark->a, i);
		own = nth_sum(&acc->a, i);
		taken = own->count - acc->before[i].count;
		if (s->count - was.count == taken) {
			s->count -= was.count;
			s->sum -= was.sum;
			s->min = own->min;
			s->max = own->max;
			continue;
		}
		/*
		 * The kernel side has summed up some of the values: take the
		 * bounds from the buckets.
		 */
		h = i < SUM_OF_DIST(0) ? NULL : account_hist(since, i - SUM_OF_DIST(0));
		krp_sum_since(s, &was, h);
	}
}

void account_since(struct view *since, const struct view *total, uint32_t slot)
{
	struct account *acc = account_of(slot);
	const struct view *mark = acc->mark;
	unsigned int i, k;

	*since = *total;
	since->since = true;
	copy_hists(&since->hists, &total->hists);
	if (!mark)
		return;
	sub_hists(&since->hists, &mark->hists);
	sub_sums(since, acc);
	for (i = 0; i < STG_PHASES; i++)
		since->a.early[i] -= mark->a.early[i];
	since->a.anomalies -= mark->a.anomalies;
	since->a.too_long_ns -= mark->a.too_long_ns;
	since->st.holes -= mark->st.holes;
	since->st.unmatched -= mark->st.unmatched;
	since->st.spilled_ns -= mark->st.spilled_ns;
	since->tiled -= mark->tiled;
	since->window -= mark->window;
	since->join.overrun -= mark->join.overrun;
	for (i = 0; i < JOIN_ROWS; i++) {
		for (k = 0; k < JOIN_COLS; k++)
			since->join.cell[i][k] -= mark->join.cell[i][k];
	}
}

void account_mark(uint32_t slot, struct view *total)
{
	struct account *acc = account_of(slot);
	struct krp_sum *s, *b;
	unsigned int i;

	drop_mark(acc);
	acc->mark = malloc(sizeof(*acc->mark));
	if (!acc->mark)
		krp_die("out of memory");
	*acc->mark = *total;
	total->hists.bucket = NULL;
	for (i = 0; i < NR_SUMS; i++) {
		s = nth_sum(&acc->a, i);
		b = &acc->before[i];
		b->count = s->count;
		b->sum = s->sum;
		if (!s->count)
			continue;
		if (s->min < b->min)
			b->min = s->min;
		if (s->max > b->max)
			b->max = s->max;
		s->min = UINT64_MAX;
		s->max = 0;
	}
}

void account_join(void)
{
	uint32_t slot;

	for (slot = 0; slot < probe.nr_slots; slot++) {
		if (accounts[slot])
			join_with_peer(accounts[slot]);
	}
}
