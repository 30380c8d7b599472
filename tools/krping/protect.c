// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/names.h"
#include "../lib/out.h"
#include "../lib/procfile.h"
#include "protect.h"
#include "../lib/tool.h"

/* A line, for krp_fields_parse(). */
struct line {
	struct krp_case c;
	uint32_t id, parent;
};

/* clang-format off */
static const struct krp_field fields[] = {
#define F(key, kind, member)	KRP_FIELD(key, kind, struct line, member)
	F("id", U32, id),
	F("parent", U32, parent),
	F("case", TEXT, c.name),
	F("verb", TEXT, c.verb),
	F("wrong", TEXT, c.wrong),
	F("client", TEXT, c.client),
	F("client_moved", U32, c.client_moved),
	F("server", TEXT, c.server),
	F("server_moved", U32, c.server_moved),
	F("verdict", TEXT, c.verdict),
#undef F
};
/* clang-format on */

/* The cases of a run, or of its clients, that were not seen before. */
struct reader {
	struct krp_protect *p;
	uint32_t run, last;
};

static void take_line(void *ctx, char *text)
{
	struct reader *r = ctx;
	struct krp_protect *p = r->p;
	struct line line = { 0 };

	krp_fields_parse(&line, fields, sizeof(fields) / sizeof(*fields), text);
	if ((line.id != r->run && line.parent != r->run) || line.id <= p->seen || !*line.c.name)
		return;
	r->last = line.id;
	p->v = krp_resize(p->v, p->nr + 1, sizeof(*p->v));
	p->v[p->nr++] = line.c;
}

int krp_protect_parse(struct krp_protect *p, FILE *f, uint32_t run)
{
	struct reader r = { p, run, p->seen };
	int err = krp_procfile_lines(f, take_line, &r);

	p->seen = r.last;
	return err;
}

int krp_protect_read(struct krp_protect *p, uint32_t run)
{
	uint32_t from = run;
	FILE *f = krp_procfile_open(KRP_PROC_PROTECT, &from);
	int err;

	if (!f)
		return -errno;
	err = krp_protect_parse(p, f, run);
	fclose(f);
	return err;
}

void krp_protect_free(struct krp_protect *p)
{
	free(p->v);
	memset(p, 0, sizeof(*p));
}

void krp_protect_last_list(struct krp_protect *p)
{
	size_t from = p->nr;

	while (from && strcmp(p->v[--from].name, krp_name(&krp_protect_case_names, 0)))
		;
	if (from)
		memmove(p->v, p->v + from, (p->nr - from) * sizeof(*p->v));
	p->nr -= from;
}

bool krp_protect_list_is_over(const struct krp_protect *p)
{
	return p->nr && !strcmp(p->v[p->nr - 1].name,
				krp_name(&krp_protect_case_names, KRPING_NR_CASES - 1));
}

/* The module writes those verdicts in capitals. */
static bool is_bad(const struct krp_case *c)
{
	return *c->verdict >= 'A' && *c->verdict <= 'Z';
}

size_t krp_protect_bad(const struct krp_protect *p, const struct krp_case **first)
{
	size_t i, bad = 0;

	for (i = p->nr; i--;) {
		if (!is_bad(&p->v[i]))
			continue;
		*first = &p->v[i];
		bad++;
	}
	return bad;
}

/* A cell of words for people: "completed, end". */
static void words_cell(struct krp_table *t, const char *s)
{
	char words[256];
	size_t n = 0;

	for (; *s && n < sizeof(words) - 2; s++) {
		if (*s == '+')
			words[n++] = ',';
		words[n++] = *s == '+' || *s == '_' ? ' ' : *s;
	}
	krp_cell(t, "%.*s", (int)n, words);
}

/* How many cases came to what, in the order in which that came first. */
static void print_sums(FILE *f, const struct krp_protect *p)
{
	size_t i, k, nr;
	bool before;

	fprintf(f, "%zu case%s: ", p->nr, p->nr == 1 ? "" : "s");
	for (i = 0; i < p->nr; i++) {
		before = false;
		nr = 0;
		for (k = 0; k < p->nr; k++) {
			if (strcmp(p->v[k].verdict, p->v[i].verdict))
				continue;
			before |= k < i;
			nr++;
		}
		if (!before)
			fprintf(f, "%s%zu %s", i ? ", " : "", nr, p->v[i].verdict);
	}
	fputc('\n', f);
}

/* Did an access complete that the other end has refused? */
static bool any_early(const struct krp_protect *p)
{
	size_t i;

	for (i = 0; i < p->nr; i++) {
		if (!strcmp(p->v[i].verdict, "protected") &&
		    !strncmp(p->v[i].client, "completed", 9))
			return true;
	}
	return false;
}

void krp_protect_table(FILE *f, const struct krp_protect *p, unsigned int width)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "CASE", -6 }, { "VERB", -6 }, { "CLIENT SAW", -10 }, { "SERVER SAW", -10 },
		{ "MOVED", 5 }, { "VERDICT", -7 },
	} };
	/* clang-format on */
	size_t i;

	for (i = 0; i < p->nr; i++) {
		const struct krp_case *c = &p->v[i];

		krp_cell(&t, "%s", c->name);
		krp_cell(&t, "%s", c->verb);
		words_cell(&t, c->client);
		words_cell(&t, c->server);
		krp_cell(&t, "%" PRIu64, (uint64_t)c->client_moved + c->server_moved);
		krp_cell(&t, "%s", c->verdict);
	}
	krp_table_print(f, &t, width);
	print_sums(f, p);
	if (any_early(p))
		fputs("Where the client saw a protected access complete, its transport completes that before the server has judged it.\n",
		      f);
}

static json_object *json_words(const char *words)
{
	json_object *a = json_object_new_array();
	char *copy = krp_format("%s", words), *word, *save;

	for (word = strtok_r(copy, "+", &save); word; word = strtok_r(NULL, "+", &save)) {
		if (strcmp(word, "-"))
			json_object_array_add(a, json_object_new_string(word));
	}
	free(copy);
	return a;
}

json_object *krp_protect_json(const struct krp_protect *p)
{
	json_object *a = json_object_new_array(), *o;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		const struct krp_case *c = &p->v[i];

		o = json_object_new_object();
		krp_json_text(o, "case", c->name);
		krp_json_text(o, "verb", c->verb);
		krp_json_text(o, "wrong", c->wrong);
		json_object_object_add(o, "client_saw", json_words(c->client));
		krp_json_u64(o, "client_moved", c->client_moved);
		json_object_object_add(o, "server_saw", json_words(c->server));
		krp_json_u64(o, "server_moved", c->server_moved);
		krp_json_text(o, "verdict", c->verdict);
		json_object_array_add(a, o);
	}
	return a;
}
