// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-stages --slow: iterations that took long, which of their phases and
 * stages were longer than usual, and who had the CPU meanwhile.
 *
 * Such an iteration is read at once, and what the CPUs did is copied from the
 * flight recorder right then; of a recording that is not known. The usual time,
 * the median, is known best at the end, so it is used only for printing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/hwcnt.h"
#include "stages.h"
#include "flight.h"

/* A run that is not known is looked for in /proc at most this often. */
#define COUNTERS_NS 100000000ULL
/* The counters of the runs' devices are polled at most this often. */
#define POLL_NS	    250000000ULL
/* How old the data that /proc gave of the runs may be. */
#define RUNS_NS	    1000000000ULL
#define DEVICES	    16

/* A piece of an iteration, and who had the CPUs in it. */
struct part {
	uint32_t what;
	uint64_t ns;
	struct krp_causes causes;
};

/* An iteration that took as long as the user asked for, or longer. */
struct slow {
	uint32_t run;
	uint32_t peer; /* 0: not here */
	uint64_t iter, t_begin, t_end;
	uint32_t whole; /* its distribution: that of iterations, or of requests in flight */
	struct part part[KRPING_WORDS_MAX];
	unsigned int nr;      /* number of parts */
	uint64_t overwritten; /* CPUs whose events were partly overwritten */
	char dev[KRP_ESCAPED(KRPING_DEV_NAME_MAX)];
	unsigned int port;
	json_object *moved; /* the device's counters; NULL: not known */
	uint64_t moved_ns;  /* the time between the two readings */
	bool printed;
};

static const struct slow_opts *opts;
static struct krp_recorder recorder;
static const struct krp_runs *recorded; /* NULL: live */
static struct krp_runs known;
static struct slow **slows;
static unsigned int nr_slows;
static uint64_t wanted_ns; /* shorter iterations are not explained, since enough were longer */
/*
 * Numbers of all iterations, and of slow ones: of runs that have ended, and of
 * all runs at the last print.
 */
static struct {
	uint64_t slow;
	uint64_t all;
} of_ended, seen;
static struct krp_hwports hw;

static uint64_t duration(const struct slow *s)
{
	return s->t_end - s->t_begin;
}

/* A run that began since /proc was read is looked for again, but not too often. */
static const struct krp_run_info *info_of(uint32_t run)
{
	const struct krp_run_info *info = krp_runs_find(&known, run);
	static uint64_t t;

	if (info || krp_time_now() - t < COUNTERS_NS)
		return info;
	t = krp_time_now();
	krp_runs_read(&known);
	return krp_runs_find(&known, run);
}

/* --- the device's counters --- */

static struct krp_hwport *port_of(const char *dev, unsigned int number)
{
	/* The files of the counters stay open, so there is a limit. */
	if (hw.nr == DEVICES)
		return krp_hwcnt_find(&hw, dev, number);
	return krp_hwcnt_port(&hw, KRP_RDMA_DEVICES, dev, number);
}

/* Reads all ports of running runs, now and then. */
void slow_poll(void)
{
	uint64_t now = krp_time_now();
	const struct krp_run_info *r;
	static uint64_t t_runs;
	struct krp_hwport *p;

	if (now - t_runs > RUNS_NS) {
		t_runs = now;
		if (!krp_runs_read(&known)) {
			for (r = known.v; r < known.v + known.nr; r++) {
				if (*r->dev && strcmp(r->dev, "-") && r->port &&
				    !krp_run_finished(r))
					port_of(r->dev, r->port);
			}
		}
	}
	for (p = hw.v; p < hw.v + hw.nr; p++) {
		if (now - p->t_now > POLL_NS)
			krp_hwcnt_read_port(p, now);
	}
}

/* What the device counted around the iteration. */
static void counters_of(struct slow *s, const struct krp_run_info *info)
{
	struct krp_hwport *p;

	if (!info || !info->port)
		return;
	snprintf(s->dev, sizeof(s->dev), "%s", info->dev);
	s->port = info->port;
	p = port_of(info->dev, info->port);
	if (!p)
		return;
	if (p->t_now < s->t_end)
		krp_hwcnt_read_port(p, krp_time_now());
	s->moved = krp_hwcnt_moved(p, s->t_begin, s->t_end, &s->moved_ns);
}

