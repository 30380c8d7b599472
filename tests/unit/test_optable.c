// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The module's table of options, as the module prints it. */
#include "unit.h"
#include "module/command.h"
#include "tools/krping/optable.h"

static int parse(struct krp_optable *t, const char *text)
{
	FILE *f = reader(text);
	int err;

	err = krp_optable_parse(t, f);
	fclose(f);
	return err;
}

static char *print(const struct krp_optable *t, const struct krp_option *only, unsigned int width)
{
	krp_optable_print(printer(), t, only, width);
	printed();
	return unit_text;
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
	struct krp_optable t;

	assert_int_equal(parse(&t, text), 0);
	assert_int_equal(t.nr, 3);
	assert_string_equal(t.intro, "A command: options.\n       adopt, takes the client's.\n");
	assert_string_equal(t.v[0].name, "size");
	assert_string_equal(t.v[0].value, "1..131072");
	assert_string_equal(t.v[0].side, "both");
	assert_string_equal(t.v[0].agree, "adopt");
	assert_string_equal(t.v[0].meaning, "bytes of a ping (default 64)");
	assert_ptr_equal(krp_optable_find(&t, "mem_mode"), &t.v[2]);
	assert_null(krp_optable_find(&t, "mem"));
	assert_null(krp_optable_find(&t, ""));
	krp_optable_free(&t);
	assert_int_equal(parse(&t, "\n"), 0);
	assert_int_equal(t.nr, 0);
	krp_optable_free(&t);
}

TEST(print)
{
	struct krp_optable t;

	assert_int_equal(parse(&t, text), 0);
	assert_string_equal(print(&t, NULL, 63),
			    "OPTION   VALUE     SIDE   AGREE MEANING\n"
			    "size     1..131072 both   adopt bytes of a ping (default 64)\n"
			    "validate -         client local client: compare pong with ping;\n"
			    "                                server: check the ping's\n"
			    "                                pattern\n"
			    "mem_mode reg|dma   both   same  averylongwordthatdoesnotfitintoanylineofthisnarrowtableatall\n"
			    "                                x\n");
	assert_string_equal(print(&t, &t.v[0], 79),
			    "OPTION   VALUE     SIDE   AGREE MEANING\n"
			    "size     1..131072 both   adopt bytes of a ping (default 64)\n");
	krp_optable_free(&t);

	/* A long value takes no room from the others. */
	assert_int_equal(parse(&t, "size 1..131072 both adopt bytes of a ping\n"
				   "poll_ctx thread|softirq|workqueue|busy both local who polls\n"),
			 0);
	assert_string_equal(print(&t, NULL, 79), "OPTION   VALUE     SIDE AGREE MEANING\n"
						 "size     1..131072 both adopt bytes of a ping\n"
						 "poll_ctx thread|softirq|workqueue|busy\n"
						 "                   both local who polls\n");
	krp_optable_free(&t);
}

/* The options of this version of the module, from the function that prints them. */
TEST(module)
{
	char line[160], *l, *save;
	unsigned int row, named = 0;
	struct krp_optable t;

	printer();
	for (row = 0; krping_option_help(row, line, sizeof(line)); row++) {
		if (!*line)
			continue;
		fprintf(unit_out, "%s\n", line);
		named++;
	}
	assert_int_equal(parse(&t, printed()), 0);
	assert_int_equal(t.nr, named);
	assert_non_null(krp_optable_find(&t, "count"));
	for (l = strtok_r(print(&t, NULL, 79), "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		assert_true(strlen(l) < 80);
	krp_optable_free(&t);
}
