// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ladder: the pair of runs, the choice of an iteration, the drawing. Events are invented. */
#include "unit.h"
#include "tools/trace/ladder.h"
#include "trace/krping_abi.h"

#define C     2 /* the client's run */
#define S     1 /* the server's run */
#define NONCE 0x1122334455667788ULL

static struct krp_event_rec rec;

static struct krp_event_rec *make(enum krp_event id, uint64_t t, uint32_t run)
{
	memset(&rec, 0, sizeof(rec));
	rec.head = (struct krp_event_head){ .t = t, .run = run, .event = id };
	rec.args[0] = run;
	if (krp_events[id].stamp >= 0)
		rec.args[krp_events[id].stamp] = t;
	return &rec;
}

/* A run of the made-up pair. */
struct end {
	uint32_t run, cid, phase;
	uint64_t t_phase, iter;
	uint32_t recv[256]; /* a ring with the cids of the posted RECVs */
	uint8_t first_recv, last_recv;
};

/* The number of RECVs that were posted before the recording began. */
#define RECVS 4

static struct feed {
	struct krp_ladder *l;
	struct end end[KRP_NR_SIDES];
	uint32_t key;
	bool inv, drop_recv, drop_send, drop_done, bad_len;
} f;

static struct krp_pair pair;
static struct krp_ladder_stats st;
static struct krp_steps steps;

TEARDOWN()
{
	krp_steps_free(&steps);
	krp_ladder_free(f.l);
	memset(&steps, 0, sizeof(steps));
	memset(&f, 0, sizeof(f));
}

static void phase(enum krp_side side, uint64_t t, uint32_t to, uint32_t flags)
{
	struct end *e = &f.end[side];

	make(KRP_EV_phase, t, e->run);
	if (flags & KRPING_PHASE_F_COMMIT)
		e->iter++;
	KRP_ARG(&rec, phase, iter) = e->iter;
	KRP_ARG(&rec, phase, phase) = to;
	KRP_ARG(&rec, phase, prev) = e->phase;
	KRP_ARG(&rec, phase, t_prev) = e->t_phase;
	KRP_ARG(&rec, phase, flags) = flags;
	krp_ladder_feed(f.l, &rec);
	e->phase = to;
	e->t_phase = t;
}

static uint32_t post(enum krp_side side, uint64_t t, uint32_t kind, uint32_t len, uint32_t rkey,
		     uint32_t inv)
{
	uint32_t cid = f.end[side].cid++;

	make(KRP_EV_post_send, t, f.end[side].run);
	KRP_ARG(&rec, post_send, cid) = cid;
	KRP_ARG(&rec, post_send, kind) = kind;
	KRP_ARG(&rec, post_send, len) = len;
	KRP_ARG(&rec, post_send, rkey) = rkey;
	KRP_ARG(&rec, post_send, inv_rkey) = inv;
	if (kind != KRPING_WR_REG_MR && kind != KRPING_WR_LOCAL_INV)
		KRP_ARG(&rec, post_send, flags) = KRPING_POST_F_SIGNALED;
	if (kind == KRPING_WR_SEND && f.drop_send)
		f.drop_send = false;
	else
		krp_ladder_feed(f.l, &rec);
	return cid;
}

static void wc(enum krp_side side, uint64_t t, uint32_t cid, uint32_t kind, uint32_t len)
{
	struct end *e = &f.end[side];

	make(KRP_EV_wc, t, e->run);
	if (kind == KRPING_WR_RECV)
		cid = e->recv[e->first_recv++];
	KRP_ARG(&rec, wc, cid) = cid;
	KRP_ARG(&rec, wc, kind) = kind;
	KRP_ARG(&rec, wc, len) = len;
	if (kind == KRPING_WR_RECV && f.bad_len) {
		f.bad_len = false;
		KRP_ARG(&rec, wc, len) = 3;
	}
	if (kind == KRPING_WR_RECV && f.drop_recv)
		f.drop_recv = false;
	else if (kind == KRPING_WR_SEND && f.drop_done)
		f.drop_done = false;
	else
		krp_ladder_feed(f.l, &rec);
}

