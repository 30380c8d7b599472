// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "events.h"
#include "seen.h"
#include "tool.h"

/* Bytes of the ring, unless --records says something else. */
#define RING_BYTES (8U << 20)

/* The arguments of an event. */
#define ARG(h, event, name) (((const __u64 *)((h) + 1))[KRP_ARG_##event##_##name])

static const struct krp_seen *wanted;

static bool is_wanted(const char *event)
{
	enum krp_event id = krp_event_find(event);

	return id == wanted->event || id == KRP_EV_run_start || id == KRP_EV_conn ||
	       id == KRP_EV_run_end || (wanted->also && wanted->also(event));
}

static struct krp_seen_run *new_slot(struct krp_seen *n, uint32_t run)
{
	struct krp_seen_run *s;
	uint32_t i;

	for (i = 0; i < n->slots; i++) {
		s = &n->slot[(n->next + i) % n->slots];
		if (s->head.state != KRP_SLOT_FREE && !s->over)
			continue;
		n->next = (n->next + i + 1) % n->slots;
		memset(s, 0, sizeof(*s));
		s->head.run = run;
		s->head.state = KRP_SLOT_RUNNING;
		return s;
	}
	/* Each once, and not with each of its events: runs are numbered as they begin. */
	n->no_slot += run > n->no_slot_run;
	if (run > n->no_slot_run)
		n->no_slot_run = run;
	return NULL;
}

static struct krp_seen_run *find(struct krp_seen *n, uint32_t run)
{
	uint16_t *found = &n->found[run % (sizeof(n->found) / sizeof(*n->found))];
	struct krp_seen_run *s = &n->slot[*found];

	if (s->head.run == run && s->head.state != KRP_SLOT_FREE && !s->over)
		return s;
	for (s = n->slot; s < n->slot + n->slots; s++) {
		if (s->head.run == run && s->head.state != KRP_SLOT_FREE && !s->over) {
			*found = s - n->slot;
			return s;
		}
	}
	return NULL;
}

static void copy_text(char *to, size_t size, const char *from)
{
	memcpy(to, from, size - 1);
	to[size - 1] = '\0';
}

static void take_start(struct krp_seen *n, const struct krp_event_head *h)
{
	struct krp_seen_run *s = find(n, h->run) ?: new_slot(n, h->run);
	const char *text = (const char *)((const __u64 *)(h + 1) + KRP_NR_ARGS_run_start);

	if (!s || s->begun)
		return;
	s->begun = true;
	s->t_first = s->t_end = h->t;
	s->head.t_first = s->head.t_last = h->t;
	s->head.parent = ARG(h, run_start, parent);
	s->head.role = ARG(h, run_start, role);
	s->head.test = ARG(h, run_start, test);
	s->head.size = ARG(h, run_start, size);
	s->head.count = ARG(h, run_start, count);
	s->head.flags = ARG(h, run_start, flags);
	s->head.pid = ARG(h, run_start, pid);
	copy_text(s->head.comm, sizeof(s->head.comm), text);
	copy_text(s->head.name, sizeof(s->head.name), text + KRP_TEXT_MAX);
}

/* A nonce of 0 means a classic peer. A server takes size and test over from its client. */
static void take_conn(struct krp_seen *n, const struct krp_event_head *h)
{
	uint64_t nonce = ARG(h, conn, peer_nonce);
	struct krp_seen_run *s = find(n, h->run);

	if (!s)
		return;
	s->head.tid = h->tid;
	s->head.size = ARG(h, conn, size);
	s->head.test = ARG(h, conn, test);
	s->head.peer_run = ARG(h, conn, peer_run);
	s->head.port = ARG(h, conn, port);
	s->head.qp = ARG(h, conn, qp);
	copy_text(s->head.dev, sizeof(s->head.dev),
		  (const char *)((const __u64 *)(h + 1) + KRP_NR_ARGS_conn));
	if (nonce && nonce == n->own_nonce && ARG(h, conn, peer_run) != h->run)
		s->peer = ARG(h, conn, peer_run);
}

/* How much later or more: a recording may say anything. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* All time of the run was told just before: what is missing now was lost. */
static void end_run(struct krp_seen_run *s, uint64_t t, uint64_t iters)
{
	uint64_t lost = since(iters, s->iter);

	s->head.t_last = t;
	s->head.state = KRP_SLOT_ENDED;
	if (!s->begun || t <= s->t_end)
		return;
	s->missed.records += lost ?: 1;
	s->missed.ns += t - s->t_end;
	s->missed.whole += lost;
	s->t_end = t;
}

static void take_end(struct krp_seen *n, const struct krp_event_head *h)
{
	struct krp_seen_run *s = find(n, h->run);

	if (!s)
		return;
	s->head.err = (__s32)ARG(h, run_end, err);
	s->head.duration_ns = ARG(h, run_end, duration_ns);
	end_run(s, h->t, ARG(h, run_end, iters));
}

