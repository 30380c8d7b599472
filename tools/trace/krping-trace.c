// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-trace: the events of krping's runs as they come; and the ladder, both
 * ends of one iteration.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/events.h"
#include "../lib/names.h"
#include "ladder.h"
#include "order.h"
#include "../lib/recording.h"
#include "../lib/source.h"
#include "../lib/tool.h"
#include "../krping/views.h"

/* An event that comes this much later than a younger one is out of order. */
#define WINDOW_NS	100000000ULL
#define RING_KIB	8192
/*
 * Room for events that wait for their turn: the events of the window, at half a
 * million per second.
 */
#define ORDER_ROOM	65536
/* How often the ring is emptied. If it fills faster, it wakes us, but only after a pause. */
#define CONSUME_SECONDS 0.1
#define PAUSE_SECONDS	0.01
/* Signals are looked at between batches, however fast the events come. */
#define BATCH		16384

/* What its events, or /proc, have told of a run. */
struct known {
	uint32_t id;
	bool counted, ended;
	bool late; /* it began before we attached */
	struct krp_run_info info;
};

static struct krp_source source;
static struct krp_order *order;
static unsigned int batch;

static struct known *known;
static size_t nr_known, room_known;
static unsigned long nr_seen, nr_ended;

static const char *globs;
static unsigned long max_events;
static bool delta, wide;
static struct krp_recording recording;
static struct krp_runs recorded;

static uint64_t nr_shown, counts[KRP_NR_EVENTS];
static uint64_t t_first, t_before;
static uint64_t lost_told;
static unsigned int width;

static bool ladder_mode;
static enum krp_pick pick = KRP_PICK_MEDIAN;
static const char *const pick_words[] = { "median", "slowest", "fastest", "number" };
static uint64_t pick_number;
static struct krp_ladder *ladder;
static uint64_t own_nonce;

static struct krp_lost losses(void)
{
	return krp_tool.opts.input ? recording.lost : krp_source_lost(&source);
}

static struct known *find_known(uint32_t id)
{
	static size_t found[4096]; /* by run: where it was last found */
	size_t *i = &found[id % (sizeof(found) / sizeof(*found))];

	if (*i < nr_known && known[*i].id == id)
		return &known[*i];
	for (*i = 0; *i < nr_known; ++*i) {
		if (known[*i].id == id)
			return &known[*i];
	}
	return NULL;
}

static void forget_ended(void)
{
	size_t i, n = 0;

	for (i = 0; i < nr_known; i++) {
		if (!known[i].ended)
			known[n++] = known[i];
	}
	nr_known = n;
}

static struct known *run_of(const struct krp_event_rec *rec)
{
	struct krp_runs live = { 0 }, *runs = krp_tool.opts.input ? &recorded : &live;
	struct known *k = find_known(rec->head.run);
	const struct krp_run_info *info;

	if (k)
		return k;
	if (nr_known == room_known) {
		/* Some ended runs are kept, since a last event may come later. */
		forget_ended();
		if (2 * nr_known >= room_known) {
			room_known = room_known ? 2 * room_known : 256;
			known = krp_resize(known, room_known, sizeof(*known));
		}
	}
	k = &known[nr_known++];
	memset(k, 0, sizeof(*k));
	k->id = rec->head.run;
	k->late = rec->head.event != KRP_EV_run_start;
	if (k->late && !krp_tool.opts.input)
		krp_runs_read(&live);
	info = k->late ? krp_runs_find(runs, k->id) : NULL;
	if (info)
		k->info = *info;
	krp_runs_free(&live);
	k->info.id = k->id;
	return k;
}

