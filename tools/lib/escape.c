// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdint.h>
#include <string.h>

#include "alloc.h"
#include "escape.h"

/* Does not depend on the locale. */
static bool is_printable(unsigned char c)
{
	return c >= ' ' && c <= '~';
}

static char *escape(char *buf, size_t size, const char *s, size_t max, bool backslash)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0, i;

	for (i = 0; i < max && s[i]; i++) {
		unsigned char c = s[i];

		if (!is_printable(c)) {
			if (n + 4 >= size)
				break;
			buf[n++] = '\\';
			buf[n++] = 'x';
			buf[n++] = hex[c >> 4];
			buf[n++] = hex[c & 0xf];
		} else if (c == '\\' && backslash) {
			if (n + 2 >= size)
				break;
			buf[n++] = '\\';
			buf[n++] = '\\';
		} else {
			if (n + 1 >= size)
				break;
			buf[n++] = c;
		}
	}
	if (size)
		buf[n] = '\0';
	return buf;
}

static char *escape_dup(const char *s, bool backslash)
{
	size_t size = KRP_ESCAPED(strlen(s) + 1);

	return escape(krp_new(size, 1), size, s, SIZE_MAX, backslash);
}

char *krp_escape(char *buf, size_t size, const char *name, size_t max)
{
	return escape(buf, size, name, max, true);
}

char *krp_escape_dup(const char *name)
{
	return escape_dup(name, true);
}

char *krp_clean(char *buf, size_t size, const char *text)
{
	return escape(buf, size, text, SIZE_MAX, false);
}

char *krp_clean_dup(const char *text)
{
	return escape_dup(text, false);
}

bool krp_is_clean(const char *text)
{
	while (is_printable(*text))
		text++;
	return !*text;
}

/* The value of a hexadecimal digit as we write it; -1: it is none. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool krp_unescape(char *buf, size_t size, const char *escaped)
{
	const char *s = escaped;
	size_t n = 0;
	int c;

	while (*s) {
		c = *s++;
		if (c == '\\' && *s == 'x') {
			if (digit(s[1]) < 0 || digit(s[2]) < 0)
				return false;
			c = digit(s[1]) << 4 | digit(s[2]);
			if (!c || is_printable(c))
				return false;
			s += 3;
		} else if (c == '\\' && *s++ != '\\') {
			return false;
		}
		if (n + 1 >= size)
			return false;
		buf[n++] = c;
	}
	if (!size)
		return false;
	buf[n] = '\0';
	return true;
}
