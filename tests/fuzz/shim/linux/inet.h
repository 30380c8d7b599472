/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's readers of addresses, by the C library's, which takes a little less: no zeros before
 * a number, and no "::" of no group. An address ends at delim, or at the end; an IPv4 address also
 * at a colon.
 */
#ifndef KRP_FUZZ_SHIM_INET_H
#define KRP_FUZZ_SHIM_INET_H

#include <arpa/inet.h>
#include <linux/kernel.h>

static inline int shim_pton(int family, const char *src, size_t len, u8 *dst, const char **end)
{
	char text[64];

	*end = src + len;
	snprintf(text, sizeof(text), "%.*s", (int)len, src);
	return len < sizeof(text) && inet_pton(family, text, dst) == 1;
}

static inline int in4_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	return shim_pton(AF_INET, src, strcspn(src, (char[]){ ':', delim, 0 }), dst, end);
}

static inline int in6_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	size_t len = strcspn(src, (char[]){ delim, 0 });
	const char *dot = memchr(src, '.', len),
		   *colon = dot ? memchr(dot, ':', len - (dot - src)) : NULL;

	return shim_pton(AF_INET6, src, colon ? (size_t)(colon - src) : len, dst, end);
}

#endif /* KRP_FUZZ_SHIM_INET_H */