static void waited(enum krp_side side, uint64_t t, uint32_t kind, uint64_t t_sig)
{
	struct end *e = &f.end[side];

	make(KRP_EV_wait, t, e->run);
	KRP_ARG(&rec, wait, iter) = e->iter;
	KRP_ARG(&rec, wait, what) = KRPING_WAIT(e->phase, kind, 1);
	KRP_ARG(&rec, wait, t_start) = e->t_phase;
	KRP_ARG(&rec, wait, t_sig) = t_sig;
	KRP_ARG(&rec, wait, t_wc) = t - 2000;
	if (kind != KRPING_WR_RECV) {
		KRP_ARG(&rec, wait, t_post) = e->t_phase + 500;
		KRP_ARG(&rec, wait, t_posted) = e->t_phase + 1500;
	}
	krp_ladder_feed(f.l, &rec);
}

static void offer(enum krp_side side, uint64_t t, uint32_t rkey, uint32_t len)
{
	make(KRP_EV_adv_send, t, f.end[side].run);
	KRP_ARG(&rec, adv_send, rkey) = rkey;
	KRP_ARG(&rec, adv_send, len) = len;
	krp_ladder_feed(f.l, &rec);
}

static void mapped(enum krp_side side, uint64_t t)
{
	make(KRP_EV_mr_map, t, f.end[side].run);
	KRP_ARG(&rec, mr_map, pages) = 1;
	KRP_ARG(&rec, mr_map, len) = 64;
	KRP_ARG(&rec, mr_map, cost_ns) = 1234;
	krp_ladder_feed(f.l, &rec);
}

static void post_recv(enum krp_side side, uint64_t t)
{
	struct end *e = &f.end[side];

	make(KRP_EV_post_recv, t, e->run);
	KRP_ARG(&rec, post_recv, cid) = e->cid;
	e->recv[e->last_recv++] = e->cid++;
	KRP_ARG(&rec, post_recv, len) = 16;
	krp_ladder_feed(f.l, &rec);
}

static const struct krp_iteration *choice(void)
{
	return krp_ladder_choice(f.l, &st);
}

/* Begins to feed, up to where all iterations begin: both ends are at work. Returns that time. A client 0 is on another host. */
static uint64_t begin(uint32_t client, enum krp_pick pick, uint64_t number)
{
	uint64_t t = 1000000;
	struct end *e;

	teardown();
	pair = (struct krp_pair){ .own = client ? KRP_CLIENT : KRP_SERVER, .test = "rping" };
	pair.end[KRP_CLIENT] = (struct krp_end){ client, 17, 1, 64, "rxe0" };
	pair.end[KRP_SERVER] = (struct krp_end){ S, 18, 1, 64, "rxe0" };
	f.l = krp_ladder_new(pick, number, &pair);
	assert_non_null(f.l);
	assert_null(choice());
	f.end[KRP_CLIENT].run = C;
	f.end[KRP_SERVER].run = S;
	for (e = f.end; e < f.end + KRP_NR_SIDES; e++) {
		for (; e->cid < RECVS; e->cid++)
			e->recv[e->last_recv++] = e->cid;
	}
	f.key = 0x1200;
	f.end[KRP_SERVER].phase = KRPING_PHASE_ACCEPT;
	f.end[KRP_CLIENT].phase = KRPING_PHASE_CONNECT;
	f.end[KRP_SERVER].t_phase = f.end[KRP_CLIENT].t_phase = t - 100000;
	phase(KRP_SERVER, t - 5000, KRPING_PHASE_WAIT_SOURCE, 0);
	phase(KRP_CLIENT, t, KRPING_PHASE_FILL, 0);
	return t;
}

