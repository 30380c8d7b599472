/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Limits for the figures of a run, such as "p99>30us": the run is bad if that is true. */
#ifndef KRP_KRPING_LIMIT_H
#define KRP_KRPING_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "../lib/runs.h"

struct krp_limit {
	const char *text; /* as the user wrote it */
	const struct krp_figure *figure;
	bool above; /* bad if the figure is above value; else if it is below */
	double value;
};

/*
 * Parses a limit: FIGURE, < or >, VALUE. A time needs a unit: ns, us, ms or s.
 * false: it is none; why has a text for the user, which begins with the limit's.
 */
bool krp_limit_parse(struct krp_limit *limit, const char *text, char *why, size_t size);

/*
 * Is the figure of a run beyond the limit, or not known? If so, why has the
 * figure and the limit in words.
 */
bool krp_limit_broken(const struct krp_limit *limit, const struct krp_run_info *r, char *why,
		      size_t size);

#endif /* KRP_KRPING_LIMIT_H */
