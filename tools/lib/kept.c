// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"

int krp_kept_init(struct krp_kept *k, unsigned int room, size_t size)
{
	memset(k, 0, sizeof(*k));
	k->v = calloc(room, size);
	if (!k->v)
		return -ENOMEM;
	k->room = room;
	k->size = size;
	return 0;
}

void krp_kept_free(struct krp_kept *k)
{
	free(k->v);
	memset(k, 0, sizeof(*k));
}

void *krp_kept_at(const struct krp_kept *k, unsigned int n)
{
	return k->v + (k->first + n) % k->room * k->size;
}

void *krp_kept_add(struct krp_kept *k)
{
	if (!krp_kept_full(k))
		return krp_kept_at(k, k->nr++);
	k->first = (k->first + 1) % k->room;
	k->dropped++;
	return krp_kept_at(k, k->nr - 1);
}
