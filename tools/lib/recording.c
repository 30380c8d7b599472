// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "events.h"
#include "recording.h"
#include "tool.h"

static const char *const hows[KRP_NR_HOWS] = {
	[KRP_HOW_text] = "text",
	[KRP_HOW_label] = "label",
	[KRP_HOW_words] = "words",
};

char *krp_recording_table(void)
{
	const struct krp_event_info *e;
	size_t size;
	char *text;
	FILE *f = krp_text_open(&text, &size);
	unsigned int i;

	for (e = krp_events; e < krp_events + KRP_NR_EVENTS; e++) {
		fputs(e->name, f);
		for (i = 0; i < e->nr_args; i++)
			fprintf(f, " %s:%s", e->args[i].name,
				hows[e->args[i].how] ?: e->args[i].type_name);
		fputc('\n', f);
	}
	krp_text_close(f);
	return text;
}

static int arg_of(const struct krp_event_info *e, const char *name, const char *type)
{
	unsigned int i;

	for (i = 0; i < e->nr_args; i++) {
		if (!strcmp(e->args[i].name, name) &&
		    !strcmp(hows[e->args[i].how] ?: e->args[i].type_name, type))
			return i;
	}
	return -1;
}

/* A line of the table: which event of this version it is, and where each argument goes; -1: nowhere. */
static bool parse_event(struct krp_recording_event *e, char *line)
{
	char *next = line, *name = strsep(&next, " "), *arg, *type;
	int event = krp_event_find(name), i;

	*e = (struct krp_recording_event){
		.event = event + 1, .words = -1, .text = -1, .label = -1
	};
	while ((arg = strsep(&next, " "))) {
		type = arg;
		strsep(&type, ":");
		if (!type || e->nr_args == KRP_MAX_ARGS)
			return false;
		i = e->nr_args++;
		e->to[i] = event < 0 ? -1 : arg_of(&krp_events[event], arg, type);
		if (!strcmp(type, "words"))
			e->words = i;
		else if (!strcmp(type, "text"))
			e->text = i;
		else if (!strcmp(type, "label"))
			e->label = i;
	}
	return e->words && e->nr_args;
}

static const char *take_table(struct krp_recording *r, char *text)
{
	char *own = krp_recording_table(), *line;

	r->same = !strcmp(own, text);
	free(own);
	r->nr_events = 0;
	while (*text && (line = strsep(&text, "\n")) && text) {
		if (r->nr_events == sizeof(r->event) / sizeof(*r->event) ||
		    !parse_event(&r->event[r->nr_events++], line))
			return "its table of events cannot be read";
	}
	return NULL;
}

/* Bytes of an event in the recording, from its head on; 0: it is too short for what it says. */
static size_t event_size(const struct krp_recording *r, const struct krp_event_head *h, size_t size)
{
	const struct krp_recording_event *e = &r->event[h->event];
	size_t need = sizeof(*h) + e->nr_args * sizeof(__u64);
	const __u64 *args = (const __u64 *)(h + 1);

	if (size < need)
		return 0;
	if (e->words > 0 && (__u32)args[e->words - 1] > KRP_WORDS_MAX)
		return 0;
	if (e->words > 0)
		need += (__u32)args[e->words - 1] * sizeof(__u64);
	need += (e->text >= 0) * KRP_TEXT_MAX + (e->label >= 0) * KRPING_NAME_MAX;
	return size < need ? 0 : need;
}

