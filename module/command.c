// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command text: "name" or "name=value" tokens between commas. One table
 * says everything about an option; the parser, /proc/krping_help and the
 * agreement between two ends all read it.
 *
 * The parser is strict. What it does not understand it refuses, and says which
 * token and why: a benchmark that ran with other options than those that were
 * asked for is worse than none.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#include "command.h"

#define KRPING_SIZE_DEFAULT 64
#define KRPING_TOKEN_SHOWN  40 /* of a bad token, in the reason */

/* Compared by address: the range follows it. */
static const char out_of_range[] = "out of range";

enum krping_option_kind {
	KIND_FLAG,   /* no value; sets a bit of params->flags */
	KIND_ROLE,   /* no value; sets params->role */
	KIND_NUMBER, /* decimal, or hexadecimal after 0x */
	KIND_IPV4,   /* dotted quad */
	KIND_NAME,   /* one of a list */
	KIND_LATER,  /* known to the krping family, not to this version */
};

enum krping_option_side { SIDE_BOTH, SIDE_CLIENT, SIDE_SERVER };

/**
 * struct krping_option - a row of the option table
 * @name:	as it is written in a command
 * @kind:	what its value is
 * @side:	which role may have it
 * @agree:	how two ends settle it
 * @offset:	of its __u32 in struct krping_params
 * @min:	KIND_NUMBER: smallest value
 * @max:	KIND_NUMBER: largest value
 * @bit:	KIND_FLAG: bit of params->flags; KIND_ROLE: the role
 * @names:	KIND_NAME: the values, NULL-terminated, by number
 * @help:	one line for people
 */
struct krping_option {
	const char *name;
	enum krping_option_kind kind;
	enum krping_option_side side;
	enum krping_agree agree;
	size_t offset;
	__u32 min;
	__u32 max;
	__u32 bit;
	const char *const *names;
	const char *help;
};

#define x(n, s) KRPING_NAME_ENTRY_(KRPING_TEST_, n, s)
static const char *const test_names[] = { KRPING_TESTS(x) NULL };
#undef x

static const char *const mem_mode_names[] = { "reg", NULL };

#define AT(field) offsetof(struct krping_params, field)

/* mem_mode has one value so far, hence no field of its own. */
#define NOWHERE ((size_t)-1)

/* clang-format off */
static const struct krping_option options[] = {
	{ .name = "server", .kind = KIND_ROLE, .bit = KRPING_ROLE_SERVER,
	  .help = "wait for a client and serve it" },
	{ .name = "client", .kind = KIND_ROLE, .bit = KRPING_ROLE_CLIENT,
	  .help = "connect to a server and ping it" },
	{ .name = "addr", .kind = KIND_IPV4, .offset = AT(addr),
	  .help = "the server's IPv4 address; a server's 0.0.0.0 is any" },
	{ .name = "port", .kind = KIND_NUMBER, .offset = AT(port),
	  .min = 1, .max = 65535,
	  .help = "the server's port" },
	{ .name = "count", .kind = KIND_NUMBER, .offset = AT(count),
	  .min = 0, .max = KRPING_COUNT_MAX, .agree = KRPING_AGREE_ADOPT,
	  .help = "iterations; 0, the default, is no end" },
	{ .name = "size", .kind = KIND_NUMBER, .offset = AT(size),
	  .min = 1, .max = KRPING_SIZE_MAX, .agree = KRPING_AGREE_ADOPT,
	  .help = "bytes of a ping (default 64)" },
	{ .name = "test", .kind = KIND_NAME, .offset = AT(test),
	  .names = test_names, .agree = KRPING_AGREE_ADOPT,
	  .help = "what to run (default rping)" },
	{ .name = "mem_mode", .kind = KIND_NAME, .offset = NOWHERE,
	  .names = mem_mode_names,
	  .help = "how memory is registered (default reg: fast registration)" },
	{ .name = "server_inv", .kind = KIND_FLAG,
	  .bit = KRPING_RUN_F_SERVER_INV, .agree = KRPING_AGREE_SAME,
	  .help = "the server invalidates the client's keys (SEND_WITH_INV)" },
	{ .name = "validate", .kind = KIND_FLAG, .bit = KRPING_RUN_F_VALIDATE,
	  .help = "client: compare pong with ping; server: check the ping's pattern" },
	{ .name = "verbose", .kind = KIND_FLAG, .bit = KRPING_RUN_F_VERBOSE,
	  .help = "print the first 64 bytes of each ping to the kernel log" },
	{ .name = "addr6", .kind = KIND_LATER },
	{ .name = "bw", .kind = KIND_LATER },
	{ .name = "clients", .kind = KIND_LATER },
	{ .name = "duplex", .kind = KIND_LATER },
	{ .name = "fr", .kind = KIND_LATER },
	{ .name = "interval", .kind = KIND_LATER },
	{ .name = "local_dma_lkey", .kind = KIND_LATER },
	{ .name = "name", .kind = KIND_LATER },
	{ .name = "persistent", .kind = KIND_LATER },
	{ .name = "poll", .kind = KIND_LATER },
	{ .name = "poll_ctx", .kind = KIND_LATER },
	{ .name = "read_inv", .kind = KIND_LATER },
	{ .name = "rlat", .kind = KIND_LATER },
	{ .name = "srq", .kind = KIND_LATER },
	{ .name = "timeout", .kind = KIND_LATER },
	{ .name = "tos", .kind = KIND_LATER },
	{ .name = "txdepth", .kind = KIND_LATER },
	{ .name = "wlat", .kind = KIND_LATER },
};
/* clang-format on */

