// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "../lib/out.h"

/* Parses a line of one JSON object, in UTF-8, with nothing behind it; NULL: it is none. */
static json_object *object_of(struct krp_input *in, const char *line, size_t len)
{
	json_object *o;

	if (!in->tok) {
		in->tok = json_tokener_new();
		if (!in->tok)
			return NULL;
		json_tokener_set_flags(in->tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	}
	json_tokener_reset(in->tok);
	if (len > INT32_MAX)
		return NULL;
	o = json_tokener_parse_ex(in->tok, line, len);
	if (json_object_is_type(o, json_type_object) && json_tokener_get_parse_end(in->tok) == len)
		return o;
	json_object_put(o);
	return NULL;
}

/* false: the member is there, but is no number of events. */
static bool number(json_object *o, const char *key, uint64_t *n)
{
	json_object *v;

	*n = 0;
	if (!json_object_object_get_ex(o, key, &v) || !v)
		return true;
	if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) < 0)
		return false;
	*n = json_object_get_uint64(v);
	return true;
}

static bool boolean(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) && json_object_get_boolean(v);
}

static bool final(struct krp_input *in, json_object *o)
{
	uint64_t lost, missed, failed, dropped, late, bad = 0, first = 0;
	json_object *v;

	if (!number(o, "lost", &lost) || !number(o, "lost_missed", &missed) ||
	    !number(o, "lost_failed", &failed) || !number(o, "lost_dropped", &dropped) ||
	    !number(o, "out_of_order", &late))
		return false;
	/* This is the summary of a replay whose own recording was damaged. */
	if (json_object_object_get_ex(o, "input", &v)) {
		if (!json_object_is_type(v, json_type_object) || !number(v, "bad_lines", &bad) ||
		    !number(v, "first_bad_line", &first))
			return false;
		in->was_unfinished |= !boolean(v, "complete");
	}
	if (!in->bad)
		in->first_bad = first;
	in->bad += bad;
	/* null means unknown: see krp_json_lost(). */
	in->lost_unknown |= json_object_object_get_ex(o, "lost", &v) && !v;
	in->missed += missed;
	in->failed += failed;
	in->dropped += dropped;
	if (lost > missed + failed + dropped)
		in->unknown += lost - missed - failed - dropped;
	in->pending = 0;
	in->out_of_order += late;
	*in->time = '\0';
	if (json_object_object_get_ex(o, "time", &v) && json_object_is_type(v, json_type_string))
		krp_clean(in->time, sizeof(in->time), json_object_get_string(v));
	in->unfinished = false;
	return true;
}

/* Checks the members that stand before an event's own members, if they are there. */
static bool head_is_good(json_object *o)
{
	unsigned int us;
	json_object *v;
	int64_t s;

	if (json_object_object_get_ex(o, "time", &v) &&
	    (!json_object_is_type(v, json_type_string) ||
	     !krp_rfc3339_parse(json_object_get_string(v), &s, &us)))
		return false;
	return !json_object_object_get_ex(o, "role", &v) || !v ||
	       json_object_is_type(v, json_type_string);
}

static enum krp_line kind_of(struct krp_input *in, json_object *o, struct krp_event_rec *rec)
{
	uint64_t lost;
	json_object *v;

	if (boolean(o, "final"))
		return final(in, o) ? KRP_LINE_FINAL : KRP_LINE_BAD;
	if (json_object_object_get_ex(o, "event", &v)) {
		if (!krp_event_from_json(rec, o) || !head_is_good(o))
			return KRP_LINE_BAD;
		in->unfinished = true;
		return KRP_LINE_EVENT;
	}
	if (json_object_object_get_ex(o, "lost", &v)) {
		if (!number(o, "lost", &lost))
			return KRP_LINE_BAD;
		in->pending = lost;
		in->unfinished = true;
		return KRP_LINE_LOST;
	}
	return json_object_object_get_ex(o, "error", &v) ? KRP_LINE_OTHER : KRP_LINE_BAD;
}

enum krp_line krp_input_line(struct krp_input *in, const char *line, size_t len,
			     struct krp_event_rec *rec, json_object **o)
{
	enum krp_line kind = KRP_LINE_BAD;

	/* The recording is unfinished until its summary has been read. */
	if (!in->lines++)
		in->unfinished = true;
	*o = object_of(in, line, len);
	if (*o)
		kind = kind_of(in, *o, rec);
	if (kind != KRP_LINE_BAD)
		return kind;
	if (!in->bad++)
		in->first_bad = in->lines;
	json_object_put(*o);
	*o = NULL;
	return kind;
}

void krp_input_end(struct krp_input *in)
{
	/* An empty file is not a whole recording either. */
	if (!in->lines)
		in->unfinished = true;
	if (in->tok)
		json_tokener_free(in->tok);
	in->tok = NULL;
}

uint64_t krp_input_lost(const struct krp_input *in)
{
	return in->missed + in->failed + in->dropped + in->unknown + in->pending;
}

bool krp_input_is_damaged(const struct krp_input *in)
{
	return in->why || in->bad || in->unfinished || in->was_unfinished || in->lost_unknown ||
	       krp_input_lost(in);
}

void krp_input_damage(const struct krp_input *in, char *buf, size_t size)
{
	const char *sep = "";
	size_t n = 0;

	*buf = '\0';
	if (in->bad == 1)
		n = snprintf(buf, size, "line %" PRIu64 " cannot be read", in->first_bad);
	else if (in->bad)
		n = snprintf(buf, size,
			     "%" PRIu64 " lines cannot be read, the first of them is line %" PRIu64,
			     in->bad, in->first_bad);
	else if (in->why)
		n = snprintf(buf, size, "%s", in->why);
	if (n)
		sep = "; ";
	if ((in->unfinished || in->was_unfinished) && n < size) {
		n += snprintf(buf + n, size - n, "%sthe end is missing", sep);
		sep = "; ";
	}
	if (in->lost_unknown && n < size)
		snprintf(buf + n, size - n, "%sit is not known how many events were lost", sep);
	else if (krp_input_lost(in) && n < size)
		snprintf(buf + n, size - n, "%s%" PRIu64 " events were lost when it was made", sep,
			 krp_input_lost(in));
}

void krp_input_json(const struct krp_input *in, json_object *o)
{
	json_object *i;

	if (!in->why && !in->bad && !in->unfinished && !in->was_unfinished)
		return;
	i = json_object_new_object();
	krp_json_u64(i, "bad_lines", in->bad);
	krp_json_u64(i, "first_bad_line", in->first_bad);
	krp_json_bool(i, "complete", !in->why && !in->unfinished && !in->was_unfinished);
	json_object_object_add(o, "input", i);
}