/* The event in the form of this version; NULL: this version does not know it. */
static const struct krp_event_head *convert(struct krp_recording *r, const struct krp_event_head *h,
					    size_t *size)
{
	const struct krp_recording_event *e = &r->event[h->event];
	const struct krp_event_info *own = &krp_events[e->event - 1];
	struct krp_event_head *to = &r->copy.head;
	const __u64 *args = (const __u64 *)(h + 1);
	const char *more = (const char *)(args + e->nr_args);
	__u64 *own_args = (__u64 *)(to + 1), nr;
	char *own_more = (char *)(own_args + own->nr_args);
	unsigned int i;

	if (r->same)
		return h;
	memset(&r->copy, 0, sizeof(r->copy));
	*to = *h;
	to->event = e->event - 1;
	for (i = 0; i < e->nr_args; i++) {
		if (e->to[i] >= 0)
			own_args[e->to[i]] = args[i];
	}
	/* A label is behind a text, and an event with words has neither. */
	if (own->text >= 0 && e->text >= 0)
		memcpy(own_more, more, KRP_TEXT_MAX);
	if (own->label >= 0 && e->label >= 0)
		memcpy(own_more + KRP_TEXT_MAX, more + (e->text >= 0) * KRP_TEXT_MAX,
		       KRPING_NAME_MAX);
	nr = own->words > 0 && e->words > 0 ? (__u32)args[e->words - 1] : 0;
	if (own->words > 0)
		own_args[own->words - 1] = nr;
	memcpy(own_more, more, nr * sizeof(__u64));
	*size = krp_event_size(to);
	return to;
}

static const char *take_about(struct krp_recording *r, const char *text)
{
	char *clean = krp_clean_dup(text);
	json_object *o = json_tokener_parse(clean);

	free(clean);
	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return "what it says of itself cannot be read";
	}
	json_object_put(r->about);
	r->about = o;
	return NULL;
}

static const char *take_runs(struct krp_recording *r, char *text, size_t size)
{
	FILE *f = size ? fmemopen(text, size, "r") : NULL;
	int err = f ? krp_runs_parse(r->runs, f) : 0;

	if (f)
		fclose(f);
	return err ? "its list of runs cannot be read" : NULL;
}

/* What is not an event. Returns what is wrong with it, or NULL. */
static const char *take_chunk(struct krp_recording *r, const struct krp_chunk *c)
{
	const struct krp_chunk_lost *lost = r->chunk;

	switch (c->kind) {
	case KRP_CHUNK_TABLE:
		return take_table(r, r->chunk);
	case KRP_CHUNK_ABOUT:
		return r->has_last ? NULL : take_about(r, r->chunk);
	case KRP_CHUNK_CLOCK:
		if (c->size < sizeof(r->clock))
			return "a reading of its clocks is cut off";
		memcpy(&r->clock, r->chunk, sizeof(r->clock));
		break;
	case KRP_CHUNK_LOST:
		if (c->size < sizeof(*lost))
			return "a count of its losses is cut off";
		r->lost.missed = lost->missed;
		r->lost.failed = lost->failed;
		r->lost.dropped = lost->dropped;
		break;
	case KRP_CHUNK_RUNS:
		return r->has_last ? NULL : take_runs(r, r->chunk, c->size);
	case KRP_CHUNK_END:
		r->whole = true;
		break;
	}
	return NULL;
}

static const char *read_chunk(struct krp_recording *r, struct krp_chunk *c)
{
	size_t padded;

	if (fread(c, sizeof(*c), 1, r->f) != 1)
		return "its end is missing";
	if (c->size > KRP_CHUNK_MAX)
		return "a chunk is too large";
	padded = (c->size + 7UL) & ~7UL;
	if (padded + 8 > r->room) {
		r->room = padded + 4096;
		r->chunk = krp_resize(r->chunk, r->room, 1);
	}
	if (padded && fread(r->chunk, padded, 1, r->f) != 1)
		return "its end is missing";
	((char *)r->chunk)[c->size] = '\0';
	return NULL;
}

/* An event of trace-cmd. Its file has neither the module's nonce nor the clock on the wall, but events tell of both. */
static const struct krp_event_head *next_of_tracedat(struct krp_recording *r, size_t *size)
{
	const struct krp_event_head *h = krp_tracedat_next(r->tracedat, size, &r->damage);
	const __u64 *args;

	r->lost = krp_tracedat_lost(r->tracedat);
	r->whole = !h && !r->damage;
	if (!h)
		return NULL;
	args = (const __u64 *)(h + 1);
	if (h->event == KRP_EV_addr)
		r->runs->nonce = args[KRP_ARG_addr_nonce];
	else if (h->event == KRP_EV_run_start)
		r->clock = (struct krp_clock){ h->t, args[KRP_ARG_run_start_t_real] };
	else if (h->event == KRP_EV_conn)
		r->clock = (struct krp_clock){ h->t, args[KRP_ARG_conn_t_real] };
	return h;
}

