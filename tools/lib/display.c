// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "display.h"
#include "environment.h"
#include "tool.h"

/* Runs that have ended and are still shown in the summary. */
#define KEEP 1024
static struct krp_environment environment;
/* By slot: what /proc told of a run when it was shown, since it forgets. */
static struct krp_run_info *infos;
/* A ring of the last runs that have ended: views of all the time, and, until a line has shown it, since the last line. */
static char *ended;
static unsigned long nr_ended;
static unsigned int nr_fresh; /* the last of them, which are in no line yet */
static uint64_t t_line;
static unsigned long nr_lines;

/* True if lines are printed and each covers only its interval. */
static bool has_intervals(void)
{
	return krp_tool.opts.interval && !krp_tool.opts.total;
}

static void free_view(const struct krp_display *d, void *view)
{
	if (d->free)
		d->free(view);
}

/* What is known of the run in a slot; NULL: nothing. */
static const struct krp_run_info *info_of(const struct krp_display *d, uint32_t slot)
{
	const struct krp_head *head = &d->seen->slot[slot].head;
	const struct krp_run_info *info = krp_runs_find(d->runs, head->run);

	if (info)
		infos[slot] = *info;
	else if (infos[slot].id == head->run)
		info = &infos[slot];
	return info ?: krp_run_info_of(head);
}

static bool shows(const struct krp_display *d, uint32_t slot)
{
	uint32_t run = d->seen->slot[slot].head.run;

	if (d->wanted ? !d->wanted(slot) : krp_tool.opts.run && krp_tool.opts.run != run)
		return false;
	return krp_filter(info_of(d, slot));
}

static bool read_run(const struct krp_display *d, void *total, void *since, uint32_t slot,
		     bool whole)
{
	const struct krp_run_info *info = info_of(d, slot);
	struct krp_view *v = total;

	if (!shows(d, slot))
		return false;
	memset(total, 0, d->size);
	if (info)
		v->info = *info;
	return d->view(total, since, slot, whole);
}

bool krp_display_view(const struct krp_display *d, void *total, uint32_t slot)
{
	return read_run(d, total, NULL, slot, false);
}

static void print(const struct krp_display *d, bool final);

static void *ended_view(const struct krp_display *d, unsigned long n, bool since)
{
	return ended + (n % KEEP * 2 + since) * d->size;
}

static void take_run(const struct krp_display *d, uint32_t slot)
{
	char *views = krp_new(2, d->size);

	/* The oldest ended run is in no line yet and is about to be dropped: print a line now. */
	if (krp_tool.opts.interval && nr_fresh == KEEP && shows(d, slot))
		print(d, false);
	if (read_run(d, views, has_intervals() ? views + d->size : NULL, slot, true)) {
		if (d->ended)
			d->ended(views);
		if (nr_ended >= KEEP) {
			free_view(d, ended_view(d, nr_ended, false));
			free_view(d, ended_view(d, nr_ended, true));
		}
		memcpy(ended_view(d, nr_ended, false), views, 2 * d->size);
		nr_ended++;
		nr_fresh += nr_fresh < KEEP;
	}
	free(views);
}

static unsigned long nr_running(const struct krp_display *d)
{
	unsigned long n = 0;
	uint32_t slot;

	for (slot = 0; slot < d->seen->slots; slot++)
		n += krp_seen_slot(d->seen, slot) && shows(d, slot);
	return n;
}

/* The runs that go on, of which views are made for a line. */
struct running {
	uint32_t *slot; /* at first those of all that may be shown */
	char *total, *since;
	unsigned int nr, followed;
};

static unsigned long nr_kept(void)
{
	return nr_ended < KEEP ? nr_ended : KEEP;
}

/* Adds the runs that have ended: all, or those that are in no line yet. */
static void show_ended(const struct krp_display *d, struct krp_shown *s)
{
	unsigned long i = nr_ended - (s->final ? nr_kept() : nr_fresh);

	for (; i < nr_ended; i++) {
		s->total[s->nr] = ended_view(d, i, false);
		s->v[s->nr++] = ended_view(d, i, s->since);
	}
}

static void show_running(const struct krp_display *d, struct krp_shown *s, struct running *r)
{
	void *total, *since;
	unsigned int i;
	uint32_t slot;

	for (i = 0; i < r->followed; i++) {
		slot = r->slot[i];
		/* A run that has just ended is left to the next line, so that it is shown once. */
		if (!krp_seen_slot(d->seen, slot) || (krp_seen_ended(d->seen, slot) && !s->final))
			continue;
		total = r->total + r->nr * d->size;
		since = s->since ? r->since + r->nr * d->size : NULL;
		if (!read_run(d, total, since, slot, false))
			continue;
		r->slot[r->nr++] = slot;
		s->total[s->nr] = total;
		s->v[s->nr++] = since ?: total;
	}
}

