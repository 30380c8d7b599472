// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The texts of addresses. What is an IPv6 address is decided by the C library's inet_pton(), too.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "unit.h"
#include "command.h"

static const char no_ipv6[] = "not an IPv6 address";
static const char needs_scope[] = "a link-local address needs a scope, as %eth0 behind it";
static const char has_none[] = "only a link-local address has a scope";
static const char no_scope[] = "the scope is no name or number of an interface";
static const char is_ipv4[] = "an IPv4 address; write it as a.b.c.d";

/* Returns NULL, or what is wrong with the text. */
static const char *parse(const char *option, const char *text, struct krping_address *address)
{
	static char reason[KRPING_REASON_MAX];
	struct krping_params params;
	char command[256];

	snprintf(command, sizeof(command), "server,%s=%s,port=7", option, text);
	if (krping_command_parse(command, strlen(command), &params, reason))
		return strstr(reason, ": ") + 2;
	*address = params.addr;
	return NULL;
}

static const char *parse6(const char *text, struct krping_address *address)
{
	return parse("addr6", text, address);
}

static const struct {
	const char *text, *same; /* the form of RFC 5952 */
} good[] = TABLE(
	{ "::", "::" }, { "::1", "::1" }, { "1::", "1::" }, { "0:0:0:0:0:0:0:0", "::" },
	{ "0000:0000:0000:0000:0000:0000:0000:0001", "::1" }, { "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
	{ "2001:0db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" }, { "2001:db8::1:0:0:1", "2001:db8::1:0:0:1" },
	{ "2001:db8::0:1:0:0:1", "2001:db8::1:0:0:1" }, { "2001:0db8::1:0:0:1", "2001:db8::1:0:0:1" },
	{ "2001:db8:0:0:1::1", "2001:db8::1:0:0:1" }, { "2001:DB8:0:0:1::1", "2001:db8::1:0:0:1" },
	{ "2001:db8:aaaa:bbbb:cccc:dddd:eeee:0001", "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1" },
	{ "2001:db8:aaaa:bbbb:cccc:dddd:eeee:AAAA", "2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaaa" },
	{ "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" }, { "2001:0:0:1:0:0:0:1", "2001:0:0:1::1" },
	{ "2001:db8:aaaa:bbbb:cccc:dddd::1", "2001:db8:aaaa:bbbb:cccc:dddd:0:1" }, { "::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8" },
	{ "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0" }, { "1:2:3::5:6:7:8", "1:2:3:0:5:6:7:8" },
	{ "64:ff9b::192.0.2.33", "64:ff9b::c000:221" }, { "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304" },
	{ "1:2:3:4:5::1.2.3.4", "1:2:3:4:5:0:102:304" }, { "::13.1.68.3", "::13.1.68.3" }, { "FF01::101", "ff01::101" },
);

TEST(takes)
{
	char text[INET6_ADDRSTRLEN];
	struct krping_address a;
	const char *why;

	each(row, good) {
		why = parse6(row->text, &a);
		if (why)
			fail_msg("%s: %s", row->text, why);
		assert_int_equal(a.family, AF_INET6);
		assert_string_equal(a.scope, "");
		assert_non_null(inet_ntop(AF_INET6, a.bytes, text, sizeof(text)));
		assert_string_equal(text, row->same);
		assert_int_equal(krping_address_is_any(&a), !strcmp(text, "::"));
	}
}

static const struct {
	const char *text, *why;
} bad[] = TABLE(
	{ "", no_ipv6 }, { ":", no_ipv6 }, { ":::", no_ipv6 }, { "1", no_ipv6 }, { "1:", no_ipv6 }, { ":1", no_ipv6 },
	{ "1:::1", no_ipv6 }, { "1::2::3", no_ipv6 }, { "::1::", no_ipv6 }, { "1:2:3:4:5:6:7", no_ipv6 },
	{ "1:2:3:4:5:6:7:", no_ipv6 }, { "1:2:3:4:5:6:7:8:", no_ipv6 }, { "1:2:3:4:5:6:7:8:9", no_ipv6 },
	{ "1:2:3:4:5:6:7:8::", no_ipv6 }, { "12345::", no_ipv6 },
	{ "::g", no_ipv6 }, { "::-1", no_ipv6 }, { "::0x1", no_ipv6 }, { "::1 ", no_ipv6 },
	{ " ::1", no_ipv6 }, { "[::1]", no_ipv6 }, { "::1/64", no_ipv6 }, { "1.2.3.4", no_ipv6 }, { "::1.2.3", no_ipv6 },
	{ "::1.2.3.4.5", no_ipv6 }, { "::1.2.3.256", no_ipv6 }, { "::1.2.3.", no_ipv6 },
	{ "::.1.2.3", no_ipv6 }, { "::a.2.3.4", no_ipv6 }, { "::1.2.3.4:1", no_ipv6 }, { "::1.2.3.4::", no_ipv6 },
	{ "1.2.3.4::", no_ipv6 }, { "1:2:3:4:5:6:7:1.2.3.4", no_ipv6 }, { "1:2:3:4:5:1.2.3.4", no_ipv6 },
	{ "%eth0", no_ipv6 }, { "%", no_ipv6 }, { "1%eth0", no_ipv6 },
	{ "fe80::1", needs_scope }, { "febf:ffff::1", needs_scope }, { "::1%lo", has_none }, { "fd09::1%2", has_none },
	{ "fec0::1%eth0", has_none }, { "ff02::1%eth0", has_none }, { "::%eth0", has_none }, { "fe80::1%", no_scope },
	{ "fe80::1%0123456789abcdef", no_scope }, { "fe80::1%a b", no_scope },
	{ "fe80::1%a\x7f", no_scope },
	{ "fe80::1%\xff", no_scope }, { "::ffff:10.9.0.1", is_ipv4 }, { "0:0:0:0:0:FFFF:a09:1", is_ipv4 },
);

TEST(refuses)
{
	struct krping_address a;
	const char *why;

	each(row, bad) {
		why = parse6(row->text, &a);
		if (!why)
			fail_msg("taken for good: %s", row->text);
		assert_string_equal(why, row->why);
	}
}

TEST(scopes)
{
	static const char *const t[][2] = {
		{ "fe80::1%eth0", "eth0" },
		{ "fe80::1%3", "3" },
		{ "fe80::1%0123456789abcde", "0123456789abcde" },
		{ "fe80::1%br-1.2@x", "br-1.2@x" },
		{ "feb0::%l", "l" },
	};
	struct krping_address a;

	each(row, t) {
		assert_null(parse6((*row)[0], &a));
		assert_string_equal(a.scope, (*row)[1]);
	}
}

TEST(ipv4)
{
	struct krping_address a;

	assert_null(parse("addr", "10.9.0.255", &a));
	assert_int_equal(a.family, AF_INET);
	assert_memory_equal(a.bytes, "\x0a\x09\x00\xff\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_string_equal(a.scope, "");
	assert_false(krping_address_is_any(&a));
	assert_null(parse("addr", "0.0.0.0", &a));
	assert_true(krping_address_is_any(&a));
	assert_string_equal(parse("addr", "::1", &a), "not an IPv4 address");
}

/* Does the C library read the same in a text? The kernel takes more, see tests/fuzz/shim/linux/inet.h. */
static int compare(const char *text)
{
	struct krping_address a;
	const char *why = parse6(text, &a);
	struct in6_addr in6;
	int ok = inet_pton(AF_INET6, text, &in6) == 1;

	if (!why && ok && memcmp(&in6, a.bytes, sizeof(in6)))
		fail_msg("%s: taken, and the C library reads something else", text);
	if (why && ok && why != needs_scope && strcmp(why, needs_scope) && strcmp(why, is_ipv4))
		fail_msg("%s: %s, but the C library reads it", text, why);
	return ok;
}

TEST(as_the_library)
{
	each(row, good)
		assert_true(compare(row->text));
	each(row, bad)
		compare(row->text);
}