const struct krp_event_head *krp_recording_next(struct krp_recording *r, size_t *size)
{
	const struct krp_event_head *h;
	struct krp_chunk c;

	while (!r->whole && !r->damage) {
		if (r->tracedat)
			return next_of_tracedat(r, size);
		r->damage = read_chunk(r, &c);
		if (r->damage)
			break;
		if (c.kind != KRP_CHUNK_EVENT) {
			r->damage = take_chunk(r, &c);
			if (r->other && !r->damage)
				r->other(r, &c);
			continue;
		}
		h = r->chunk;
		*size = c.size < sizeof(*h) || h->event >= r->nr_events ? 0 :
									  event_size(r, h, c.size);
		if (!*size) {
			r->damage = "an event cannot be read";
			break;
		}
		/* One that this version does not know. */
		if (!r->event[h->event].event)
			continue;
		return convert(r, h, size);
	}
	return NULL;
}

const char *krp_recording_open(struct krp_recording *r, FILE *f, struct krp_runs *runs)
{
	char magic[sizeof(KRP_RECORDING_MAGIC) - 1];
	const char *why = NULL;
	bool all;

	memset(r, 0, sizeof(*r));
	r->runs = runs;
	r->f = f;
	r->about = json_object_new_object();
	all = fread(magic, sizeof(magic), 1, f) == 1;
	if (all && !memcmp(magic, KRP_TRACEDAT_MAGIC, sizeof(KRP_TRACEDAT_MAGIC) - 1)) {
		r->tracedat = krp_tracedat_open(fileno(f), &why);
		json_object_object_add(r->about, "recorder", json_object_new_string("trace-cmd"));
	} else if (!all || memcmp(magic, KRP_RECORDING_MAGIC, sizeof(magic))) {
		why = "no recording of krping-record or trace-cmd";
	}
	return why;
}

void krp_recording_input(struct krp_recording *r, const char *input, struct krp_runs *runs)
{
	FILE *f = strcmp(input, "-") ? fopen(input, "re") : stdin;
	const char *why;

	if (!f)
		krp_die("%s: %s", input, strerror(errno));
	why = krp_recording_open(r, f, runs);
	if (why)
		krp_die("%s: %s", input, why);
	r->name = input;
}

void krp_recording_last_runs(struct krp_recording *r)
{
	off_t back = r->tracedat ? -1 : ftello(r->f), last[2] = { 0 };
	void *event = r->chunk;
	size_t room = r->room;
	struct krp_chunk c;
	bool ok = false;
	unsigned int i;

	if (back < 0 || fseeko(r->f, sizeof(KRP_RECORDING_MAGIC) - 1, SEEK_SET))
		return;
	while (fread(&c, sizeof(c), 1, r->f) == 1 && c.kind != KRP_CHUNK_END) {
		if (c.kind == KRP_CHUNK_ABOUT || c.kind == KRP_CHUNK_RUNS)
			last[c.kind == KRP_CHUNK_RUNS] = ftello(r->f) - sizeof(c);
		if (fseeko(r->f, (c.size + 7LL) & ~7LL, SEEK_CUR))
			break;
	}
	/* Into memory of its own: the event that was read last stays where it is. */
	r->chunk = NULL;
	r->room = 0;
	for (i = 0; i < 2; i++)
		ok = last[i] && !fseeko(r->f, last[i], SEEK_SET) && !read_chunk(r, &c) &&
		     !take_chunk(r, &c);
	r->has_last = ok;
	free(r->chunk);
	r->chunk = event;
	r->room = room;
	clearerr(r->f);
	fseeko(r->f, back, SEEK_SET);
}

double krp_recording_position(const struct krp_recording *r)
{
	struct stat st;
	off_t at = r->tracedat ? -1 : ftello(r->f);

	if (at < 0 || fstat(fileno(r->f), &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return -1;
	return at < st.st_size ? (double)at / st.st_size : 1;
}

void krp_recording_close(struct krp_recording *r)
{
	if (r->f && r->f != stdin)
		fclose(r->f);
	krp_tracedat_close(r->tracedat);
	free(r->chunk);
	json_object_put(r->about);
}
