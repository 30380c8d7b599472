// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping WORD: looks for the part of the program that WORD, or the name of a link, asks for. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "views.h"

static const struct view {
	const char *word; /* the link to the program is krping-WORD */
	int (*main)(int argc, char **argv);
	const char *first; /* an argument before the user's */
	const char *time; /* the option that a time stands for if it is the user's first argument */
} views[] = {
	{ "top", krp_top_main, NULL, NULL },
	{ "stages", krp_stages_main, NULL, NULL },
	{ "mr", krp_mr_main, NULL, NULL },
	{ "slow", krp_stages_main, "--slowest=10", "--slow=" },
	{ "trace", krp_trace_main, NULL, NULL },
	{ "ladder", krp_trace_main, "ladder", NULL },
	{ "record", krp_record_main, NULL, NULL },
};

static const struct view *find_view(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(views) / sizeof(*views); i++) {
		if (!strcmp(views[i].word, word))
			return &views[i];
	}
	return NULL;
}

bool krp_is_view(const char *word)
{
	return find_view(word);
}

/* Calls a view, with arguments of which argv[0] is the word, or link, that asked for it. */
static int call(const struct view *view, int argc, char **argv)
{
	char **args = krp_new(argc + 2, sizeof(*args)), name[32], *time = NULL;
	int i = 1, n = 0, status;

	snprintf(name, sizeof(name), "krping %s", view->word);
	args[n++] = name;
	if (view->first)
		args[n++] = (char *)view->first;
	if (argc > 1 && view->time && isdigit((unsigned char)*argv[1])) {
		time = krp_format("%s%s", view->time, argv[i++]);
		args[n++] = time;
	}
	while (i < argc)
		args[n++] = argv[i++];
	status = view->main(n, args);
	free(time);
	free(args);
	return status;
}

int main(int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;
	const struct view *view;

	name = name ? name + 1 : argc ? argv[0] : "";
	if (!strncmp(name, "krping-", 7)) {
		view = find_view(name + 7);
		if (view)
			return call(view, argc, argv);
	}
	view = argc > 1 ? find_view(argv[1]) : NULL;
	if (view)
		return call(view, argc - 1, argv + 1);
	return krp_runs_main(argc, argv);
}
