// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The parser of commands. The input is one command, or two with a newline in
 * between, which then are those of a client and a server that meet.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>

#include "fuzz.h"
#include "params.h"

static int parse(const char *text, size_t len, struct krping_params *params, char *reason)
{
	char *copy = fuzz_copy(text, len, false);
	int ret;

	/* The parser owes nothing to what is in them before. */
	memset(params, 0x55, sizeof(*params));
	memset(reason, 0x55, KRPING_REASON_MAX);
	ret = krping_command_parse(copy, len, params, reason);
	free(copy);
	CHECK(ret == 0 || ret == -EINVAL);
	CHECK_TEXT(reason, KRPING_REASON_MAX);
	return ret;
}

/* The order of the options means nothing. */
static void parse_backwards(const char *text, size_t len, const struct krping_params *want)
{
	struct krping_params params;
	char reason[KRPING_REASON_MAX];
	char *back = malloc(len + 1);
	size_t end, begin, n = 0;

	CHECK(back);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	for (end = len;; end = begin - 1) {
		for (begin = end; begin && text[begin - 1] != ','; begin--)
			;
		memcpy(back + n, text + begin, end - begin);
		n += end - begin;
		if (!begin)
			break;
		back[n++] = ',';
	}
	if (parse(back, n, &params, reason) || memcmp(&params, want, sizeof(params))) {
		fprintf(stderr, "in another order: %.*s: \"%s\"\n", (int)n, back, reason);
		abort();
	}
	free(back);
}

/* Returns whether it was accepted. */
static bool one(const char *text, size_t len, struct krping_params *params)
{
	char reason[KRPING_REASON_MAX], again[KRPING_REASON_MAX];
	struct krping_params second;
	int ret = parse(text, len, params, reason);

	/* The longest reason fits: a user gets it whole. */
	CHECK(strlen(reason) < sizeof(reason) - 1);
	CHECK(!ret == !*reason);
	CHECK(parse(text, len, &second, again) == ret);
	CHECK(!strcmp(reason, again) && !memcmp(params, &second, sizeof(second)));
	if (ret)
		return false;
	fuzz_check_command(params);
	parse_backwards(text, len, params);
	return true;
}

static void meet(const struct krping_params *mine, const struct krping_params *peer)
{
	struct krping_params agreed = *mine, again;
	const char *name = krping_params_agree(&agreed, peer);

	fuzz_check_name(name);
	fuzz_check_name(krping_params_same(mine, peer));
	fuzz_check_name(krping_params_classic(mine));
	CHECK(!krping_params_same(mine, mine));
	fuzz_check_agreed(mine, &agreed);
	if (name)
		return;
	/* Then there is nothing left to settle, and the peer is content with the answer. */
	CHECK(!krping_params_same(peer, &agreed));
	CHECK(!agreed.accept_size || agreed.size <= agreed.accept_size);
	CHECK(!agreed.accept_tests || agreed.accept_tests >> agreed.test & 1);
	again = agreed;
	CHECK(!krping_params_agree(&again, peer));
	CHECK(!memcmp(&again, &agreed, sizeof(again)));
}

/* What the C library's parser of addresses takes, the module takes, too, but for what it says of IPv6. */
static void address(const char *text, size_t len)
{
	struct krping_params params;
	char reason[KRPING_REASON_MAX], command[160], *s;
	struct in6_addr in6;
	struct in_addr in4;
	bool ours;

	if (len > 100 || memchr(text, '\0', len) || memchr(text, ',', len))
		return;
	s = fuzz_copy(text, len, true);
	snprintf(command, sizeof(command), "server,addr=%s,port=7", s);
	ours = !parse(command, strlen(command), &params, reason);
	CHECK(!ours || !s[strspn(s, "0123456789.")]);
	if (inet_pton(AF_INET, s, &in4) == 1)
		CHECK(ours && !memcmp(params.addr.bytes, &in4, sizeof(in4)));
	snprintf(command, sizeof(command), "server,addr6=%s,port=7", s);
	ours = !parse(command, strlen(command), &params, reason);
	s[strcspn(s, "%")] = '\0';
	if (inet_pton(AF_INET6, s, &in6) == 1) {
		if (!IN6_IS_ADDR_V4MAPPED(&in6) && !IN6_IS_ADDR_LINKLOCAL(&in6))
			CHECK(ours == !memchr(text, '%', len));
		CHECK(!ours || !memcmp(params.addr.bytes, &in6, sizeof(in6)));
	}
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *newline = memchr(text, '\n', size);
	size_t len = newline ? (size_t)(newline - text) : size;
	struct krping_params client, server;
	bool accepted;

	address(text, len);
	accepted = one(text, len, &client);
	if (!newline)
		return 0;
	if (one(newline + 1, size - len - 1, &server) && accepted &&
	    client.role != KRPING_ROLE_STOP && server.role != KRPING_ROLE_STOP) {
		meet(&server, &client);
		meet(&client, &server);
	}
	return 0;
}
