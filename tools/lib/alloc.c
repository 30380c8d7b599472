// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "die.h"

static void *there(void *p)
{
	static bool dying;

	if (p)
		return p;
	/* The message takes memory, too. */
	if (dying)
		_exit(1);
	dying = true;
	krp_die("out of memory");
}

void *krp_new(size_t nr, size_t size)
{
	return there(calloc(nr ?: 1, size));
}

void *krp_resize(void *p, size_t nr, size_t size)
{
	return there(reallocarray(p, nr ?: 1, size));
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

char *krp_vformat(const char *fmt, va_list ap)
{
	char *text;

	return there(vasprintf(&text, fmt, ap) < 0 ? NULL : text);
}

char *krp_format(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = krp_vformat(fmt, ap);
	va_end(ap);
	return text;
}

FILE *krp_text_open(char **text, size_t *size)
{
	return there(open_memstream(text, size));
}

void krp_text_close(FILE *f)
{
	if (fclose(f))
		there(NULL);
}
