// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ladder: the pair of runs, the choice of an iteration, the drawing. Events are those of recording.pl, or invented. */
#include "unit.h"
#include "tools/lib/recording.h"
#include "tools/lib/tool.h"
#include "tools/trace/ladder.h"
#include "trace/krping_abi.h"

#define C     2 /* the client's run */
#define S     1 /* the server's run */
#define NONCE 0x1122334455667788ULL
#define PING  22 /* units of time of recording.pl */

static struct krp_event_rec rec;
static struct krp_ladder *ladder;
static struct krp_pair pair;
static struct krp_ladder_stats st;
static struct krp_steps steps;
/* So many iterations of the client are over, and behind so many the chosen one is settled. */
static unsigned int iters, settles;

TEARDOWN()
{
	krp_steps_free(&steps);
	krp_ladder_free(ladder);
	ladder = NULL;
	memset(&steps, 0, sizeof(steps));
	iters = settles = 0;
}

/* Makes an event, with its arguments by their numbers; and feeds it. */
#define make(run, t, event, ...) \
	make_(run, t, KRP_EV_##event, (uint64_t[KRP_MAX_ARGS]){ __VA_ARGS__ })
static void make_(uint32_t run, uint64_t t, enum krp_event id, const uint64_t *args)
{
	rec = (struct krp_event_rec){ .head = { .t = t, .run = run, .event = id } };
	memcpy(rec.args, args, sizeof(rec.args));
	rec.args[0] = run;
	if (krp_events[id].stamp >= 0)
		rec.args[krp_events[id].stamp] = t;
}

#define feed(...)                              \
	do {                                   \
		make(__VA_ARGS__);             \
		krp_ladder_feed(ladder, &rec); \
	} while (0)

/* The client has been in its first phase since some time; committed: an iteration has ended with it. */
static void fills(uint64_t t, uint64_t since, bool committed)
{
	iters += committed;
	feed(C, t, phase, [KRP_ARG_phase_iter] = iters, [KRP_ARG_phase_t_prev] = since,
	     [KRP_ARG_phase_phase] = KRPING_PHASE_FILL,
	     [KRP_ARG_phase_prev] = committed ? KRPING_PHASE_FILL : KRPING_PHASE_CONNECT,
	     [KRP_ARG_phase_flags] = committed ? KRPING_PHASE_F_COMMIT : 0);
}

static void posts(uint32_t run, uint64_t t, uint32_t cid, uint32_t kind, uint32_t len,
		  uint32_t rkey)
{
	feed(run, t, post_send, [KRP_ARG_post_send_cid] = cid, [KRP_ARG_post_send_kind] = kind,
	     [KRP_ARG_post_send_len] = len, [KRP_ARG_post_send_rkey] = rkey,
	     [KRP_ARG_post_send_flags] = KRPING_POST_F_SIGNALED);
}

static const struct krp_iteration *choice(void)
{
	return krp_ladder_choice(ladder, &st);
}

/* Begins to feed. A client 0 is on another host. */
static void begin(uint32_t client, enum krp_pick pick, uint64_t number)
{
	teardown();
	pair = (struct krp_pair){ .own = client ? KRP_CLIENT : KRP_SERVER, .test = "rping" };
	pair.end[KRP_CLIENT] = (struct krp_end){ client, 17, 1, 64, "rxe0" };
	pair.end[KRP_SERVER] = (struct krp_end){ S, 18, 1, 64, "rxe0" };
	ladder = krp_ladder_new(pick, number, &pair);
	assert_true(ladder && !choice());
}

/* Feeds a recording of so many pings, up to its end, or to that of the last ping. What is not kept is lost; it may change rec. */
static void play(const char *pings, bool whole, bool (*keep)(void))
{
	unsigned int nr = atoi(pings + strcspn(pings, "123456789"));
	const struct krp_event_head *h;
	struct krp_runs runs = { 0 };
	struct krp_recording in;
	char command[512];
	size_t size;
	FILE *f;

	snprintf(command, sizeof(command), KRP_TOP "/tests/unit/recording.pl %s", pings);
	f = popen(command, "r");
	assert_non_null(f);
	assert_null(krp_recording_open(&in, f, &runs));
	while ((h = krp_recording_next(&in, &size))) {
		assert_true(krp_event_parse(&rec, h, size));
		if ((iters == nr && !whole) || (keep && !keep()))
			continue;
		krp_ladder_feed(ladder, &rec);
		if (rec.head.event != KRP_EV_phase || rec.head.run != C ||
		    !(KRP_ARG(&rec, phase, flags) & KRPING_PHASE_F_COMMIT))
			continue;
		iters++;
		assert_int_equal(krp_ladder_is_settled(ladder), settles && iters >= settles);
	}
	assert_true(in.whole && runs.nonce == NONCE && !pclose(f) && iters == nr);
	in.f = NULL;
	krp_recording_close(&in);
	krp_runs_free(&runs);
}

TEST(pick)
{
	/* The iterations' units; the median is 7, which two iterations have. */
	static const unsigned int units[] = { 9, 3, 7, 12, 5, 7, 11, 4, 8 };
	static const struct {
		enum krp_pick pick;
		uint64_t number, iter, rank;
	} want[] = TABLE(
		{ KRP_PICK_MEDIAN, 0, 2, 4 }, { KRP_PICK_SLOWEST, 0, 3, 9 }, { KRP_PICK_FASTEST, 0, 1, 1 }, { KRP_PICK_NUMBER, 6, 6, 8 },
	);
	const struct krp_iteration *it;
	unsigned int k;

	each(row, want) {
		begin(C, row->pick, row->number);
		/* An iteration with a number is ready as soon as the other end has left its current phase. */
		settles = row->number ? row->number + 2 : 0;
		play("9 9000 3000 7000 12000 5000 7000 11000 4000 8000", true, NULL);
		assert_true(krp_ladder_has_ended(ladder));
		it = choice();
		assert_true(it && it->iter == row->iter && st.rank == row->rank);
		assert_int_equal(it->t_end - it->t_begin, PING * units[row->iter] * 1000);
		are("9 1 0 1", st.seen, st.aborted, st.holes + st.too_long, st.exact);
		are("3000 7000 12000", st.fastest / PING, st.median / PING, st.slowest / PING);
		/* It has the events of both ends, and none before its begin or after its end. */
		are("1 1", it->has_before, it->has_after);
		for (k = 0; k < it->nr; k++)
			assert_in_range(it->event[k].head.t, it->t_begin, it->t_end);
	}
	begin(C, KRP_PICK_NUMBER, 23);
	play("1", false, NULL);
	assert_true(!choice() && st.seen == 1);
}

/* Iterations of one phase, of which very many can be fed. */
static void turns(uint64_t (*duration)(unsigned int i), unsigned int n)
{
	uint64_t t = 1000000, since = t - 100000;
	unsigned int i;

	fills(t, since, false);
	for (i = 0; i < n; i++) {
		since = t;
		t += duration(i);
		fills(t, since, true);
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
	} t[] = TABLE(
		{ drifting, 37000, 256, { 1, 37000 }, true }, { spread, 300000, 256, { 149000, 151000 }, true },
		{ same, 1000, 1000000, { 1, 1 }, true },
		/* More durations than can be kept: the median is that of the first ones. */
		{ spread, KRP_LADDER_DURATIONS + 500000, 256, { 770000, 810000 }, false },
	);
	const struct krp_iteration *it;
	uint64_t d;

	each(row, t) {
		begin(C, KRP_PICK_MEDIAN, 0);
		turns(row->duration, row->n);
		it = choice();
		assert_true(it && st.seen == row->n && st.exact == row->exact);
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
	uint64_t t = 1000000, since = t;
	unsigned int i, k, n, cid = 0;

	begin(C, KRP_PICK_MEDIAN, 0);
	fills(t, t - 100000, false);
	for (i = 0; i < 200; i++) {
		n = i == 57 ? KRP_LADDER_EVENTS : 3000;
		for (k = 0; k < n; k++)
			feed(C, t + k, post_recv, [KRP_ARG_post_recv_cid] = cid++,
			     [KRP_ARG_post_recv_len] = 16);
		since = t;
		t += 100000 + (i * 37 % 200) * 10000;
		fills(t, since, true);
	}
	it = choice();
	are("200 1 3002", st.seen, st.too_long, it->nr);
	assert_in_range(it->t_end - it->t_begin, st.median - 20000, st.median + 20000);
}

/* What is lost, or has the length 3: the first such event of an iteration. An ordinary one has no such kind. */
static struct loss {
	unsigned int iter;
	enum krp_event event;
	uint32_t run, kind;
	bool bad_len;
} losses[8];

static bool damaged(void)
{
	each(l, losses) {
		if (l->iter != iters || l->event != rec.head.event || l->run != rec.head.run ||
		    (l->event == KRP_EV_wc && l->kind != KRP_ARG(&rec, wc, kind)) ||
		    (l->event == KRP_EV_post_send && l->kind != KRP_ARG(&rec, post_send, kind)))
			continue;
		if (l->bad_len)
			KRP_ARG(&rec, wc, len) = 3;
		l->iter = UINT32_MAX;
		return l->bad_len;
	}
	return true;
}

/* An iteration of which events were lost is never shown. */
TEST(holes)
{
	static const struct loss these[] = {
		{ 1, KRP_EV_phase, C, 0, false },
		{ 3, KRP_EV_wc, S, KRPING_WR_RECV, false },
		{ 4, KRP_EV_wc, C, KRPING_WR_SEND, false },
		{ 6, KRP_EV_post_send, C, KRPING_WR_REG_MR, false },
		{ 7, KRP_EV_post_send, S, KRPING_WR_REG_MR, false },
	};

	begin(C, KRP_PICK_SLOWEST, 0);
	memcpy(losses, these, sizeof(these));
	play("9 1000 9000 2000 9000 9000 1000 9000 9000 1000", false, damaged);
	are("2 5 4 2000", choice()->iter, st.holes, st.seen, st.slowest / PING);
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
	/* Not in an earlier ping: the order of the first RECVs is unknown. */
	static const struct loss any[] = {
		{ UINT32_MAX, 0, 0, 0, false },
		{ 2, KRP_EV_wc, S, KRPING_WR_RECV, false },
		{ 2, KRP_EV_post_send, C, KRPING_WR_SEND, false },
		{ 2, KRP_EV_wc, S, KRPING_WR_RECV, true },
	};
	const struct krp_step *send, *recv;
	unsigned int i, k;

	each(lost, any) {
		begin(C, KRP_PICK_NUMBER, 3);
		settles = 5;
		losses[0] = *lost;
		play("5 1000 1000 1000 1000 1000", false, damaged);
		krp_steps_make(&steps, &pair, choice());
		for (k = 0; k < KRP_NR_SIDES; k++) {
			for (i = 0; i < 2; i++) {
				send = find(KRP_ARROW_SEND, k, i);
				recv = find(KRP_ARROW_RECV, !k, i);
				assert_true(send && recv && send->message > 0);
				assert_int_equal(send->message, recv->message);
			}
			assert_null(find(KRP_ARROW_SEND, k, 2));
		}
	}
}

static void conn(uint32_t run, uint32_t peer, uint64_t nonce)
{
	make(run, 1000,
	     conn, [KRP_ARG_conn_qp] = 10 + run, [KRP_ARG_conn_port] = 1, [KRP_ARG_conn_size] = 64,
	     [KRP_ARG_conn_peer_run] = peer, [KRP_ARG_conn_peer_nonce] = nonce);
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
	make(C, 1, wc, 0);
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
#define draws(...)                            \
	do {                                  \
		draw();                       \
		each_text(part, __VA_ARGS__)  \
			has(unit_text, part); \
	} while (0)
static void draw(void)
{
	const struct krp_iteration *it = choice();
	const char *line, *end;

	assert_non_null(it);
	krp_steps_make(&steps, &pair, it);
	krp_ladder_draw(printer(), &pair, it, &steps);
	printed();
	for (line = unit_text; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true(end - line < 80 && (end == line || end[-1] != ' '));
		for (; line < end; line++)
			assert_in_range(*line, ' ', '~');
	}
}

/* The whole picture. The golden file was checked by hand: the picture must not change unnoticed. */
TEST(drawing)
{
	char golden[32768] = "";
	FILE *file = fopen(KRP_TOP "/tests/unit/ladder.golden", "r");

	begin(C, KRP_PICK_NUMBER, 1);
	settles = 3;
	play("3 5000 10000 1000", false, NULL);
	draws("client, run 2");
	assert_non_null(file);
	assert_true(fread(golden, 1, sizeof(golden) - 1, file) > 0);
	fclose(file);
	/* The first line of the file is the licence. */
	assert_string_equal(unit_text, strchr(golden, '\n') + 1);
}

TEST(server_inv)
{
	begin(C, KRP_PICK_NUMBER, 0);
	play("--inv 1", false, NULL);
	draws("SEND_WITH_INV 0x1201 16B\n", "!LOCAL_INV");
}

/* Each registration becomes a post that the provider refused, for an errno or for a number that is none. */
static bool refused(void)
{
	static const int32_t errs[] = { -22, INT32_MIN };
	static unsigned int nr;

	if (rec.head.event == KRP_EV_mr_fastreg)
		make(C, rec.head.t, post_send_err, [KRP_ARG_post_send_err_kind] = KRPING_WR_SEND,
		     [KRP_ARG_post_send_err_err] = (uint32_t)errs[nr++ % 2]);
	return true;
}

TEST(refused)
{
	begin(C, KRP_PICK_NUMBER, 0);
	play("1", false, refused);
	draws("SEND refused: EINVAL\n", "SEND refused: ?\n");
}

TEST(one_sided)
{
	begin(0, KRP_PICK_MEDIAN, 0);
	play("2 10000 10000", false, NULL);
	draws("client, not on this host", "  -----> RECV 16B\n", "<----- SEND 16B\n",
	      "total, by the server\n", "!fill");
}

/* Many messages at once, long names, huge times: messages beyond the lanes are drawn as stumps. */
TEST(crowd)
{
	uint32_t cid[] = { [C] = 4, [S] = 4 }, run;
	uint64_t t = 1000000;
	unsigned int i, k;

	begin(C, KRP_PICK_SLOWEST, 0);
	fills(t, t - 100000, false);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 6; i++, t += 1000) {
			run = i & 1 ? S : C;
			feed(run, t + 10, adv_send, [KRP_ARG_adv_send_rkey] = 0xffffffff,
			     [KRP_ARG_adv_send_len] = 0xffffffff);
			posts(run, t + 10, cid[run]++, KRPING_WR_SEND, 16, 0);
		}
		for (i = 0; i < 6; i++)
			feed(i & 1 ? C : S, t += 1000, wc, [KRP_ARG_wc_cid] = k + i / 2,
			     [KRP_ARG_wc_kind] = KRPING_WR_RECV, [KRP_ARG_wc_len] = 16);
		posts(C, t += 10, cid[C]++, KRPING_WR_RDMA_WRITE, 0xffffffff, 0xffffffff);
		posts(C, t += 10, cid[C]++, KRPING_WR_RDMA_READ, 131072, 0xffffffff);
		/* A kind that is newer than this tool. */
		feed(C, t += 10,
		     post_send, [KRP_ARG_post_send_cid] = cid[C]++, [KRP_ARG_post_send_kind] = 250,
		     [KRP_ARG_post_send_len] = 0xffffffff, [KRP_ARG_post_send_rkey] = 0xffffffff,
		     [KRP_ARG_post_send_inv_rkey] = 0xffffffff);
		t += 5000000000000;
	}
	fills(t, 1000000, true);
	/* The last of these are lines that cross. */
	draws("B =======>  [0xffffffff]\n", "B <============  [0xffffffff]\n", "---+-+-.\n",
	      "? 0xffffffff 0xffffffff\n");
}

TEST(json)
{
	unsigned int i, phases = 0, posts = 0, waits = 0;
	int64_t sum = 0;
	const char *what;
	json_object *o;

	begin(C, KRP_PICK_NUMBER, 0);
	play("1 10000", false, NULL);
	krp_steps_make(&steps, &pair, choice());
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
