/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events of krping as they come from the ring buffer, and how they are printed: text and JSON. */
#ifndef KRP_TRACE_EVENTS_H
#define KRP_TRACE_EVENTS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../bpf/event_table.h"
#include "escape.h"

enum krp_type {
	KRP_TYPE_u32,
	KRP_TYPE_s32,
	KRP_TYPE_u64,
	KRP_TYPE_s64,
	KRP_TYPE_str,
	KRP_TYPE_words,
};

/* clang-format off */
/* How a number is printed that has a name (names.h), and one whose bits have names. */
#define KRP_HOW_NAMES(x)							\
	x(role) x(test) x(state) x(phase) x(wr) x(mr_state) x(protect_case) x(judgement) \
	x(block_op) x(cm_event) x(ib_event) x(wc_status)
#define KRP_HOW_FLAGS(x) x(run_flags) x(phase_flags) x(post_flags) x(access) x(protect_saw)

enum krp_how {
	KRP_HOW_num,
	KRP_HOW_hex,
	KRP_HOW_words,
	KRP_HOW_stamp,
	KRP_HOW_time,
	KRP_HOW_real,
	KRP_HOW_ns,
	KRP_HOW_text,
	KRP_HOW_label,
	KRP_HOW_hi,
	KRP_HOW_lo,
	KRP_HOW_err,
	KRP_HOW_wait,
#define KRP_HOW_ENUM(name) KRP_HOW_##name,
	KRP_HOW_NAMES(KRP_HOW_ENUM) KRP_HOW_FLAGS(KRP_HOW_ENUM)
#undef KRP_HOW_ENUM
	KRP_NR_HOWS
};
/* clang-format on */

struct krp_arg_info {
	const char *name, *type_name;
	enum krp_type type;
	enum krp_how how;
};

struct krp_event_info {
	const char *name; /* without krping_ */
	unsigned int nr_args;
	int stamp, text, label, words; /* indices; -1: it has none */
	const struct krp_arg_info *args;
};

extern const struct krp_event_info krp_events[KRP_NR_EVENTS];

/* The longest event, as the programs copy it. */
union krp_event_copy {
	struct krp_event_head head;
	__u64 room[(sizeof(struct krp_event_head) + sizeof(__u64) * (KRP_MAX_ARGS + KRP_WORDS_MAX) +
		    KRP_TEXT_MAX + KRPING_NAME_MAX) /
		   8];
};

/* An event; arguments of 32 bits are in the lower ones. */
struct krp_event_rec {
	struct krp_event_head head;
	uint64_t args[KRP_MAX_ARGS];
	/* For events that have one or the other. */
	union {
		char text[KRP_ESCAPED(KRP_TEXT_MAX)]; /* escaped */
		uint64_t words[KRP_WORDS_MAX];
	};
	/* No character of a real one has to be escaped; a forged one is cut. */
	char label[KRPING_NAME_MAX];
};

#define KRP_ARG(rec, event, name) ((rec)->args[KRP_ARG_##event##_##name])

/* Parses a record of the ring buffer; false: it is no event of the table, or too short. */
bool krp_event_parse(struct krp_event_rec *rec, const void *data, size_t size);
/* The bytes of an event of this version, with as many words as it says. */
size_t krp_event_size(const struct krp_event_head *h);
/* The number of an event, with or without krping_; -1: there is none. */
int krp_event_find(const char *name);

/*
 * Prints " name=value" for each argument, in the order and with the names of
 * the trace, except the run and the stamp, which stand before all that. Times
 * are in microseconds since t0. Text that does not fit into width columns goes
 * on in further lines, indented; width 0: one line. No newline at the end.
 */
void krp_event_text(FILE *f, const struct krp_event_rec *rec, uint64_t t0, unsigned int column,
		    unsigned int indent, unsigned int width);
/*
 * Prints the arguments for JSON, as members of an object, each with a comma
 * before it; times are in nanoseconds. This uses no objects of a library, since
 * there may be several hundred thousand events per second.
 */
void krp_event_json(FILE *f, const struct krp_event_rec *rec);
/* Prints a string in quotes; the text must be clean. */
void krp_json_quote(FILE *f, const char *s);

/*
 * Matches globs between commas against an event's name, with or without
 * krping_. krp_globs_check() finds the first glob that no event matches, or
 * NULL.
 */
bool krp_globs_match(const char *globs, const char *event);
const char *krp_globs_check(const char *globs, char *buf, size_t size);

/* A time of the monotonic clock as a time of day, RFC 3339 with microseconds. */
void krp_mono_rfc3339(char *buf, size_t size, uint64_t t);
/*
 * From now on, the wall's clock is so far ahead of the monotonic one: of another machine, or 0 if nobody knows. Without this it
 * is as on this machine.
 */
void krp_mono_offset(uint64_t ns);

#endif /* KRP_TRACE_EVENTS_H */
