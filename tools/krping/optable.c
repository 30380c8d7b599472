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

void krp_optable_print(FILE *f, const struct krp_optable *t, const struct krp_option *only,
		       unsigned int width)
{
	/* clang-format off */
	struct krp_col cols[] = {
		{ "OPTION", -6 }, { "VALUE", -5 }, { "SIDE", -4 }, { "AGREE", -5 }, { "MEANING", -7 },
	};
	/* clang-format on */
	enum { NR = sizeof(cols) / sizeof(*cols) };
	const char **cells = calloc(t->nr + 1, NR * sizeof(*cells));
	unsigned int indent = NR - 1, i;
	size_t row, k;

	if (!cells)
		return;
	for (row = 0; row < t->nr; row++) {
		bool fits = strlen(t->v[row].value) <= VALUE_WIDTH;
		const char *const v[NR] = { t->v[row].name, fits ? t->v[row].value : "",
					    t->v[row].side, t->v[row].agree, "" };

		for (k = 0; k < NR; k++)
			cells[row * NR + k] = v[k];
	}
	krp_table_fit(cols, NR, cells, t->nr, width);
	for (i = 0; i < NR - 1; i++)
		indent += abs(cols[i].width);

	krp_table_head(f, cols, NR);
	for (row = 0; row < t->nr; row++) {
		if (only && only != &t->v[row])
			continue;
		if (!*cells[row * NR + 1] && *t->v[row].value)
			fprintf(f, "%-*s %s\n%*s ", abs(cols[0].width), t->v[row].name,
				t->v[row].value, abs(cols[0].width), "");
		else
			fprintf(f, "%-*s ", abs(cols[0].width), t->v[row].name);
		for (i = 1; i < NR - 1; i++)
			fprintf(f, "%-*s ", abs(cols[i].width), cells[row * NR + i]);
		krp_fold(f, t->v[row].meaning, indent, width > indent + 20 ? width - indent : 20);
	}
	free(cells);
}