/* --- collecting --- */

/*
 * A thread that polls is at work in the stage cq, too, and one that never sleeps in wire as well. A
 * request in flight waits for no thread of its own.
 */
static enum krp_cause_mode mode_of(uint32_t what, const struct krp_run_info *info)
{
	if (what >= STG_DIST_REQUEST(0))
		return KRP_CAUSE_AWAY;
	if (what < STG_DIST_STAGE(0, KRPING_STAGE_POST) || what == JOIN_NONE)
		return KRP_CAUSE_RUN;
	switch (KRPING_STAGE_POST + (what - STG_DIST_STAGE(0, KRPING_STAGE_POST)) % STG_NR_STAGES) {
	case KRPING_STAGE_POST:
	case KRPING_STAGE_OWN:
		return KRP_CAUSE_RUN;
	case KRPING_STAGE_WAKE:
		return KRP_CAUSE_WAKE;
	case KRPING_STAGE_CQ:
		return info && thread_polls(info) ? KRP_CAUSE_RUN : KRP_CAUSE_AWAY;
	case KRPING_STAGE_WIRE:
		return info && !strcmp(info->poll_ctx, "busy") ? KRP_CAUSE_RUN : KRP_CAUSE_AWAY;
	default:
		return KRP_CAUSE_AWAY;
	}
}

static void slow_free(struct slow *s)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		krp_causes_free(&s->part[i].causes);
	json_object_put(s->moved);
	free(s);
}

static unsigned int limit(void)
{
	return opts->slowest ?: SLOW_DEFAULT;
}

static unsigned int shortest(void)
{
	unsigned int i, least = 0;

	for (i = 1; i < nr_slows; i++) {
		if (duration(slows[i]) < duration(slows[least]))
			least = i;
	}
	return least;
}

/* Makes room for one more; false: it is shorter than all that are kept. */
static bool make_room(uint64_t ns)
{
	unsigned int least;

	if (nr_slows < limit())
		return true;
	least = shortest();
	if (ns <= duration(slows[least]))
		return false;
	slow_free(slows[least]);
	slows[least] = slows[--nr_slows];
	return true;
}

/* The words of a request in flight come first, that of all of it before those of its stages. */
static bool is_request(uint64_t word)
{
	return KRPING_WORD_KIND(word) == KRPING_WORD_REQUEST;
}

static bool is_part(const struct slow *s, uint64_t word)
{
	if (s->whole != STG_DIST_ITER)
		return is_request(word) && KRPING_SEG_STAGE(word) != KRPING_REQUEST_ALL;
	return KRPING_WORD_IS_TIME(word) && !(word & KRPING_SEG_F_SUM);
}

/* Divides the iteration into its parts. */
static void divide(struct slow *s, const struct krp_rec *rec)
{
	struct part *part;
	unsigned int i;

	for (i = 0; i < rec->nr; i++) {
		if (!is_part(s, rec->word[i]) || !KRPING_SEG_NS(rec->word[i]))
			continue;
		part = &s->part[s->nr++];
		part->what = account_what(rec->slot, rec->word[i]);
		part->ns = KRPING_SEG_NS(rec->word[i]);
	}
}

