// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The text of an address: a dotted quad, or the forms of RFC 4291 with a scope
 * behind a percent sign.
 *
 * The kernel has in4_pton() and in6_pton(), but the host has not, and they take
 * more than an address: "1.2.3.4" with leading zeros, for example, which others
 * read as octal.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/socket.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#endif
#include "address.h"
#include "digit.h"

#define IPV6_BYTES 16

static const char no_ipv4[] = "not an IPv4 address";
static const char no_ipv6[] = "not an IPv6 address";

static int parse_quad(const char *s, size_t len, __u8 *quad)
{
	unsigned int n = 0;
	size_t i = 0;

	while (n < 4) {
		size_t start = i;
		unsigned int v = 0;

		for (; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
			v = v * 10 + (s[i] - '0');
			if (v > 255)
				return -EINVAL;
		}
		if (i == start || (s[start] == '0' && i - start > 1))
			return -EINVAL;
		quad[n++] = v;
		if (n < 4 && (i == len || s[i++] != '.'))
			return -EINVAL;
	}
	return i == len ? 0 : -EINVAL;
}

/* Reads the digits of a group; returns how many there are, at most 5. */
static size_t parse_group(const char *s, size_t len, unsigned int *v)
{
	size_t i;

	*v = 0;
	for (i = 0; i < len && i < 5 && krping_digit_value(s[i]) < 16; i++)
		*v = *v << 4 | krping_digit_value(s[i]);
	return i;
}

/*
 * Groups of one to four hexadecimal digits between colons; "::" is one or more
 * groups of zeros, once; the last two groups may be a dotted quad.
 */
static int parse_groups(const char *s, size_t len, __u8 *bytes)
{
	size_t i = 0, n = 0, digits, gap = IPV6_BYTES + 1;
	unsigned int v;

	if (len >= 2 && s[0] == ':' && s[1] == ':') {
		gap = 0;
		i = 2;
	}
	while (i < len) {
		if (n == IPV6_BYTES)
			return -EINVAL;
		digits = parse_group(s + i, len - i, &v);
		if (i + digits < len && s[i + digits] == '.') {
			if (n > IPV6_BYTES - 4 ||
			    parse_quad(s + i, len - i, bytes + n))
				return -EINVAL;
			n += 4;
			break;
		}
		if (!digits || digits > 4)
			return -EINVAL;
		bytes[n++] = v >> 8;
		bytes[n++] = v & 0xff;
		i += digits;
		if (i == len)
			break;
		if (s[i++] != ':')
			return -EINVAL;
		if (i < len && s[i] == ':') {
			if (gap <= IPV6_BYTES)
				return -EINVAL;
			gap = n;
			i++;
		} else if (i == len) {
			return -EINVAL;
		}
	}
	if (gap > IPV6_BYTES)
		return n == IPV6_BYTES ? 0 : -EINVAL;
	if (n == IPV6_BYTES)
		return -EINVAL;
	memmove(bytes + IPV6_BYTES - (n - gap), bytes + gap, n - gap);
	memset(bytes + gap, 0, IPV6_BYTES - n);
	return 0;
}

/* What an interface can be called, or a number. */
static int is_scope(const char *s, size_t len)
{
	size_t i;

	if (!len || len >= KRPING_SCOPE_SIZE)
		return 0;
	for (i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] >= 0x7f || strchr("%/:[]", s[i]))
			return 0;
	return 1;
}

static int is_link_local(const __u8 *bytes)
{
	return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

/**
 * krping_address_ipv4 - read a dotted quad
 * @s: the text, need not be NUL-terminated
 * @len: its length in bytes
 * @address: receives the address
 *
 * Context: any; does not sleep, takes no locks.
 * Return: NULL, or what is wrong with the text.
 */
const char *krping_address_ipv4(const char *s, size_t len,
				struct krping_address *address)
{
	__u8 quad[4];

	if (parse_quad(s, len, quad))
		return no_ipv4;
	memset(address, 0, sizeof(*address));
	address->family = AF_INET;
	memcpy(address->bytes, quad, sizeof(quad));
	return NULL;
}

/**
 * krping_address_ipv6 - read an IPv6 address, perhaps with a scope
 * @s: the text, need not be NUL-terminated
 * @len: its length in bytes
 * @address: receives the address
 *
 * A link-local address is one of many interfaces, so it needs a scope; with any
 * other address a scope would be ignored, so it is refused. A mapped IPv4
 * address is none that rdma_cm can reach.
 *
 * Context: any; does not sleep, takes no locks.
 * Return: NULL, or what is wrong with the text.
 */
const char *krping_address_ipv6(const char *s, size_t len,
				struct krping_address *address)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	const char *percent = memchr(s, '%', len);
	size_t addr_len = percent ? (size_t)(percent - s) : len;
	size_t scope_len = percent ? len - addr_len - 1 : 0;
	__u8 bytes[IPV6_BYTES];

	if (parse_groups(s, addr_len, bytes))
		return no_ipv6;
	if (percent && !is_scope(percent + 1, scope_len))
		return "the scope is no name or number of an interface";
	if (percent && !is_link_local(bytes))
		return "only a link-local address has a scope";
	if (!percent && is_link_local(bytes))
		return "a link-local address needs a scope, as %eth0 behind it";
	if (!memcmp(bytes, mapped, sizeof(mapped)))
		return "an IPv4 address; write it as a.b.c.d";
	memset(address, 0, sizeof(*address));
	address->family = AF_INET6;
	memcpy(address->bytes, bytes, sizeof(bytes));
	if (percent)
		memcpy(address->scope, percent + 1, scope_len);
	return NULL;
}

/**
 * krping_address_is_any - is it no particular address?
 * @address: the address
 *
 * Context: any; does not sleep, takes no locks.
 * Return: 1 if there is none, or it is 0.0.0.0 or ::, else 0.
 */
int krping_address_is_any(const struct krping_address *address)
{
	static const __u8 any[IPV6_BYTES];

	return !memcmp(address->bytes, any, sizeof(any));
}
