// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "../lib/out.h"

struct krp_figure {
	const char *name; /* as the summary has it */
	size_t offset;
	bool time;
	double unit; /* one of the figure, in that member; 0: the figure is 1 s divided by that time */
};

/* clang-format off */
static const struct krp_figure figures[] = {
#define TIME(name, member)	 { name, offsetof(struct krp_run_info, member), true, 1 }
#define RATE(name, member, unit) { name, offsetof(struct krp_run_info, member), false, unit }
	TIME("min", lat_min_ns),
	TIME("avg", lat_mean_ns),
	TIME("p50", lat_p50_ns),
	TIME("p90", lat_p90_ns),
	TIME("p99", lat_p99_ns),
	TIME("p99.9", lat_p999_ns),
	TIME("max", lat_max_ns),
	TIME("time", elapsed_ns),
	RATE("iterations", iters, 1),
	RATE("iterations/s", lat_mean_ns, 0),
	RATE("MB/s", bits_per_s, 8e6),
	RATE("Gbit/s", bits_per_s, 1e9),
	RATE("messages/s", msgs_per_s, 1),
	RATE("registrations/s", regs_per_s, 1),
#undef TIME
#undef RATE
};
/* clang-format on */

/* A run without iterations has these figures, too. */
static bool is_of_run(const struct krp_figure *f)
{
	return f->offset == offsetof(struct krp_run_info, iters) ||
	       f->offset == offsetof(struct krp_run_info, elapsed_ns);
}

static const struct krp_figure *find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		if (strlen(figures[i].name) == len && !strncmp(figures[i].name, name, len))
			return &figures[i];
	}
	return NULL;
}

bool krp_limit_parse(struct krp_limit *limit, const char *text, char *why, size_t size)
{
	size_t len = strcspn(text, "<>"), i, n;
	uint64_t ns;

	limit->text = text;
	limit->figure = find(text, len);
	if (!text[len] || !limit->figure) {
		n = snprintf(why, size,
			     "%s: no limit: a figure, < or >, and a value; the figures are", text);
		for (i = 0; i < sizeof(figures) / sizeof(*figures) && n < size; i++)
			n += snprintf(why + n, size - n, " %s", figures[i].name);
		return false;
	}
	limit->above = text[len] == '>';
	text += len + 1;
	if (limit->figure->time) {
		if (!krp_parse_ns(text, &ns)) {
			snprintf(why, size, "%s: a time is a number and ns, us, ms or s",
				 limit->text);
			return false;
		}
		limit->value = ns;
	} else if (!krp_parse_number(text, &limit->value, &text) || *text) {
		snprintf(why, size, "%s: %s has no unit, and is a number", limit->text,
			 limit->figure->name);
		return false;
	}
	return true;
}

bool krp_limit_broken(const struct krp_limit *limit, const struct krp_run_info *r, char *why,
		      size_t size)
{
	const struct krp_figure *f = limit->figure;
	uint64_t raw;
	double v;

	memcpy(&raw, (const char *)r + f->offset, sizeof(raw));
	v = f->unit ? raw / f->unit : raw ? 1e9 / raw : 0;
	if (!r->iters && !is_of_run(f)) {
		snprintf(why, size, "%s: there is no complete iteration", limit->text);
		return true;
	}
	if (limit->above ? v <= limit->value : v >= limit->value)
		return false;
	/* Exact, since a rounded figure could be on the other side of the limit. */
	if (f->time)
		snprintf(why, size, "%s: %s is %.12gus", limit->text, f->name, raw / 1e3);
	else if (f->unit == 1)
		snprintf(why, size, "%s: %s is %" PRIu64, limit->text, f->name, raw);
	else
		snprintf(why, size, "%s: %s is %.9g", limit->text, f->name, v);
	return true;
}