/* Live: looks for who had the CPUs in each part, while the recorder still has that. */
static void find_causes(struct slow *s, const struct krp_rec *rec, const struct krp_run_info *info)
{
	struct krp_cause_input in = { .wakeups = recorder.wakeups };
	const struct krp_run_info *peer = s->peer ? info_of(s->peer) : NULL;
	struct krp_window w = { .t = s->t_begin };
	struct krp_history *history;
	struct krp_flight copy;
	struct part *part;

	krp_recorder_copy(&recorder, s->t_begin, s->t_end, rec->tid, rec->cpu, &copy);
	s->overwritten = copy.overwritten;
	/* A request in flight has no thread: that was the one which its completion interrupted. */
	in.tid = s->whole == STG_DIST_ITER ? rec->tid : 0;
	in.cpus = copy.cpus;
	in.nr_cpus = copy.nr_cpus;
	if (peer)
		in.peer_tid = peer->pid;
	history = krp_history_new(&in);
	for (part = s->part; part < s->part + s->nr; part++, w.t = w.t_end) {
		w.t_end = w.t + part->ns;
		w.mode = mode_of(part->what, info);
		krp_causes_find(&part->causes, history, &w);
	}
	krp_history_free(history);
	krp_flight_free(&copy);
}

void slow_take(const struct krp_rec *rec, uint64_t ns)
{
	const struct krp_head *head = &runs_seen.slot[rec->slot].head;
	bool request = rec->nr && is_request(*rec->word);
	const struct krp_run_info *info;
	struct slow *s;

	if (ns < wanted_ns)
		return;
	if (recorded)
		info = krp_runs_find(recorded, head->run) ?: krp_run_info_of(head);
	else
		info = info_of(head->run);
	if (!krp_filter(info) || !wanted(head->run, account_peer(rec->slot)))
		return;
	/* What ends an iteration of a disk is a request, and its server has no times of it. */
	if (!request && info && !strcmp(info->test, "block"))
		return;
	if (!make_room(ns))
		return;
	s = krp_new(1, sizeof(*s));
	s->run = head->run;
	s->iter = rec->iter;
	s->t_begin = rec->t - ns;
	s->t_end = rec->t;
	s->peer = account_peer(rec->slot);
	s->whole = request ? account_what(rec->slot, *rec->word) : STG_DIST_ITER;
	divide(s, rec);
	if (!recorded) {
		find_causes(s, rec, info);
		counters_of(s, info);
	}
	slows[nr_slows++] = s;
	if (nr_slows < limit())
		return;
	/* Shorter iterations wake nobody from now on, so that reporting them makes no others slow. */
	wanted_ns = duration(slows[shortest()]) + 1;
	if (!recorded)
		krp_source_slow(&runs_seen.source, wanted_ns);
}

void slow_open(const struct slow_opts *o, const struct krp_runs *of)
{
	opts = o;
	recorded = of;
	slows = krp_new(SLOW_KEEP, sizeof(*slows));
	if (!recorded)
		krp_recorder_open(&recorder);
}

void slow_close(void)
{
	if (!recorded)
		krp_recorder_close(&recorder);
	krp_hwcnt_free(&hw);
}

static void count(const struct view *v, uint64_t *slow, uint64_t *all)
{
	/* The requests of a disk are its client's. */
	if (!strcmp(v->run.info.test, "block") && strcmp(v->run.info.role, "client"))
		return;
	*slow += v->st.slow;
	*all += v->a.dist[STG_DIST_ITER].s.count;
}

void slow_ended(const struct view *v)
{
	count(v, &of_ended.slow, &of_ended.all);
}

static void count_all(void *const *v, unsigned int nr)
{
	const struct view *one;
	unsigned int i;

	seen = of_ended;
	for (i = 0; i < nr; i++) {
		one = v[i];
		if (one->run.head.state != KRP_SLOT_ENDED)
			count(one, &seen.slow, &seen.all);
	}
}

uint64_t slow_seen(void)
{
	return seen.slow;
}

struct krp_lost slow_lost_events(void)
{
	return recorded ? (struct krp_lost){ 0 } : krp_probe_lost(&recorder.probe);
}

/* --- what is usual --- */

static uint64_t median(const struct view *v, unsigned int dist)
{
	return krp_hist_percentile(account_hist(v, dist), &v->a.dist[dist].s, KRP_P50);
}

static uint64_t usual(const struct view *v, uint32_t what)
{
	return what == JOIN_OTHER || what == JOIN_NONE ? 0 : median(v, what);
}

