/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A recording, written by krping-trace -j: its lines, and whether it is whole. */
#ifndef KRP_TRACE_INPUT_H
#define KRP_TRACE_INPUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/events.h"

enum krp_line {
	KRP_LINE_BAD, /* no line of a recording, or damaged */
	KRP_LINE_EVENT,
	KRP_LINE_LOST,	/* how many events were lost so far */
	KRP_LINE_FINAL, /* the summary: the end */
	KRP_LINE_OTHER, /* another message of the recorder, such as an error */
};

/* The state of the reading so far; all 0 at first. Several recordings may follow each other. */
struct krp_input {
	uint64_t lines;
	/* Lines that are bad, and the number of the first one, from 1. */
	uint64_t bad, first_bad;
	/* No summary is behind the last event: the recorder was killed, or the end was cut off. */
	bool unfinished;
	/* A recording that this one was made from was unfinished. */
	bool was_unfinished;
	/*
	 * Lost events: those of the summaries, some without a cause (unknown); and those since the last summary
	 * (pending).
	 */
	uint64_t missed, failed, dropped, unknown, pending;
	bool lost_unknown; /* a recorder could not read its counters */
	uint64_t out_of_order;
	const char *why; /* the recording is krping-record's, and this is wrong with it; or NULL */
	/* From the last summary. */
	char time[64];
	struct json_tokener *tok;
};

/*
 * Tells what a line is, len bytes without its newline. *rec is the event. *o becomes the object, which the caller puts;
 * NULL if the line is bad.
 */
enum krp_line krp_input_line(struct krp_input *in, const char *line, size_t len,
			     struct krp_event_rec *rec, json_object **o);
/* To be called after the last line. */
void krp_input_end(struct krp_input *in);

uint64_t krp_input_lost(const struct krp_input *in);
/* True if something is missing or cannot be read. */
bool krp_input_is_damaged(const struct krp_input *in);
/* Describes the damage in words, its parts separated by semicolons. */
void krp_input_damage(const struct krp_input *in, char *buf, size_t size);
/* Adds the damage to a summary's object, as its member "input". A recording that is whole gets none. */
void krp_input_json(const struct krp_input *in, json_object *o);

#endif /* KRP_TRACE_INPUT_H */
