// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Damage of a recording is reported: lines that cannot be read, a missing end, lost events. */
#include "unit.h"
#include "tools/trace/input.h"

#define HEAD \
	"{\"tool\":\"krping-trace\",\"schema\":1,\"time\":\"2026-11-22T10:00:00.000001+00:00\","
#define EVENT \
	HEAD "\"final\":false,\"t_ns\":5,\"event\":\"wc\",\"run\":7,\"role\":\"client\",\"cid\":3}"
#define LOST  HEAD "\"final\":false,\"lost\":77}"
#define ENDS  "\"lost\":0,\"lost_missed\":0,\"lost_failed\":0,\"lost_dropped\":0,\"out_of_order\":0"
#define FINAL HEAD "\"final\":true,\"events\":1," ENDS ",\"counts\":{\"wc\":1}}"

/* The heads of events without what a reader does not need. */
#define OF(event) "{\"event\":\"" event "\",\"t_ns\":1,\"run\":1,"
#define WC	  OF("wc")
#define POST	  OF("post_send")
#define ITER	  OF("iter_phases")

static void feed(struct krp_input *in, const char *const *lines, size_t nr)
{
	struct krp_event_rec rec;
	json_object *o;
	size_t i;

	memset(in, 0, sizeof(*in));
	for (i = 0; i < nr; i++) {
		krp_input_line(in, lines[i], strlen(lines[i]), &rec, &o);
		json_object_put(o);
	}
	krp_input_end(in);
}

#define FEED(in, ...)                                                \
	do {                                                         \
		static const char *const lines_[] = { __VA_ARGS__ }; \
		feed(in, lines_, NR(lines_));                        \
	} while (0)

/* Checks the text about the damage, and the member "input" of a summary's object. */
static void is_damaged(const struct krp_input *in, const char *words, const char *json)
{
	json_object *o = json_object_new_object(), *v;
	char buf[256];

	assert_true(krp_input_is_damaged(in) == (*words != '\0'));
	krp_input_damage(in, buf, sizeof(buf));
	assert_string_equal(buf, words);
	krp_input_json(in, o);
	json_object_object_get_ex(o, "input", &v);
	assert_string_equal(v ? json_text(v) : "", json);
	json_object_put(o);
}

TEST(whole)
{
	struct krp_input in;

	FEED(&in, EVENT, EVENT, FINAL);
	is_damaged(&in, "", "");
	assert_string_equal(in.time, "2026-11-22T10:00:00.000001+00:00");
	/* A recording without events. */
	FEED(&in, FINAL);
	is_damaged(&in, "", "");
	/* Two recordings in one file; between them an error message of the recorder. */
	FEED(&in, EVENT, FINAL, HEAD "\"final\":false,\"error\":\"x\"}", EVENT, FINAL);
	is_damaged(&in, "", "");
}

TEST(killed)
{
	static const char no_end[] = "{\"bad_lines\":0,\"first_bad_line\":0,\"complete\":false}";
	struct krp_input in;

	FEED(&in, EVENT);
	is_damaged(&in, "the end is missing", no_end);
	feed(&in, NULL, 0);
	is_damaged(&in, "the end is missing", no_end);
	FEED(&in, EVENT, FINAL, EVENT);
	is_damaged(&in, "the end is missing", no_end);
	FEED(&in, EVENT, LOST);
	is_damaged(&in, "the end is missing; 77 events were lost when it was made", no_end);
	assert_int_equal(krp_input_lost(&in), 77);
	/* The final object has the sum of all losses: those before it are not added. */
	FEED(&in, LOST, LOST,
	     HEAD
	     "\"final\":true,\"lost\":80,\"lost_missed\":1,\"lost_failed\":2,\"lost_dropped\":77}");
	are("80 1 2 77", krp_input_lost(&in), in.missed, in.failed, in.dropped);
	is_damaged(&in, "80 events were lost when it was made", "");
	FEED(&in, EVENT, HEAD "\"final\":true,\"lost\":null,\"lost_missed\":null}");
	is_damaged(&in, "it is not known how many events were lost", "");
	/* If the summary names no cause of the losses, none is guessed. */
	FEED(&in, LOST, HEAD "\"final\":true,\"lost\":80}", LOST);
	are("80 157", in.unknown, krp_input_lost(&in));
}