static int by_run(const void *a, const void *b)
{
	uint32_t l = (*(const struct krp_view *const *)a)->head.run;
	uint32_t r = (*(const struct krp_view *const *)b)->head.run;

	return (l > r) - (l < r);
}

/* Notes which device a run is on; of a recording the device is another host's. */
static void note_device(const struct krp_display *d, const struct krp_run_info *info)
{
	if (!d->seen->recording)
		krp_environment_run(&environment, info);
}

static void show_begin(const struct krp_display *d, struct krp_shown *s, struct running *r)
{
	unsigned int i;

	krp_seen_info(d->seen, d->runs);
	/* Read all runs up to now, or one run would be further than its peer. */
	krp_seen_read(d->seen);
	if (d->ready)
		d->ready();
	r->slot = krp_new(d->seen->slots, sizeof(*r->slot));
	r->followed = krp_seen_slots(d->seen, r->slot);
	r->total = krp_new(r->followed, d->size);
	r->since = krp_new(s->since ? r->followed : 0, d->size);
	s->v = krp_new(nr_kept() + r->followed, sizeof(*s->v));
	s->total = krp_new(nr_kept() + r->followed, sizeof(*s->total));
	show_ended(d, s);
	show_running(d, s, r);
	s->dropped = nr_ended - nr_kept() + d->seen->no_slot;
	qsort(s->v, s->nr, sizeof(*s->v), by_run);
	qsort(s->total, s->nr, sizeof(*s->total), by_run);
	for (i = 0; i < s->nr; i++)
		note_device(d, &((struct krp_view *)s->v[i])->info);
}

/* The next interval begins here. */
static void show_end(const struct krp_display *d, struct krp_shown *s, struct running *r)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++) {
		if (has_intervals())
			d->line(r->slot[i], r->total + i * d->size);
		free_view(d, r->total + i * d->size);
		if (s->since)
			free_view(d, r->since + i * d->size);
	}
	/* No other line shows these. */
	for (i = 1; s->since && i <= nr_fresh; i++)
		free_view(d, ended_view(d, nr_ended - i, true));
	nr_fresh = 0;
	t_line = krp_seen_now(d->seen);
	nr_lines++;
	free(s->v);
	free(s->total);
	free(r->total);
	free(r->since);
	free(r->slot);
}

static json_object *json_of(const struct krp_display *d, const struct krp_shown *s)
{
	json_object *o = krp_json_new(krp_tool.name, s->final);

	krp_json_lost(o, d->lost());
	krp_json_text(o, "span", s->since ? "interval" : "total");
	krp_json_u64(o, "interval_ns", krp_seen_now(d->seen) - t_line);
	krp_json_u64(o, "runs_dropped", s->dropped);
	krp_json_bool(o, "broken", d->broken());
	if (d->seen->recording && d->seen->recording->damage)
		krp_json_text(o, "damage", d->seen->recording->damage);
	d->json(o, s);
	krp_environment_add(&environment, o, s->final);
	return o;
}

json_object *krp_view_json(const struct krp_view *v)
{
	json_object *o = json_object_new_object();

	krp_json_u64(o, "run", v->head.run);
	krp_json_u64(o, "peer_run", v->info.peer_run);
	krp_json_text(o, "role", v->info.role);
	krp_json_text(o, "test", v->info.test);
	krp_json_text(o, "dev", v->info.dev);
	krp_json_u64(o, "port", v->info.port);
	krp_json_u64(o, "qp", v->info.qp);
	krp_json_u64(o, "size", v->info.size);
	krp_json_bool(o, "ended", v->head.state == KRP_SLOT_ENDED);
	krp_json_bool(o, "attached_late", v->head.late);
	krp_json_s64(o, "errno", -v->head.err);
	krp_json_text(o, "name", krp_run_label(&v->info) ?: "-");
	return o;
}

/* The last lines: how many runs there are, and what is missing. */
static void print_foot(FILE *f, const struct krp_shown *s, struct krp_lost lost)
{
	if (!s->nr)
		fputs(s->since ? "no runs in this interval\n" :
		      krp_has_filter() || krp_tool.opts.run ?
				 "no run was seen that the options let through\n" :
				 "no runs seen: start \"krping server\", and \"krping client\"\n",
		      f);
	fprintf(f, "%sruns %u, lost events %s\n", s->nr ? "\n" : "", s->nr, krp_lost_text(lost));
	if (s->dropped)
		fprintf(f, "%s%lu runs that ended before the last %u\n",
			s->since ? "the summary will not list " : "not listed: ", s->dropped, KEEP);
}

