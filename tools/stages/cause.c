// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "cause.h"
#include "../lib/tool.h"

/* From t to t_end a thread was ready to run on a CPU, or ran there. */
struct span {
	uint64_t t, t_end;
	uint32_t cpu;
	uint32_t tid;
	bool kthread;
	char comm[REC_COMM_LEN];
};

struct spans {
	struct span *v;
	size_t nr, room;
};

struct krp_history {
	const struct krp_cause_input *in;
	struct spans ready;
};

/*
 * A change of the state of one thread. The order of the kinds is the order of
 * changes at the same time.
 */
struct change {
	uint64_t t;
	enum { LEAVES, WAKES, MOVES, RUNS } kind;
	bool ready;   /* LEAVES: it was still ready to run */
	bool kthread; /* WAKES, MOVES */
	uint32_t cpu, tid;
	const char *comm;
};

static void span_add(struct spans *s, const struct span *new)
{
	if (new->t >= new->t_end)
		return;
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->v = krp_resize(s->v, s->room, sizeof(*s->v));
	}
	s->v[s->nr++] = *new;
}

static void cause_add(struct krp_causes *c, const struct krp_cause *new)
{
	struct krp_cause *v;
	size_t i;

	for (i = 0; i < c->nr; i++) {
		v = &c->v[i];
		if (v->kind == new->kind && v->id == new->id && v->waiter == new->waiter &&
		    !strncmp(v->comm, new->comm, REC_COMM_LEN)) {
			v->ns += new->ns;
			return;
		}
	}
	c->v = krp_resize(c->v, c->nr + 1, sizeof(*c->v));
	c->v[c->nr++] = *new;
}

void krp_causes_add(struct krp_causes *to, const struct krp_causes *from)
{
	size_t i;

	for (i = 0; i < from->nr; i++)
		cause_add(to, &from->v[i]);
}

uint64_t krp_causes_sum(const struct krp_causes *c)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->nr; i++)
		sum += c->v[i].ns;
	return sum;
}

/* If so much of it is this tool itself, in per cent, it has watched itself. */
#define OWN 25

void krp_causes_own(char *buf, size_t size, const struct krp_causes *c, const char *comm,
		    uint64_t of_ns, long cpus)
{
	uint64_t own = 0;
	size_t i;

	*buf = '\0';
	for (i = 0; i < c->nr; i++) {
		if (c->v[i].kind == REC_TASK && !strncmp(c->v[i].comm, comm, REC_COMM_LEN))
			own += c->v[i].ns;
	}
	if (own && own >= of_ns * OWN / 100)
		snprintf(buf, size,
			 "  %s itself is %.0f %% of this: on %ld CPUs watching is the likely cause\n",
			 comm, 100.0 * own / of_ns, cpus);
}

void krp_causes_limit(struct krp_causes *c, uint64_t limit)
{
	uint64_t sum = krp_causes_sum(c), left = limit;
	size_t i, most = 0;

	if (sum <= limit)
		return;
	for (i = 0; i < c->nr; i++) {
		c->v[i].ns = (unsigned __int128)c->v[i].ns * limit / sum;
		left -= c->v[i].ns;
		if (c->v[i].ns > c->v[most].ns)
			most = i;
	}
	/* Add the rest that rounding has left. */
	c->v[most].ns += left;
}

static int by_ns(const void *a, const void *b)
{
	const struct krp_cause *l = a, *r = b;

	return (l->ns < r->ns) - (l->ns > r->ns);
}

void krp_causes_sort(struct krp_causes *c)
{
	if (c->nr)
		qsort(c->v, c->nr, sizeof(*c->v), by_ns);
}

void krp_causes_free(struct krp_causes *c)
{
	free(c->v);
	memset(c, 0, sizeof(*c));
}

/* By thread, then time, then kind. */
static int by_change(const void *a, const void *b)
{
	const struct change *l = a, *r = b;

	if (l->tid != r->tid)
		return l->tid < r->tid ? -1 : 1;
	if (l->t != r->t)
		return l->t < r->t ? -1 : 1;
	return (int)l->kind - (int)r->kind;
}

/* Collects the changes of all threads except the idle threads, which are never ready to run. */
static size_t all_changes(struct change **to, const struct krp_cause_input *in)
{
	struct change *v;
	size_t nr = 0, i;
	unsigned int c;

	for (c = 0; c < in->nr_cpus; c++)
		nr += 2 * in->cpus[c].nr;
	v = krp_new(nr + 1, sizeof(*v));
	nr = 0;
	for (c = 0; c < in->nr_cpus; c++) {
		for (i = 0; i < in->cpus[c].nr; i++) {
			const struct rec_event *e = &in->cpus[c].v[i];
			struct change change = { .tid = e->id, .cpu = c, .comm = e->comm };

			if (!e->id)
				continue;
			switch (e->kind) {
			case REC_TASK:
				change.t = e->t;
				change.kind = RUNS;
				v[nr++] = change;
				change.t = e->t_end;
				change.kind = LEAVES;
				change.ready = e->flags & REC_F_READY;
				v[nr++] = change;
				break;
			case REC_WAKEUP:
			case REC_MIGRATE:
				change.t = e->t;
				change.kind = e->kind == REC_WAKEUP ? WAKES : MOVES;
				change.cpu = e->arg;
				change.kthread = e->flags & REC_F_KTHREAD;
				v[nr++] = change;
				break;
			}
		}
	}
	qsort(v, nr, sizeof(*v), by_change);
	*to = v;
	return nr;
}