/* Makes half a ping, from t on: an offer, a READ or a WRITE, the go-ahead. d is a unit of time. */
static uint64_t half(uint64_t t, uint64_t d, bool sink)
{
	uint32_t key = ++f.key, wr = sink ? KRPING_WR_RDMA_WRITE : KRPING_WR_RDMA_READ, cid, last;
	uint32_t go = f.inv ? KRPING_WR_SEND_INV : KRPING_WR_SEND;

	phase(KRP_CLIENT, t, sink ? KRPING_PHASE_REG_SINK : KRPING_PHASE_REG_SOURCE, 0);
	if (sink)
		post_recv(KRP_CLIENT, t + 100);
	mapped(KRP_CLIENT, t + d / 4);
	if (!f.inv)
		post(KRP_CLIENT, t + d / 2, KRPING_WR_LOCAL_INV, 0, 0, key - 1);
	post(KRP_CLIENT, t + d / 2, KRPING_WR_REG_MR, 64, key, 0);
	t += d;
	phase(KRP_CLIENT, t, sink ? KRPING_PHASE_SEND_SINK : KRPING_PHASE_SEND_SOURCE, 0);
	offer(KRP_CLIENT, t + d / 4, key, 64);
	cid = post(KRP_CLIENT, t + d / 2, KRPING_WR_SEND, 16, 0, 0);
	t += d;
	phase(KRP_CLIENT, t, sink ? KRPING_PHASE_WAIT_WRITE : KRPING_PHASE_WAIT_READ, 0);
	t += d;
	wc(KRP_SERVER, t, 0, KRPING_WR_RECV, 16);
	wc(KRP_CLIENT, t + 100, cid, KRPING_WR_SEND, 16);
	t += d;
	waited(KRP_SERVER, t, KRPING_WR_RECV, t - 3000);
	phase(KRP_SERVER, t, sink ? KRPING_PHASE_REG_WRITE : KRPING_PHASE_REG_READ, 0);
	post_recv(KRP_SERVER, t + 200);
	post(KRP_SERVER, t + d / 2, KRPING_WR_REG_MR, 64, 0x9900 + f.key, 0);
	t += d;
	phase(KRP_SERVER, t, sink ? KRPING_PHASE_RDMA_WRITE : KRPING_PHASE_RDMA_READ, 0);
	last = post(KRP_SERVER, t + 500, wr, 64, key, 0);
	t += d;
	wc(KRP_SERVER, t, last, wr, 64);
	t += d;
	waited(KRP_SERVER, t, wr, 0);
	phase(KRP_SERVER, t, sink ? KRPING_PHASE_GO_AHEAD_WRITE : KRPING_PHASE_GO_AHEAD_READ, 0);
	offer(KRP_SERVER, t + 100, 0, 0);
	last = post(KRP_SERVER, t + 200, go, 16, 0, f.inv ? key : 0);
	t += d;
	if (sink)
		phase(KRP_SERVER, t, KRPING_PHASE_WAIT_SOURCE, KRPING_PHASE_F_COMMIT);
	else
		phase(KRP_SERVER, t, KRPING_PHASE_WAIT_SINK, 0);
	t += d;
	wc(KRP_CLIENT, t, 0, KRPING_WR_RECV, 16);
	wc(KRP_SERVER, t + 50, last, go, 16);
	t += d;
	waited(KRP_CLIENT, t, KRPING_WR_RECV, t - 2500);
	return t;
}

/* Makes a ping that takes 22 d; returns the time of its end, at which the next ping begins. */
static uint64_t ping(uint64_t t, uint64_t d)
{
	t = half(t + 2 * d, d, false);
	t = half(t, d, true);
	phase(KRP_CLIENT, t, KRPING_PHASE_FILL, KRPING_PHASE_F_COMMIT);
	post_recv(KRP_CLIENT, t + 100);
	return t;
}
#define PING 22

static void leave(uint64_t t)
{
	unsigned int i;

	for (i = 0; i < KRP_NR_SIDES; i++) {
		phase(i, t, KRPING_PHASE_DISCONNECT, KRPING_PHASE_F_ABORT);
		make(KRP_EV_run_end, t + 1000, f.end[i].run);
		krp_ladder_feed(f.l, &rec);
	}
}

