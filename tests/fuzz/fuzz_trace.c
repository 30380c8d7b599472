// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What krping-trace reads: a line of a recording or several ones (-I), and, if the first byte is no
 * brace, a record of the ring buffer. What it prints of them in JSON it reads back as the same.
 */
#include <inttypes.h>

#include "fuzz.h"
#include "tools/trace/input.h"

/* Far more than a screen has, and no width at all. */
static const unsigned int widths[] = { 0, 30, 80, 1000 };

static void print_text(const struct krp_event_rec *rec)
{
	uint64_t t0 = rec->args[1];
	size_t i;

	for (i = 0; i < ARRAY_LEN(widths); i++)
		CHECK_PRINTED(f, krp_event_text(f, rec, t0, 20, 10, widths[i]));
}

/* The line of an event; the caller frees it. */
static char *json_line(const struct krp_event_rec *rec)
{
	char *text = NULL, *line;

	WRITTEN(f, text, krp_event_json(f, rec));
	CHECK(asprintf(&line,
		       "{\"final\":false,\"t_ns\":%" PRIu64
		       ",\"event\":\"%s\",\"run\":%u,\"role\":\"client\"%s}",
		       (uint64_t)rec->head.t, krp_events[rec->head.event].name, rec->head.run,
		       text) > 0);
	CHECK(fuzz_is_printable(line, strlen(line), false));
	free(text);
	return line;
}

/* A number that an object of a line has is the same in what is printed of it. */
static void check_numbers(json_object *read, json_object *printed)
{
	json_object *v;

	json_object_object_foreach(read, key, was) {
		if (!json_object_is_type(was, json_type_int) ||
		    !json_object_object_get_ex(printed, key, &v))
			continue;
		CHECK(json_object_is_type(v, json_type_int));
		CHECK(json_object_get_int64(v) == json_object_get_int64(was));
		CHECK(json_object_get_uint64(v) == json_object_get_uint64(was));
	}
}

/* line is the object that the event was read from; NULL: it was a record. */
static void check_event(const struct krp_event_rec *rec, json_object *line)
{
	struct krp_input in = { 0 };
	struct krp_event_rec again;
	json_object *o;
	char *once, *twice;

	CHECK(rec->head.event < KRP_NR_EVENTS);
	if (krp_events[rec->head.event].text >= 0)
		CHECK_TEXT(rec->text, sizeof(rec->text));
	CHECK_TEXT(rec->label, sizeof(rec->label));
	print_text(rec);
	once = json_line(rec);
	if (krp_input_line(&in, once, strlen(once), &again, &o) != KRP_LINE_EVENT) {
		fprintf(stderr, "it cannot read back %s\n", once);
		abort();
	}
	twice = json_line(&again);
	if (strcmp(once, twice)) {
		fprintf(stderr, "first %s\nthen  %s\n", once, twice);
		abort();
	}
	if (line)
		check_numbers(line, o);
	json_object_put(o);
	krp_input_end(&in);
	free(twice);
	free(once);
}

/* As krping-trace does with the time of the first event. */
static void check_time(json_object *o, uint64_t t)
{
	char time[64];
	json_object *v;

	if (!json_object_object_get_ex(o, "time", &v) || !krp_mono_is(json_object_get_string(v), t))
		return;
	krp_mono_rfc3339(time, sizeof(time), t);
	CHECK_TEXT(time, sizeof(time));
	krp_mono_rfc3339(time, sizeof(time), t + 1);
	CHECK_TEXT(time, sizeof(time));
}

static void one_line(struct krp_input *in, const char *line, size_t len)
{
	char *copy = fuzz_copy(line, len, true);
	uint64_t lines = in->lines, bad = in->bad;
	struct krp_event_rec rec;
	enum krp_line kind;
	json_object *o;

	kind = krp_input_line(in, copy, len, &rec, &o);
	CHECK(in->lines == lines + 1);
	CHECK((kind == KRP_LINE_BAD) == !o);
	CHECK(kind == KRP_LINE_FINAL || in->bad == bad + (kind == KRP_LINE_BAD));
	if (kind == KRP_LINE_EVENT) {
		check_event(&rec, o);
		check_time(o, rec.head.t);
	}
	json_object_put(o);
	free(copy);
}

static void check_end(struct krp_input *in)
{
	json_object *o = json_object_new_object();
	char damage[256], little[9];

	krp_input_end(in);
	CHECK_TEXT(in->time, sizeof(in->time));
	krp_input_damage(in, damage, sizeof(damage));
	CHECK_TEXT(damage, sizeof(damage));
	CHECK(krp_input_is_damaged(in) == !!*damage);
	krp_input_damage(in, little, sizeof(little));
	CHECK_TEXT(little, sizeof(little));
	CHECK(!strncmp(little, damage, sizeof(little) - 1));
	krp_input_json(in, o);
	CHECK_JSON(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *line;
	struct krp_input in = { 0 };
	struct krp_event_rec rec;
	char *record;
	size_t len;

	if (size && *data != '{') {
		record = fuzz_copy(data, size, false);
		if (krp_event_parse(&rec, record, size))
			check_event(&rec, NULL);
		free(record);
		return 0;
	}
	while ((line = fuzz_line(&at, (const char *)data + size, &len)))
		one_line(&in, line, len);
	check_end(&in);
	return 0;
}
