// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping help WORD: what the words of tables mean, and which ones are near. names.pl compares the table with what is printed. */
#include "unit.h"
#include "tools/krping/words.h"

static unsigned int explain(const char *word)
{
	unsigned int nr = krp_words_explain(printer(), word, 79);

	printed();
	lines_within(unit_text, 130);
	return nr;
}

static void near_is(const char *word, const struct krp_optable *t, const char *want)
{
	krp_words_near(printer(), word, t);
	same_text(word, printed(), want);
}

TEST(explain)
{
	/* In any case, and in each of its meanings: a phase, a verb, a case. */
	are("1 3 3 1", explain("residual"), explain("read"), explain("READ"),
	    explain("Time Spent"));
	explain("wake");
	has(unit_text,
	    "wake (a stage of a wait: stages, slow, ladder)\n    until the waiting thread");
	explain("rEG_sink");
	has(unit_text, "reg_source|reg_sink (a phase of a ping, client");
	/* No part of a word is one, and no place where words are seen. */
	are("0 0 0 0 0", explain("resid"), explain("residuals"), explain(""), explain("slow"),
	    explain("reg_source|reg_sink"));
	assert_string_equal(unit_text, "");
}

TEST(cases)
{
	explain("write_past_end");
	has(unit_text, "RDMA_WRITE, which has to be refused: PAST_END\n");
	explain("read_again");
	has(unit_text, "RDMA_READ, which has to work\n");
}

TEST(near)
{
	struct krp_option option = { .name = "resize" };
	struct krp_optable none = { 0 }, one = { .v = &option, .nr = 1 };
	unsigned int commas = 0;
	const char *p;

	near_is("residul", &none, "; near it: residual, residual of requests");
	/* Options are near, too; words that stand in several rows are named once. */
	near_is("RESI", &one, "; near it: residual, residual of requests, resize");
	near_is("wirex", &none, "; near it: wire");
	near_is("x", &none, "; near it: X");
	near_is("xylophone", &none, "");
	near_is("", &none, "");
	/* No more than twelve. */
	krp_words_near(printer(), "r", &none);
	for (p = printed(); (p = strchr(p, ',')); p++)
		commas++;
	are("11", commas);
	has(unit_text, "; near it: run, ");
	has(unit_text, " ...");
}
