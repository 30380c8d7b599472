/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The module's table of options, /proc/krping_help, for people. */
#ifndef KRP_KRPING_OPTABLE_H
#define KRP_KRPING_OPTABLE_H

#include <stddef.h>
#include <stdio.h>

#define KRP_PROC_HELP "/proc/krping_help"

struct krp_option {
	char *line; /* in which the others are */
	const char *name, *value, *side, *agree, *meaning;
};

struct krp_optable {
	char *intro; /* its own comment lines */
	struct krp_option *v;
	size_t nr;
};

/* Parses what f has; lines of another form are skipped. 0 or -errno. */
int krp_optable_parse(struct krp_optable *t, FILE *f);
void krp_optable_free(struct krp_optable *t);
const struct krp_option *krp_optable_find(const struct krp_optable *t, const char *name);
/* Prints all options, or only one; the meaning is folded so that no line is wider than width. */
void krp_optable_print(FILE *f, const struct krp_optable *t, const struct krp_option *only,
		       unsigned int width);

#endif /* KRP_KRPING_OPTABLE_H */
