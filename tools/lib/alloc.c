// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "tool.h"

void *krp_new(size_t nr, size_t size)
{
	void *p = calloc(nr ?: 1, size);

	if (!p)
		krp_die("out of memory");
	return p;
}

void *krp_resize(void *p, size_t nr, size_t size)
{
	p = reallocarray(p, nr ?: 1, size);
	if (!p)
		krp_die("out of memory");
	return p;
}

void *krp_grow(void *p, size_t *room, size_t nr, size_t size)
{
	if (nr <= *room)
		return p;
	p = krp_resize(p, nr, size);
	memset((char *)p + *room * size, 0, (nr - *room) * size);
	*room = nr;
	return p;
}
