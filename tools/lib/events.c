// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "names.h"
#include "out.h"

/* clang-format off */
#define ARG_INFO(e, name, type, how)	{ #name, #type, KRP_TYPE_##type, KRP_HOW_##how },
#define EVENT_ARGS(name) \
	static const struct krp_arg_info args_##name[] = { KRP_EVENT_##name(ARG_INFO, name) };
KRP_EVENTS(EVENT_ARGS)

/* The index + 1 of the argument, or 0: at most one term of the sum is not 0. */
#define STAMP_OF(e, name, type, how) \
	+ (KRP_HOW_##how == KRP_HOW_stamp ? KRP_ARG_##e##_##name + 1 : 0)
#define TEXT_OF(e, name, type, how) \
	+ (KRP_HOW_##how == KRP_HOW_text ? KRP_ARG_##e##_##name + 1 : 0)
#define LABEL_OF(e, name, type, how) \
	+ (KRP_HOW_##how == KRP_HOW_label ? KRP_ARG_##e##_##name + 1 : 0)
#define WORDS_OF(e, name, type, how) \
	+ (KRP_HOW_##how == KRP_HOW_words ? KRP_ARG_##e##_##name + 1 : 0)
#define EVENT_INFO(name)							\
	[KRP_EV_##name] = {							\
		#name, KRP_NR_ARGS_##name, -1 KRP_EVENT_##name(STAMP_OF, name),	\
		-1 KRP_EVENT_##name(TEXT_OF, name),				\
		-1 KRP_EVENT_##name(LABEL_OF, name),				\
		-1 KRP_EVENT_##name(WORDS_OF, name), args_##name		\
	},
const struct krp_event_info krp_events[KRP_NR_EVENTS] = { KRP_EVENTS(EVENT_INFO) };
/* clang-format on */

/* Names of bits, the lowest first. */
static const char *const run_flags[] = { "verbose",	   "validate",	"server_inv",  "classic",
					 "chain",	   "split",	"duplex",      "read_inv",
					 "local_dma_lkey", "dma",	"random_size", "srq",
					 "softirq",	   "workqueue", "busy" };
static const char *const phase_flags[] = { "commit", "abort", "part", "more" };
static const char *const post_flags[] = { "signaled", "fence", "inline" };
static const char *const access[] = { "LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ" };

static const char *const protect_saw[] = { "completed", "error",   "refused",	 "message",
					   "end",	"nothing", "other_data", "no_verb" };

/* clang-format off */
/* NULL: the values have no names. */
static const struct krp_names *const tables[KRP_NR_HOWS] = {
#define NAMES(name)	[KRP_HOW_##name] = &krp_##name##_names,
	KRP_HOW_NAMES(NAMES)
#undef NAMES
#define FLAGS(name)	[KRP_HOW_##name] = &(const struct krp_names) { name, sizeof(name) / sizeof(*name) },
	KRP_HOW_FLAGS(FLAGS)
#undef FLAGS
};
/* clang-format on */

/* Room for words in hex, each with 0x and a comma. */
#define VALUE_MAX (KRP_WORDS_MAX * 19 + 4)

bool krp_event_parse(struct krp_event_rec *rec, const void *data, size_t size)
{
	const struct krp_event_info *info;
	size_t args, more, nr = 0;

	if (size < sizeof(rec->head))
		return false;
	memcpy(&rec->head, data, sizeof(rec->head));
	if (rec->head.event >= KRP_NR_EVENTS)
		return false;
	info = &krp_events[rec->head.event];
	args = info->nr_args * sizeof(*rec->args);
	if (size < sizeof(rec->head) + args)
		return false;
	memcpy(rec->args, (const char *)data + sizeof(rec->head), args);
	if (info->words > 0)
		nr = (uint32_t)rec->args[info->words - 1];
	if (nr > KRP_WORDS_MAX)
		return false;
	more = info->text >= 0 ? KRP_TEXT_MAX : nr * sizeof(*rec->words);
	more += info->label >= 0 ? sizeof(rec->label) : 0;
	if (size < sizeof(rec->head) + args + more)
		return false;
	rec->text[0] = '\0';
	data = (const char *)data + sizeof(rec->head) + args;
	if (info->text >= 0)
		krp_escape(rec->text, sizeof(rec->text), data, KRP_TEXT_MAX - 1);
	else
		memcpy(rec->words, data, more);
	rec->label[0] = '\0';
	if (info->label >= 0)
		krp_escape(rec->label, sizeof(rec->label), (const char *)data + KRP_TEXT_MAX,
			   KRPING_NAME_MAX - 1);
	return true;
}

size_t krp_event_size(const struct krp_event_head *h)
{
	const struct krp_event_info *e = &krp_events[h->event];
	const __u64 *args = (const __u64 *)(h + 1);

	return sizeof(*h) + e->nr_args * sizeof(*args) + (e->text >= 0) * KRP_TEXT_MAX +
	       (e->label >= 0) * KRPING_NAME_MAX +
	       (e->words > 0 ? (__u32)args[e->words - 1] * sizeof(*args) : 0);
}

static const char *without_prefix(const char *name)
{
	return strncmp(name, "krping_", 7) ? name : name + 7;
}

int krp_event_find(const char *name)
{
	unsigned int i;

	name = without_prefix(name);
	for (i = 0; i < KRP_NR_EVENTS; i++) {
		if (!strcmp(name, krp_events[i].name))
			return i;
	}
	return -1;
}

/* Prints flags like __print_flags(): names between bars, then the other bits in hex. */
static void flags_text(char *buf, size_t size, enum krp_how how, uint64_t v)
{
	const char *sep = "";
	size_t len = 0;
	unsigned int i;

	*buf = '\0';
	for (i = 0; i < tables[how]->nr; i++) {
		if (!(v & 1ULL << i) || len >= size)
			continue;
		len += snprintf(buf + len, size - len, "%s%s", sep, tables[how]->v[i]);
		v &= ~(1ULL << i);
		sep = "|";
	}
	if (v && len < size)
		snprintf(buf + len, size - len, "%s0x%" PRIx64, sep, v);
}

/* Prints an IPv6 address given as two halves; if it is a mapped IPv4 address, as IPv4. */
static void addr_text(char *buf, size_t size, uint64_t hi, uint64_t lo)
{
	struct in6_addr a;

	memcpy(&a.s6_addr[0], &hi, 8);
	memcpy(&a.s6_addr[8], &lo, 8);
	if (IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, &a.s6_addr[12], buf, size);
	else
		inet_ntop(AF_INET6, &a, buf, size);
}

static int64_t signed_value(enum krp_type type, uint64_t v)
{
	return type == KRP_TYPE_s32 ? (int32_t)v : (int64_t)v;
}

/* The upper half of a 32-bit argument means nothing. */
static uint64_t unsigned_value(enum krp_type type, uint64_t v)
{
	return type == KRP_TYPE_u32 || type == KRP_TYPE_s32 ? (uint32_t)v : v;
}

static bool is_signed(enum krp_type type)
{
	return type == KRP_TYPE_s32 || type == KRP_TYPE_s64;
}

/* Prints words as the trace does. */
static void words_text(char *buf, size_t size, const uint64_t *words, uint32_t nr)
{
	size_t len = snprintf(buf, size, "{");
	uint32_t i;

	for (i = 0; i < nr && i < KRP_WORDS_MAX && len < size; i++)
		len += snprintf(buf + len, size - len, "%s0x%" PRIx64, i ? "," : "", words[i]);
	if (len < size)
		snprintf(buf + len, size - len, "}");
}

/* What krping_wait has in one argument is several fields for all readers. */
static const struct krp_arg_info wait_info[] = {
	{ "phase", "u32", KRP_TYPE_u32, KRP_HOW_phase },
	{ "kind", "u32", KRP_TYPE_u32, KRP_HOW_wr },
	{ "slept", "u32", KRP_TYPE_u32, KRP_HOW_num },
};

#define NR_PARTS 3

/* A field: what it is, and the value of it. */
struct part {
	const struct krp_arg_info *a;
	uint64_t v;
};

/* The fields that an argument is; returns how many they are. */
static unsigned int parts_of(struct part *parts, const struct krp_event_rec *rec, unsigned int i)
{
	const struct krp_arg_info *a = &krp_events[rec->head.event].args[i];
	uint64_t v = rec->args[i];

	parts[0] = (struct part){ a, v };
	if (a->how != KRP_HOW_wait)
		return 1;
	parts[0] = (struct part){ &wait_info[0], KRPING_WAIT_PHASE(v) };
	parts[1] = (struct part){ &wait_info[1], KRPING_WAIT_KIND(v) };
	parts[2] = (struct part){ &wait_info[2], KRPING_WAIT_SLEPT(v) };
	return NR_PARTS;
}

/* The text of a value that is text in both kinds of output; false: it is a number. */
static bool value_words(char *buf, size_t size, const struct krp_event_rec *rec, unsigned int i,
			const struct part *part)
{
	const struct krp_arg_info *a = part->a;
	uint64_t v = unsigned_value(a->type, part->v);

	switch (a->how) {
	case KRP_HOW_text:
		snprintf(buf, size, "%s", rec->text);
		return true;
	case KRP_HOW_label:
		/* As in /proc/krping_runs, where it has none. */
		snprintf(buf, size, "%s", *rec->label ? rec->label : "-");
		return true;
	case KRP_HOW_hi:
		addr_text(buf, size, v, rec->args[i + 1]);
		return true;
	case KRP_HOW_hex:
		snprintf(buf, size, "0x%" PRIx64, v);
		return true;
	case KRP_HOW_words:
		words_text(buf, size, rec->words, rec->args[i - 1]);
		return true;
	case KRP_HOW_run_flags ... KRP_HOW_protect_saw:
		flags_text(buf, size, a->how, v);
		return true;
	case KRP_HOW_role ... KRP_HOW_wc_status:
		if (v < tables[a->how]->nr)
			snprintf(buf, size, "%s", krp_name(tables[a->how], v));
		else
			snprintf(buf, size, "%" PRIu64, v);
		return true;
	default:
		return false;
	}
}

/* The trace's word for an argument: src for src_hi, cq.id for cq_id. */
static void label(char *buf, size_t size, const struct krp_arg_info *a, bool text)
{
	size_t len;

	snprintf(buf, size, "%s", a->name);
	len = strlen(buf);
	if (a->how == KRP_HOW_hi)
		buf[len - 3] = '\0';
	else if (text && len > 3 && !strcmp(buf + len - 3, "_id"))
		buf[len - 3] = '.';
}

static bool is_time(enum krp_how how)
{
	return how == KRP_HOW_time || how == KRP_HOW_stamp;
}

static void value_text(char *buf, size_t size, const struct krp_event_rec *rec, unsigned int i,
		       const struct part *part, uint64_t t0)
{
	const struct krp_arg_info *a = part->a;

	if (value_words(buf, size, rec, i, part))
		return;
	if (is_time(a->how) && !part->v)
		snprintf(buf, size, "-");
	else if (is_time(a->how))
		snprintf(buf, size, "%.3f", (int64_t)(part->v - t0) / 1e3);
	else if (is_signed(a->type))
		snprintf(buf, size, "%" PRId64, signed_value(a->type, part->v));
	else
		snprintf(buf, size, "%" PRIu64, unsigned_value(a->type, part->v));
}

/*
 * True if an argument is a field of its own: the run and t have columns of
 * their own, and a lower half is part of its upper one.
 */
static bool is_own_field(const struct krp_event_info *info, unsigned int i)
{
	return i && strcmp(info->args[i].name, "t") && info->args[i].how != KRP_HOW_lo;
}

/* Prints a field; returns the column behind it. */
static unsigned int field_text(FILE *f, const char *name, const char *value, unsigned int column,
			       unsigned int indent, unsigned int width)
{
	unsigned int len = strlen(name) + 1 + strlen(value);
	const char *p;

	if (width && column > indent && column + 1 + len > width) {
		fprintf(f, "\n%*s", indent, "");
		column = indent;
	}
	column += fprintf(f, " %s=", name);
	/* A value that is longer than a line is broken behind a comma or a bar. */
	for (p = value; *p; p += len) {
		len = strcspn(p, ",|");
		len += p[len] != '\0';
		if (width && p > value && column + len > width) {
			fprintf(f, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(f, "%.*s", (int)len, p);
	}
	return column;
}

void krp_event_text(FILE *f, const struct krp_event_rec *rec, uint64_t t0, unsigned int column,
		    unsigned int indent, unsigned int width)
{
	const struct krp_event_info *info = &krp_events[rec->head.event];
	struct part parts[NR_PARTS], *p;
	char name[32], value[VALUE_MAX];
	unsigned int i, n;

	for (i = 0; i < info->nr_args; i++) {
		if (!is_own_field(info, i))
			continue;
		n = parts_of(parts, rec, i);
		for (p = parts; p < parts + n; p++) {
			label(name, sizeof(name), p->a, true);
			value_text(value, sizeof(value), rec, i, p, t0);
			column = field_text(f, name, value, column, indent, width);
		}
	}
}

void krp_json_quote(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc('"', f);
}

/*
 * The key of an argument: it tells the unit, and is not "event", which is the
 * key of the event's name.
 */
static void json_key(char *buf, size_t size, const struct krp_arg_info *a)
{
	char name[32];

	label(name, sizeof(name), a, false);
	snprintf(buf, size, "%s%s%s",
		 a->how == KRP_HOW_cm_event ? "cm_" :
		 a->how == KRP_HOW_ib_event ? "ib_" :
					      "",
		 name, is_time(a->how) || a->how == KRP_HOW_real ? "_ns" : "");
}

void krp_event_json(FILE *f, const struct krp_event_rec *rec)
{
	const struct krp_event_info *info = &krp_events[rec->head.event];
	struct part parts[NR_PARTS], *p;
	char key[40], value[VALUE_MAX];
	unsigned int i, n;

	for (i = 0; i < info->nr_args; i++) {
		/* Every object has the role already. */
		if (!is_own_field(info, i) || info->args[i].how == KRP_HOW_role)
			continue;
		n = parts_of(parts, rec, i);
		for (p = parts; p < parts + n; p++) {
			json_key(key, sizeof(key), p->a);
			fprintf(f, ",\"%s\":", key);
			if (value_words(value, sizeof(value), rec, i, p))
				krp_json_quote(f, value);
			else if (is_signed(p->a->type))
				fprintf(f, "%" PRId64, signed_value(p->a->type, p->v));
			else
				fprintf(f, "%" PRIu64, unsigned_value(p->a->type, p->v));
		}
	}
}

/* Copies the next glob to buf; false: there is no more. It is cut to size - 1 characters, which are more than any event has. */
static bool next_glob(const char **globs, char *buf, size_t size)
{
	size_t len;

	if (!*globs)
		return false;
	len = strcspn(*globs, ",");
	snprintf(buf, size, "%.*s", (int)len, *globs);
	*globs = (*globs)[len] ? *globs + len + 1 : NULL;
	return true;
}

static bool glob_matches(const char *glob, const char *event)
{
	return !fnmatch(without_prefix(glob), without_prefix(event), 0);
}

bool krp_globs_match(const char *globs, const char *event)
{
	char buf[64];

	while (next_glob(&globs, buf, sizeof(buf))) {
		if (glob_matches(buf, event))
			return true;
	}
	return false;
}

const char *krp_globs_check(const char *globs, char *buf, size_t size)
{
	unsigned int i;

	while (next_glob(&globs, buf, size)) {
		for (i = 0; i < KRP_NR_EVENTS && !glob_matches(buf, krp_events[i].name); i++)
			;
		if (i == KRP_NR_EVENTS)
			return buf;
	}
	return NULL;
}

/*
 * From the monotonic clock to the time of day. It is taken once: the two clocks
 * drift apart, but the times of lines must not go back.
 */
static uint64_t offset;
static bool offset_known;

void krp_mono_offset(uint64_t ns)
{
	offset = ns;
	offset_known = true;
}

void krp_mono_rfc3339(char *buf, size_t size, uint64_t t)
{
	if (!offset_known)
		krp_mono_offset(krp_time_real() - krp_time_now());
	krp_time_rfc3339(buf, size, t + offset);
}
