// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "display.h"
#include "environment.h"
#include "tool.h"

/* Runs that have ended and are still shown in the summary. */
#define KEEP	  1024
/*
 * The pings may want the CPU on which we read. So records wait until their run has ended,
 * or a line is printed, unless they fill that much of a ring, in per cent: a run of some
 * thousand pings ends before that.
 */
#define MUCH	  50
/* A ring of fewer bytes is soon full: it is read each time that we wake up. */
#define SMALL	  (1UL << 20)
/* A run that has ended may still be written to when we end; how long that may take. */
#define SETTLE_MS 1000

enum taken {
	FILTERED, /* an option says no */
	TORN,	  /* its state was written at each attempt: try later */
	TAKEN,
};

static struct krp_environment setting;
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

static void *get(size_t nr, size_t size)
{
	void *p = calloc(nr + 1, size);

	if (!p)
		krp_die("out of memory");
	return p;
}

static void free_view(const struct krp_display *d, void *view)
{
	if (d->free)
		d->free(view);
}

/* What is known of the run in a slot; NULL: nothing. */
static const struct krp_run_info *info_of(const struct krp_display *d, uint32_t slot)
{
	uint32_t run = d->follow->slot[slot].run;
	const struct krp_run_info *info = krp_runs_find(d->runs, run);

	if (!info && infos[slot].id == run)
		info = &infos[slot];
	return info;
}

static bool shows(const struct krp_display *d, uint32_t slot)
{
	uint32_t run = d->follow->slot[slot].run;

	if (d->wanted ? !d->wanted(slot) : krp_tool.opts.run && krp_tool.opts.run != run)
		return false;
	return krp_filter(info_of(d, slot));
}

static enum taken read_run(const struct krp_display *d, void *total, void *since, uint32_t slot,
			   bool whole)
{
	const struct krp_run_info *info = info_of(d, slot);
	struct krp_view *v = total;

	if (!shows(d, slot))
		return FILTERED;
	memset(total, 0, d->size);
	if (info)
		v->info = infos[slot] = *info;
	return d->view(total, since, slot, whole) ? TAKEN : TORN;
}

bool krp_display_view(const struct krp_display *d, void *total, uint32_t slot)
{
	return read_run(d, total, NULL, slot, false) == TAKEN;
}

static void print(const struct krp_display *d, bool final);

static void *ended_view(const struct krp_display *d, unsigned long n, bool since)
{
	return ended + (n % KEEP * 2 + since) * d->size;
}

static enum taken take_run(const struct krp_display *d, uint32_t slot)
{
	char *views = get(2, d->size);
	enum taken taken;

	/* The oldest ended run is in no line yet and is about to be dropped: print a line now. */
	if (krp_tool.opts.interval && nr_fresh == KEEP && shows(d, slot))
		print(d, false);
	taken = read_run(d, views, has_intervals() ? views + d->size : NULL, slot, true);
	if (taken == TAKEN) {
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
	return taken;
}

static unsigned long nr_running(const struct krp_display *d)
{
	unsigned long n = 0;
	uint32_t slot;

	for (slot = 0; slot < krp_programs_slots(d->programs); slot++)
		n += krp_follow_slot(d->follow, slot) && shows(d, slot);
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
		if (!krp_follow_slot(d->follow, slot) ||
		    (krp_follow_ended(d->follow, slot) && !s->final))
			continue;
		total = r->total + r->nr * d->size;
		since = s->since ? r->since + r->nr * d->size : NULL;
		switch (read_run(d, total, since, slot, false)) {
		case TORN:
			s->unread++;
			break;
		case FILTERED:
			break;
		case TAKEN:
			r->slot[r->nr++] = slot;
			s->total[s->nr] = total;
			s->v[s->nr++] = since ?: total;
		}
	}
}

static int by_run(const void *a, const void *b)
{
	uint32_t l = (*(const struct krp_view *const *)a)->head.run;
	uint32_t r = (*(const struct krp_view *const *)b)->head.run;

	return (l > r) - (l < r);
}