/* Takes over what an event tells of its run. */
static void update_run(struct known *k, const struct krp_event_rec *rec)
{
	switch (rec->head.event) {
	case KRP_EV_run_start:
		snprintf(k->info.role, sizeof(k->info.role), "%s",
			 krp_name(&krp_role_names, KRP_ARG(rec, run_start, role)));
		snprintf(k->info.test, sizeof(k->info.test), "%s",
			 krp_name(&krp_test_names, KRP_ARG(rec, run_start, test)));
		snprintf(k->info.name, sizeof(k->info.name), "%s", *rec->label ? rec->label : "-");
		break;
	case KRP_EV_conn:
		/* A server may have taken the client's test. */
		snprintf(k->info.test, sizeof(k->info.test), "%s",
			 krp_name(&krp_test_names, KRP_ARG(rec, conn, test)));
		snprintf(k->info.dev, sizeof(k->info.dev), "%s", rec->text);
		k->info.qp = KRP_ARG(rec, conn, qp);
		break;
	}
}

/* These events tell which run it is, so they are needed whatever is shown; they are rare. */
static bool always_wanted(enum krp_event event)
{
	return event == KRP_EV_run_start || event == KRP_EV_run_end || event == KRP_EV_conn;
}

static bool is_wanted(const char *event)
{
	return !globs || krp_globs_match(globs, event);
}

static bool is_attached(const char *event)
{
	int id = krp_event_find(event);

	/* The ladder has all in its steps; the events of iterations only repeat it. */
	if (ladder_mode)
		return id < KRP_EV_iter || id > KRP_EV_iter_split;
	return is_wanted(event) || always_wanted(id);
}

static void print_text(const struct krp_event_rec *rec, const struct known *k)
{
	const char *name = krp_events[rec->head.event].name;
	char prefix[128], time[64] = "";
	int column;

	if (!nr_shown)
		printf("%s%12s %4s %-6s %-13s %s\n", krp_tool.opts.stamp ? "CLOCK           " : "",
		       delta ? "DELTA us" : "TIME us", "RUN", "ROLE", "EVENT", "FIELDS");
	if (krp_tool.opts.stamp)
		krp_mono_rfc3339(time, sizeof(time), rec->head.t);
	column = snprintf(prefix, sizeof(prefix), "%.15s%s%12.3f %4u %-6s %-13s",
			  *time ? time + 11 : "", *time ? " " : "",
			  (int64_t)(rec->head.t - (delta ? t_before : t_first)) / 1e3,
			  rec->head.run, *k->info.role ? k->info.role : "-", name);
	fputs(prefix, stdout);
	krp_event_text(stdout, rec, t_first, column, 20, wide ? 0 : width);
	putchar('\n');
}

static void json_head(const struct krp_event_rec *rec)
{
	char time[64];

	krp_mono_rfc3339(time, sizeof(time), rec->head.t);
	printf("{\"tool\":\"%s\",\"schema\":%d,\"time\":\"%s\",\"final\":false", krp_tool.name,
	       KRP_JSON_SCHEMA, time);
}

static void print_json(const struct krp_event_rec *rec, const struct known *k)
{
	json_head(rec);
	printf(",\"t_ns\":%llu,\"event\":\"%s\",\"run\":%u,\"role\":", rec->head.t,
	       krp_events[rec->head.event].name, rec->head.run);
	if (*k->info.role)
		krp_json_quote(stdout, k->info.role);
	else
		fputs("null", stdout);
	krp_event_json(stdout, rec);
	/* Tell what the nonce means: a reader does not have the module's own nonce. */
	if (rec->head.event == KRP_EV_conn)
		printf(",\"peer_here\":%s",
		       own_nonce && KRP_ARG(rec, conn, peer_nonce) == own_nonce ? "true" : "false");
	puts("}");
}

static void show(const struct krp_event_rec *rec, const struct known *k)
{
	if (!nr_shown)
		t_first = t_before = rec->head.t;
	if (krp_tool.opts.json)
		print_json(rec, k);
	else
		print_text(rec, k);
	nr_shown++;
	counts[rec->head.event]++;
	t_before = rec->head.t;
}

static bool is_enough(void)
{
	return max_events && nr_shown >= max_events;
}

