// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "tool.h"

/* A program that writes to a slot is done within this many attempts, but for a few in a million. */
#define ATTEMPTS 1000

/* What of a slot does not change while it is the run's. */
struct identity {
	uint32_t run, state;
	bool late;
	uint64_t serial, t_first;
};

static void look(struct identity *id, const struct krp_run *r)
{
	id->serial = __atomic_load_n(&r->serial, __ATOMIC_ACQUIRE);
	id->state = __atomic_load_n(&r->head.state, __ATOMIC_RELAXED);
	id->run = r->head.run;
	id->late = r->head.late;
	id->t_first = r->head.t_first;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* false: it was being written at each attempt. */
static bool identify(struct identity *id, const struct krp_run *r)
{
	uint32_t seq;
	unsigned int i;

	for (i = 0; i < ATTEMPTS; i++) {
		seq = __atomic_load_n(&r->head.seq, __ATOMIC_ACQUIRE);
		look(id, r);
		if (!(seq & 1) && __atomic_load_n(&r->head.seq, __ATOMIC_RELAXED) == seq)
			return true;
	}
	return false;
}

static uint64_t last_serial(const struct krp_follow *f)
{
	uint64_t last = 0, serial;
	uint32_t slot;

	for (slot = 0; slot < krp_programs_slots(f->w); slot++) {
		serial = __atomic_load_n(&krp_programs_run(f->w, slot)->serial, __ATOMIC_RELAXED);
		if (serial > last)
			last = serial;
	}
	return last;
}

void krp_follow_open(struct krp_follow *f, const struct krp_programs *w,
		     void (*take)(struct krp_followed *s, const struct krp_rec *rec),
		     void (*drop)(uint32_t slot))
{
	memset(f, 0, sizeof(*f));
	f->w = w;
	f->take = take;
	f->drop = drop;
	f->slot = calloc(krp_programs_slots(w), sizeof(*f->slot));
	if (!f->slot || (take && krp_iters_init(&f->iters, w->rings, w->ring, w->cpus)))
		krp_die("out of memory");
	krp_programs_begin(w);
}

void krp_follow_close(struct krp_follow *f)
{
	krp_iters_free(&f->iters);
	free(f->slot);
	free(f->early);
	memset(f, 0, sizeof(*f));
}

/* The slot has become another run's. */
static struct krp_followed *take_slot(struct krp_follow *f, uint32_t slot,
				      const struct identity *id)
{
	struct krp_followed *s = &f->slot[slot];

	if (s->run && !s->over)
		f->nr_gone++;
	if (s->run)
		f->drop(slot);
	memset(s, 0, sizeof(*s));
	s->run = id->run;
	s->serial = id->serial;
	s->late = id->late;
	s->t_first = s->t_end = id->t_first;
	f->nr_taken++;
	return s;
}

struct krp_followed *krp_follow_slot(struct krp_follow *f, uint32_t slot)
{
	const struct krp_run *r = krp_programs_run(f->w, slot);
	struct krp_followed *s = &f->slot[slot];
	struct identity id;

	if (__atomic_load_n(&r->serial, __ATOMIC_ACQUIRE) == s->serial)
		return s->run && !s->over ? s : NULL;
	if (!identify(&id, r) || id.state == KRP_SLOT_FREE)
		return NULL;
	return take_slot(f, slot, &id);
}

uint32_t krp_follow_slots(struct krp_follow *f, uint32_t *slots)
{
	uint32_t slot, nr = 0;

	for (slot = 0; slot < krp_programs_slots(f->w); slot++) {
		if (krp_follow_slot(f, slot))
			slots[nr++] = slot;
	}
	return nr;
}

/* The run of a record; NULL: the record is not to be looked at. */
static struct krp_followed *run_of(struct krp_follow *f, const struct krp_rec *rec)
{
	struct krp_followed *s;
	struct identity id;

	if (rec->slot >= krp_programs_slots(f->w))
		return NULL;
	s = &f->slot[rec->slot];
	if (s->run != rec->run) {
		/* The record was complete after all that is read here, unless the slot is another run's already. */
		look(&id, krp_programs_run(f->w, rec->slot));
		if (id.run != rec->run || !id.serial)
			return NULL;
		s = take_slot(f, rec->slot, &id);
	}
	return s->over ? NULL : s;
}

static void hand_over(struct krp_follow *f, struct krp_followed *s, const struct krp_rec *rec)
{
	if (rec->records > s->all.records) {
		s->all.records = rec->records;
		s->all.ns = rec->records_ns;
		s->all.whole = rec->whole;
		s->t_end = rec->t;
	}
	f->take(s, rec);
}

static void keep_early(struct krp_follow *f, const struct krp_rec *rec)
{
	if (f->nr_early == f->room) {
		f->room += 64;
		f->early = reallocarray(f->early, f->room, sizeof(*f->early));
		if (!f->early)
			krp_die("out of memory");
	}
	memcpy(f->early[f->nr_early++], rec, KRP_REC_BYTES(rec->nr));
}

static const struct krp_rec *early(const struct krp_follow *f, unsigned int n)
{
	return (const struct krp_rec *)f->early[n];
}

/* Hands over those that came early, the first one first: all of them, or up to where one is still missing. */
static void take_early(struct krp_follow *f)
{
	struct krp_followed *s;
	unsigned int i, n = 0;
	bool missing;

	/* They are in the order in which they came, and so those of a run are in its order. */
	for (i = 0; i < f->nr_early; i++) {
		s = run_of(f, early(f, i));
		missing = s && early(f, i)->records > s->all.records + 1;
		if (missing && !f->all_early) {
			memmove(f->early[n++], f->early[i], sizeof(*f->early));
			continue;
		}
		if (s)
			hand_over(f, s, early(f, i));
	}
	f->nr_early = n;
}

static void take_rec(void *ctx, const struct krp_rec *rec)
{
	struct krp_follow *f = ctx;
	struct krp_followed *s = run_of(f, rec);

	if (!s)
		return;
	/* If nothing was overwritten, what is missing comes with the next reading. */
	if (rec->records > s->all.records + 1 && f->iters.overtaken == f->overtaken)
		keep_early(f, rec);
	else
		hand_over(f, s, rec);
}

void krp_follow_read(struct krp_follow *f)
{
	unsigned int i;

	f->overtaken = f->iters.overtaken;
	f->all_early = false;
	krp_iters_read(&f->iters, take_rec, f);
	/* Whatever was before a record that we have read can be read by now. */
	for (i = 0; f->nr_early; i++) {
		f->all_early = i == 3;
		krp_iters_read(&f->iters, take_rec, f);
		take_early(f);
	}
}

void krp_follow_drop(struct krp_follow *f, uint32_t slot)
{
	f->drop(slot);
	f->slot[slot].over = true;
}

bool krp_follow_ended(struct krp_follow *f, uint32_t slot)
{
	const struct krp_run *r = krp_programs_run(f->w, slot);

	return krp_follow_slot(f, slot) &&
	       __atomic_load_n(&r->head.state, __ATOMIC_ACQUIRE) == KRP_SLOT_ENDED;
}

void krp_follow_end(struct krp_followed *s, const struct krp_run *r)
{
	s->all.records = r->records;
	s->all.ns = r->records_ns;
	s->all.whole = r->whole;
	s->t_end = r->head.t_last;
}

uint64_t krp_follow_unseen(const struct krp_follow *f)
{
	return last_serial(f) - f->nr_taken + f->nr_gone;
}
