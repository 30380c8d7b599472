// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "by.h"
#include "out.h"

static const char *const words[KRP_NR_BYS] = { NULL, "dev", "peer", "role", "test", "size" };

const char *krp_by_word(enum krp_by by)
{
	return words[by];
}

int krp_by_find(const char *word)
{
	unsigned int i;

	for (i = KRP_BY_RUN + 1; i < KRP_NR_BYS; i++) {
		if (!strcmp(words[i], word))
			return i;
	}
	return -1;
}

void krp_by_key(enum krp_by by, const struct krp_run_info *info, char *buf, size_t size)
{
	char text[sizeof(info->dst)] = "";
	const char *key = text;

	switch (by) {
	case KRP_BY_DEV:
		/* A run stays in the group in which the lines before have counted it. */
		key = *info->dev_was ? info->dev_was : info->dev;
		break;
	case KRP_BY_PEER:
		krp_run_host(info->dst, text, sizeof(text));
		break;
	case KRP_BY_ROLE:
		key = info->role;
		break;
	case KRP_BY_TEST:
		key = info->test;
		break;
	case KRP_BY_SIZE:
		if (info->size)
			snprintf(text, sizeof(text), "%" PRIu32, info->size);
		break;
	default:
		break;
	}
	snprintf(buf, size, "%s", *key ? key : "-");
}

void krp_groups_begin(struct krp_groups *g)
{
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		g->v[i].ends = g->v[i].running = 0;
}

static int place_of(struct krp_groups *g, const struct krp_run_info *info)
{
	char key[KRP_BY_KEY];
	size_t i;

	krp_by_key(g->by, info, key, sizeof(key));
	for (i = 0; i < g->nr; i++) {
		if (!strcmp(g->v[i].key, key))
			return i;
	}
	g->v = krp_resize(g->v, g->nr + 1, sizeof(*g->v));
	g->v[g->nr] = (struct krp_group){ 0 };
	strcpy(g->v[g->nr].key, key);
	return g->nr++;
}

int krp_groups_add(struct krp_groups *g, const struct krp_run_info *info, bool running)
{
	int place = place_of(g, info);

	g->v[place].ends++;
	g->v[place].running += running;
	return place;
}

int krp_groups_compare(const struct krp_groups *g, unsigned int a, unsigned int b)
{
	const char *l = g->v[a].key, *r = g->v[b].key;
	bool no_l = !strcmp(l, "-"), no_r = !strcmp(r, "-");
	unsigned long nl, nr;

	if (no_l || no_r)
		return no_l - no_r;
	if (g->by != KRP_BY_SIZE)
		return strcmp(l, r);
	nl = strtoul(l, NULL, 10);
	nr = strtoul(r, NULL, 10);
	return (nl > nr) - (nl < nr);
}

void krp_groups_free(struct krp_groups *g)
{
	free(g->v);
	g->v = NULL;
	g->nr = 0;
}

void krp_group_json(json_object *o, const struct krp_groups *g, unsigned int place)
{
	static const struct krp_group none;
	const struct krp_group *v = place == KRP_NO_GROUP ? &none : &g->v[place];

	krp_json_text(o, "by", krp_by_word(g->by));
	krp_json_text(o, "group", v->key);
	krp_json_u64(o, "ends", v->ends);
	krp_json_u64(o, "running", v->running);
}

void krp_by_sum(struct krp_sum *to, const struct krp_sum *from)
{
	bool unknown_min = to->count && to->min == KRP_NS_UNKNOWN;
	bool unknown_max = to->count && to->max == KRP_NS_UNKNOWN;

	if (!from->count)
		return;
	unknown_min |= from->min == KRP_NS_UNKNOWN;
	unknown_max |= from->max == KRP_NS_UNKNOWN;
	krp_sum_merge(to, from);
	if (unknown_min)
		to->min = KRP_NS_UNKNOWN;
	if (unknown_max)
		to->max = KRP_NS_UNKNOWN;
}