TEST(pick)
{
	/* The iterations' units; the median is 7, which two iterations have. */
	static const unsigned int units[] = { 9, 3, 7, 12, 5, 7, 11, 4, 8 };
	static const struct {
		enum krp_pick pick;
		uint64_t number, iter, rank;
	} want[] = {
		{ KRP_PICK_MEDIAN, 0, 2, 4 },
		{ KRP_PICK_SLOWEST, 0, 3, 9 },
		{ KRP_PICK_FASTEST, 0, 1, 1 },
		{ KRP_PICK_NUMBER, 6, 6, 8 },
	};
	const struct krp_iteration *it;
	unsigned int k;
	uint64_t t;

	each(row, want) {
		t = begin(C, row->pick, row->number);
		for (k = 0; k < 9; k++) {
			assert_int_equal(krp_ladder_is_settled(f.l),
					 row->pick == KRP_PICK_NUMBER && k > 7);
			t = ping(t, units[k] * 1000);
		}
		leave(t + 500);
		assert_true(krp_ladder_has_ended(f.l));
		it = choice();
		assert_non_null(it);
		assert_int_equal(it->iter, row->iter);
		assert_int_equal(it->t_end - it->t_begin, PING * units[row->iter] * 1000);
		assert_int_equal(st.rank, row->rank);
		are("9 1 0 1", st.seen, st.aborted, st.holes + st.too_long, st.exact);
		are("3000 7000 12000", st.fastest / PING, st.median / PING, st.slowest / PING);
		/* It has the events of both ends, and none before its begin or after its end. */
		are("1 1", it->has_before, it->has_after);
		for (k = 0; k < it->nr; k++)
			assert_in_range(it->event[k].head.t, it->t_begin, it->t_end);
	}
	t = begin(C, KRP_PICK_NUMBER, 23);
	ping(t, 1000);
	assert_null(choice());
	are("1", st.seen);
}

/* An iteration with a number is ready as soon as the other end has left its current phase. */
TEST(settled)
{
	uint64_t t = begin(C, KRP_PICK_NUMBER, 0);
	t = ping(t, 1000);
	assert_false(krp_ladder_is_settled(f.l));
	phase(KRP_SERVER, t + 1, KRPING_PHASE_REG_READ, 0);
	assert_true(krp_ladder_is_settled(f.l));
	assert_true(choice()->has_after);
}

/* Iterations of one phase, of which very many can be fed. */
static void turns(uint64_t t, uint64_t (*duration)(unsigned int i), unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		t += duration(i);
		phase(KRP_CLIENT, t, KRPING_PHASE_FILL, KRPING_PHASE_F_COMMIT);
	}
}

/* Durations near the median come early and are rare: a tenth, between two groups of others. */
static uint64_t drifting(unsigned int i)
{
	if (i < 20000)
		return i % 10 ? 100000 + i % 777 : 500000 + i % 100;
	return i % 18 ? 900000 + i % 999 : 500000 + i % 1000;
}

/* Durations in far more buckets than iterations can be kept with their events. */
static uint64_t spread(unsigned int i)
{
	return 1000 + (i * 2654435761U) % 100000000;
}

static uint64_t same(UNUSED unsigned int i)
{
	return 4242;
}

TEST(median)
{
	static const struct {
		uint64_t (*duration)(unsigned int i);
		/* part: the chosen one differs from the median by less */
		unsigned int n, part, rank[2];
		bool exact;
	} t[] = {
		{ drifting, 37000, 256, { 1, 37000 }, true },
		{ spread, 300000, 256, { 149000, 151000 }, true },
		{ same, 1000, 1000000, { 1, 1 }, true },
		/* More durations than can be kept: the median is that of a sample. */
		{ spread, KRP_LADDER_DURATIONS + 500000, 256, { 770000, 810000 }, false },
	};
	const struct krp_iteration *it;
	uint64_t d;

	each(row, t) {
		turns(begin(C, KRP_PICK_MEDIAN, 0), row->duration, row->n);
		it = choice();
		assert_non_null(it);
		assert_int_equal(st.seen, row->n);
		assert_int_equal(st.exact, row->exact);
		d = it->t_end - it->t_begin;
		if ((d > st.median ? d - st.median : st.median - d) > st.median / row->part)
			fail_msg("chose %lu, the median is %lu", (unsigned long)d,
				 (unsigned long)st.median);
		/* The rank is near the median's only if durations are spread. */
		assert_in_range(st.rank, row->rank[0], row->rank[1]);
		if (row->duration == spread)
			assert_in_range(st.median, 49000000, 51000000);
	}
}

/* Long iterations: the number of kept events is bounded, and the median is kept. */
TEST(bounded)
{
	const struct krp_iteration *it;
	unsigned int i, k, n;
	uint64_t t = begin(C, KRP_PICK_MEDIAN, 0);
	for (i = 0; i < 200; i++) {
		uint64_t d = 100000 + (i * 37 % 200) * 10000;

		n = i == 57 ? KRP_LADDER_EVENTS : 3000;
		for (k = 0; k < n; k++)
			post_recv(KRP_CLIENT, t + k);
		t += d;
		phase(KRP_CLIENT, t, KRPING_PHASE_FILL, KRPING_PHASE_F_COMMIT);
	}
	it = choice();
	are("200 1", st.seen, st.too_long);
	assert_non_null(it);
	assert_int_equal(it->nr, 3002);
	assert_in_range(it->t_end - it->t_begin, st.median - 20000, st.median + 20000);
}

