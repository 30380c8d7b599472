// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What /proc/krping_protect says, read and printed. */
#include "unit.h"
#include "tools/krping/protect.h"
#include "tools/lib/names.h"
#include "trace/krping_abi.h"

static const char text[] =
	"# krping protect abi=1\n"
	"id=7 role=client case=read verb=READ wrong=- client=completed+message client_moved=5120 "
	"server=message server_moved=0 verdict=works\n"
	"id=71 parent=3 role=client case=send verb=SEND wrong=- client=completed+message client_moved=0 server=message server_moved=0 "
	"verdict=works\n"
	"id=7 role=client case=write_before verb=WRITE wrong=before client=completed+end client_moved=0 "
	"server=end+QP_access_error server_moved=0 verdict=protected\n"
	"id=7 new=1 role=client case=read_no_right verb=READ wrong=no_right client=completed+message+other_data "
	"client_moved=64 server=- server_moved=0 verdict=LEAK\n"
	"id=7 role=client case=cut verb=READ";

static struct krp_protect p;

static void read_text(const char *text, uint32_t run)
{
	krp_protect_free(&p);
	assert_int_equal(from_text(f, text, krp_protect_parse(&p, f, run)), 0);
}

TEARDOWN()
{
	krp_protect_free(&p);
}

TEST(parse)
{
	read_text(text, 7);
	assert_int_equal(p.nr, 3);
	say("read|completed+message", p.v[0].name, p.v[0].client);
	assert_int_equal(p.v[0].client_moved, 5120);
	say("before|LEAK", p.v[1].wrong, p.v[2].verdict);
	read_text(text, 8);
	assert_int_equal(p.nr, 0);
	/* The clients of a server. */
	read_text(text, 3);
	assert_int_equal(p.nr, 1);
	say("send|works", p.v[0].name, p.v[0].verdict);
}

/* A list begins with its first case, and ends with its last one; bad verdicts are in capitals. */
TEST(list)
{
	static const char lists[] =
		"id=1 parent=7 case=write verdict=LEAK\nid=2 parent=7 case=send verdict=works\n"
		"id=3 parent=7 case=read verdict=SILENT\nid=4 parent=7 case=send verdict=works\n"
		"id=5 parent=7 case=read verdict=FAILED\nid=6 parent=7 case=write verdict=LEAK\n";
	const struct krp_case *first = NULL;

	assert_string_equal(krp_name(&krp_protect_case_names, 0), "send");
	assert_string_equal(krp_name(&krp_protect_case_names, KRPING_NR_CASES - 1), "read_again");
	read_text(lists, 7);
	assert_int_equal(krp_protect_bad(&p, &first), 4);
	say("write|LEAK", first->name, first->verdict);
	krp_protect_last_list(&p);
	assert_int_equal(p.nr, 3);
	say("send|works", p.v[0].name, p.v[0].verdict);
	assert_false(krp_protect_list_is_over(&p));
	assert_int_equal(krp_protect_bad(&p, &first), 2);
	say("read|FAILED", first->name, first->verdict);
	read_text("id=7 case=read_again verdict=unsupported\n", 7);
	krp_protect_last_list(&p);
	assert_int_equal(p.nr, 1);
	assert_true(krp_protect_list_is_over(&p));
	assert_int_equal(krp_protect_bad(&p, &first), 0);
	krp_protect_free(&p);
	krp_protect_last_list(&p);
	assert_false(krp_protect_list_is_over(&p));
}

/* Words that are longer than their room, or not printable, do no harm. */
TEST(strange)
{
	char line[1024];

	snprintf(line, sizeof(line), "id=7 case=x client=%0200d+%0200d verdict=\033[31m server\n",
		 1, 2);
	read_text(line, 7);
	assert_int_equal(p.nr, 1);
	assert_true(strlen(p.v[0].client) < sizeof(p.v[0].client));
	say("\\x1b[31m|", p.v[0].verdict, p.v[0].server);
}

static char *table_of(const char *from, unsigned int width)
{
	read_text(from, 7);
	krp_protect_table(printer(), &p, width);
	printed();
	return unit_text;
}

TEST(table)
{
	assert_string_equal(
		table_of(text, 200),
		"CASE          VERB  CLIENT SAW                     SERVER SAW           MOVED VERDICT\n"
		"read          READ  completed, message             message               5120 works\n"
		"write_before  WRITE completed, end                 end, QP access error     0 protected\n"
		"read_no_right READ  completed, message, other data -                       64 LEAK\n"
		"3 cases: 1 works, 1 protected, 1 LEAK\n"
		"Where the client saw a protected access complete, its transport completes that before the server has judged it.\n");
	assert_true(strcspn(table_of(text, 60), "\n") <= 60);
	/* Nothing of the kind was seen. */
	has(table_of("id=7 case=read verb=READ client=completed+message verdict=works\n", 79),
	    "!Where");
}

TEST(json)
{
	json_object *a;

	read_text(text, 7);
	a = krp_protect_json(&p);
	assert_int_equal(json_object_array_length(a), 3);
	assert_string_equal(json_text(json_object_array_get_idx(a, 2)),
			    "{\"case\":\"read_no_right\",\"verb\":\"READ\",\"wrong\":\"no_right\","
			    "\"client_saw\":[\"completed\",\"message\",\"other_data\"],\"client_moved\":64,"
			    "\"server_saw\":[],\"server_moved\":0,\"verdict\":\"LEAK\"}");
	json_object_put(a);
}
