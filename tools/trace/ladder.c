// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Chooses an iteration, and collects its events, which ladder-draw.c draws. */
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/hist.h"
#include "ladder.h"
#include "../../trace/krping_abi.h"

/* Iterations whose durations differ by less than 1/256 can stand for each other. */
#define FINE_BITS 8
#define FINE	  (1U << FINE_BITS)

/* Messages under way in one direction; more than any test has receives. */
#define UNDER_WAY 256

const char *const krp_side_names[KRP_NR_SIDES] = { "client", "server" };

/* What will complete, or arrive, in the order in which it was posted. */
struct queue {
	struct entry {
		uint32_t value; /* the cid of a work request, the length of a message */
		uint64_t message;
	} v[UNDER_WAY];
	unsigned int first, nr;
};

enum { SEND_QUEUE, RECV_QUEUE, MESSAGES, NR_QUEUES };

struct krp_ladder {
	enum krp_pick pick;
	uint64_t number;
	struct krp_pair pair;
	bool two_sided;
	bool ended[KRP_NR_SIDES];

	/* The last events of both ends; event numbers count all events that there were. */
	struct krp_ladder_event *log;
	uint64_t logged;

	/* The last phase event of each end. */
	struct krp_ladder_event phase[KRP_NR_SIDES];
	bool has_phase[KRP_NR_SIDES];
	/* The number of the next work request, and whether it is known. */
	uint32_t next_cid[KRP_NR_SIDES];
	bool has_cid[KRP_NR_SIDES];
	/* Messages by their sender. */
	struct queue posted[KRP_NR_SIDES][NR_QUEUES];
	uint64_t messages;

	/* The iteration that is going on. */
	bool in_iter, hole;
	uint64_t iter, t_begin, first;
	struct krp_ladder_event before;
	bool has_before;

	struct krp_ladder_stats stats;
	uint64_t *durations;
	size_t nr_durations, room_durations;
	struct krp_hist *hist;

	struct krp_iteration *kept;
	size_t nr_kept, room_kept, kept_events;
	/* The kept iteration that waits for the other end's next phase; -1: none. */
	long open;
};

static enum krp_side other(enum krp_side side)
{
	return side == KRP_CLIENT ? KRP_SERVER : KRP_CLIENT;
}

static bool side_of_role(const char *role, enum krp_side *side)
{
	unsigned int i;

	for (i = 0; i < KRP_NR_SIDES; i++) {
		if (!strcmp(role, krp_side_names[i])) {
			*side = i;
			return true;
		}
	}
	return false;
}

static void set_own(struct krp_pair *pair, enum krp_side side, bool wanted)
{
	pair->own = side;
	if (!wanted && pair->end[KRP_CLIENT].run)
		pair->own = KRP_CLIENT;
}

static void end_of_conn(struct krp_end *end, const struct krp_event_rec *conn)
{
	end->run = conn->head.run;
	end->qp = KRP_ARG(conn, conn, qp);
	end->port = KRP_ARG(conn, conn, port);
	end->size = KRP_ARG(conn, conn, size);
	snprintf(end->dev, sizeof(end->dev), "%s", conn->text);
}

bool krp_pair_of_conn(struct krp_pair *pair, const struct krp_event_rec *conn,
		      const struct krp_run_info *info, uint64_t nonce, bool wanted)
{
	enum krp_side side;

	if (conn->head.event != KRP_EV_conn || !side_of_role(info->role, &side))
		return false;
	memset(pair, 0, sizeof(*pair));
	snprintf(pair->test, sizeof(pair->test), "%s", info->test);
	end_of_conn(&pair->end[side], conn);
	/* A peer can tell any number, also that of this end. */
	if (nonce && KRP_ARG(conn, conn, peer_nonce) == nonce &&
	    KRP_ARG(conn, conn, peer_run) != conn->head.run)
		pair->end[other(side)].run = KRP_ARG(conn, conn, peer_run);
	set_own(pair, side, wanted);
	return true;
}

static void end_of_info(struct krp_end *end, const struct krp_run_info *info)
{
	end->run = info->id;
	end->qp = info->qp;
	end->port = info->port;
	end->size = info->size;
	snprintf(end->dev, sizeof(end->dev), "%s", info->dev);
}