/*
 * Chooses the first pair that is connected, and keeps it until it has ended;
 * then, if nothing of it can be shown, the next pair.
 */
static void ladder_pair(const struct krp_event_rec *rec, const struct known *k)
{
	bool wanted = krp_tool.opts.run || krp_tool.opts.role;
	struct krp_runs live = { 0 };
	struct krp_pair pair;
	bool found = false;

	if (krp_tool.opts.run && rec->head.run != krp_tool.opts.run)
		return;
	if (!krp_filter(&k->info))
		return;
	if (rec->head.event == KRP_EV_conn) {
		found = krp_pair_of_conn(&pair, rec, &k->info, own_nonce, wanted);
	} else if (rec->head.event == KRP_EV_phase && k->late) {
		/* The run began before we attached. */
		if (!krp_tool.opts.input)
			krp_runs_read(&live);
		found = krp_pair_of_runs(&pair, krp_tool.opts.input ? &recorded : &live,
					 rec->head.run, wanted);
		krp_runs_free(&live);
	}
	if (!found)
		return;
	ladder = krp_ladder_new(pick, pick_number, &pair);
}

static void why_nothing(char *buf, size_t size, const struct krp_ladder_stats *st)
{
	int n;

	if (pick == KRP_PICK_NUMBER)
		n = snprintf(buf, size, "no whole iteration %" PRIu64 " was seen", pick_number);
	else
		n = snprintf(buf, size, "no whole iteration was seen");
	snprintf(buf + n, size - n,
		 " (whole %" PRIu64 ", incomplete %" PRIu64 ", too long %" PRIu64
		 ", cut short %" PRIu64 ", lost events %" PRIu64 ")",
		 st->seen, st->holes, st->too_long, st->aborted, krp_lost_sum(losses()));
}

static bool progress_shown;

/* Shows progress to a user at a terminal: the ladder of an endless run is drawn only on request. */
static void ladder_progress(void)
{
	struct krp_ladder_stats stats;

	if (!ladder || krp_tool.opts.json || !isatty(STDERR_FILENO))
		return;
	krp_ladder_choice(ladder, &stats);
	fprintf(stderr, "\r%" PRIu64 " iterations seen; Ctrl-C draws\033[K", stats.seen);
	progress_shown = true;
}

/* Goes on to the next pair: this one has ended and has nothing to show. */
static void next_pair(void)
{
	struct krp_ladder_stats stats;
	const struct krp_pair *pair;
	char why[256];

	if (!ladder || !krp_ladder_has_ended(ladder) || krp_tool.opts.run ||
	    krp_ladder_choice(ladder, &stats))
		return;
	why_nothing(why, sizeof(why), &stats);
	pair = krp_ladder_pair(ladder);
	krp_note("run %u: %s; waiting for another pair", pair->end[pair->own].run, why);
	krp_ladder_free(ladder);
	ladder = NULL;
}

static void run_is_over(struct known *k)
{
	nr_ended += k->counted && !k->ended;
	k->ended = true;
}

/* Handles an event in its turn. */
static void handle(const struct krp_event_rec *rec)
{
	struct known *k = run_of(rec);
	bool shown;

	update_run(k, rec);
	/* For live events the programs have already checked the run, but for a ladder. */
	shown = krp_shows(k->id, &k->info);
	nr_seen += shown && !k->counted;
	k->counted |= shown;
	if (ladder_mode && !ladder)
		ladder_pair(rec, k);
	if (ladder && !krp_ladder_is_settled(ladder))
		krp_ladder_feed(ladder, rec);
	if (!ladder_mode && shown && is_wanted(krp_events[rec->head.event].name) && !is_enough())
		show(rec, k);
	if (rec->head.event == KRP_EV_run_end)
		run_is_over(k);
	next_pair();
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct krp_event_rec rec;

	(void)ctx;
	if (!krp_event_parse(&rec, data, size))
		return 0;
	if (krp_order_full(order))
		handle(krp_order_take(order, UINT64_MAX));
	krp_order_put(order, &rec);
	return ++batch % BATCH ? 0 : -EAGAIN;
}