/* An iteration of which events were lost is never shown. */
TEST(holes)
{
	uint64_t t = begin(C, KRP_PICK_SLOWEST, 0);
	t = ping(t, 1000);
	/* A phase event is lost: the next phase does not begin when the last one ended. */
	f.end[KRP_CLIENT].t_phase = t + 10;
	t = ping(t, 9000);
	t = ping(t, 2000);
	/* A completion is lost, of a RECV and then of a SEND. */
	f.drop_recv = true;
	t = ping(t, 9000);
	f.drop_done = true;
	t = ping(t, 9000);
	t = ping(t, 1000);
	/* A post is lost, of one end and then of the other. */
	f.end[KRP_CLIENT].cid++;
	t = ping(t, 9000);
	f.end[KRP_SERVER].cid++;
	t = ping(t, 9000);
	t = ping(t, 1000);
	assert_int_equal(choice()->iter, 2);
	are("5 4", st.holes, st.seen);
	assert_int_equal(st.slowest, PING * 2000);
}

static const struct krp_step *find(enum krp_arrow arrow, enum krp_side side, unsigned int nth)
{
	size_t i;

	for (i = 0; i < steps.nr; i++) {
		if (steps.v[i].arrow == arrow && steps.v[i].side == side && !nth--)
			return &steps.v[i];
	}
	return NULL;
}

/* A RECV is joined to the SEND that it received, or to none, but never to another one. */
TEST(messages)
{
	const struct krp_step *send, *recv;
	unsigned int i, lost, k;
	uint64_t t;

	for (lost = 0; lost < 4; lost++) {
		t = begin(C, KRP_PICK_NUMBER, 3);
		for (i = 0; i < 5; i++) {
			/* Not in an earlier ping: the order of the first RECVs is unknown. */
			f.drop_recv = lost == 1 && i == 2;
			f.drop_send = lost == 2 && i == 2;
			f.bad_len = lost == 3 && i == 2;
			t = ping(t, 1000);
		}
		assert_true(krp_steps_make(&steps, &pair, choice()));
		for (k = 0; k < KRP_NR_SIDES; k++) {
			for (i = 0; i < 2; i++) {
				send = find(KRP_ARROW_SEND, k, i);
				recv = find(KRP_ARROW_RECV, !k, i);
				assert_non_null(send);
				assert_non_null(recv);
				assert_true(send->message > 0);
				assert_int_equal(send->message, recv->message);
			}
			assert_null(find(KRP_ARROW_SEND, k, 2));
		}
	}
}

static void conn(uint32_t run, uint32_t peer, uint64_t nonce)
{
	make(KRP_EV_conn, 1000, run);
	KRP_ARG(&rec, conn, qp) = 10 + run;
	KRP_ARG(&rec, conn, port) = 1;
	KRP_ARG(&rec, conn, size) = 64;
	KRP_ARG(&rec, conn, peer_run) = peer;
	KRP_ARG(&rec, conn, peer_nonce) = nonce;
	strcpy(rec.text, "siw0");
}

/* A pair, if it was made, as a text: the runs of both ends, and whose iterations are shown. */
static const char *made(bool is)
{
	if (!is)
		return "none";
	are("-1 -1", krp_pair_side(&pair, 77), krp_pair_side(&pair, 0));
	if (pair.end[KRP_CLIENT].run == C)
		assert_int_equal(krp_pair_side(&pair, C), KRP_CLIENT);
	return numbers(LIST(pair.end[KRP_CLIENT].run, pair.end[KRP_SERVER].run, pair.own), 3);
}

/* The pair that "rec", a conn event, makes with the run "own". */
static const char *pair_is(const struct krp_run_info *own, uint64_t nonce, bool server)
{
	return made(krp_pair_of_conn(&pair, &rec, own, nonce, server));
}