bool krp_pair_of_runs(struct krp_pair *pair, const struct krp_runs *runs, uint32_t run, bool wanted)
{
	const struct krp_run_info *info = krp_runs_find(runs, run), *peer;
	enum krp_side side;

	/* A run that is not connected has no peer's address, or is a server that listens. */
	if (!info || !side_of_role(info->role, &side) || !info->qp || !strcmp(info->dst, "-"))
		return false;
	memset(pair, 0, sizeof(*pair));
	snprintf(pair->test, sizeof(pair->test), "%s", info->test);
	end_of_info(&pair->end[side], info);
	peer = info->peer_run ? krp_runs_find(runs, info->peer_run) : NULL;
	if (peer && peer->peer_run == info->id && !strcmp(peer->src, info->dst) &&
	    !strcmp(peer->dst, info->src) && !strcmp(peer->role, krp_side_names[other(side)]))
		end_of_info(&pair->end[other(side)], peer);
	set_own(pair, side, wanted);
	return true;
}

int krp_pair_side(const struct krp_pair *pair, uint32_t run)
{
	unsigned int i;

	for (i = 0; i < KRP_NR_SIDES; i++) {
		if (run && pair->end[i].run == run)
			return i;
	}
	return -1;
}

struct krp_ladder *krp_ladder_new(enum krp_pick pick, uint64_t number, const struct krp_pair *pair)
{
	struct krp_ladder *l = krp_new(1, sizeof(*l));

	l->pick = pick;
	l->number = number;
	l->pair = *pair;
	l->two_sided = pair->end[KRP_CLIENT].run && pair->end[KRP_SERVER].run;
	l->open = -1;
	l->stats.exact = true;
	l->log = krp_resize(NULL, KRP_LADDER_EVENTS, sizeof(*l->log));
	l->hist = krp_new(1, sizeof(*l->hist));
	return l;
}

void krp_ladder_free(struct krp_ladder *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->nr_kept; i++)
		free(l->kept[i].event);
	free(l->kept);
	free(l->durations);
	free(l->hist);
	free(l->log);
	free(l);
}

const struct krp_pair *krp_ladder_pair(const struct krp_ladder *l)
{
	return &l->pair;
}

bool krp_ladder_has_ended(const struct krp_ladder *l)
{
	unsigned int i;

	for (i = 0; i < KRP_NR_SIDES; i++) {
		if (l->pair.end[i].run && !l->ended[i])
			return false;
	}
	return true;
}

/* A test with more of them than this is not checked. */
static void push(struct queue *q, uint32_t value, uint64_t message)
{
	if (q->nr == UNDER_WAY)
		q->nr = 0;
	q->v[(q->first + q->nr++) % UNDER_WAY] = (struct entry){ value, message };
}

static void pop(struct queue *q)
{
	q->first = (q->first + 1) % UNDER_WAY;
	q->nr--;
}

/*
 * Messages arrive in the order in which they were sent. If an event was not
 * seen, the order starts anew: no arrow is better than a wrong one.
 */
static void forget_messages(struct krp_ladder *l, enum krp_side from)
{
	l->posted[from][MESSAGES].nr = 0;
}

static uint64_t message_sent(struct krp_ladder *l, enum krp_side from, uint32_t len)
{
	if (!l->two_sided)
		return 0;
	push(&l->posted[from][MESSAGES], len, ++l->messages);
	return l->messages;
}

static uint64_t message_received(struct krp_ladder *l, enum krp_side from, uint32_t len)
{
	struct queue *q = &l->posted[from][MESSAGES];
	struct entry m = q->v[q->first];

	if (!q->nr)
		return 0;
	if (m.value != len) {
		forget_messages(l, from);
		return 0;
	}
	pop(q);
	return m.message;
}

/*
 * Work requests of a run are numbered without gaps: a missing number is a
 * request that was not seen.
 */
static void check_cid(struct krp_ladder *l, enum krp_side side, uint32_t cid)
{
	if (l->has_cid[side] && cid != l->next_cid[side]) {
		l->hole = true;
		forget_messages(l, side);
	}
	l->has_cid[side] = true;
	l->next_cid[side] = cid + 1;
}

/*
 * Requests complete in order: a request that was posted before this one has
 * completed, too, but that was not seen.
 */
