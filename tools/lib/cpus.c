// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

/* The number that *s begins with; -1 if it begins with none. */
static long number(const char **s)
{
	char *end;
	long n;

	if (**s < '0' || **s > '9')
		return -1;
	n = strtol(*s, &end, 10);
	*s = end;
	return n < INT_MAX ? n : -1;
}

int krp_cpu_ids_of(const char *list)
{
	long first, last, most = -1;

	for (;; list++) {
		first = number(&list);
		last = first;
		if (*list == '-') {
			list++;
			last = number(&list);
		}
		if (first < 0 || last < first)
			return -EINVAL;
		if (last > most)
			most = last;
		if (*list != ',')
			break;
	}
	return *list && strcmp(list, "\n") ? -EINVAL : most + 1;
}

int krp_cpu_ids(void)
{
	FILE *f = fopen(KRP_CPUS_POSSIBLE, "re");
	char *list = NULL;
	size_t room = 0;
	int ids;

	if (!f)
		return -errno;
	ids = getline(&list, &room, f) > 0 ? krp_cpu_ids_of(list) : -EIO;
	free(list);
	fclose(f);
	return ids;
}