/* An iteration, compared with the usual times. */
struct reading_of {
	const struct slow *s;
	const struct view *v;
	uint64_t usual_ns; /* of the whole iteration */
	uint64_t usual_part[KRPING_WORDS_MAX];
	uint64_t added_part[KRPING_WORDS_MAX]; /* more than usual */
	uint64_t added;			       /* their sum */
	uint64_t unexplained;		       /* added time that no cause explains */
	struct krp_causes causes;	       /* causes of the added time */
	struct krp_causes seen;		       /* causes of the whole of those parts */
};

static void interpret(struct reading_of *r, const struct slow *s, const struct view *v)
{
	struct krp_causes part;
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->s = s;
	r->v = v;
	r->usual_ns = median(v, s->whole);
	for (i = 0; i < s->nr; i++) {
		r->usual_part[i] = usual(v, s->part[i].what);
		if (s->part[i].ns <= r->usual_part[i])
			continue;
		r->added_part[i] = s->part[i].ns - r->usual_part[i];
		r->added += r->added_part[i];
		/* A cause is blamed for no more than was added. */
		part = (struct krp_causes){ 0 };
		krp_causes_add(&part, &s->part[i].causes);
		krp_causes_add(&r->seen, &part);
		krp_causes_limit(&part, r->added_part[i]);
		krp_causes_add(&r->causes, &part);
		krp_causes_free(&part);
	}
	krp_causes_sort(&r->causes);
	r->unexplained = r->added - krp_causes_sum(&r->causes);
}

static void interpreted(struct reading_of *r)
{
	krp_causes_free(&r->causes);
	krp_causes_free(&r->seen);
}

static const char *kind_name(const struct krp_cause *c)
{
	return c->kind == REC_TASK ? "task" : c->kind == REC_SOFTIRQ ? "softirq" : "irq";
}

static void cause_name(const struct krp_cause *c, char *buf, size_t size)
{
	const char *name;

	switch (c->kind) {
	case REC_SOFTIRQ:
		name = krp_softirq_name(c->id);
		if (name)
			snprintf(buf, size, "%s", name);
		else
			snprintf(buf, size, "%u", c->id);
		break;
	case REC_IRQ:
		krp_irq_name(c->id, buf, size);
		break;
	default:
		krp_escape(buf, size, c->comm, REC_COMM_LEN);
	}
}

static uint64_t seen_ns(const struct reading_of *r, const struct krp_cause *c)
{
	const struct krp_cause *o;

	for (o = r->seen.v; o < r->seen.v + r->seen.nr; o++) {
		if (o->kind == c->kind && o->id == c->id && o->waiter == c->waiter &&
		    !strncmp(o->comm, c->comm, REC_COMM_LEN))
			return o->ns;
	}
	return 0;
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * part / of : 0;
}

/* --- text --- */

/* A cause of less than this share of the added time, in per cent, is not worth a line. */
#define WORTH 1.0

static void print_causes(FILE *f, const struct reading_of *r)
{
	char name[64], waiter[KRP_ESCAPED(REC_COMM_LEN)], line[192];
	uint64_t rest = 0;
	size_t i, n;

	fprintf(f, "  %-56s %10s %6s\n", "because of", "US", "%");
	for (i = 0; i < r->causes.nr; i++) {
		const struct krp_cause *c = &r->causes.v[i];

		if (percent(c->ns, r->added) < WORTH) {
			rest += c->ns;
			continue;
		}
		cause_name(c, name, sizeof(name));
		n = snprintf(line, sizeof(line), "%s %s", kind_name(c), name);
		if (c->kind == REC_TASK && c->id)
			n += snprintf(line + n, sizeof(line) - n, "/%u", c->id);
		if (c->waiter)
			snprintf(line + n, sizeof(line) - n, ", %s/%u waited",
				 krp_escape(waiter, sizeof(waiter), c->waiter_comm, REC_COMM_LEN),
				 c->waiter);
		fprintf(f, "    %-54.54s %10.1f %6.1f\n", line, c->ns / 1e3,
			percent(c->ns, r->added));
	}
	if (rest)
		fprintf(f, "    %-54s %10.1f %6.1f\n", "others, below 1 % each", rest / 1e3,
			percent(rest, r->added));
	fprintf(f, "    %-54s %10.1f %6.1f\n", "unexplained", r->unexplained / 1e3,
		percent(r->unexplained, r->added));
	krp_causes_own(line, sizeof(line), &r->causes, krp_tool.name, r->added,
		       sysconf(_SC_NPROCESSORS_ONLN));
	fputs(line, f);
}

