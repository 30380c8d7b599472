/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRP_FUZZ_SHIM_STRING_H
#define KRP_FUZZ_SHIM_STRING_H

#include <errno.h>
#include <string.h>
#include <sys/types.h>

/* The array ends after n names, or with NULL. */
static inline int match_string(const char *const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++) {
		if (!strcmp(array[i], string))
			return i;
	}
	return -EINVAL;
}

static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const unsigned char *p = start;

	for (; bytes; p++, bytes--) {
		if (*p != (unsigned char)c)
			return (void *)p;
	}
	return NULL;
}

static inline ssize_t strscpy(char *dest, const char *src, size_t count)
{
	size_t len = strnlen(src, count);

	if (!count)
		return -E2BIG;
	if (len == count) {
		memcpy(dest, src, count - 1);
		dest[count - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dest, src, len + 1);
	return len;
}

#endif /* KRP_FUZZ_SHIM_STRING_H */