/* Finds when and on which CPU each thread was ready to run, but did not run. */
static void find_ready(struct spans *to, const struct change *v, size_t nr)
{
	struct span open = { 0 };
	bool ready = false, runs = false;
	size_t i, k;

	for (i = 0; i < nr; i++) {
		const struct change *c = &v[i];

		if (!i || c->tid != v[i - 1].tid) {
			ready = runs = open.kthread = false;
			for (k = i; k < nr && v[k].tid == c->tid; k++)
				open.kthread |= v[k].kthread;
		}
		if (ready && (c->kind == RUNS || c->kind == MOVES)) {
			open.t_end = c->t;
			span_add(to, &open);
		}
		switch (c->kind) {
		case RUNS:
			ready = false;
			runs = true;
			break;
		case LEAVES:
			runs = false;
			ready = c->ready;
			break;
		case WAKES:
			/* A wakeup of a thread that has not yet left the CPU changes nothing. */
			if (ready || runs)
				continue;
			ready = true;
			break;
		case MOVES:
			if (!ready)
				continue;
			break;
		}
		if (!ready)
			continue;
		open.t = c->t;
		open.cpu = c->cpu;
		open.tid = c->tid;
		memcpy(open.comm, c->comm, sizeof(open.comm));
		/* The thread was not seen to run again. */
		if (i + 1 == nr || v[i + 1].tid != c->tid) {
			open.t_end = UINT64_MAX;
			span_add(to, &open);
		}
	}
}

/*
 * Without wakeup events: assume that the thread was woken when the window
 * began, and was ready on the CPU that it ran on next. Adds a span if that is
 * this CPU.
 */
static void guess_ready(struct spans *to, const struct krp_cause_input *in,
			const struct krp_window *w, unsigned int cpu)
{
	struct span first = { .t = w->t, .t_end = UINT64_MAX, .tid = in->tid };
	unsigned int c;
	size_t i;

	for (c = 0; c < in->nr_cpus; c++) {
		for (i = 0; i < in->cpus[c].nr; i++) {
			const struct rec_event *e = &in->cpus[c].v[i];

			if (e->kind != REC_TASK || e->id != in->tid || e->t_end <= w->t)
				continue;
			/* The thread was running already. */
			if (e->t <= w->t)
				return;
			if (e->t < first.t_end) {
				first.t_end = e->t;
				first.cpu = c;
			}
		}
	}
	if (first.t_end != UINT64_MAX && first.cpu == cpu)
		span_add(to, &first);
}

/* The events of one kind in the window: on a CPU they do not overlap, and so are in the order of their beginnings, too. */
struct row {
	const struct rec_event **v;
	size_t nr, at;
};

static void row_make(struct row *r, const struct krp_cpu_events *cpu, enum rec_kind kind,
		     const struct krp_window *w)
{
	size_t i;

	r->v = krp_new(cpu->nr + 1, sizeof(*r->v));
	r->nr = r->at = 0;
	for (i = 0; i < cpu->nr; i++) {
		if (cpu->v[i].kind == kind && cpu->v[i].t_end > w->t && cpu->v[i].t < w->t_end)
			r->v[r->nr++] = &cpu->v[i];
	}
}

/* The event that goes on at t, or NULL; t never goes back from call to call. */
static const struct rec_event *row_at(struct row *r, uint64_t t)
{
	while (r->at < r->nr && r->v[r->at]->t_end <= t)
		r->at++;
	return r->at < r->nr && r->v[r->at]->t <= t ? r->v[r->at] : NULL;
}

static int by_time(const void *a, const void *b)
{
	uint64_t l = *(const uint64_t *)a, r = *(const uint64_t *)b;

	return (l > r) - (l < r);
}

/* The thread that at t has been ready to run on this CPU for the longest, or NULL. */
static const struct span *ready_at(const struct spans *s, uint64_t t)
{
	const struct span *first = NULL;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		if (s->v[i].t <= t && t < s->v[i].t_end && (!first || s->v[i].t < first->t))
			first = &s->v[i];
	}
	return first;
}