static void request_done(struct krp_ladder *l, enum krp_side side, uint32_t kind, uint32_t cid)
{
	struct queue *q = &l->posted[side][kind == KRPING_WR_RECV ? RECV_QUEUE : SEND_QUEUE];
	int32_t ahead;

	while (q->nr) {
		ahead = cid - q->v[q->first].value;
		/* The request was posted before we attached. */
		if (ahead < 0)
			return;
		pop(q);
		if (!ahead)
			return;
		l->hole = true;
		if (kind == KRPING_WR_RECV)
			forget_messages(l, other(side));
	}
}

static bool is_message(uint32_t kind)
{
	return kind == KRPING_WR_SEND || kind == KRPING_WR_SEND_INV;
}

static struct krp_ladder_event *log_event(struct krp_ladder *l, const struct krp_event_rec *rec,
					  enum krp_side side)
{
	struct krp_ladder_event *e = &l->log[l->logged++ % KRP_LADDER_EVENTS];

	e->head = rec->head;
	memcpy(e->args, rec->args, sizeof(e->args));
	e->side = side;
	e->message = 0;
	switch (rec->head.event) {
	case KRP_EV_post_send:
		check_cid(l, side, KRP_ARG(rec, post_send, cid));
		if (KRP_ARG(rec, post_send, flags) & KRPING_POST_F_SIGNALED)
			push(&l->posted[side][SEND_QUEUE], KRP_ARG(rec, post_send, cid), 0);
		if (is_message(KRP_ARG(rec, post_send, kind)))
			e->message = message_sent(l, side, KRP_ARG(rec, post_send, len));
		break;
	case KRP_EV_post_recv:
		check_cid(l, side, KRP_ARG(rec, post_recv, cid));
		push(&l->posted[side][RECV_QUEUE], KRP_ARG(rec, post_recv, cid), 0);
		break;
	case KRP_EV_post_send_err:
		forget_messages(l, side);
		l->posted[side][SEND_QUEUE].nr = 0;
		break;
	case KRP_EV_post_recv_err:
		l->posted[side][RECV_QUEUE].nr = 0;
		break;
	case KRP_EV_wc:
		request_done(l, side, KRP_ARG(rec, wc, kind), KRP_ARG(rec, wc, cid));
		if ((uint32_t)KRP_ARG(rec, wc, kind) == KRPING_WR_RECV)
			e->message = message_received(l, other(side), KRP_ARG(rec, wc, len));
		break;
	}
	return e;
}

static uint32_t fine_bucket(uint64_t ns)
{
	uint32_t octave;

	if (ns < FINE)
		return ns;
	/* krp_log2() is of 64 bits; no iteration is longer than the last bucket. */
	octave = krp_log2(ns) - FINE_BITS;
	return octave * FINE + (uint32_t)(ns >> octave);
}

static void keep_duration(struct krp_ladder *l, uint64_t ns)
{
	l->hist->bucket[krp_hist_index(ns)]++;
	if (l->nr_durations == l->room_durations && l->room_durations < KRP_LADDER_DURATIONS)
		l->durations = krp_grow(l->durations, &l->room_durations,
					2 * l->room_durations ?: 1024, sizeof(*l->durations));
	l->stats.exact = l->nr_durations < l->room_durations;
	if (l->stats.exact)
		l->durations[l->nr_durations++] = ns;
}

