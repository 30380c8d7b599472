// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd.h>
#include <unistd.h>

#include "alloc.h"
#include "tool.h"
#include "tracedat.h"

/* An event of the table, as the file has it; a field that it does not have is NULL, and 0. */
struct kind {
	struct tep_event *event;
	struct tep_format_field *field[KRP_MAX_ARGS];
	struct tep_format_field *wr, *slept; /* of krping_wait, beside the phase */
};

/* The next event of a CPU. */
struct cpu {
	union krp_event_copy copy;
	size_t size; /* 0: there is none */
	uint64_t ts; /* by the file's clock: of two events at one time this one tells which was first */
};

struct krp_tracedat {
	struct tracecmd_input *in;
	struct tep_handle *tep;
	struct tep_format_field *type, *tid; /* which all events have */
	struct kind kind[KRP_NR_EVENTS];
	struct cpu *cpu, *last; /* last: of the event that was returned */
	int nr_cpus;
	uint64_t t; /* of that event */
	struct krp_lost lost;
};

static bool has(const struct tep_record *rec, unsigned int offset, unsigned int len)
{
	unsigned int size = rec->size > 0 ? rec->size : 0;

	return offset <= size && len <= size - offset;
}

/* Where the bytes of a field are, and how many: none if there is no such field. false: it is not in the record. */
static bool bytes_of(const struct krp_tracedat *d, const struct tep_record *rec,
		     const struct tep_format_field *field, const char **at, unsigned int *len)
{
	unsigned int offset = field ? field->offset : 0, where;

	*len = field ? field->size : 0;
	if (!has(rec, offset, *len))
		return false;
	if (*len && field->flags & TEP_FIELD_IS_DYNAMIC) {
		if (*len != sizeof(where))
			return false;
		where = tep_read_number(d->tep, (const char *)rec->data + offset, sizeof(where));
		offset = where & 0xffff;
		*len = where >> 16;
	}
	*at = (const char *)rec->data + offset;
	return has(rec, offset, *len);
}

static bool number(const struct krp_tracedat *d, const struct tep_record *rec,
		   const struct tep_format_field *field, __u64 *v)
{
	unsigned int len;
	const char *at;

	if (!bytes_of(d, rec, field, &at, &len) || len > sizeof(*v) || (len & (len - 1)))
		return false;
	*v = len ? tep_read_number(d->tep, at, len) : 0;
	return true;
}

/* A string, to where all bytes are 0. */
static bool text(const struct krp_tracedat *d, const struct tep_record *rec,
		 const struct tep_format_field *field, char *to, size_t room)
{
	unsigned int len;
	const char *at;

	if (!bytes_of(d, rec, field, &at, &len))
		return false;
	memcpy(to, at, strnlen(at, len < room ? len : room - 1));
	return true;
}

static bool words(const struct krp_tracedat *d, const struct tep_record *rec,
		  const struct tep_format_field *field, __u64 *to, __u64 nr)
{
	unsigned int len, i;
	const char *at;

	if (nr > KRP_WORDS_MAX || !bytes_of(d, rec, field, &at, &len) || len < nr * sizeof(*to))
		return false;
	for (i = 0; i < nr; i++)
		to[i] = tep_read_number(d->tep, at + i * sizeof(*to), sizeof(*to));
	return true;
}

/* Half of an address, whose bytes are in the order of the network. */
static bool half(const struct krp_tracedat *d, const struct tep_record *rec,
		 const struct tep_format_field *field, unsigned int from, __u64 *to)
{
	unsigned int len;
	const char *at;

	if (!bytes_of(d, rec, field, &at, &len) || (len && len < from + sizeof(*to)))
		return false;
	memcpy(to, at + from, len ? sizeof(*to) : 0);
	return true;
}

/* Argument i; what is behind the arguments follows them. */
static bool argument(const struct krp_tracedat *d, const struct tep_record *rec,
		     const struct kind *kind, const struct krp_event_info *info, unsigned int i,
		     __u64 *args)
{
	const struct tep_format_field *field = kind->field[i];
	__u64 *more = args + info->nr_args;
	__u64 wr, slept;

	switch (info->args[i].how) {
	case KRP_HOW_text:
		return text(d, rec, field, (char *)more, KRP_TEXT_MAX);
	case KRP_HOW_label:
		return text(d, rec, field, (char *)more + KRP_TEXT_MAX, KRPING_NAME_MAX);
	case KRP_HOW_words:
		return words(d, rec, field, more, args[i - 1]);
	case KRP_HOW_hi:
		return half(d, rec, field, 0, &args[i]);
	case KRP_HOW_lo:
		return half(d, rec, field, sizeof(*args), &args[i]);
	case KRP_HOW_wait:
		if (!number(d, rec, field, &args[i]) || !number(d, rec, kind->wr, &wr) ||
		    !number(d, rec, kind->slept, &slept))
			return false;
		args[i] = KRPING_WAIT(args[i] & 0xff, wr & 0xff, slept);
		return true;
	default:
		return number(d, rec, field, &args[i]);
	}
}