/* Shows the events up to t, each in its turn. */
static void show_until(uint64_t t)
{
	const struct krp_event_rec *rec;

	while ((rec = krp_order_take(order, t)))
		handle(rec);
	fflush(stdout);
}

static void consume(void)
{
	uint64_t now = krp_time_now();

	/* Read one batch, then look at signals. */
	krp_source_read(&source);
	show_until(now - WINDOW_NS);
}

/* If the end of a run was lost, we would wait for it for ever: /proc tells that it has ended. */
static void find_ended(void)
{
	const struct krp_run_info *info;
	struct krp_runs runs = { 0 };
	uint64_t now = krp_time_now();
	struct known *k;

	if (krp_runs_read(&runs))
		return;
	for (k = known; k < known + nr_known; k++) {
		info = krp_runs_find(&runs, k->id);
		/* It must have ended long enough ago for its last events to have come through. */
		if (k->ended || !info || !krp_run_finished(info) ||
		    info->start_ns + info->elapsed_ns + 10 * WINDOW_NS > now)
			continue;
		run_is_over(k);
		if (ladder)
			krp_ladder_run_ended(ladder, k->id);
	}
	krp_runs_free(&runs);
	next_pair();
}

/* Reports losses when they happen, not only at the end. */
static void look_for_losses(void)
{
	uint64_t lost = krp_lost_sum(losses());
	json_object *o;

	if (lost)
		find_ended();
	if (lost == lost_told || ladder_mode)
		return;
	lost_told = lost;
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, false);
		krp_json_u64(o, "lost", lost_told);
		krp_json_emit(stdout, o);
	} else {
		printf("-- lost events %" PRIu64 " so far\n", lost_told);
	}
}

static void lost_json(json_object *o)
{
	krp_json_lost(o, losses());
	krp_json_u64(o, "out_of_order", krp_order_late(order));
	if (recording.damage)
		krp_json_text(o, "damage", recording.damage);
}

static void print_lost(FILE *f)
{
	struct krp_lost lost = losses();

	fprintf(f, "lost events %s", krp_lost_text(lost));
	if (krp_lost_sum(lost))
		fprintf(f, " (ring buffer full %" PRIu64 ", program busy %" PRIu64 ")",
			lost.dropped, lost.missed);
	if (krp_order_late(order))
		fprintf(f, ", out of order %" PRIu64, krp_order_late(order));
	fputc('\n', f);
}

static void stream_summary(void)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "EVENT", -13 }, { "COUNT", 9 }, { " EVENT", -14 }, { "COUNT", 9 },
		{ " EVENT", -14 }, { "COUNT", 9 },
	} };
	/* clang-format on */
	json_object *o, *c;
	unsigned int i;
	FILE *f;

	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, true);
		krp_json_u64(o, "events", nr_shown);
		lost_json(o);
		c = json_object_new_object();
		for (i = 0; i < KRP_NR_EVENTS; i++) {
			if (counts[i])
				krp_json_u64(c, krp_events[i].name, counts[i]);
		}
		json_object_object_add(o, "counts", c);
		krp_json_emit(stdout, o);
		return;
	}
	f = krp_text();
	for (i = 0; i < KRP_NR_EVENTS; i++) {
		if (!counts[i])
			continue;
		krp_cell(&t, "%s%s", t.nr % 6 ? " " : "", krp_events[i].name);
		krp_cell(&t, "%s", krp_count(counts[i]).s);
	}
	/* The last row is not full. */
	while (t.nr % 6)
		krp_cell(&t, "%s", "");
	if (nr_shown) {
		fputc('\n', f);
		krp_table_print(f, &t, 0);
	} else if (krp_tool.opts.input) {
		fputs("no events to show\n", f);
	} else {
		fputs("no events seen: start \"krping server\", and \"krping client\"\n", f);
	}
	fprintf(f, "events %" PRIu64 ", ", nr_shown);
	print_lost(f);
	krp_show(false);
}