static uint64_t duration(const struct krp_iteration *it)
{
	return it->t_end - it->t_begin;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void drop_kept(struct krp_ladder *l, size_t i)
{
	l->kept_events -= l->kept[i].nr;
	free(l->kept[i].event);
	l->kept[i] = l->kept[--l->nr_kept];
	if (l->open == (long)i)
		l->open = -1;
	else if (l->open == (long)l->nr_kept)
		l->open = i;
}

/*
 * Makes room by dropping the iteration that is farthest from the median so far;
 * false: that is the new one.
 */
static bool make_room(struct krp_ladder *l, size_t events, uint64_t ns)
{
	uint64_t median = krp_hist_percentile(l->hist, NULL, KRP_P50);
	size_t i, worst;

	/* If it is not known, half of the iterations take at least as long as this. */
	if (median == KRP_NS_UNKNOWN)
		median = 1ULL << KRP_HIST_BITS;
	while (l->nr_kept && l->kept_events + events > KRP_LADDER_KEPT) {
		for (worst = 0, i = 1; i < l->nr_kept; i++) {
			if (distance(duration(&l->kept[i]), median) >
			    distance(duration(&l->kept[worst]), median))
				worst = i;
		}
		if (distance(ns, median) >= distance(duration(&l->kept[worst]), median))
			return false;
		drop_kept(l, worst);
	}
	return true;
}

/* Is it better than the iterations that are kept? If so, makes room for it. */
static bool is_worth(struct krp_ladder *l, uint64_t ns, uint32_t bucket, size_t events)
{
	size_t i;

	switch (l->pick) {
	case KRP_PICK_NUMBER:
		return l->iter == l->number;
	case KRP_PICK_SLOWEST:
		if (l->nr_kept && ns <= duration(&l->kept[0]))
			return false;
		break;
	case KRP_PICK_FASTEST:
		if (l->nr_kept && ns >= duration(&l->kept[0]))
			return false;
		break;
	case KRP_PICK_MEDIAN:
		for (i = 0; i < l->nr_kept; i++) {
			if (l->kept[i].bucket == bucket)
				return false;
		}
		return make_room(l, events, ns);
	}
	if (l->nr_kept)
		drop_kept(l, 0);
	return true;
}

/*
 * A request of a disk, which is over, while others are in flight: what its events have, and theirs
 * have not. 0: not known.
 */
struct request {
	const struct krp_ladder_event *done;
	uint64_t t_post, t_wc;	      /* at the client: it was posted, and its answer was here */
	uint64_t t_arrived, t_answer; /* at the server */
	uint64_t moves[KRP_NR_SIDES]; /* the READ, WRITE or LOCAL_INV: its CQ and cid */
	uint32_t key, mr;
};

static bool is_post(const struct krp_ladder_event *e, uint32_t kind)
{
	return (uint32_t)KRP_ARG(e, post_send, kind) == kind;
}

static bool has_tag(const struct request *q, const struct krp_ladder_event *e)
{
	return KRP_ARG(e, block_issue, queue) == KRP_ARG(q->done, block_done, queue) &&
	       KRP_ARG(e, block_issue, tag) == KRP_ARG(q->done, block_done, tag);
}

static bool has_key(const struct request *q, const struct krp_ladder_event *e)
{
	return q->key && ((uint32_t)KRP_ARG(e, post_send, rkey) == q->key ||
			  (uint32_t)KRP_ARG(e, post_send, inv_rkey) == q->key);
}

/* The client's event says how long the server took until it posted the answer, the server's names that. */
static bool is_answer(const struct request *q, const struct krp_ladder_event *e)
{
	if (e->side != KRP_SERVER || !is_message(KRP_ARG(e, post_send, kind)))
		return false;
	if (q->done->side == KRP_SERVER)
		return KRP_ARG(e, post_send, cid) == KRP_ARG(q->done, block_done, cid);
	return has_key(q, e) || (q->t_arrived && !q->t_answer &&
				 e->head.t >= q->t_arrived + KRP_ARG(q->done, block_done, peer_ns));
}

static void learn_post(struct request *q, const struct krp_ladder_event *e)
{
	if (e->side == KRP_CLIENT && e->head.t == q->t_post && is_post(e, KRPING_WR_REG_MR))
		q->key = KRP_ARG(e, post_send, rkey);
	else if (is_answer(q, e))
		q->t_answer = e->head.t;
	else if (has_key(q, e))
		q->moves[e->side] = KRP_ARG(e, post_send, cq_id) << 32 |
				    (uint32_t)KRP_ARG(e, post_send, cid);
	if (q->done->side == KRP_SERVER && is_answer(q, e))
		q->key = KRP_ARG(e, post_send, inv_rkey);
}

/* What an event of the time of the request tells; some tell it behind others that need it. */
static void learn(struct request *q, const struct krp_ladder_event *e)
{
	switch (e->head.event) {
	case KRP_EV_request:
		if (e->side == q->done->side &&
		    KRP_ARG(e, request, queue) == KRP_ARG(q->done, block_done, queue) &&
		    KRP_ARG(e, request, cid) == KRP_ARG(q->done, block_done, cid)) {
			q->t_post = KRP_ARG(e, request, t_post);
			q->t_wc = KRP_ARG(e, request, t_wc);
		}
		break;
	case KRP_EV_block_issue:
		if (e->side == KRP_SERVER && has_tag(q, e))
			q->t_arrived = e->head.t;
		break;
	case KRP_EV_post_send:
		learn_post(q, e);
		break;
	case KRP_EV_mr_fastreg:
		if (q->key && (uint32_t)KRP_ARG(e, mr_fastreg, new_key) == q->key)
			q->mr = KRP_ARG(e, mr_fastreg, mr_id);
		break;
	}
}

/* Is it an event of the request? A message gets a number that is the same at both ends. */
static bool is_of(const struct request *q, struct krp_ladder_event *e)
{
	bool client = e->side == KRP_CLIENT;

	e->message = 0;
	switch (e->head.event) {
	case KRP_EV_block_issue:
		return client && has_tag(q, e);
	case KRP_EV_post_send:
		if (e->head.t != (client ? q->t_post : q->t_answer))
			return has_key(q, e);
		if (is_message(KRP_ARG(e, post_send, kind)))
			e->message = client ? 1 : 2;
		return true;
	case KRP_EV_wc:
		if ((uint32_t)KRP_ARG(e, wc, kind) != KRPING_WR_RECV)
			return q->moves[e->side] ==
			       (KRP_ARG(e, wc, cq_id) << 32 | (uint32_t)KRP_ARG(e, wc, cid));
		e->message = client ? 2 : 1;
		return e->head.t == (client ? q->t_wc : q->t_arrived);
	case KRP_EV_mr_map:
		return q->mr && (uint32_t)KRP_ARG(e, mr_map, mr_id) == q->mr;
	case KRP_EV_mr_reminv:
		return q->mr && (uint32_t)KRP_ARG(e, mr_reminv, mr_id) == q->mr;
	default:
		return false;
	}
}

/* q: the events of this request alone; NULL: all of the iteration. */
static void keep(struct krp_ladder *l, uint64_t t_end, const struct request *q)
{
	uint64_t ns = t_end - l->t_begin, i;
	size_t nr = l->logged - l->first;
	uint32_t bucket = fine_bucket(ns);
	struct krp_iteration *it;

	l->stats.seen++;
	if (l->stats.seen == 1 || ns < l->stats.fastest)
		l->stats.fastest = ns;
	if (ns > l->stats.slowest)
		l->stats.slowest = ns;
	keep_duration(l, ns);
	if (nr > KRP_LADDER_EVENTS) {
		l->stats.too_long++;
		return;
	}
	if (!is_worth(l, ns, bucket, nr))
		return;
	if (l->nr_kept == l->room_kept)
		l->kept = krp_grow(l->kept, &l->room_kept, l->room_kept + 64, sizeof(*it));
	it = &l->kept[l->nr_kept];
	memset(it, 0, sizeof(*it));
	it->event = krp_resize(NULL, nr, sizeof(*it->event));
	for (i = l->first; i < l->logged; i++) {
		it->event[it->nr] = l->log[i % KRP_LADDER_EVENTS];
		it->nr += !q || is_of(q, &it->event[it->nr]);
	}
	it->iter = l->iter;
	it->t_begin = l->t_begin;
	it->t_end = t_end;
	it->bucket = bucket;
	it->before = l->before;
	it->has_before = !q && l->has_before;
	l->kept_events += it->nr;
	l->open = l->two_sided && !q ? (long)l->nr_kept : -1;
	l->nr_kept++;
}

/* A request of a disk is over: it is an iteration, which others overlap. */
static void own_request(struct krp_ladder *l, const struct krp_ladder_event *done)
{
	struct request q = { .done = done };
	unsigned int pass;
	uint64_t i;

	l->iter = KRP_ARG(done, block_done, iter);
	l->t_begin = KRP_ARG(done, block_done, t_begin);
	for (i = l->logged; i > 0 && l->logged - i < KRP_LADDER_EVENTS; i--) {
		if (l->log[(i - 1) % KRP_LADDER_EVENTS].head.t < l->t_begin)
			break;
	}
	l->first = i;
	for (pass = 0; pass < 3; pass++) {
		for (i = l->first; i < l->logged; i++)
			learn(&q, &l->log[i % KRP_LADDER_EVENTS]);
	}
	/* The times of one that came before us are not known. */
	if (done->side == KRP_SERVER || q.t_post)
		keep(l, done->head.t, &q);
}

/* Handles the phase events of the end whose iterations are looked at. */
static void own_phase(struct krp_ladder *l, const struct krp_ladder_event *e)
{
	uint32_t to = KRP_ARG(e, phase, phase), from = KRP_ARG(e, phase, prev);
	uint32_t flags = KRP_ARG(e, phase, flags);
	bool ends = flags & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT);
	const struct krp_ladder_event *last = &l->phase[e->side];

	if (l->in_iter) {
		/* Phases tile: each begins where the one before it ended. */
		if (KRP_ARG(e, phase, t_prev) != KRP_ARG(last, phase, t) ||
		    from != (uint32_t)KRP_ARG(last, phase, phase))
			l->hole = true;
		/* The other end has been in its last phase for a whole iteration. */
		if (ends)
			l->open = -1;
		if (flags & KRPING_PHASE_F_ABORT)
			l->stats.aborted++;
		else if (ends && l->hole)
			l->stats.holes++;
		else if (ends)
			keep(l, e->head.t, NULL);
	}
	if (!KRPING_PHASE_IS_ONCE(to) && (ends || KRPING_PHASE_IS_ONCE(from))) {
		l->in_iter = true;
		l->hole = false;
		l->iter = KRP_ARG(e, phase, iter);
		l->t_begin = e->head.t;
		l->first = l->logged - 1;
		l->before = l->phase[other(e->side)];
		l->has_before = l->has_phase[other(e->side)];
	} else if (ends || KRPING_PHASE_IS_ONCE(to)) {
		l->in_iter = false;
	}
}

