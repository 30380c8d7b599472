// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwc.h"

static int add(struct krp_hwcs *c, const char *name, uint64_t value)
{
	struct krp_hwc *v = realloc(c->v, (c->nr + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	c->v = v;
	snprintf(v[c->nr].name, sizeof(v[c->nr].name), "%s", name);
	v[c->nr++].value = value;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct krp_hwc *)a)->name, ((const struct krp_hwc *)b)->name);
}

int krp_hwc_read(struct krp_hwcs *to, const char *root, const char *dev, unsigned int port)
{
	char path[512], file[1024];
	struct dirent *entry;
	uint64_t value;
	int err = 0;
	DIR *dir;
	FILE *f;

	to->v = NULL;
	to->nr = 0;
	snprintf(path, sizeof(path), "%s/%s/ports/%u/hw_counters", root, dev, port);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		/* How often the driver refreshes them is there, too. */
		if (*entry->d_name == '.' || !strcmp(entry->d_name, "lifespan"))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		f = fopen(file, "re");
		if (!f)
			continue;
		if (fscanf(f, "%" SCNu64, &value) == 1)
			err = add(to, entry->d_name, value);
		fclose(f);
	}
	closedir(dir);
	if (err)
		krp_hwc_free(to);
	else if (to->nr)
		qsort(to->v, to->nr, sizeof(*to->v), by_name);
	return err;
}

void krp_hwc_diff(struct krp_hwcs *to, const struct krp_hwcs *from, const struct krp_hwcs *now)
{
	const struct krp_hwc *old;
	size_t i;

	to->v = NULL;
	to->nr = 0;
	for (i = 0; from->nr && i < now->nr; i++) {
		old = bsearch(&now->v[i], from->v, from->nr, sizeof(*from->v), by_name);
		if (old && now->v[i].value > old->value &&
		    add(to, old->name, now->v[i].value - old->value))
			return;
	}
}

void krp_hwc_free(struct krp_hwcs *c)
{
	free(c->v);
	memset(c, 0, sizeof(*c));
}
