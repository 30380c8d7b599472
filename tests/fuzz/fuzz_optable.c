// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What "krping help" reads of /proc/krping_help, a table that a newer module may have in another form. */
#include "fuzz.h"
#include "tools/krping/optable.h"

static void print(const struct krp_optable *t, const struct krp_option *only, unsigned int width)
{
	char *text = NULL;

	WRITTEN(f, text, krp_optable_print(f, t, only, width));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int widths[] = { 1, 20, 80, 300 };
	const struct krp_option *o;
	struct krp_optable t;
	FILE *f;
	size_t i;

	if (!size)
		return 0;
	f = fuzz_file(data, size);
	CHECK(!krp_optable_parse(&t, f));
	fclose(f);
	for (i = 0; i < t.nr; i++) {
		o = krp_optable_find(&t, t.v[i].name);
		CHECK(o && !strcmp(o->name, t.v[i].name));
		/* A row without a meaning is none; of words each has no blank in it. */
		CHECK(*t.v[i].meaning && *t.v[i].meaning != ' ');
		CHECK(!strchr(t.v[i].name, ' ') && !strchr(t.v[i].value, ' '));
		CHECK(!strchr(t.v[i].side, ' ') && !strchr(t.v[i].agree, ' '));
	}
	for (i = 0; i < ARRAY_LEN(widths); i++)
		print(&t, t.nr ? &t.v[i % t.nr] : NULL, widths[i]);
	print(&t, NULL, 80);
	krp_optable_free(&t);
	return 0;
}