static const char *pick_text(char *buf, size_t size, const struct krp_ladder_stats *st)
{
	if (pick == KRP_PICK_NUMBER)
		snprintf(buf, size, "number %" PRIu64 " of %" PRIu64 " from the fastest", st->rank,
			 st->seen);
	else
		snprintf(buf, size, "the %s of %" PRIu64, pick_words[pick], st->seen);
	return buf;
}

/* The label of an end; NULL: it has none, or is not on this host. */
static const char *end_label(const struct krp_end *end)
{
	const struct known *k = find_known(end->run);

	return k ? krp_run_label(&k->info) : NULL;
}

static void ladder_text(const struct krp_iteration *it, const struct krp_ladder_stats *st,
			const struct krp_steps *steps)
{
	const struct krp_pair *pair = krp_ladder_pair(ladder);
	const struct krp_end *own = &pair->end[pair->own];
	char words[64];
	FILE *f = krp_text();
	unsigned int i;

	fprintf(f, "%s on %s/%u, %u bytes\n", pair->test, own->dev, own->port, own->size);
	for (i = 0; i < KRP_NR_SIDES; i++) {
		if (end_label(&pair->end[i]))
			fprintf(f, "%s: name %s\n", krp_side_names[i], end_label(&pair->end[i]));
	}
	fprintf(f, "iteration %" PRIu64 ": %.1f us, %s\n", it->iter,
		(it->t_end - it->t_begin) / 1e3, pick_text(words, sizeof(words), st));
	fprintf(f, "fastest %.1f, median %.1f, slowest %.1f us", st->fastest / 1e3,
		st->median / 1e3, st->slowest / 1e3);
	if (pick == KRP_PICK_MEDIAN)
		fprintf(f, "; number %" PRIu64 " from the fastest", st->rank);
	fputs(st->exact ? "\n\n" : ", about\n\n", f);
	krp_ladder_draw(f, pair, it, steps);
	if (st->holes || st->too_long || st->aborted)
		fprintf(f,
			"not to choose from: incomplete %" PRIu64 ", too long %" PRIu64
			", cut short %" PRIu64 "\n",
			st->holes, st->too_long, st->aborted);
	print_lost(f);
	krp_show(false);
}

static void end_json(json_object *o, const struct krp_pair *pair, enum krp_side side)
{
	const struct krp_end *end = &pair->end[side];
	json_object *e = NULL;

	if (end->run) {
		e = json_object_new_object();
		krp_json_u64(e, "run", end->run);
		krp_json_text(e, "dev", end->dev);
		krp_json_u64(e, "port", end->port);
		krp_json_u64(e, "qp", end->qp);
		krp_json_u64(e, "size", end->size);
		krp_json_text(e, "name", end_label(end) ?: "-");
	}
	json_object_object_add(o, krp_side_names[side], e);
}

static void ladder_json(const struct krp_iteration *it, const struct krp_ladder_stats *st,
			const struct krp_steps *steps)
{
	const struct krp_pair *pair = krp_ladder_pair(ladder);
	json_object *o = krp_json_new(krp_tool.name, true), *a = json_object_new_array();
	size_t i;

	lost_json(o);
	krp_json_text(o, "pick", pick_words[pick]);
	krp_json_text(o, "test", pair->test);
	krp_json_text(o, "by", krp_side_names[pair->own]);
	end_json(o, pair, KRP_CLIENT);
	end_json(o, pair, KRP_SERVER);
	krp_json_u64(o, "iter", it->iter);
	krp_json_u64(o, "t_ns", it->t_begin);
	krp_json_u64(o, "total_ns", it->t_end - it->t_begin);
	krp_json_u64(o, "iterations", st->seen);
	krp_json_u64(o, "incomplete", st->holes);
	krp_json_u64(o, "too_long", st->too_long);
	krp_json_u64(o, "aborted", st->aborted);
	krp_json_u64(o, "fastest_ns", st->fastest);
	krp_json_u64(o, "median_ns", st->median);
	krp_json_u64(o, "slowest_ns", st->slowest);
	krp_json_u64(o, "rank", st->rank);
	krp_json_bool(o, "exact", st->exact);
	for (i = 0; i < steps->nr; i++)
		json_object_array_add(a, krp_step_json(&steps->v[i]));
	json_object_object_add(o, "steps", a);
	krp_json_emit(stdout, o);
}