static void print(const struct krp_display *d, bool final)
{
	const bool redraws = !final && !d->seen->recording && isatty(STDOUT_FILENO);
	struct krp_shown s = { .final = final, .since = !final && has_intervals() };
	struct running r = { 0 };
	FILE *f;

	if (d->seen->recording)
		environment.recorded = d->seen->recording->about;
	show_begin(d, &s, &r);
	/* A reader that goes away ends us while we print. */
	if (d->broken())
		krp_tool.status = KRP_EXIT_BROKEN;
	if (krp_tool.opts.json) {
		krp_json_emit(stdout, json_of(d, &s));
	} else {
		f = krp_text();
		krp_environment_head(&environment, f, KRP_TEXT_WIDTH);
		d->text(f, &s);
		print_foot(f, &s, d->lost());
		krp_show(redraws);
	}
	show_end(d, &s, &r);
}

static void read_all(const struct krp_display *d)
{
	krp_seen_read(d->seen);
	if (d->read)
		d->read();
}

/*
 * Takes the runs that have ended, of which /proc has all unless it is the last time; over has room
 * for all slots.
 */
static void take_ended(const struct krp_display *d, uint32_t *over, bool last)
{
	const struct krp_run_info *info;
	uint32_t nr = 0, slot, i;

	for (slot = 0; slot < d->seen->slots; slot++) {
		if (krp_seen_ended(d->seen, slot))
			over[nr++] = slot;
	}
	if (!nr)
		return;
	if (!d->seen->recording)
		krp_runs_read(d->runs);
	if (d->ready)
		d->ready();
	for (i = 0; i < nr; i++) {
		/* Its device may be gone when the next line is printed. */
		info = krp_runs_find(d->runs, d->seen->slot[over[i]].head.run);
		if (!last && info && !krp_run_is_over(info))
			continue;
		info = info_of(d, over[i]);
		if (info && shows(d, over[i]))
			note_device(d, info);
		take_run(d, over[i]);
		krp_seen_drop(d->seen, over[i]);
	}
}

static bool is_done(const struct krp_display *d)
{
	return (d->done && d->done()) || krp_all_done(nr_ended + nr_running(d), nr_ended);
}

static void watch(const struct krp_display *d, uint32_t *over)
{
	enum krp_wake wake;

	do {
		/*
		 * The pings may want the CPU on which we read. So events wait until a run has ended, or
		 * a line is printed, or much of the ring is full: a run of some thousand pings ends before that.
		 */
		wake = krp_wait_fd(krp_source_fd(&d->seen->source), INFINITY);
		krp_source_woken(&d->seen->source);
		if (d->eager || wake != KRP_WAKE_POLL)
			read_all(d);
		/* The end of a run may be among what was lost. */
		if (wake != KRP_WAKE_FD && krp_lost_sum(krp_seen_lost(d->seen)))
			krp_seen_info(d->seen, d->runs);
		krp_seen_environment(d->seen, d->runs, &environment);
		take_ended(d, over, false);
		if (d->look)
			d->look();
		if (wake == KRP_WAKE_TICK)
			print(d, false);
	} while (wake != KRP_WAKE_STOP && !is_done(d));
	if (d->ends)
		d->ends();
	krp_seen_end(d->seen);
	read_all(d);
	krp_seen_info(d->seen, d->runs);
	take_ended(d, over, true);
}

/* The time of the recording makes the lines. The line of the last interval is printed at the end, as live. */
static void replay(const struct krp_display *d, uint32_t *over)
{
	unsigned long left = krp_tool.opts.count ?: ULONG_MAX;
	enum krp_replay step = KRP_REPLAY_EVENT;

	krp_recording_last_runs(d->seen->recording);
	while (left && step != KRP_REPLAY_END) {
		step = krp_seen_replay(d->seen, krp_tool.opts.interval * 1e9);
		if (step == KRP_REPLAY_TICK && --left)
			print(d, false);
		else if (step == KRP_REPLAY_RUN_END)
			take_ended(d, over, true);
	}
}

enum krp_exit krp_display_run(const struct krp_display *d)
{
	uint32_t *over = krp_new(d->seen->slots, sizeof(*over));
	unsigned long i;

	infos = krp_new(d->seen->slots, sizeof(*infos));
	ended = krp_new(2 * KEEP, d->size);
	if (!d->seen->recording)
		krp_environment_open(&environment, "");
	t_line = krp_seen_now(d->seen);
	if (d->seen->recording) {
		replay(d, over);
	} else {
		krp_note("Tracing %s... Ctrl-C to end.", d->traces);
		watch(d, over);
	}
	/* Print what came since the last line; if there was no line, the summary has it all. */
	if (nr_lines && has_intervals())
		print(d, false);
	print(d, true);
	krp_environment_close(&environment);
	for (i = 0; i < nr_kept(); i++)
		free_view(d, ended_view(d, i, false));
	free(ended);
	free(infos);
	free(over);
	/* With -j the last object has reported it. */
	if (d->broken() && !krp_tool.opts.json)
		krp_error("%s (lost events: %s)", d->broken(), krp_lost_text(d->lost()));
	return krp_seen_damaged(d->seen) || d->broken() ? KRP_EXIT_BROKEN : KRP_EXIT_OK;
}