static __u32 *option_field(const struct krping_option *opt,
			   struct krping_params *params)
{
	return (__u32 *)((char *)params + opt->offset);
}

static __u32 option_value(const struct krping_option *opt,
			  const struct krping_params *params)
{
	if (opt->kind == KIND_FLAG)
		return params->flags & opt->bit;
	return *option_field(opt, (struct krping_params *)params);
}

static int same_text(const char *token, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(token, name, len);
}

static const struct krping_option *find_option(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (same_text(name, len, options[i].name))
			return &options[i];
	return NULL;
}

/*
 * A token as it can be shown: the reason is read in a terminal and in a log,
 * so what a caller put into a command must not get there unfiltered.
 */
static const char *shown(const char *token, size_t len,
			 char buf[KRPING_TOKEN_SHOWN + 4])
{
	size_t i;

	for (i = 0; i < len && i < KRPING_TOKEN_SHOWN; i++)
		buf[i] = token[i] >= 0x20 && token[i] < 0x7f ? token[i] : '?';
	buf[i] = '\0';
	if (len > KRPING_TOKEN_SHOWN)
		memcpy(buf + i, "...", 4);
	return buf;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Returns NULL, or what is wrong with the number. */
static const char *parse_number(const char *s, size_t len, __u32 min, __u32 max,
				__u32 *value)
{
	unsigned int base = 10;
	__u64 v = 0;
	size_t i = 0;

	if (!len)
		return "needs a number";
	if (len > 1 && s[0] == '0') {
		/* Octal for some, decimal for others: nobody gets a surprise. */
		if (s[1] != 'x' && s[1] != 'X')
			return "leading zero";
		base = 16;
		i = 2;
		if (i == len)
			return "not a number";
	}
	for (; i < len; i++) {
		unsigned int d = digit_value(s[i]);

		if (d >= base)
			return "not a number";
		v = v * base + d;
		if (v > 0xffffffffULL)
			return out_of_range;
	}
	if (v < min || v > max)
		return out_of_range;
	*value = v;
	return NULL;
}

/* Returns NULL, or what is wrong with the address. */
static const char *parse_ipv4(const char *s, size_t len, __be32 *addr)
{
	unsigned char quad[4];
	unsigned int n = 0;
	size_t i = 0;

	while (n < 4) {
		size_t start = i;
		unsigned int v = 0;

		for (; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
			v = v * 10 + (s[i] - '0');
			if (v > 255)
				return "not an IPv4 address";
		}
		if (i == start || (s[start] == '0' && i - start > 1))
			return "not an IPv4 address";
		quad[n++] = v;
		if (n < 4 && (i == len || s[i++] != '.'))
			return "not an IPv4 address";
	}
	if (i != len)
		return "not an IPv4 address";
	memcpy(addr, quad, sizeof(quad));
	return NULL;
}

static const char *parse_name(const char *s, size_t len,
			      const char *const *names, __u32 *value)
{
	__u32 i;

	for (i = 0; names[i]; i++)
		if (same_text(s, len, names[i])) {
			*value = i;
			return NULL;
		}
	return "not one of its values";
}

/* Returns NULL, or what is wrong with the token. */
static const char *parse_token(const char *token, size_t len,
			       struct krping_params *params)
{
	const char *value = memchr(token, '=', len);
	size_t name_len = value ? (size_t)(value - token) : len;
	size_t value_len = value ? len - name_len - 1 : 0;
	const struct krping_option *opt = find_option(token, name_len);
	__u32 row, ignored;

	if (!opt)
		return *token == ' ' || *token == '\t' ?
			       "there is a blank before it" :
			       "unknown option";
	if (opt->kind == KIND_LATER)
		return "not supported by this version";

	row = opt - options;
	if (params->given & (1U << row))
		return "given twice";
	params->given |= 1U << row;

	if (opt->kind == KIND_FLAG || opt->kind == KIND_ROLE) {
		if (value)
			return "takes no value";
		if (opt->kind == KIND_ROLE)
			params->role = opt->bit;
		else
			params->flags |= opt->bit;
		return NULL;
	}
	if (!value)
		return "needs a value";
	value++;

	switch (opt->kind) {
	case KIND_NUMBER:
		return parse_number(value, value_len, opt->min, opt->max,
				    option_field(opt, params));
	case KIND_IPV4:
		return parse_ipv4(value, value_len, &params->addr);
	default:
		return parse_name(value, value_len, opt->names,
				  opt->offset == NOWHERE ?
					  &ignored :
					  option_field(opt, params));
	}
}

static const char *check_side(const struct krping_params *params,
			      const char **name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!(params->given & (1U << i)))
			continue;
		*name = options[i].name;
		if (options[i].side == SIDE_CLIENT &&
		    params->role != KRPING_ROLE_CLIENT)
			return "only a client has it";
		if (options[i].side == SIDE_SERVER &&
		    params->role != KRPING_ROLE_SERVER)
			return "only a server has it";
	}
	return NULL;
}