TEST(pair)
{
	struct krp_run_info client = { .id = C, .role = "client", .test = "rping" };
	struct krp_run_info server = { .id = S, .role = "server", .test = "rping" };
	struct krp_run_info unknown = { .id = 9 };

	/* Whichever end is connected first, the ladder shows the client's iterations. */
	conn(C, S, NONCE);
	assert_string_equal(pair_is(&client, NONCE, false), "2 1 0");
	are("12", pair.end[KRP_CLIENT].qp);
	assert_string_equal(pair.end[KRP_CLIENT].dev, "siw0");
	conn(S, C, NONCE);
	assert_string_equal(pair_is(&server, NONCE, false), "2 1 0");
	/* The user may ask for the server's. */
	assert_string_equal(pair_is(&server, NONCE, true), "2 1 1");

	/* A peer on another host may have the same number as a run of this host. */
	conn(S, C, NONCE + 1);
	assert_string_equal(pair_is(&server, NONCE, false), "0 1 1");
	/* A classic peer has no nonce; neither has a module that could not be asked. */
	conn(S, 0, 0);
	assert_string_equal(pair_is(&server, 0, false), "0 1 1");
	assert_string_equal(pair_is(&unknown, NONCE, false), "none");
	make(KRP_EV_wc, 1, C);
	assert_string_equal(pair_is(&client, NONCE, false), "none");
}

TEST(pair_late)
{
	/* clang-format off */
	struct krp_run_info v[] = {
		{ .id = 1, .role = "server", .test = "rping", .qp = 18, .peer_run = 2, .dev = "rxe0",
		  .src = "10.9.0.1:9999", .dst = "10.9.0.1:51234" },
		{ .id = 2, .role = "client", .test = "rping", .qp = 17, .peer_run = 1, .dev = "rxe0",
		  .src = "10.9.0.1:51234", .dst = "10.9.0.1:9999" },
		{ .id = 3, .role = "server", .test = "rping", .src = "10.9.0.1:1", .dst = "-" },
		/* The peer has the number of a run of this host, but the addresses differ. */
		{ .id = 4, .role = "client", .test = "rping", .qp = 30, .peer_run = 1,
		  .src = "10.9.0.1:4", .dst = "10.9.0.2:9999" },
	};
	/* clang-format on */
	struct krp_runs runs = { .v = v, .nr = 4 };

	assert_string_equal(made(krp_pair_of_runs(&pair, &runs, 1, false)), "2 1 0");
	assert_string_equal(made(krp_pair_of_runs(&pair, &runs, 1, true)), "2 1 1");
	assert_string_equal(made(krp_pair_of_runs(&pair, &runs, 3, false)), "none");
	assert_string_equal(made(krp_pair_of_runs(&pair, &runs, 5, false)), "none");
	assert_string_equal(made(krp_pair_of_runs(&pair, &runs, 4, false)), "4 0 0");
}

/* Draws the iteration that was chosen: a page that has these parts, and not those that begin with '!'. */
#define draws(...) draws_(__VA_ARGS__, NULL)
static void draws_(const char *first, ...)
{
	const struct krp_iteration *it = choice();
	const char *line, *end, *part = first;
	va_list parts;

	assert_non_null(it);
	assert_true(krp_steps_make(&steps, &pair, it));
	assert_true(krp_ladder_draw(printer(), &pair, it, &steps));
	printed();
	for (line = unit_text; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true(end - line < 80 && (end == line || end[-1] != ' '));
		for (; line < end; line++)
			assert_in_range(*line, ' ', '~');
	}
	va_start(parts, first);
	for (; part; part = va_arg(parts, const char *))
		has(unit_text, part);
	va_end(parts);
}

/* Adds a ping from t on, and the server's next phase, which completes it. */
static void whole_ping(uint64_t t)
{
	t = ping(t, 10000);
	phase(KRP_SERVER, t + 7000, KRPING_PHASE_REG_READ, 0);
}

/* The whole picture. The golden file was checked by hand: the picture must not change unnoticed. */
TEST(drawing)
{
	char golden[32768] = "";
	FILE *file = fopen(KRP_TOP "/tests/unit/ladder.golden", "r");

	whole_ping(ping(begin(C, KRP_PICK_NUMBER, 1), 5000));
	draws("client, run 2");
	assert_non_null(file);
	assert_true(fread(golden, 1, sizeof(golden) - 1, file) > 0);
	fclose(file);
	/* The first line of the file is the licence. */
	assert_string_equal(unit_text, strchr(golden, '\n') + 1);
}