TEST(garbage)
{
	/* clang-format off */
	static const char *const bad[] = {
		"", " ", "x", "{", "{}", "[]", "null", "1", "\"a\"", "{\"final\":false}", EVENT "x", EVENT EVENT, "\x7f" "ELF",
		HEAD, "{\"lost\":-1}", "{\"lost\":\"1\"}", "{\"lost\":1e9}", "{\"final\":true,\"input\":1}",
		"{'event':'wc','t_ns':1,'run':1}", WC "}", WC "\"x\":\"\xff\"}", "{\"event\":\"nosuch\",\"t_ns\":1,\"run\":1}",
		"{\"event\":1,\"t_ns\":1,\"run\":1}", "{\"event\":\"wc\",\"run\":1}", "{\"event\":\"wc\",\"t_ns\":1}",
		"{\"event\":\"wc\",\"t_ns\":-1,\"run\":1}", "{\"event\":\"wc\",\"t_ns\":1.5,\"run\":1}",
		"{\"event\":\"wc\",\"t_ns\":1,\"run\":4294967296}", "{\"event\":\"wc\",\"t_ns\":1,\"run\":{}}",
		WC "\"cid\":4294967296}", WC "\"cid\":\"7\"}", WC "\"cid\":null}", WC "\"kind\":\"SEMD\"}", WC "\"kind\":\"7x\"}",
		WC "\"kind\":7}", POST "\"flags\":\"signaled|\"}", POST "\"flags\":1}", POST "\"rkey\":\"0x\"}",
		POST "\"rkey\":\"-1\"}", "{\"event\":\"run_start\",\"t_ns\":1,\"run\":1,\"comm\":5}",
		"{\"event\":\"run_end\",\"t_ns\":1,\"run\":1,\"err\":2147483648}",
		"{\"event\":\"addr\",\"t_ns\":1,\"run\":1,\"src\":\"10.9.0\"}", ITER "\"words\":\"{0x1\"}",
		ITER "\"words\":\"{0x1,}\"}", ITER "\"words\":\"{g}\"}", WC "\"time\":\"10:00\"}", WC "\"time\":7}",
		WC "\"role\":7}",
	};
	static const char *const good[] = {
		EVENT " ", WC "\"kind\":\"99\"}", "{\"lost\":0}", POST "\"flags\":\"\"}", POST "\"flags\":\"signaled|0x80\"}",
		ITER "\"words\":\"{}\"}",
	};
	/* clang-format on */
	struct krp_event_rec rec;
	struct krp_input in = { 0 };
	json_object *o;
	size_t i;

	each(row, good) {
		if (krp_input_line(&in, *row, strlen(*row), &rec, &o) == KRP_LINE_BAD)
			fail_msg("refused: %s", *row);
		json_object_put(o);
	}
	for (i = 0; i < NR(bad); i++) {
		if (krp_input_line(&in, bad[i], strlen(bad[i]), &rec, &o) != KRP_LINE_BAD)
			fail_msg("taken: %s", bad[i]);
		assert_null(o);
		assert_int_equal(in.bad, i + 1);
		assert_int_equal(in.first_bad, NR(good) + 1);
	}
	/* A NUL, in a line and behind it. */
	assert_int_equal(krp_input_line(&in, EVENT, sizeof(EVENT), &rec, &o), KRP_LINE_BAD);
	assert_int_equal(krp_input_line(&in, EVENT "\0{}", sizeof(EVENT) + 2, &rec, &o),
			 KRP_LINE_BAD);
	krp_input_end(&in);

	FEED(&in, EVENT, "garbage", FINAL);
	is_damaged(&in, "line 2 cannot be read",
		   "{\"bad_lines\":1,\"first_bad_line\":2,\"complete\":true}");
	FEED(&in, EVENT, EVENT, "a", "b");
	is_damaged(&in, "2 lines cannot be read, the first of them is line 3; the end is missing",
		   "{\"bad_lines\":2,\"first_bad_line\":3,\"complete\":false}");
}

/* A recording that is cut off anywhere in its last line is reported as damaged. */
TEST(cut)
{
	struct krp_event_rec rec;
	struct krp_input in;
	json_object *o;
	size_t len;

	for (len = 0; len < strlen(FINAL); len++) {
		memset(&in, 0, sizeof(in));
		assert_int_equal(krp_input_line(&in, EVENT, strlen(EVENT), &rec, &o),
				 KRP_LINE_EVENT);
		json_object_put(o);
		assert_int_equal(krp_input_line(&in, FINAL, len, &rec, &o), KRP_LINE_BAD);
		krp_input_end(&in);
		is_damaged(&in, "line 2 cannot be read; the end is missing",
			   "{\"bad_lines\":1,\"first_bad_line\":2,\"complete\":false}");
	}
}

/* A replay of a damaged recording still says that it was damaged. */
TEST(replayed)
{
	struct krp_input in;

	FEED(&in, EVENT,
	     HEAD "\"final\":true," ENDS
		  ",\"input\":{\"bad_lines\":2,\"first_bad_line\":9,\"complete\":false}}");
	is_damaged(&in, "2 lines cannot be read, the first of them is line 9; the end is missing",
		   "{\"bad_lines\":2,\"first_bad_line\":9,\"complete\":false}");
}