/**
 * krping_option_given - was an option in the command?
 * @params: the parsed command
 * @name: name of an option of the table
 *
 * Return: 1 if it was, else 0.
 */
int krping_option_given(const struct krping_params *params, const char *name)
{
	const struct krping_option *opt = find_option(name, strlen(name));

	return opt && (params->given & (1U << (opt - options)));
}

static int check_whole(const struct krping_params *params, char *reason,
		       size_t reason_size)
{
	int server = krping_option_given(params, "server");
	int client = krping_option_given(params, "client");
	const char *name, *why;

	if (server == client) {
		snprintf(reason, reason_size,
			 server ? "server and client: one command is one end" :
				  "neither server nor client");
		return -EINVAL;
	}
	why = check_side(params, &name);
	if (why) {
		snprintf(reason, reason_size, "%s: %s", name, why);
		return -EINVAL;
	}
	if (!krping_option_given(params, "port")) {
		snprintf(reason, reason_size, "port: missing");
		return -EINVAL;
	}
	if (client && !params->addr) {
		snprintf(reason, reason_size,
			 "addr: a client needs the server's address");
		return -EINVAL;
	}
	return 0;
}

/**
 * krping_command_parse - read a command
 * @text: the text, need not be NUL-terminated
 * @len: its length in bytes
 * @params: receives what the command asks for, defaults where it says nothing
 * @reason: receives, on an error, which token is wrong and why
 * @reason_size: size of @reason in bytes
 *
 * Empty tokens are allowed, as they always were, and so is white space around
 * the whole command: "echo" adds a newline, older scripts a blank to survive
 * the byte that the first krping lost.
 *
 * Context: any; does not sleep, takes no locks.
 * Return: 0, or -EINVAL.
 */