TEST(server_inv)
{
	uint64_t t = begin(C, KRP_PICK_NUMBER, 0);
	f.inv = true;
	whole_ping(t);
	draws("SEND_WITH_INV 0x1201 16B\n", "!LOCAL_INV");
}

/* A post that the provider refused has its errno, and a forged one is none. */
TEST(refused)
{
	static const int32_t errs[] = { -22, INT32_MIN };
	uint64_t t = begin(C, KRP_PICK_NUMBER, 0);

	each(err, errs) {
		make(KRP_EV_post_send_err, t + 10, C);
		KRP_ARG(&rec, post_send_err, kind) = KRPING_WR_SEND;
		KRP_ARG(&rec, post_send_err, err) = (uint32_t)*err;
		krp_ladder_feed(f.l, &rec);
	}
	whole_ping(t);
	draws("SEND refused: EINVAL\n", "SEND refused: ?\n");
}

TEST(one_sided)
{
	ping(ping(begin(0, KRP_PICK_MEDIAN, 0), 10000), 10000);
	draws("client, not on this host", "  -----> RECV 16B\n", "<----- SEND 16B\n",
	      "total, by the server\n", "!fill");
}

/* Many messages at once, long names, huge times: messages beyond the lanes are drawn as stumps. */
TEST(crowd)
{
	uint64_t t = 1000000;
	unsigned int i, k;

	begin(C, KRP_PICK_SLOWEST, 0);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 6; i++) {
			offer(i & 1, t + 10, 0xffffffff, 0xffffffff);
			post(i & 1, t + 10, KRPING_WR_SEND, 16, 0, 0);
			t += 1000;
		}
		for (i = 0; i < 6; i++)
			wc(!(i & 1), t += 1000, i, KRPING_WR_RECV, 16);
		post(KRP_CLIENT, t += 10, KRPING_WR_RDMA_WRITE, 0xffffffff, 0xffffffff, 0);
		post(KRP_CLIENT, t += 10, KRPING_WR_RDMA_READ, 131072, 0xffffffff, 0);
		/* A kind that is newer than this tool. */
		post(KRP_CLIENT, t += 10, 250, 0xffffffff, 0xffffffff, 0xffffffff);
		t += 5000000000000;
	}
	phase(KRP_CLIENT, t, KRPING_PHASE_FILL, KRPING_PHASE_F_COMMIT);
	/* The last of these are lines that cross. */
	draws("B =======>  [0xffffffff]\n", "B <============  [0xffffffff]\n", "---+-+-.\n");
}

TEST(json)
{
	unsigned int i, phases = 0, posts = 0, waits = 0;
	int64_t sum = 0;
	const char *what;
	json_object *o;

	ping(begin(C, KRP_PICK_NUMBER, 0), 10000);
	assert_true(krp_steps_make(&steps, &pair, choice()));
	for (i = 0; i < steps.nr; i++) {
		o = krp_step_json(&steps.v[i]);
		what = member(o, "what");
		if (!strcmp(what, "phase")) {
			phases++;
			if (!strcmp(member(o, "side"), "client"))
				sum += strtoll(member(o, "duration_ns"), NULL, 10);
			/* The server is still in its last phase, whose end was not seen. */
			else if (i > steps.nr / 2 && !strcmp(steps.v[i].text, "wait_source"))
				assert_int_equal(steps.v[i].duration, -1);
		} else if (!strcmp(what, "post")) {
			posts++;
			assert_string_not_equal(member(o, "kind"), "?");
		} else if (!strcmp(what, "wait")) {
			waits++;
			/* Unknown for a receive: null. */
			assert_int_equal(!strcmp(member(o, "post_ns"), "null"),
					 strstr(json_object_to_json_string(o), "RECV") != NULL);
			assert_string_equal(member(o, "wake_ns"), "2000");
		}
		json_object_put(o);
	}
	/* The client: fill, 2 * 3; the server: the phase that it was in, 2 * 4. */
	assert_int_equal(phases, 7 + 1 + 8);
	/* Twice LOCAL_INV REG_MR SEND, RECV REG_MR READ|WRITE SEND; one more RECV of the client */
	are("15 6", posts, waits);
	assert_int_equal(sum, PING * 10000);
}