static void add_bounds(uint64_t *b, size_t *nr, const struct krp_window *w, uint64_t t,
		       uint64_t t_end)
{
	if (t > w->t && t < w->t_end)
		b[(*nr)++] = t;
	if (t_end > w->t && t_end < w->t_end)
		b[(*nr)++] = t_end;
}

static size_t bounds_of(uint64_t **to, const struct krp_window *w, const struct row *rows,
			const struct spans *ready)
{
	size_t nr = 2, i, k;
	uint64_t *b;

	for (k = 0; k < 3; k++)
		nr += 2 * rows[k].nr;
	nr += 2 * ready->nr;
	b = krp_new(nr, sizeof(*b));
	nr = 0;
	b[nr++] = w->t;
	b[nr++] = w->t_end;
	for (k = 0; k < 3; k++) {
		for (i = 0; i < rows[k].nr; i++)
			add_bounds(b, &nr, w, rows[k].v[i]->t, rows[k].v[i]->t_end);
	}
	for (i = 0; i < ready->nr; i++)
		add_bounds(b, &nr, w, ready->v[i].t, ready->v[i].t_end);
	qsort(b, nr, sizeof(*b), by_time);
	*to = b;
	return nr;
}

static void find_on_cpu(struct krp_causes *to, const struct krp_cause_input *in,
			const struct krp_window *w, unsigned int cpu, const struct spans *ready)
{
	static const enum rec_kind kinds[] = { REC_TASK, REC_SOFTIRQ, REC_IRQ };
	const struct rec_event *task, *softirq, *irq, *who;
	const struct span *waiter;
	struct krp_cause cause;
	struct row rows[3];
	uint64_t *bounds;
	size_t nr, i;

	for (i = 0; i < 3; i++)
		row_make(&rows[i], &in->cpus[cpu], kinds[i], w);
	nr = bounds_of(&bounds, w, rows, ready);
	for (i = 0; i + 1 < nr; i++) {
		if (bounds[i] == bounds[i + 1])
			continue;
		task = row_at(&rows[0], bounds[i]);
		softirq = row_at(&rows[1], bounds[i]);
		irq = row_at(&rows[2], bounds[i]);
		/* With PREEMPT_RT the task that runs softirqs can lose the CPU. */
		if (softirq && task && softirq->arg != task->id)
			softirq = NULL;
		waiter = ready_at(ready, bounds[i]);
		who = irq ?: softirq ?: task;
		if (!who)
			continue;
		if (who == task) {
			if (!waiter || waiter->tid == task->id)
				continue;
		} else if (w->mode != KRP_CAUSE_AWAY && !waiter && !(task && task->id == in->tid)) {
			continue;
		}
		memset(&cause, 0, sizeof(cause));
		cause.kind = who->kind;
		cause.id = who->id;
		cause.ns = bounds[i + 1] - bounds[i];
		if (who == task) {
			memcpy(cause.comm, task->comm, sizeof(cause.comm));
			/* All idle threads are one cause: the CPU slept. */
			if (!task->id)
				strcpy(cause.comm, "idle");
			if (waiter->tid != in->tid) {
				cause.waiter = waiter->tid;
				memcpy(cause.waiter_comm, waiter->comm, sizeof(cause.waiter_comm));
			}
		}
		cause_add(to, &cause);
	}
	free(bounds);
	for (i = 0; i < 3; i++)
		free(rows[i].v);
}

struct krp_history *krp_history_new(const struct krp_cause_input *in)
{
	struct krp_history *h = krp_new(1, sizeof(*h));
	struct change *changes;
	size_t nr;

	h->in = in;
	nr = all_changes(&changes, in);
	find_ready(&h->ready, changes, nr);
	free(changes);
	return h;
}

void krp_history_free(struct krp_history *h)
{
	free(h->ready.v);
	free(h);
}

static bool matters(const struct krp_cause_input *in, enum krp_cause_mode mode,
		    const struct span *s)
{
	if (mode != KRP_CAUSE_AWAY)
		return s->tid == in->tid;
	return s->kthread || (in->peer_tid && s->tid == in->peer_tid);
}

void krp_causes_find(struct krp_causes *to, const struct krp_history *h, const struct krp_window *w)
{
	const struct krp_cause_input *in = h->in;
	struct spans mine;
	unsigned int c;
	size_t i;

	if (w->t >= w->t_end)
		return;
	for (c = 0; c < in->nr_cpus; c++) {
		mine = (struct spans){ 0 };
		for (i = 0; i < h->ready.nr; i++) {
			const struct span *s = &h->ready.v[i];

			if (s->cpu == c && s->t < w->t_end && s->t_end > w->t &&
			    matters(in, w->mode, s))
				span_add(&mine, s);
		}
		if (w->mode == KRP_CAUSE_WAKE && !in->wakeups)
			guess_ready(&mine, in, w, c);
		find_on_cpu(to, in, w, c, &mine);
		free(mine.v);
	}
}
