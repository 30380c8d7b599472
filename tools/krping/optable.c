// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "optable.h"
#include "../lib/out.h"

static char *word(char **p)
{
	char *s = *p + strspn(*p, " "), *end = s + strcspn(s, " ");

	*p = end;
	return strndup(s, end - s);
}

static int parse_row(struct krp_optable *t, char *line)
{
	struct krp_option *o;
	bool whole;

	o = realloc(t->v, (t->nr + 1) * sizeof(*o));
	if (!o)
		return -ENOMEM;
	t->v = o;
	o += t->nr;
	o->name = word(&line);
	o->value = word(&line);
	o->side = word(&line);
	o->agree = word(&line);
	o->meaning = strdup(line + strspn(line, " "));
	t->nr++;
	if (!o->name || !o->value || !o->side || !o->agree || !o->meaning)
		return -ENOMEM;
	whole = *o->meaning;
	if (!whole) {
		t->nr--;
		free(o->name);
		free(o->value);
		free(o->side);
		free(o->agree);
		free(o->meaning);
	}
	return 0;
}

int krp_optable_parse(struct krp_optable *t, FILE *f)
{
	char *line = NULL;
	size_t room = 0, size;
	FILE *intro;
	int err = 0;

	memset(t, 0, sizeof(*t));
	intro = open_memstream(&t->intro, &size);
	if (!intro)
		return -ENOMEM;
	while (!err && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line != '#')
			err = parse_row(t, line);
		else if (strncmp(line, "# option ", 9)) /* names of the columns: we print our own */
			fprintf(intro, "%s\n", line + 1 + (line[1] == ' '));
	}
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	if (fclose(intro))
		err = -ENOMEM;
	return err;
}

void krp_optable_free(struct krp_optable *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++) {
		free(t->v[i].name);
		free(t->v[i].value);
		free(t->v[i].side);
		free(t->v[i].agree);
		free(t->v[i].meaning);
	}
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