static void print_counters(FILE *f, const struct slow *s)
{
	int left = s->moved ? json_object_object_length(s->moved) : 0;
	char item[KRP_HWCNT_NAME + 32];
	size_t width;

	if (!left)
		return;
	width = fprintf(f, "  %s/%u counted in %s:", s->dev, s->port, krp_ns(s->moved_ns).s);
	json_object_object_foreach(s->moved, name, value) {
		snprintf(item, sizeof(item), " %s +%" PRIu64 "%s", name,
			 json_object_get_uint64(value), --left ? "," : "");
		if (width + strlen(item) > 78) {
			fputs("\n   ", f);
			width = 3;
		}
		fputs(item, f);
		width += strlen(item);
	}
	fputc('\n', f);
}

static void print_one(FILE *f, const struct slow *s, const struct view *v)
{
	const char *phase, *stage;
	struct reading_of r;
	unsigned int i;
	char name[64];

	interpret(&r, s, v);
	fprintf(f, "\nrun %u  %s  %s %" PRIu64 "  %s, median %s\n", s->run, v->run.info.role,
		s->whole == STG_DIST_ITER ? "iteration" :
					    request_name(s->whole - STG_DIST_REQUEST(0)),
		s->iter, krp_ns(duration(s)).s, krp_ns(r.usual_ns).s);
	if (krp_run_label(&v->run.info))
		fprintf(f, "  name %s\n", v->run.info.name);
	fprintf(f, "  longer than its median, by %s in all:\n", krp_ns(r.added).s);
	for (i = 0; i < s->nr; i++) {
		if (!r.added_part[i] || percent(r.added_part[i], r.added) < WORTH)
			continue;
		tile_names(v, s->part[i].what, &phase, &stage);
		snprintf(name, sizeof(name), "%s%s%s", phase, *stage ? " " : "", stage);
		fprintf(f, "    %-32s by %6s, was %6s, median %6s\n", name,
			krp_ns(r.added_part[i]).s, krp_ns(s->part[i].ns).s,
			krp_ns(r.usual_part[i]).s);
	}
	if (!recorded)
		print_causes(f, &r);
	print_counters(f, s);
	if (s->overwritten)
		fprintf(f,
			"  of %" PRIu64
			" CPUs the recorder had lost the beginning: there are more causes\n",
			s->overwritten);
	interpreted(&r);
}

/* The slowest first. */
static int by_duration(const void *a, const void *b)
{
	const struct slow *l = *(struct slow *const *)a, *r = *(struct slow *const *)b;

	if (duration(l) != duration(r))
		return duration(l) < duration(r) ? 1 : -1;
	return (l->t_end > r->t_end) - (l->t_end < r->t_end);
}

static bool shown(struct slow *s, bool final)
{
	bool again = final || !opts->ns || !s->printed;

	s->printed = true;
	return again;
}

static void print_count(FILE *f, unsigned int nr)
{
	fprintf(f, "\n%" PRIu64 " of %" PRIu64 " iterations took %s or more", seen.slow, seen.all,
		krp_ns(opts->ns).s);
	if (seen.slow > nr)
		fprintf(f, "; the %u slowest are explained", nr);
	fputc('\n', f);
	if (seen.slow > seen.all / 2)
		fputs("that is most of them, so it is what is usual here: a longer time, or\n"
		      "--slowest alone, finds those that are unlike the others\n",
		      f);
}

