// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

int krp_cpu_ids_of(const char *list)
{
	size_t end = strspn(list, "0123456789,-"), n = end;

	/* The kernel prints numbers in their order: the last one is the highest. */
	while (n && list[n - 1] >= '0' && list[n - 1] <= '9')
		n--;
	return n < end ? atoi(list + n) + 1 : -EINVAL;
}

int krp_cpu_ids(void)
{
	FILE *f = fopen(KRP_CPUS_POSSIBLE, "re");
	char list[4096];
	int ids;

	if (!f)
		return -errno;
	ids = fgets(list, sizeof(list), f) ? krp_cpu_ids_of(list) : -EIO;
	fclose(f);
	return ids;
}