int krping_command_parse(const char *text, size_t len,
			 struct krping_params *params, char *reason,
			 size_t reason_size)
{
	char show[KRPING_TOKEN_SHOWN + 4];
	const struct krping_option *opt;
	const char *why, *end;
	size_t n;

	memset(params, 0, sizeof(*params));
	params->size = KRPING_SIZE_DEFAULT;
	reason[0] = '\0';

	if (len > KRPING_CMD_MAX) {
		snprintf(reason, reason_size, "longer than %d bytes",
			 KRPING_CMD_MAX);
		return -EINVAL;
	}
	while (len && strchr(" \t\r\n", text[len - 1]) && text[len - 1])
		len--;
	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	if (!len) {
		snprintf(reason, reason_size, "empty command");
		return -EINVAL;
	}

	for (end = text + len; text < end; text += n + 1) {
		const char *comma = memchr(text, ',', end - text);

		n = comma ? comma - text : end - text;
		if (!n)
			continue;
		why = parse_token(text, n, params);
		if (why == out_of_range) {
			opt = find_option(text,
					  (const char *)memchr(text, '=', n) -
						  text);
			snprintf(reason, reason_size, "%s: %s (%u..%u)",
				 shown(text, n, show), why, opt->min, opt->max);
			return -EINVAL;
		}
		if (why) {
			snprintf(reason, reason_size, "%s: %s",
				 shown(text, n, show), why);
			return -EINVAL;
		}
	}
	return check_whole(params, reason, reason_size);
}

/**
 * krping_params_agree - settle the options of two ends
 * @mine: the server's; takes over what it was not given
 * @peer: the client's
 *
 * Context: any; does not sleep, takes no locks.
 * Return: NULL, or the name of the first option that differs.
 */
const char *krping_params_agree(struct krping_params *mine,
				const struct krping_params *peer)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct krping_option *opt = &options[i];

		if (opt->kind == KIND_LATER ||
		    opt->agree == KRPING_AGREE_LOCAL ||
		    option_value(opt, mine) == option_value(opt, peer))
			continue;
		if (opt->agree == KRPING_AGREE_SAME ||
		    (mine->given & (1U << i)))
			return opt->name;
		*option_field(opt, mine) = option_value(opt, peer);
	}
	return NULL;
}

static const char *kind_text(const struct krping_option *opt, char *buf,
			     size_t size)
{
	size_t used = 0;
	unsigned int i;

	switch (opt->kind) {
	case KIND_NUMBER:
		snprintf(buf, size, "%u..%u", opt->min, opt->max);
		return buf;
	case KIND_IPV4:
		return "a.b.c.d";
	case KIND_NAME:
		for (i = 0; opt->names[i] && used < size; i++)
			used += snprintf(buf + used, size - used, "%s%s",
					 i ? "|" : "", opt->names[i]);
		return buf;
	default:
		return "-";
	}
}

/**
 * krping_option_help - one row of the option table, for people
 * @row: number of the row, from 0
 * @line: receives the line, without a newline; empty for an option that this
 *	version only knows by name
 * @size: size of @line in bytes
 *
 * Context: any; does not sleep, takes no locks.
 * Return: 1, or 0 when the table has no such row.
 */
int krping_option_help(unsigned int row, char *line, size_t size)
{
	static const char *const sides[] = { "both", "client", "server" };
	static const char *const agrees[] = { "local", "same", "adopt" };
	const struct krping_option *opt;
	char value[32];

	if (row >= ARRAY_SIZE(options))
		return 0;
	opt = &options[row];
	if (opt->kind == KIND_LATER)
		line[0] = '\0';
	else
		snprintf(line, size, "%-10s %-13s %-6s %-5s %s", opt->name,
			 kind_text(opt, value, sizeof(value)),
			 opt->kind == KIND_ROLE ? "-" : sides[opt->side],
			 opt->kind == KIND_ROLE ? "-" : agrees[opt->agree],
			 opt->help);
	return 1;
}