void slow_print(FILE *f, void *const *v, unsigned int nr, bool final)
{
	const struct view *view;
	unsigned int i;

	qsort(slows, nr_slows, sizeof(*slows), by_duration);
	for (i = 0; i < nr_slows; i++) {
		view = view_of(v, nr, slows[i]->run);
		if (view && shown(slows[i], final))
			print_one(f, slows[i], view);
	}
	count_all(v, nr);
	if (!opts->ns)
		fprintf(f, "\nabove: the %u slowest iterations\n", nr_slows);
	else
		print_count(f, nr_slows);
	if (recorded)
		fputs("a recording does not tell who had the CPUs\n", f);
}

/* --- JSON --- */

static json_object *causes_json(const struct reading_of *r)
{
	json_object *a = json_object_new_array(), *o;
	char name[64];
	size_t i;

	for (i = 0; i < r->causes.nr; i++) {
		const struct krp_cause *c = &r->causes.v[i];

		o = json_object_new_object();
		cause_name(c, name, sizeof(name));
		krp_json_text(o, "kind", kind_name(c));
		krp_json_text(o, "name", name);
		krp_json_u64(o, "id", c->id);
		if (c->waiter) {
			krp_escape(name, sizeof(name), c->waiter_comm, REC_COMM_LEN);
			krp_json_text(o, "waiter", name);
			krp_json_u64(o, "waiter_id", c->waiter);
		}
		krp_json_u64(o, "ns", c->ns);
		krp_json_rate(o, "percent", percent(c->ns, r->added));
		krp_json_u64(o, "seen_ns", seen_ns(r, c));
		json_object_array_add(a, o);
	}
	return a;
}

static json_object *one_json(const struct slow *s, const struct view *v)
{
	json_object *o = json_object_new_object(), *a = json_object_new_array(), *p;
	const char *phase, *stage;
	struct reading_of r;
	unsigned int i;

	interpret(&r, s, v);
	krp_json_u64(o, "run", s->run);
	krp_json_text(o, "role", v->run.info.role);
	krp_json_u64(o, "iteration", s->iter);
	krp_json_u64(o, "end_ns", s->t_end);
	krp_json_u64(o, "duration_ns", duration(s));
	krp_json_ns(o, "median_ns", r.usual_ns);
	krp_json_u64(o, "added_ns", r.added);
	for (i = 0; i < s->nr; i++) {
		tile_names(v, s->part[i].what, &phase, &stage);
		p = json_object_new_object();
		krp_json_text(p, "phase", phase);
		krp_json_text(p, "stage", stage);
		krp_json_u64(p, "ns", s->part[i].ns);
		krp_json_ns(p, "median_ns", r.usual_part[i]);
		krp_json_u64(p, "added_ns", r.added_part[i]);
		json_object_array_add(a, p);
	}
	json_object_object_add(o, "parts", a);
	json_object_object_add(o, "causes", causes_json(&r));
	krp_json_u64(o, "unexplained_ns", r.unexplained);
	krp_json_u64(o, "recorder_overwritten", s->overwritten);
	json_object_object_add(o, "counters",
			       s->moved ? json_object_get(s->moved) : json_object_new_object());
	krp_json_u64(o, "counters_ns", s->moved_ns);
	interpreted(&r);
	krp_json_text(o, "name", krp_run_label(&v->run.info) ?: "-");
	return o;
}

void slow_json(json_object *o, void *const *v, unsigned int nr, bool final)
{
	json_object *a = json_object_new_array();
	const struct view *view;
	unsigned int i;

	qsort(slows, nr_slows, sizeof(*slows), by_duration);
	for (i = 0; i < nr_slows; i++) {
		view = view_of(v, nr, slows[i]->run);
		if (view && shown(slows[i], final))
			json_object_array_add(a, one_json(slows[i], view));
	}
	json_object_object_add(o, "slow", a);
	count_all(v, nr);
	krp_json_u64(o, "slow_seen", seen.slow);
	/* A run whose state could not be read now is in the next line. */
	krp_json_u64(o, "slow_not_kept", seen.slow > nr_slows ? seen.slow - nr_slows : 0);
	krp_json_bool(o, "wakeups_recorded", recorder.wakeups);
}
