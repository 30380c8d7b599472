// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-trace: the events of krping's runs, as they come. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/events.h"
#include "lib/order.h"
#include "lib/probe.h"
#include "lib/tool.h"
#include "krping_trace.skel.h"

/* An event that comes so much later than a younger one is out of order. */
#define WINDOW_NS	100000000ULL
/* Events that wait for their turn: those of the window, at half a million a second. */
#define ORDER_ROOM	65536
/* How often the ring is emptied; it wakes us when it fills faster. */
#define CONSUME_SECONDS	0.05
/* Signals are looked at between batches, however fast the events come. */
#define BATCH		16384

/* A run as far as its events, or /proc, have told who it is. */
struct known {
	uint32_t id;
	bool counted, ended;
	struct krp_run_info info;
};

static struct krp_probe probe;
static struct krp_order *order;
static unsigned int batch;

static struct known *known;
static size_t nr_known, room_known;
static unsigned long nr_seen, nr_ended;

static const char *globs;
static unsigned long max_events;
static uint32_t ring_kib = 8192;
static bool delta, wide;

static uint64_t nr_shown, counts[KRP_NR_EVENTS];
static uint64_t t_first, t_before;
static uint64_t lost_told;
static unsigned int width;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static size_t position(uint32_t id)
{
	size_t low = 0, high = nr_known, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (known[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
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

static struct known *know(const struct krp_event_rec *rec)
{
	size_t i = position(rec->head.run);
	const struct krp_run_info *info;
	struct krp_runs runs = { 0 };
	struct known *k;

	if (i < nr_known && known[i].id == rec->head.run)
		return &known[i];
	if (nr_known == room_known) {
		/* Of runs that have ended some are kept, since a last event may come behind. */
		forget_ended();
		if (2 * nr_known >= room_known) {
			room_known = room_known ? 2 * room_known : 256;
			known = realloc(known, room_known * sizeof(*known));
			if (!known)
				krp_die("out of memory");
		}
		i = position(rec->head.run);
	}
	memmove(known + i + 1, known + i, (nr_known - i) * sizeof(*known));
	nr_known++;
	k = &known[i];
	memset(k, 0, sizeof(*k));
	k->id = rec->head.run;
	/* One that was there before us. */
	if (rec->head.event != KRP_EV_run_start && !krp_runs_read(&runs)) {
		info = krp_runs_find(&runs, k->id);
		if (info)
			k->info = *info;
		krp_runs_free(&runs);
	}
	k->info.id = k->id;
	return k;
}

/* What an event tells of its run. */
static void learn(struct known *k, const struct krp_event_rec *rec)
{
	switch (rec->head.event) {
	case KRP_EV_run_start:
		snprintf(k->info.role, sizeof(k->info.role), "%s",
			 krp_name_of(KRP_HOW_role, KRP_ARG(rec, run_start, role)));
		snprintf(k->info.test, sizeof(k->info.test), "%s",
			 krp_name_of(KRP_HOW_test, KRP_ARG(rec, run_start, test)));
		break;
	case KRP_EV_conn:
		snprintf(k->info.dev, sizeof(k->info.dev), "%s", rec->text);
		k->info.qp = KRP_ARG(rec, conn, qp);
		break;
	}
}

/* Who a run is must be known, whatever is shown of it; these are rare. */
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
	return is_wanted(event) || always_wanted(krp_event_find(event));
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
	column = snprintf(prefix, sizeof(prefix), "%.15s%s%12.3f %4u %-6s %-13s", *time ? time + 11 : "",
			  *time ? " " : "",
			  (int64_t)(rec->head.t - (delta ? t_before : t_first)) / 1e3, rec->head.run,
			  *k->info.role ? k->info.role : "-", name);
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
	puts("}");
}

static void print_csv(const struct krp_event_rec *rec, const struct known *k)
{
	json_object *o = json_object_new_object();
	char time[64], fields[1024];
	FILE *f;

	krp_mono_rfc3339(time, sizeof(time), rec->head.t);
	krp_json_text(o, "time", time);
	krp_json_u64(o, "t_ns", rec->head.t);
	krp_json_u64(o, "run", rec->head.run);
	krp_json_text(o, "role", k->info.role);
	krp_json_text(o, "event", krp_events[rec->head.event].name);
	f = fmemopen(fields, sizeof(fields), "w");
	if (!f)
		krp_die("out of memory");
	/* Times as they are. */
	krp_event_text(f, rec, 0, 0, 0, 0);
	fputc('\0', f);
	fclose(f);
	krp_json_text(o, "fields", fields + (*fields == ' '));
	krp_csv_emit(stdout, o, &krp_tool.csv_head_done);
}

static void show(const struct krp_event_rec *rec, const struct known *k)
{
	if (!nr_shown)
		t_first = t_before = rec->head.t;
	if (krp_tool.opts.json)
		print_json(rec, k);
	else if (krp_tool.opts.csv)
		print_csv(rec, k);
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

/* An event in its turn. */
static void stream(const struct krp_event_rec *rec)
{
	struct known *k = know(rec);

	learn(k, rec);
	if (krp_filter(&k->info)) {
		if (!k->counted)
			nr_seen++;
		k->counted = true;
		if (is_wanted(krp_events[rec->head.event].name) && !is_enough())
			show(rec, k);
	}
	if (rec->head.event == KRP_EV_run_end && !k->ended) {
		k->ended = true;
		nr_ended += k->counted;
	}
}

static void (*sink)(const struct krp_event_rec *rec) = stream;

static int on_event(void *ctx, void *data, size_t size)
{
	struct krp_event_rec rec;

	(void)ctx;
	if (!krp_event_parse(&rec, data, size))
		return 0;
	if (krp_order_full(order))
		sink(krp_order_take(order, UINT64_MAX));
	krp_order_put(order, &rec);
	return ++batch % BATCH ? 0 : -EAGAIN;
}

/* What is in the ring; and in its turn what is old enough, or all that there is. */
static void consume(struct ring_buffer *ring, bool all)
{
	const struct krp_event_rec *rec;
	uint64_t now;
	int err;

	do {
		now = now_ns();
		err = ring_buffer__consume(ring);
		while ((rec = krp_order_take(order, all ? UINT64_MAX : now - WINDOW_NS)))
			sink(rec);
	} while (all && err == -EAGAIN);
	fflush(stdout);
}

/* Losses are told when they happen, not only at the end. */
static void tell_lost(void)
{
	struct krp_lost lost = krp_probe_lost(&probe);
	json_object *o;

	if (krp_lost_sum(lost) == lost_told)
		return;
	lost_told = krp_lost_sum(lost);
	if (krp_tool.opts.json) {
		o = krp_json_new(krp_tool.name, false);
		krp_json_u64(o, "lost", lost_told);
		krp_json_emit(stdout, o);
	} else if (!krp_tool.opts.csv) {
		printf("-- lost events %" PRIu64 " so far\n", lost_told);
	}
}

static void lost_json(json_object *o)
{
	struct krp_lost lost = krp_probe_lost(&probe);

	krp_json_bool(o, "tp_btf", probe.tp_btf);
	krp_json_u64(o, "lost", krp_lost_sum(lost));
	krp_json_u64(o, "lost_missed", lost.missed);
	krp_json_u64(o, "lost_failed", lost.failed);
	krp_json_u64(o, "lost_ring", lost.ring);
	krp_json_u64(o, "out_of_order", krp_order_late(order));
}

static void print_lost(FILE *f)
{
	struct krp_lost lost = krp_probe_lost(&probe);

	fprintf(f, "lost events %" PRIu64, krp_lost_sum(lost));
	if (krp_lost_sum(lost))
		fprintf(f, " (ring buffer full %" PRIu64 ", program busy %" PRIu64 ")", lost.ring,
			lost.missed);
	if (krp_order_late(order))
		fprintf(f, ", out of order %" PRIu64, krp_order_late(order));
	fputc('\n', f);
}

static void stream_summary(void)
{
	static const struct krp_col cols[] = {
		{ "EVENT", -13 }, { "COUNT", 9 }, { " EVENT", -14 }, { "COUNT", 9 },
		{ " EVENT", -14 }, { "COUNT", 9 },
	};
	json_object *o, *c;
	const char *cells[6];
	char name[3][32];
	struct krp_num num[3];
	unsigned int i, n = 0;
	FILE *f;

	if (krp_tool.opts.csv)
		return;
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
	if (nr_shown) {
		fputc('\n', f);
		krp_table_head(f, cols, 6);
	} else {
		fputs("no events seen: write a command to /proc/krping\n", f);
	}
	for (i = 0; i < KRP_NR_EVENTS; i++) {
		if (counts[i]) {
			snprintf(name[n], sizeof(name[n]), "%s%s", n ? " " : "", krp_events[i].name);
			num[n] = krp_count(counts[i]);
			cells[2 * n] = name[n];
			cells[2 * n + 1] = num[n].s;
			n++;
		}
		if (n == 3 || (n && i == KRP_NR_EVENTS - 1)) {
			krp_table_row(f, cols, 2 * n, cells);
			n = 0;
		}
	}
	fprintf(f, "events %" PRIu64 ", ", nr_shown);
	print_lost(f);
	krp_show(false);
}

static unsigned int screen_width(void)
{
	struct winsize w;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col >= 60)
		return w.ws_col;
	return 79;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	const char *vain;
	char buf[64];

	switch (key) {
	case 'E':
		vain = krp_globs_check(arg, buf, sizeof(buf));
		if (vain)
			krp_die("--event: no event matches \"%s\" (see docs/events.md)", vain);
		globs = arg;
		break;
	case 'n':
		max_events = krp_arg_number("--number", arg, 1, UINT32_MAX);
		break;
	case 'D':
		delta = true;
		break;
	case 'w':
		wide = true;
		break;
	case 'R':
		ring_kib = krp_arg_number("--ring", arg, 4, 1024 * 1024);
		if (ring_kib & (ring_kib - 1))
			krp_die("--ring: a power of two, not %s", arg);
		break;
	case ARGP_KEY_ARG:
		(void)state;
		krp_die("an argument that is not known: %s (see --help)", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char doc[] =
		"The events of krping's runs as they come, in the order of their times, as text "
		"or JSON."
		"\v"
		"Ends with a count of the events, after N of them, or at Ctrl-C.\n\n"
		"  krping-trace                      all events until Ctrl-C\n"
		"  krping-trace -E 'post_*,wc*' -D   posts and completions, time between them\n"
		"  krping-trace -j -e | jq .event    JSON, until all runs have ended\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment.";
	static const struct argp_option own_options[] = {
		{ "event", 'E', "GLOB[,GLOB]", 0, "these events only", 3 },
		{ "number", 'n', "N", 0, "stop after N events", 1 },
		{ "delta", 'D', NULL, 0, "the time since the line before", 2 },
		{ "wide", 'w', NULL, 0, "one line an event, however long", 2 },
		{ "ring", 'R', "KIB", 0, "size of the ring buffer (8192)", 3 },
		{ 0 }
	};
	static const struct argp own = { .options = own_options, .parser = parse_own };
	struct krp_want want = { .event = is_attached };
	uint64_t t_lost = 0;
	struct ring_buffer *ring;
	enum krp_wake wake;
	const void *elf;
	size_t size;
	bool done;

	krp_tool.hidden = KRP_HIDE_INTERVAL | KRP_HIDE_MAX_RUNS;
	krp_tool.args_doc = "";
	krp_tool_init(argc, argv, "krping-trace", doc, &own);
	krp_preflight();
	krp_check_run();
	/* Lines are flushed a batch at a time. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	width = screen_width();
	order = krp_order_new(ORDER_ROOM);
	if (!order)
		krp_die("out of memory");
	want.run = krp_tool.opts.run;
	want.ring_bytes = ring_kib * 1024;
	elf = krping_trace_bpf__elf_bytes(&size);
	krp_start();
	krp_probe_open_want(&probe, elf, size, &want);
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(probe.obj, "ring"), on_event, NULL,
				NULL);
	if (!ring)
		krp_die("cannot map the ring buffer: %s", strerror(errno));
	krp_note("Tracing krping's events by %s... Ctrl-C to end.",
		 probe.tp_btf ? "tp_btf" : "raw tracepoints");

	do {
		wake = krp_wait_fd(ring_buffer__epoll_fd(ring), CONSUME_SECONDS);
		consume(ring, false);
		if (now_ns() - t_lost > 1000000000) {
			t_lost = now_ns();
			tell_lost();
		}
		done = is_enough() || krp_all_done(nr_seen, nr_ended);
	} while (wake != KRP_WAKE_STOP && !done);

	krp_probe_detach(&probe);
	consume(ring, true);
	stream_summary();
	ring_buffer__free(ring);
	krp_probe_close(&probe);
	krp_order_free(order);
	free(known);
	return KRP_EXIT_OK;
}
