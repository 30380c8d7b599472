// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The module's table of options, as the module prints it. */
#include "unit.h"
#include "module/command.h"
#include "tools/krping/optable.h"

static struct krp_optable t;

static void parse(const char *text)
{
	krp_optable_free(&t);
	assert_int_equal(from_text(f, text, krp_optable_parse(&t, f)), 0);
}

/* Prints all options, or one. */
static const char *print(const struct krp_option *only, unsigned int width)
{
	krp_optable_print(printer(), &t, only, width);
	return printed();
}

TEARDOWN()
{
	krp_optable_free(&t);
}

static const char text[] =
	"# A command: options.\n"
	"#        adopt, takes the client's.\n"
	"# option   value         side   agree meaning\n"
	"size       1..131072     both   adopt bytes of a ping (default 64)\n"
	"validate   -             client local client: compare pong with ping; server: check the ping's pattern\n"
	"short\n"
	"mem_mode   reg|dma       both   same  averylongwordthatdoesnotfitintoanylineofthisnarrowtableatall x\n";

TEST(parse)
{
	parse(text);
	assert_int_equal(t.nr, 3);
	assert_string_equal(t.intro, "A command: options.\n       adopt, takes the client's.\n");
	say("size|1..131072|both|adopt|bytes of a ping (default 64)", t.v[0].name, t.v[0].value,
	    t.v[0].side, t.v[0].agree, t.v[0].meaning);
	assert_ptr_equal(krp_optable_find(&t, "mem_mode"), &t.v[2]);
	assert_null(krp_optable_find(&t, "mem"));
	assert_null(krp_optable_find(&t, ""));
	parse("\n");
	assert_int_equal(t.nr, 0);
}

TEST(print)
{
	parse(text);
	assert_string_equal(print(NULL, 63),
			    "OPTION   VALUE     SIDE   AGREE MEANING\n"
			    "size     1..131072 both   adopt bytes of a ping (default 64)\n"
			    "validate -         client local client: compare pong with ping;\n"
			    "                                server: check the ping's\n"
			    "                                pattern\n"
			    "mem_mode reg|dma   both   same  averylongwordthatdoesnotfitintoanylineofthisnarrowtableatall\n"
			    "                                x\n");
	assert_string_equal(print(&t.v[0], 79),
			    "OPTION   VALUE     SIDE   AGREE MEANING\n"
			    "size     1..131072 both   adopt bytes of a ping (default 64)\n");

	/* A long value takes no room from the others. */
	parse("size 1..131072 both adopt bytes of a ping\n"
	      "poll_ctx thread|softirq|workqueue|busy both local who polls\n");
	assert_string_equal(print(NULL, 79), "OPTION   VALUE     SIDE AGREE MEANING\n"
					     "size     1..131072 both adopt bytes of a ping\n"
					     "poll_ctx thread|softirq|workqueue|busy\n"
					     "                   both local who polls\n");
}

/* The options of this version of the module, from the function that prints them. */
TEST(module)
{
	char line[160];
	unsigned int row, named = 0;

	printer();
	for (row = 0; krping_option_help(row, line, sizeof(line)); row++) {
		if (!*line)
			continue;
		fprintf(unit_out, "%s\n", line);
		named++;
	}
	parse(printed());
	assert_int_equal(t.nr, named);
	assert_non_null(krp_optable_find(&t, "count"));
	assert_true(lines_within(print(NULL, 79), 79) > named);
	/* Another word for a value also says what that is. */
	assert_non_null(strstr(krp_optable_find(&t, "wlat")->meaning, "test=wlat: "));
}