static void show_begin(const struct krp_display *d, struct krp_shown *s, struct running *r)
{
	unsigned int i;

	krp_programs_info(d->programs, d->runs);
	/* Read all runs up to now, or one run would be further than its peer. */
	krp_follow_read(d->follow);
	if (d->ready)
		d->ready();
	r->slot = get(krp_programs_slots(d->programs), sizeof(*r->slot));
	r->followed = krp_follow_slots(d->follow, r->slot);
	r->total = get(r->followed, d->size);
	r->since = get(s->since ? r->followed : 0, d->size);
	s->v = get(nr_kept() + r->followed, sizeof(*s->v));
	s->total = get(nr_kept() + r->followed, sizeof(*s->total));
	show_ended(d, s);
	show_running(d, s, r);
	s->dropped = nr_ended - nr_kept() + krp_follow_unseen(d->follow);
	qsort(s->v, s->nr, sizeof(*s->v), by_run);
	qsort(s->total, s->nr, sizeof(*s->total), by_run);
	for (i = 0; i < s->nr; i++) {
		if (!krp_environment_run(&setting, &((struct krp_view *)s->v[i])->info))
			krp_die("out of memory");
	}
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
	t_line = krp_time_now();
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
	krp_json_u64(o, "interval_ns", krp_time_now() - t_line);
	krp_json_u64(o, "runs_dropped", s->dropped);
	krp_json_u64(o, "runs_unread", s->unread);
	krp_json_bool(o, "broken", d->broken());
	d->json(o, s);
	krp_environment_add(&setting, o, s->final);
	return o;
}

void krp_shown_foot(FILE *f, const struct krp_shown *s, struct krp_lost lost)
{
	fprintf(f, "%sruns %u, lost events %s\n", s->nr ? "\n" : "", s->nr, krp_lost_text(lost));
	if (s->unread)
		fprintf(f, "runs that did not hold still to be read: %lu\n", s->unread);
	if (s->dropped)
		fprintf(f, "%s%lu runs that ended before the last %u\n",
			s->since ? "the summary will not list " : "not listed: ", s->dropped, KEEP);
}

static void print(const struct krp_display *d, bool final)
{
	struct krp_shown s = { .final = final, .since = !final && has_intervals() };
	struct running r = { 0 };
	FILE *f;

	show_begin(d, &s, &r);
	if (krp_tool.opts.json) {
		krp_json_emit(stdout, json_of(d, &s));
	} else {
		f = krp_text();
		krp_environment_head(&setting, f, KRP_TEXT_WIDTH);
		d->text(f, &s);
		krp_show(false);
	}
	show_end(d, &s, &r);
}

static void read_all(const struct krp_display *d)
{
	krp_follow_read(d->follow);
	if (d->read)
		d->read();
}

/*
 * Takes the runs that have ended; over has room for all slots. Returns false if not
 * all could be taken yet.
 */
static bool take_ended(const struct krp_display *d, uint32_t *over)
{
	const struct krp_run_info *info;
	uint32_t slot, nr = 0, i;
	bool all = true;

	for (slot = 0; slot < krp_programs_slots(d->programs); slot++) {
		if (krp_follow_ended(d->follow, slot))
			over[nr++] = slot;
	}
	if (!nr)
		return true;
	/* What these runs told was told before they had ended: now all of it is read that is still there. */
	krp_follow_read(d->follow);
	krp_runs_read(d->runs);
	if (d->ready)
		d->ready();
	for (i = 0; i < nr; i++) {
		/* Its device may be gone when the next line is printed. */
		info = info_of(d, over[i]);
		if (info && shows(d, over[i]) && !krp_environment_run(&setting, info))
			krp_die("out of memory");
		if (take_run(d, over[i]) == TORN)
			all = false;
		else
			krp_follow_drop(d->follow, over[i]);
	}
	return all;
}

static bool is_done(const struct krp_display *d)
{
	return (d->done && d->done()) || krp_all_done(nr_ended + nr_running(d), nr_ended);
}

void krp_display_run(const struct krp_display *d)
{
	uint32_t *over = get(krp_programs_slots(d->programs), sizeof(*over));
	enum krp_wake wake;
	unsigned int n;

	infos = get(krp_programs_slots(d->programs), sizeof(*infos));
	ended = get(2 * KEEP, d->size);
	krp_environment_open(&setting, "");
	t_line = krp_time_now();
	do {
		wake = krp_wait_fd(krp_programs_fd(d->programs), INFINITY);
		krp_programs_woken(d->programs);
		if (d->eager || wake == KRP_WAKE_TICK || d->programs->ring < SMALL ||
		    krp_iters_behind(&d->follow->iters) >= MUCH)
			read_all(d);
		if (wake == KRP_WAKE_FD)
			continue;
		krp_programs_environment(d->programs, d->runs, &setting);
		take_ended(d, over);
		if (d->look)
			d->look();
		if (wake == KRP_WAKE_TICK)
			print(d, false);
	} while (wake == KRP_WAKE_FD || (wake != KRP_WAKE_STOP && !is_done(d)));

	if (d->stop)
		d->stop();
	read_all(d);
	for (n = 0; !take_ended(d, over) && n < SETTLE_MS; n++)
		usleep(1000);
	/* Print what came since the last line; if there was no line, the summary has it all. */
	if (nr_lines && has_intervals())
		print(d, false);
	print(d, true);
	krp_environment_close(&setting);
	free(ended);
	free(infos);
	free(over);
}