/* The first event of a run that began before us: its account begins with this, or, of a part, behind it. */
static void begin_late(struct krp_seen_run *s, uint64_t t, uint64_t told, uint64_t iter)
{
	s->begun = true;
	s->head.late = 1;
	s->head.t_first = s->t_first = s->t_end = t;
	s->told = told;
	s->iter = iter;
}

static void take_iteration(struct krp_seen *n, const struct krp_event_head *h)
{
	const uint32_t ends = KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_ABORT | KRPING_PHASE_F_PART;
	uint64_t t_begin = ARG(h, iter_stages, t_begin), iter = ARG(h, iter_stages, iter);
	uint64_t told = ARG(h, iter_stages, told);
	uint32_t flags = ARG(h, iter_stages, flags);
	struct krp_seen_run *s = find(n, h->run) ?: new_slot(n, h->run);
	bool commit = flags & KRPING_PHASE_F_COMMIT;
	uint32_t nr = ARG(h, iter_stages, nr);
	struct krp_rec rec;

	if (!s || s->head.state == KRP_SLOT_ENDED)
		return;
	if (!s->begun && flags & KRPING_PHASE_F_PART) {
		begin_late(s, h->t, told, iter + commit);
		s->head.t_last = h->t;
		return;
	}
	if (!s->begun)
		begin_late(s, t_begin, told - 1, iter);
	rec = (struct krp_rec){
		.slot = s - n->slot,
		.tid = h->tid,
		.cpu = h->cpu,
		.flags = flags,
		.iter = iter,
		.whole = (flags & ends) == KRPING_PHASE_F_COMMIT,
		/* A newer module may have more words than the programs copy. */
		.nr = nr < KRP_WORDS_MAX ? nr : KRP_WORDS_MAX,
		.gap = told != s->told + 1,
		.t_begin = t_begin,
		.t = h->t,
		.word = (const __u64 *)(h + 1) + KRP_NR_ARGS_iter_stages,
	};
	if (rec.gap) {
		s->missed.records += since(told, s->told + 1);
		s->missed.ns += since(t_begin, s->t_end);
		s->missed.whole += since(iter, s->iter);
	} else {
		s->holes += t_begin != s->t_end;
		s->unmatched += rec.whole && iter != s->iter;
	}
	s->told = told;
	if (commit)
		iter++;
	s->iter = iter;
	/*
	 * Another thread may have told of the set-up. So the number is that of the thread that told last, until the first
	 * iteration has ended.
	 */
	if (!s->iter || !s->head.tid)
		s->head.tid = h->tid;
	s->t_end = s->head.t_last = h->t;
	n->take(s, &rec);
}

static int take_event(void *ctx, void *data, size_t size)
{
	const struct krp_event_head *h = data;
	struct krp_seen *n = ctx;

	(void)size;
	if (h->event == n->event)
		take_iteration(n, h);
	else if (h->event == KRP_EV_run_start)
		take_start(n, h);
	else if (h->event == KRP_EV_conn)
		take_conn(n, h);
	else if (h->event == KRP_EV_run_end)
		take_end(n, h);
	if (n->other && h->event != n->event)
		n->other(h);
	return 0;
}

static void open_recording(struct krp_seen *n, const char *input, struct krp_runs *runs)
{
	size_t size;

	n->recording = krp_new(1, sizeof(*n->recording));
	krp_recording_input(n->recording, input, runs);
	/* Before the first event is what /proc had when the recording began. */
	n->pending = krp_recording_next(n->recording, &size);
	if (n->pending)
		n->now = n->t_tick = n->pending->t;
}

void krp_seen_open(struct krp_seen *n, enum krp_event event, const char *input,
		   struct krp_runs *runs,
		   void (*take)(struct krp_seen_run *s, const struct krp_rec *rec),
		   void (*drop)(uint32_t slot))
{
	uint32_t ring;

	wanted = n;
	n->event = event;
	n->take = take;
	n->drop = drop;
	n->slots = krp_tool.opts.max_runs ?: KRP_MAX_RUNS;
	n->slot = krp_new(n->slots, sizeof(*n->slot));
	if (input) {
		open_recording(n, input, runs);
		return;
	}
	if (!krp_runs_read(runs))
		n->own_nonce = runs->nonce;
	ring = krp_tool.opts.records ? krp_tool.opts.records * 1024 : RING_BYTES;
	krp_source_open(&n->source, is_wanted, 0, ring, ring / 2, take_event, n);
}

void krp_seen_close(struct krp_seen *n)
{
	if (n->recording)
		krp_recording_close(n->recording);
	else
		krp_source_close(&n->source);
	free(n->recording);
	free(n->slot);
	memset(n, 0, sizeof(*n));
}

void krp_seen_read(struct krp_seen *n)
{
	if (!n->recording)
		krp_source_read(&n->source);
}

void krp_seen_end(struct krp_seen *n)
{
	if (!n->recording)
		krp_source_end(&n->source);
}

