/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's readers of addresses take more than the C library: zeros before a number, of
 * which nothing is octal, and a "::" of no group. An address ends at delim, or at the end; an
 * IPv4 address also at a colon.
 */
#ifndef KRP_FUZZ_SHIM_INET_H
#define KRP_FUZZ_SHIM_INET_H

#include <linux/kernel.h>

static inline int in4_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	const char *s = src, *last = src + (srclen < 0 ? (int)strlen(src) : srclen);
	unsigned int n = 0;
	u8 quad[4];
	int ok = 0;

	while (n < 4) {
		const char *start = s;
		unsigned int v = 0;

		for (; s < last && isdigit(*s) && v <= 255; s++)
			v = v * 10 + (*s - '0');
		if (s == start || v > 255)
			break;
		quad[n++] = v;
		if (n < 4) {
			if (s == last || *s != '.')
				break;
			s++;
		} else {
			ok = s == last || *s == delim || *s == ':';
		}
	}
	if (ok)
		memcpy(dst, quad, sizeof(quad));
	if (end)
		*end = s;
	return ok;
}

static inline int in6_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	const char *s = src, *last = src + (srclen < 0 ? (int)strlen(src) : srclen);
	const char *stop = memchr(src, delim, last - src);
	size_t n = 0, gap = 17;
	u8 bytes[16];

	*end = s;
	if (stop)
		last = stop;
	if (last - s >= 2 && s[0] == ':' && s[1] == ':') {
		gap = 0;
		s += 2;
	}
	while (s < last) {
		const char *start = s;
		unsigned int v = 0;

		if (n == sizeof(bytes))
			return 0;
		for (; s < last && isxdigit(*s) && v <= 0xfff; s++)
			v = v << 4 | (isdigit(*s) ? *s - '0' : tolower(*s) - 'a' + 10);
		if (s < last && *s == '.') {
			if (n > sizeof(bytes) - 4 ||
			    !in4_pton(start, last - start, bytes + n, delim, &s))
				return 0;
			n += 4;
			/* Perhaps at a colon. */
			break;
		}
		if (s == start)
			return 0;
		bytes[n++] = v >> 8;
		bytes[n++] = v & 0xff;
		if (s == last)
			break;
		if (n == sizeof(bytes) || *s++ != ':' || s == last)
			return 0;
		if (*s == ':') {
			if (gap <= sizeof(bytes))
				return 0;
			gap = n;
			s++;
		}
	}
	if (gap > sizeof(bytes) && n < sizeof(bytes))
		return 0;
	memset(dst, 0, sizeof(bytes));
	if (gap > n)
		gap = n;
	memcpy(dst, bytes, gap);
	memcpy(dst + sizeof(bytes) - (n - gap), bytes + gap, n - gap);
	*end = s;
	return 1;
}

#endif /* KRP_FUZZ_SHIM_INET_H */