void krp_ladder_feed(struct krp_ladder *l, const struct krp_event_rec *rec)
{
	int side = krp_pair_side(&l->pair, rec->head.run);
	struct krp_ladder_event *e;

	if (side < 0)
		return;
	e = log_event(l, rec, side);
	switch (rec->head.event) {
	case KRP_EV_conn:
		/* The event of the other end tells about that end, too. */
		end_of_conn(&l->pair.end[side], rec);
		break;
	case KRP_EV_run_end:
		l->ended[side] = true;
		break;
	case KRP_EV_block_done:
		if ((enum krp_side)side == l->pair.own)
			own_request(l, e);
		break;
	case KRP_EV_phase:
		if (!strcmp(l->pair.test, "block"))
			break;
		if ((enum krp_side)side == l->pair.own) {
			own_phase(l, e);
		} else if (l->open >= 0) {
			l->kept[l->open].after = *e;
			l->kept[l->open].has_after = true;
			l->open = -1;
		}
		l->phase[side] = *e;
		l->has_phase[side] = true;
		break;
	}
}

void krp_ladder_run_ended(struct krp_ladder *l, uint32_t run)
{
	int side = krp_pair_side(&l->pair, run);

	if (side >= 0)
		l->ended[side] = true;
}

bool krp_ladder_is_settled(const struct krp_ladder *l)
{
	return l->pick == KRP_PICK_NUMBER && l->nr_kept && l->open < 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t l = *(const uint64_t *)a, r = *(const uint64_t *)b;

	return (l > r) - (l < r);
}

const struct krp_iteration *krp_ladder_choice(struct krp_ladder *l, struct krp_ladder_stats *stats)
{
	const struct krp_iteration *best = NULL;
	uint64_t below = 0;
	size_t i;

	if (l->nr_durations) {
		qsort(l->durations, l->nr_durations, sizeof(*l->durations), by_value);
		l->stats.median = l->durations[(l->nr_durations - 1) / 2];
	}
	for (i = 0; i < l->nr_kept; i++) {
		const struct krp_iteration *it = &l->kept[i];

		if (!best || distance(duration(it), l->stats.median) <
				     distance(duration(best), l->stats.median))
			best = it;
	}
	l->stats.rank = 0;
	if (best) {
		while (below < l->nr_durations && l->durations[below] < duration(best))
			below++;
		/* Scale the rank among these to all iterations. */
		if (!l->stats.exact)
			below = (double)below / l->nr_durations * l->stats.seen;
		l->stats.rank = below + 1;
	}
	*stats = l->stats;
	return best;
}
