// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "optable.h"
#include "../lib/out.h"
#include "../lib/procfile.h"

/* Cuts the next word off the text at *p; "" if there is none. */
static char *word(char **p)
{
	char *s = *p + strspn(*p, " ");

	*p = s + strcspn(s, " ");
	if (**p)
		*(*p)++ = '\0';
	return s;
}

struct reader {
	struct krp_optable *t;
	FILE *intro;
};

static void take_line(void *ctx, char *line)
{
	struct reader *r = ctx;
	struct krp_optable *t = r->t;
	struct krp_option *o;

	if (*line == '#') {
		if (strncmp(line, "# option ", 9)) /* names of the columns: we print our own */
			fprintf(r->intro, "%s\n", line + 1 + (line[1] == ' '));
		return;
	}
	t->v = krp_resize(t->v, t->nr + 1, sizeof(*o));
	o = t->v + t->nr;
	o->line = line = krp_format("%s", line);
	o->name = word(&line);
	o->value = word(&line);
	o->side = word(&line);
	o->agree = word(&line);
	o->meaning = line + strspn(line, " ");
	if (*o->meaning)
		t->nr++;
	else
		free(o->line);
}

int krp_optable_parse(struct krp_optable *t, FILE *f)
{
	struct reader r = { .t = t };
	size_t size;
	int err;

	memset(t, 0, sizeof(*t));
	r.intro = krp_text_open(&t->intro, &size);
	err = krp_procfile_lines(f, take_line, &r);
	krp_text_close(r.intro);
	return err;
}

void krp_optable_free(struct krp_optable *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		free(t->v[i].line);
	free(t->v);
	free(t->intro);
	memset(t, 0, sizeof(*t));
}

const struct krp_option *krp_optable_find(const struct krp_optable *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->nr; i++) {
		if (!strcmp(t->v[i].name, name))
			return &t->v[i];
	}
	return NULL;
}

/* A longer value stands alone in its line, so that it does not take the room of the meanings. */
#define VALUE_WIDTH 16
/* local, same, adopt */
#define AGREE_WIDTH 5

static int max(int a, int b)
{
	return a > b ? a : b;
}

void krp_optable_print(FILE *f, const struct krp_optable *t, const struct krp_option *only,
		       unsigned int width)
{
	/* Of all options, so that one alone stands as it does among the others. */
	int name = strlen("OPTION"), value = strlen("VALUE"), side = strlen("SIDE"), indent, len;
	const struct krp_option *o;

	for (o = t->v; o < t->v + t->nr; o++) {
		name = max(name, strlen(o->name));
		len = strlen(o->value);
		value = max(value, len <= VALUE_WIDTH ? len : 0);
		side = max(side, strlen(o->side));
	}
	indent = name + 1 + value + 1 + side + 1 + AGREE_WIDTH + 1;
	fprintf(f, "%-*s %-*s %-*s %-*s %s\n", name, "OPTION", value, "VALUE", side, "SIDE",
		AGREE_WIDTH, "AGREE", "MEANING");
	for (o = t->v; o < t->v + t->nr; o++) {
		if (only && only != o)
			continue;
		fprintf(f, "%-*s ", name, o->name);
		if (strlen(o->value) > VALUE_WIDTH)
			fprintf(f, "%s\n%*s", o->value, name + value + 2, "");
		else
			fprintf(f, "%-*s ", value, o->value);
		fprintf(f, "%-*s %-*s ", side, o->side, AGREE_WIDTH, o->agree);
		krp_fold(f, o->meaning, indent, (int)width > indent + 20 ? width - indent : 20);
	}
}