/* If there are more intervals between two events, the time is forged, and one is enough. */
#define STEPS_MAX 10000

enum krp_replay krp_seen_replay(struct krp_seen *n, uint64_t interval_ns)
{
	const struct krp_event_head *h = n->pending;
	uint64_t due;
	size_t size;

	if (!h)
		h = n->pending = krp_recording_next(n->recording, &size);
	if (!h)
		return KRP_REPLAY_END;
	if (interval_ns && since(h->t, n->t_tick) >= interval_ns) {
		due = (h->t - n->t_tick) / interval_ns;
		n->t_tick += (due > STEPS_MAX ? due : 1) * interval_ns;
		n->now = n->t_tick;
		return KRP_REPLAY_TICK;
	}
	n->pending = NULL;
	n->own_nonce = n->recording->runs->nonce;
	if (h->t > n->now)
		n->now = h->t;
	take_event(n, (void *)h, 0);
	return h->event == KRP_EV_run_end ? KRP_REPLAY_RUN_END : KRP_REPLAY_EVENT;
}

uint64_t krp_seen_now(const struct krp_seen *n)
{
	return n->recording ? n->now : krp_time_now();
}

time_t krp_seen_clock(const struct krp_seen *n)
{
	const struct krp_clock *c = n->recording ? &n->recording->clock : NULL;

	return c ? (time_t)((c->real + n->now - c->mono) / 1000000000) : time(NULL);
}

struct krp_lost krp_seen_lost(const struct krp_seen *n)
{
	return n->recording ? n->recording->lost : krp_source_lost(&n->source);
}

bool krp_seen_damaged(const struct krp_seen *n)
{
	const struct krp_recording *r = n->recording;

	if (!r || !r->damage)
		return false;
	if (!krp_tool.opts.json)
		krp_error("%s is damaged: %s", r->name, r->damage);
	return true;
}

struct krp_seen_run *krp_seen_slot(struct krp_seen *n, uint32_t slot)
{
	struct krp_seen_run *s = &n->slot[slot];

	return s->begun && !s->over ? s : NULL;
}

int krp_seen_find(struct krp_seen *n, uint32_t run)
{
	struct krp_seen_run *s = find(n, run);

	return s && s->begun ? s - n->slot : -1;
}

uint32_t krp_seen_slots(struct krp_seen *n, uint32_t *slots)
{
	uint32_t slot, nr = 0;

	for (slot = 0; slot < n->slots; slot++) {
		if (krp_seen_slot(n, slot))
			slots[nr++] = slot;
	}
	return nr;
}

void krp_seen_drop(struct krp_seen *n, uint32_t slot)
{
	if (n->drop)
		n->drop(slot);
	n->slot[slot].over = true;
}

/* Its run_end was lost. */
static void end_unseen(struct krp_seen_run *s, const struct krp_run_info *info)
{
	uint64_t t = info->start_ns + info->elapsed_ns;

	s->head.err = info->err;
	s->head.duration_ns = info->elapsed_ns;
	end_run(s, t, info->iters);
}

void krp_seen_info(struct krp_seen *n, struct krp_runs *runs)
{
	uint64_t lost = krp_lost_sum(krp_seen_lost(n));
	const struct krp_run_info *info;
	bool read = lost;
	struct krp_seen_run *s;
	uint32_t slot;

	if (n->recording)
		return;
	for (slot = 0; slot < n->slots && !read; slot++) {
		s = krp_seen_slot(n, slot);
		if (!s)
			continue;
		info = krp_runs_find(runs, s->head.run);
		read = !info || (!info->iters && s->head.state == KRP_SLOT_RUNNING) ||
		       (s->head.state == KRP_SLOT_ENDED && !krp_run_finished(info));
	}
	if (!read || krp_runs_read(runs) || !lost)
		return;
	/* What these runs told before they ended was told before this reading. */
	krp_seen_read(n);
	for (slot = 0; slot < n->slots; slot++) {
		s = krp_seen_slot(n, slot);
		info = s ? krp_runs_find(runs, s->head.run) : NULL;
		if (info && s->head.state == KRP_SLOT_RUNNING && krp_run_finished(info))
			end_unseen(s, info);
	}
}

void krp_seen_environment(struct krp_seen *n, struct krp_runs *runs,
			  struct krp_environment *environment)
{
	struct krp_seen_run *s;
	bool read = false;
	uint32_t slot;

	for (slot = 0; slot < n->slots && !n->recording; slot++) {
		s = krp_seen_slot(n, slot);
		if (!s || s->head.state != KRP_SLOT_RUNNING || !s->head.tid ||
		    krp_environment_has(environment, s->head.run))
			continue;
		if (krp_has_filter() && !read) {
			if (krp_runs_read(runs))
				return;
			read = true;
		}
		krp_environment_thread(environment, s->head.run,
				       krp_shows(s->head.run, krp_runs_find(runs, s->head.run)) ?
					       s->head.tid :
					       0);
	}
}
