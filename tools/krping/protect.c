// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/escape.h"
#include "../lib/out.h"
#include "../lib/procfile.h"
#include "protect.h"
#include "../lib/tool.h"

static void set(struct krp_case *c, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *text;
		size_t size;
	} texts[] = {
		{ "case", c->name, sizeof(c->name) },
		{ "verb", c->verb, sizeof(c->verb) },
		{ "wrong", c->wrong, sizeof(c->wrong) },
		{ "client", c->client, sizeof(c->client) },
		{ "server", c->server, sizeof(c->server) },
		{ "verdict", c->verdict, sizeof(c->verdict) },
	};
	size_t i;

	if (!strcmp(key, "client_moved"))
		c->client_moved = strtoul(value, NULL, 0);
	if (!strcmp(key, "server_moved"))
		c->server_moved = strtoul(value, NULL, 0);
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!strcmp(key, texts[i].key))
			krp_escape(texts[i].text, texts[i].size, value, SIZE_MAX);
	}
}

static int parse_line(struct krp_protect *p, char *line, uint32_t run, uint32_t *last)
{
	struct krp_case c = { 0 };
	char *word, *value, *save;
	struct krp_case *v;
	uint32_t id = 0, parent = 0;

	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(word, "id"))
			id = strtoul(value, NULL, 0);
		else if (!strcmp(word, "parent"))
			parent = strtoul(value, NULL, 0);
		else
			set(&c, word, value);
	}
	if ((id != run && parent != run) || id <= p->seen || !*c.name)
		return 0;
	*last = id;
	v = realloc(p->v, (p->nr + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	p->v = v;
	p->v[p->nr++] = c;
	return 0;
}

int krp_protect_parse(struct krp_protect *p, FILE *f, uint32_t run)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	uint32_t last = p->seen;
	int err = 0;

	while (!err && (len = getline(&line, &room, f)) > 0) {
		if (line[len - 1] != '\n')
			break;
		line[len - 1] = '\0';
		if (*line != '#')
			err = parse_line(p, line, run, &last);
	}
	if (!err && ferror(f))
		err = -EIO;
	p->seen = last;
	free(line);
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

const char *krp_case_name(unsigned int nr)
{
	static const char *const names[] = {
#define x(n, s, v, w) s,
		KRPING_CASES(x)
#undef x
	};

	return names[nr];
}

void krp_protect_last_list(struct krp_protect *p)
{
	size_t from = p->nr;

	while (from && strcmp(p->v[--from].name, krp_case_name(0)))
		;
	if (from)
		memmove(p->v, p->v + from, (p->nr - from) * sizeof(*p->v));
	p->nr -= from;
}

bool krp_protect_list_is_over(const struct krp_protect *p)
{
	return p->nr && !strcmp(p->v[p->nr - 1].name, krp_case_name(KRP_NR_CASES - 1));
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
	char *copy = strdup(words), *word, *save;

	if (!copy)
		krp_die("out of memory");
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