static enum krp_exit ladder_summary(void)
{
	const struct krp_iteration *it = NULL;
	struct krp_ladder_stats st = { 0 };
	struct krp_steps steps;
	char why[256];

	if (ladder)
		it = krp_ladder_choice(ladder, &st);
	if (!it) {
		why_nothing(why, sizeof(why), &st);
		krp_error("%s",
			  ladder ? why : "no pair of runs was seen that has anything to show");
		return KRP_EXIT_ENV;
	}
	krp_steps_make(&steps, krp_ladder_pair(ladder), it);
	if (krp_tool.opts.json)
		ladder_json(it, &st, &steps);
	else
		ladder_text(it, &st, &steps);
	krp_steps_free(&steps);
	return KRP_EXIT_OK;
}

static bool has_enough(void)
{
	return is_enough() || (ladder && krp_ladder_is_settled(ladder));
}

static void read_input(void)
{
	const struct krp_event_head *h;
	size_t size;

	krp_recording_input(&recording, krp_tool.opts.input, &recorded);
	while (!has_enough() && (h = krp_recording_next(&recording, &size))) {
		own_nonce = recorded.nonce;
		krp_mono_offset(recording.clock.real - recording.clock.mono);
		on_event(NULL, (void *)h, size);
		if (h->t > WINDOW_NS)
			show_until(h->t - WINDOW_NS);
	}
	show_until(UINT64_MAX);
}

static bool ladder_is_done(void)
{
	if (ladder && (krp_ladder_is_settled(ladder) || krp_ladder_has_ended(ladder)))
		return true;
	/* With --run: wait only for that run, although its peer may go on. */
	return krp_all_done(nr_seen, nr_ended);
}

/*
 * Leaves out the last column of a terminal, since some terminals wrap there.
 * For less than 60 columns the width is 79.
 */
static unsigned int screen_width(void)
{
	unsigned int columns = krp_columns(STDOUT_FILENO);

	return columns < 60 ? 79 : columns - 1;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'E':
		globs = krp_source_globs(arg);
		break;
	case 'c':
		max_events = krp_arg_number("--count", arg, 1, UINT32_MAX);
		break;
	case 'D':
		delta = true;
		break;
	case 'w':
		wide = true;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0 && !strcmp(arg, "ladder")) {
			ladder_mode = true;
			break;
		}
		if (!ladder_mode || state->arg_num != 1)
			krp_die("an argument that is not known: %s (see --help)", arg);
		for (pick = 0; pick < KRP_PICK_NUMBER && strcmp(arg, pick_words[pick]); pick++)
			;
		if (pick < KRP_PICK_NUMBER)
			break;
		if (*arg < '0' || *arg > '9')
			krp_die("ladder: median, slowest, fastest or a number, not %s", arg);
		pick_number = krp_arg_number("ladder", arg, 0, UINT32_MAX);
		break;
	case ARGP_KEY_END:
		if (ladder_mode && (globs || max_events || delta || wide))
			krp_die("--event, --count, --delta and --wide are not for the ladder");
		if (krp_tool.opts.input &&
		    (krp_tool.opts.duration || krp_tool.opts.until_done || krp_tool.opts.records))
			krp_die("--duration, --until-done and --records are not for --input");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Live events, until it is time to stop. */