/* Makes a copy of the record; false: a field of it is not there, or of another kind. */
static bool copy_event(const struct krp_tracedat *d, const struct tep_record *rec,
		       unsigned int event, struct cpu *c)
{
	const struct krp_event_info *info = &krp_events[event];
	struct krp_event_head *h = &c->copy.head;
	__u64 *args = (__u64 *)(h + 1), tid;
	unsigned int i;

	memset(&c->copy, 0, sizeof(c->copy));
	for (i = 0; i < info->nr_args; i++) {
		if (!argument(d, rec, &d->kind[event], info, i, args))
			return false;
	}
	if (!number(d, rec, d->tid, &tid))
		return false;
	h->event = event;
	h->run = args[0];
	h->t = info->stamp >= 0 ? args[info->stamp] : 0;
	/* As bpf/krping_trace.bpf.c has it. */
	if (event == KRP_EV_wait && args[KRP_ARG_wait_t_wc] > h->t)
		h->t = args[KRP_ARG_wait_t_wc];
	h->tid = tid;
	h->cpu = rec->cpu;
	c->ts = rec->ts;
	c->size = krp_event_size(h);
	return true;
}

static int event_of(const struct krp_tracedat *d, const struct tep_record *rec)
{
	unsigned int i;
	__u64 type;

	if (!number(d, rec, d->type, &type))
		return -1;
	for (i = 0; i < KRP_NR_EVENTS; i++) {
		if (d->kind[i].event && (__u64)d->kind[i].event->id == type)
			return i;
	}
	return -1;
}

/* Reads on to the next event of krping on that CPU. */
static bool read_cpu(struct krp_tracedat *d, struct cpu *c)
{
	struct tep_record *rec;
	bool good = true;
	int event;

	c->size = 0;
	while (good && !c->size && (rec = tracecmd_read_data(d->in, c - d->cpu))) {
		if (rec->missed_events > 0)
			d->lost.dropped += rec->missed_events;
		else if (rec->missed_events)
			d->lost.unknown = true;
		event = event_of(d, rec);
		if (event >= 0)
			good = copy_event(d, rec, event, c);
		tracecmd_free_record(rec);
	}
	return good;
}

static bool is_before(const struct cpu *a, const struct cpu *b)
{
	if (a->copy.head.t != b->copy.head.t)
		return a->copy.head.t < b->copy.head.t;
	return a->ts < b->ts;
}

const struct krp_event_head *krp_tracedat_next(struct krp_tracedat *d, size_t *size,
					       const char **why)
{
	struct cpu *c, *first = NULL;
	bool good = true;

	/* At first of each CPU, and then of the one whose event was returned. */
	for (c = d->cpu; c < d->cpu + d->nr_cpus; c++) {
		if (!d->last || c == d->last)
			good &= read_cpu(d, c);
		if (c->size && (!first || is_before(c, first)))
			first = c;
		if (!d->last && c->size && c->copy.head.t && (!d->t || c->copy.head.t < d->t))
			d->t = c->copy.head.t;
	}
	if (!good)
		*why = "an event cannot be read";
	if (!good || !first)
		return NULL;
	d->last = first;
	d->t = first->copy.head.t = first->copy.head.t ?: d->t;
	*size = first->size;
	return &first->copy.head;
}

struct krp_lost krp_tracedat_lost(const struct krp_tracedat *d)
{
	return d->lost;
}

/* The field of an argument: src_hi and src_lo are halves of src, and krping_wait's what has a field for each of its parts. */
static struct tep_format_field *find_field(struct tep_event *event, const struct krp_arg_info *a)
{
	const char *name = a->how == KRP_HOW_wait ? "phase" : a->name;
	bool is_half = a->how == KRP_HOW_hi || a->how == KRP_HOW_lo;
	char field[64];

	snprintf(field, sizeof(field), "%.*s", (int)strlen(name) - (is_half ? 3 : 0), name);
	return tep_find_field(event, field);
}

/* Finds krping's events in the file; false: there are none. */
static bool find_events(struct krp_tracedat *d)
{
	struct tep_event *event;
	char name[64];
	unsigned int i, k;

	for (i = 0; i < KRP_NR_EVENTS; i++) {
		snprintf(name, sizeof(name), "krping_%s", krp_events[i].name);
		event = tep_find_event_by_name(d->tep, "krping", name);
		if (!event)
			continue;
		d->kind[i].event = event;
		for (k = 0; k < krp_events[i].nr_args; k++)
			d->kind[i].field[k] = find_field(event, &krp_events[i].args[k]);
		d->kind[i].wr = tep_find_field(event, "kind");
		d->kind[i].slept = tep_find_field(event, "slept");
		d->type = tep_find_common_field(event, "common_type");
		d->tid = tep_find_common_field(event, "common_pid");
	}
	return d->type;
}

struct krp_tracedat *krp_tracedat_open(int fd, const char **why)
{
	struct krp_tracedat *d = krp_new(1, sizeof(*d));
	int own = dup(fd);

	if (own < 0)
		krp_die("cannot read the file twice: %s", strerror(errno));
	/* It says what is wrong on stderr, in words of its own; and a plugin is code. */
	tracecmd_set_loglevel(TEP_LOG_NONE);
	if (lseek(own, 0, SEEK_SET)) {
		*why = "a file of trace-cmd cannot be read from a pipe";
		goto fail;
	}
	d->in = tracecmd_open_fd(own, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!d->in) {
		*why = "libtracecmd cannot read it; is it cut off?";
		goto fail;
	}
	d->tep = tracecmd_get_tep(d->in);
	d->nr_cpus = tep_get_cpus(d->tep);
	if (d->nr_cpus <= 0 || !find_events(d)) {
		*why = "it has no events of krping";
		goto fail;
	}
	d->cpu = krp_new(d->nr_cpus, sizeof(*d->cpu));
	return d;
fail:
	krp_tracedat_close(d);
	return NULL;
}

void krp_tracedat_close(struct krp_tracedat *d)
{
	if (!d)
		return;
	if (d->in)
		tracecmd_close(d->in);
	free(d->cpu);
	free(d);
}