static void watch(void)
{
	uint32_t ring_kib = krp_tool.opts.records ?: RING_KIB;
	struct krp_runs runs = { 0 };
	uint64_t t_lost = 0;
	enum krp_wake wake;
	bool done;

	if (!krp_runs_read(&runs))
		own_nonce = runs.nonce;
	krp_runs_free(&runs);
	krp_start();
	/* A ladder needs both ends, whichever was asked for. */
	krp_source_open(&source, is_attached, ladder_mode ? 0 : krp_tool.opts.run, ring_kib * 1024,
			ring_kib * 128, on_event, NULL);
	krp_note("Tracing krping's events... %s",
		 ladder_mode ? "the ladder is drawn when the runs end, or at Ctrl-C." :
			       "Ctrl-C to end.");

	do {
		wake = krp_wait_fd(-1, PAUSE_SECONDS);
		if (wake == KRP_WAKE_POLL)
			wake = krp_wait_fd(krp_source_fd(&source), CONSUME_SECONDS);
		krp_source_woken(&source);
		consume();
		if (krp_time_now() - t_lost > 1000000000) {
			t_lost = krp_time_now();
			look_for_losses();
			ladder_progress();
		}
		done = ladder_mode ? ladder_is_done() :
				     is_enough() || krp_all_done(nr_seen, nr_ended);
	} while (wake != KRP_WAKE_STOP && !done);

	if (progress_shown)
		fputs("\r\033[K", stderr);
	krp_source_end(&source);
	show_until(UINT64_MAX);
}

int krp_trace_main(int argc, char **argv)
{
	static const char doc[] =
		"The events of krping's runs as they come, in the order of their times, as text "
		"or JSON. Or the ladder: what both ends did in one iteration."
		"\v"
		"Ends with a count of the events, after N of them, or at Ctrl-C. The ladder is of the "
		"first pair of runs that is seen, or of --run and its peer, and is drawn when they end, "
		"or at Ctrl-C: of the median iteration, the slowest, the fastest, or number N (from 0)."
		"\n\n"
		"  krping trace                      all events until Ctrl-C\n"
		"  krping trace -E 'post_*,wc*' -D   posts and completions, time between them\n"
		"  krping trace -j -e | jq .event    JSON, until all runs have ended\n"
		"  krping trace ladder slowest       both ends of the slowest iteration\n"
		"  krping trace -I FILE ladder 11    of what krping record --all has recorded\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment, or 2 if what --input names is "
		"damaged or not whole.";
	static const struct argp_option own_options[] = {
		{ "event", 'E', "GLOB[,GLOB]", 0, "these events only", 3 },
		{ "count", 'c', "N", 0, "stop after N events", 1 },
		{ "delta", 'D', NULL, 0, "the time since the line before", 2 },
		{ "wide", 'w', NULL, 0, "one line an event, however long", 2 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = parse_own };
	enum krp_exit status = KRP_EXIT_OK;

	krp_tool.has = KRP_HAS_RECORDS | KRP_HAS_INPUT | KRP_HAS_FILTERS;
	krp_tool.args_doc = "[ladder [median|slowest|fastest|N]]";
	krp_tool_init(argc, argv, "krping-trace", doc, &own);
	/* Lines are flushed a batch at a time. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	width = screen_width();
	order = krp_order_new(ORDER_ROOM);
	if (krp_tool.opts.input)
		read_input();
	else
		watch();
	if (ladder_mode)
		status = ladder_summary();
	else
		stream_summary();
	if (recording.damage) {
		/* The object of a summary has reported it. */
		if (!krp_tool.opts.json || status != KRP_EXIT_OK)
			krp_error("%s is damaged: %s", krp_tool.opts.input, recording.damage);
		status = KRP_EXIT_BROKEN;
	}
	krp_ladder_free(ladder);
	if (krp_tool.opts.input)
		krp_recording_close(&recording);
	else
		krp_source_close(&source);
	krp_runs_free(&recorded);
	krp_order_free(order);
	free(known);
	return status;
}
