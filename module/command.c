// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command text: "name" or "name=value" tokens between commas. One table
 * says everything about an option; the parser, /proc/krping_help and the
 * agreement between two ends all read it.
 *
 * The parser is strict. It refuses a token that it does not understand, and
 * says which token and why: a benchmark that ran with other options than its
 * user asked for is worse than no benchmark.
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
#define fallthrough   __attribute__((__fallthrough__))
#endif
#include "command.h"
#include "digit.h"

#define NS_PER_US	   1000ULL
#define NS_PER_MS	   1000000ULL
#define NS_PER_S	   1000000000ULL
#define KRPING_TIMEOUT_MAX (86400 * NS_PER_S)
#define KRPING_IDLE	   (30 * NS_PER_S) /* of a server of several clients */
#define KRPING_PAUSE_MAX   (3600 * NS_PER_S)
#define KRPING_TOKEN_SHOWN 40 /* bytes of a bad token in the reason */

/* Compared by address: after this error the reason also has the range. */
static const char out_of_range[] = "out of range";

enum krping_option_kind {
	KIND_FLAG,   /* no value; sets a bit of params->flags */
	KIND_GIVEN,  /* no value; krping_option_given() tells */
	KIND_ROLE,   /* no value; sets params->role */
	KIND_NUMBER, /* decimal, or hexadecimal after 0x */
	KIND_SIZE, /* a number of bytes, also with K, M or G (powers of 1024) */
	KIND_TIME, /* a number with us, ms or s, or without: s; stored in ns */
	KIND_IPV4, /* dotted quad */
	KIND_IPV6, /* RFC 4291, a link-local address with its scope */
	KIND_ADDRESS, /* either of them */
	KIND_ACCEPT,  /* names of tests, and a size, with + between them */
	KIND_NAME,    /* one of a list */
	KIND_TEXT,  /* a word for people, of up to KRPING_NAME_MAX - 1 bytes */
	KIND_ALIAS, /* no value; another word for a value of an option */
	KIND_SPELLING, /* another spelling of an option's name */
};

enum krping_option_side { SIDE_BOTH, SIDE_CLIENT, SIDE_SERVER, SIDE_STOP };

/**
 * struct krping_option - a row of the option table
 * @name:	as it is written in a command
 * @kind:	type of its value
 * @side:	which role may have it
 * @agree:	how two ends settle it
 * @offset:	where its value is in struct krping_params: a __u64 for KIND_TIME,
 *		chars for KIND_TEXT, a struct krping_address for KIND_IPV4, _IPV6 and
 *		_ADDRESS, a __u32 for the others
 * @min:	KIND_NUMBER, _SIZE, _TIME: smallest value; KIND_TIME: 0 or one unit
 * @max:	KIND_NUMBER, _SIZE, _TIME: largest value
 * @bit:	KIND_FLAG: bit of params->flags; KIND_ROLE: the role; KIND_ALIAS:
 *		the value
 * @alias:	KIND_ALIAS: the option that has this value; KIND_SPELLING: the option
 * @names:	KIND_NAME: the values, NULL-terminated, by number
 * @also:	KIND_NAME: another word for the value 0; NULL: there is none
 * @help:	one line for people
 */
struct krping_option {
	const char *name;
	enum krping_option_kind kind;
	enum krping_option_side side;
	enum krping_agree agree;
	size_t offset;
	__u64 min;
	__u64 max;
	__u32 bit;
	enum krping_option_id alias;
	const char *const *names;
	const char *also;
	const char *help;
};

#define x(n, s) KRPING_NAME_ENTRY_(KRPING_TEST_, n, s)
static const char *const test_names[] = { KRPING_TESTS(x) NULL };
#undef x

#define BIT_OF(id) (1ULL << KRPING_OPT_##id)

/* Options for which some tests have no use. */
#define SOME_TESTS                                                        \
	(BIT_OF(DUPLEX) | BIT_OF(POST_LIST) | BIT_OF(SIGNAL) |            \
	 BIT_OF(INLINE_SIZE) | BIT_OF(INTERVAL) | BIT_OF(CHAIN) |         \
	 BIT_OF(SERVER_INV) | BIT_OF(READ_INV) | BIT_OF(LOCAL_DMA_LKEY) | \
	 BIT_OF(SPLIT) | BIT_OF(VALIDATE) | BIT_OF(VERBOSE) |             \
	 BIT_OF(RANDOM_SIZE))

/**
 * struct krping_test_takes - what a test takes of a command
 * @options:	those of SOME_TESTS that it has a use for
 * @refuses:	options that all the other tests have a use for
 * @size:	bytes of an iteration, where the command does not say
 * @count:	iterations of a test that decides this itself, else 0
 */
struct krping_test_takes {
	__u64 options;
	__u64 refuses;
	__u32 size;
	__u32 count;
};

static const struct krping_test_takes tests[KRPING_NR_TESTS] = {
	[KRPING_TEST_RPING] = { .options =
					BIT_OF(INTERVAL) | BIT_OF(CHAIN) |
					BIT_OF(SERVER_INV) | BIT_OF(READ_INV) |
					BIT_OF(LOCAL_DMA_LKEY) | BIT_OF(SPLIT) |
					BIT_OF(VALIDATE) | BIT_OF(VERBOSE) |
					BIT_OF(RANDOM_SIZE),
				.size = 64 },
	[KRPING_TEST_FR] = { .options = BIT_OF(INTERVAL), .size = 64 },
	[KRPING_TEST_WLAT] = { .options = BIT_OF(INLINE_SIZE) |
					  BIT_OF(INTERVAL) |
					  BIT_OF(SERVER_INV) |
					  BIT_OF(LOCAL_DMA_LKEY),
			       .size = 64 },
	[KRPING_TEST_RLAT] = { .options = BIT_OF(INTERVAL), .size = 64 },
	[KRPING_TEST_BW] = { .options = BIT_OF(DUPLEX) | BIT_OF(POST_LIST) |
					BIT_OF(SIGNAL) | BIT_OF(INLINE_SIZE) |
					BIT_OF(SERVER_INV) |
					BIT_OF(LOCAL_DMA_LKEY),
			     .size = 64 },
	[KRPING_TEST_FAST] = { .options = BIT_OF(POST_LIST) | BIT_OF(SIGNAL) |
					  BIT_OF(INLINE_SIZE) |
					  BIT_OF(SERVER_INV) |
					  BIT_OF(LOCAL_DMA_LKEY),
			       .size = 64 * 1024 },
	/* Each case has a connection of its own, which a run makes in its task. */
	[KRPING_TEST_PROTECT] = { .refuses = BIT_OF(COUNT) | BIT_OF(SIZE) |
					     BIT_OF(OFFSET) | BIT_OF(WARMUP) |
					     BIT_OF(MEM_MODE) | BIT_OF(CPU) |
					     BIT_OF(CLIENTS) | BIT_OF(IDLE) |
					     BIT_OF(PERSISTENT),
				  .size = KRPING_PROTECT_SIZE,
				  .count = KRPING_NR_CASES },
};

#define x(n, s) KRPING_NAME_ENTRY_(KRPING_POLL_, n, s)
static const char *const poll_ctx_names[] = { KRPING_POLLS(x) NULL };
#undef x

#define x(n, s) KRPING_NAME_ENTRY_(KRPING_MEM_, n, s)
static const char *const mem_mode_names[] = { KRPING_MEMS(x) NULL };
#undef x

#define AT(field) offsetof(struct krping_params, field)

/* accept has a function that stores what it means. */
#define NOWHERE ((size_t)-1)

/* clang-format off */
static const struct krping_option options[] = {
	[KRPING_OPT_SERVER] = {
	  .name = "server", .kind = KIND_ROLE, .bit = KRPING_ROLE_SERVER,
	  .help = "wait for a client and serve it" },
	[KRPING_OPT_CLIENT] = {
	  .name = "client", .kind = KIND_ROLE, .bit = KRPING_ROLE_CLIENT,
	  .help = "connect to a server and ping it" },
	[KRPING_OPT_STOP] = {
	  .name = "stop", .kind = KIND_ROLE, .bit = KRPING_ROLE_STOP,
	  .help = "end a run, which id names, as a signal does" },
	[KRPING_OPT_ADDR] = {
	  .name = "addr", .kind = KIND_IPV4, .offset = AT(addr),
	  .help = "the server's IPv4 address; a server's 0.0.0.0 is any" },
	[KRPING_OPT_ADDR6] = {
	  .name = "addr6", .kind = KIND_IPV6, .offset = AT(addr),
	  .help = "its IPv6 address instead; fe80::1%eth0 if it is link-local" },
	[KRPING_OPT_PORT] = {
	  .name = "port", .kind = KIND_NUMBER, .offset = AT(port),
	  .min = 1, .max = 65535,
	  .help = "the server's port" },
	[KRPING_OPT_BIND] = {
	  .name = "bind", .kind = KIND_ADDRESS, .side = SIDE_CLIENT,
	  .offset = AT(bind),
	  .help = "this end's address, of the same kind (default: by the route)" },
	[KRPING_OPT_TOS] = {
	  .name = "tos", .kind = KIND_NUMBER, .offset = AT(tos),
	  .min = 0, .max = 255, .agree = KRPING_AGREE_WANT,
	  .help = "the client's type of service, traffic class (default: the RDMA core's)" },
	[KRPING_OPT_COUNT] = {
	  .name = "count", .kind = KIND_NUMBER, .offset = AT(count),
	  .min = 0, .max = KRPING_COUNT_MAX, .agree = KRPING_AGREE_ADOPT,
	  .help = "iterations; 0, the default, is no end" },
	[KRPING_OPT_SIZE] = {
	  .name = "size", .kind = KIND_SIZE, .offset = AT(size),
	  .min = 1, .max = KRPING_SIZE_MAX, .agree = KRPING_AGREE_ADOPT,
	  .help = "bytes (default 64, of fast 64K); at most one registration of the device" },
	[KRPING_OPT_RANDOM_SIZE] = {
	  .name = "random_size", .kind = KIND_FLAG,
	  .bit = KRPING_RUN_F_RANDOM_SIZE, .agree = KRPING_AGREE_ADOPT,
	  .help = "each ping has another size, from 1 to size" },
	[KRPING_OPT_OFFSET] = {
	  .name = "offset", .kind = KIND_NUMBER, .offset = AT(offset),
	  .min = 0, .max = KRPING_OFFSET_MAX,
	  .help = "where in a page this end's buffers begin (default 0)" },
	[KRPING_OPT_TIMEOUT] = {
	  .name = "timeout", .kind = KIND_TIME, .offset = AT(timeout_ns),
	  .min = NS_PER_MS, .max = KRPING_TIMEOUT_MAX,
	  .help = "how long it may take; then an endless run ends well, any other fails" },
	[KRPING_OPT_IDLE] = {
	  .name = "idle", .kind = KIND_TIME, .offset = AT(idle_ns),
	  .min = 0, .max = KRPING_TIMEOUT_MAX, .side = SIDE_SERVER,
	  .help = "ends a client that does not begin, or is gone, for so long; 0: none (clients: 30s)" },
	[KRPING_OPT_TEST] = {
	  .name = "test", .kind = KIND_NAME, .offset = AT(test),
	  .names = test_names, .agree = KRPING_AGREE_ADOPT,
	  .help = "what to run (default rping)" },
	[KRPING_OPT_FR] = {
	  .name = "fr", .kind = KIND_ALIAS, .alias = KRPING_OPT_TEST,
	  .bit = KRPING_TEST_FR,
	  .help = "test=fr: registrations and invalidations, no data moves" },
	[KRPING_OPT_WLAT] = {
	  .name = "wlat", .kind = KIND_ALIAS, .alias = KRPING_OPT_TEST,
	  .bit = KRPING_TEST_WLAT,
	  .help = "test=wlat: a WRITE there and one back" },
	[KRPING_OPT_RLAT] = {
	  .name = "rlat", .kind = KIND_ALIAS, .alias = KRPING_OPT_TEST,
	  .bit = KRPING_TEST_RLAT,
	  .help = "test=rlat: a READ at a time" },
	[KRPING_OPT_BW] = {
	  .name = "bw", .kind = KIND_ALIAS, .alias = KRPING_OPT_TEST,
	  .bit = KRPING_TEST_BW,
	  .help = "test=bw: WRITEs of the client, many in flight" },
	[KRPING_OPT_FAST] = {
	  .name = "fast", .kind = KIND_ALIAS, .alias = KRPING_OPT_TEST,
	  .bit = KRPING_TEST_FAST,
	  .help = "test=fast: WRITEs of the server, many in flight" },
	[KRPING_OPT_DUPLEX] = {
	  .name = "duplex", .kind = KIND_FLAG, .bit = KRPING_RUN_F_DUPLEX,
	  .agree = KRPING_AGREE_ADOPT,
	  .help = "test=bw: the server writes, too" },
	[KRPING_OPT_TXDEPTH] = {
	  .name = "txdepth", .kind = KIND_NUMBER, .offset = AT(txdepth),
	  .min = 1, .max = KRPING_TXDEPTH_MAX,
	  .help = "requests in the send queue; bw, fast: in flight (default 64)" },
	[KRPING_OPT_POST_LIST] = {
	  .name = "post_list", .kind = KIND_NUMBER, .offset = AT(post_list),
	  .min = 1, .max = KRPING_TXDEPTH_MAX,
	  .help = "bw, fast: WRITEs in one post, at most txdepth (default 1)" },
	[KRPING_OPT_SIGNAL] = {
	  .name = "signal", .kind = KIND_NUMBER, .offset = AT(signal),
	  .min = 1, .max = KRPING_TXDEPTH_MAX,
	  .help = "bw, fast: WRITEs of an iteration, whose last one has a completion (default 1)" },
	[KRPING_OPT_INLINE_SIZE] = {
	  .name = "inline_size", .kind = KIND_SIZE, .offset = AT(inline_size),
	  .min = 0, .max = KRPING_INLINE_MAX,
	  .help = "wlat, bw, fast: WRITEs up to this carry their data in the request (default 0)" },
	[KRPING_OPT_WARMUP] = {
	  .name = "warmup", .kind = KIND_NUMBER, .offset = AT(warmup),
	  .min = 0, .max = KRPING_WARMUP_MAX, .agree = KRPING_AGREE_ADOPT,
	  .help = "iterations before the first one that counts (default 0)" },
	[KRPING_OPT_INTERVAL] = {
	  .name = "interval", .kind = KIND_TIME, .offset = AT(interval_ns),
	  .min = NS_PER_US, .max = KRPING_PAUSE_MAX, .side = SIDE_CLIENT,
	  .help = "all but bw, fast: pause between two iterations (default none)" },
	[KRPING_OPT_ACCEPT] = {
	  .name = "accept", .kind = KIND_ACCEPT, .offset = NOWHERE,
	  .side = SIDE_SERVER,
	  .help = "tests, and a largest size, that clients may ask for: rping+bw+4K (default all)" },
	[KRPING_OPT_MEM_MODE] = {
	  .name = "mem_mode", .kind = KIND_NAME, .offset = AT(mem_mode),
	  .names = mem_mode_names, .also = "fastreg",
	  .help = "reg: a key for each buffer (default); dma: one key for all of this host's memory" },
	[KRPING_OPT_POLL_CTX] = {
	  .name = "poll_ctx", .kind = KIND_NAME, .offset = AT(poll_ctx),
	  .names = poll_ctx_names,
	  .help = "who polls for completions (default thread: the run's)" },
	[KRPING_OPT_POLL] = {
	  .name = "poll", .kind = KIND_ALIAS, .alias = KRPING_OPT_POLL_CTX,
	  .bit = KRPING_POLL_BUSY,
	  .help = "poll_ctx=busy: the run's thread, which never sleeps" },
	[KRPING_OPT_COMP_VECTOR] = {
	  .name = "comp_vector", .kind = KIND_NUMBER,
	  .offset = AT(comp_vector), .min = 0, .max = 65535,
	  .help = "the device's interrupt for completions (default: the core's choice)" },
	[KRPING_OPT_CPU] = {
	  .name = "cpu", .kind = KIND_NUMBER, .offset = AT(cpu),
	  .min = 0, .max = 65535,
	  .help = "the CPU on which the run's thread stays (default: where the writer may run)" },
	[KRPING_OPT_SRQ] = {
	  .name = "srq", .kind = KIND_FLAG, .bit = KRPING_RUN_F_SRQ,
	  .help = "a shared receive queue; clients=: one of all its clients on a device" },
	[KRPING_OPT_CHAIN] = {
	  .name = "chain", .kind = KIND_FLAG, .bit = KRPING_RUN_F_CHAIN,
	  .help = "post what belongs together in one call" },
	[KRPING_OPT_SERVER_INV] = {
	  .name = "server_inv", .kind = KIND_FLAG,
	  .bit = KRPING_RUN_F_SERVER_INV, .agree = KRPING_AGREE_SAME,
	  .help = "the server invalidates the client's keys (SEND_WITH_INV)" },
	[KRPING_OPT_READ_INV] = {
	  .name = "read_inv", .kind = KIND_FLAG,
	  .bit = KRPING_RUN_F_READ_INV, .agree = KRPING_AGREE_ASK,
	  .help = "the server's READs invalidate the key of their sink (READ_WITH_INV; iWARP)" },
	[KRPING_OPT_LOCAL_DMA_LKEY] = {
	  .name = "local_dma_lkey", .kind = KIND_FLAG,
	  .bit = KRPING_RUN_F_LOCAL_DMA_LKEY,
	  .help = "the source of WRITEs is not registered" },
	[KRPING_OPT_SPLIT] = {
	  .name = "split", .kind = KIND_FLAG, .side = SIDE_CLIENT,
	  .bit = KRPING_RUN_F_SPLIT,
	  .help = "tell apart the time of either host and that of the network" },
	[KRPING_OPT_VALIDATE] = {
	  .name = "validate", .kind = KIND_FLAG, .bit = KRPING_RUN_F_VALIDATE,
	  .help = "client: compare pong with ping; server: check the ping's pattern" },
	[KRPING_OPT_VERBOSE] = {
	  .name = "verbose", .kind = KIND_FLAG, .bit = KRPING_RUN_F_VERBOSE,
	  .help = "print the first 64 bytes of each ping to the kernel log" },
	[KRPING_OPT_NAME] = {
	  .name = "name", .kind = KIND_TEXT, .offset = AT(name),
	  .help = "label of the run, which the tools show (up to 31 characters)" },
	[KRPING_OPT_CLIENTS] = {
	  .name = "clients", .kind = KIND_NUMBER, .side = SIDE_SERVER,
	  .offset = AT(clients), .min = 1, .max = KRPING_CLIENTS_MAX,
	  .help = "serve so many at once, each a run of its own; ends after them" },
	[KRPING_OPT_PERSISTENT] = {
	  .name = "persistent", .kind = KIND_GIVEN, .side = SIDE_SERVER,
	  .help = "serve one client, or clients=, after another, without end" },
	[KRPING_OPT_ID] = {
	  .name = "id", .kind = KIND_NUMBER, .side = SIDE_STOP,
	  .offset = AT(id), .min = 1, .max = 0xffffffff,
	  .help = "number of the run, as in /proc/krping_runs" },
	/* Rows without a number: other spellings. */
	{ .name = "tx-depth", .kind = KIND_SPELLING,
	  .alias = KRPING_OPT_TXDEPTH },
	{ .name = "random", .kind = KIND_SPELLING,
	  .alias = KRPING_OPT_RANDOM_SIZE },
	{ .name = "server_invalidate", .kind = KIND_SPELLING,
	  .alias = KRPING_OPT_SERVER_INV },
	{ .name = "read-inv", .kind = KIND_SPELLING,
	  .alias = KRPING_OPT_READ_INV },
	{ .name = "stag0", .kind = KIND_SPELLING,
	  .alias = KRPING_OPT_LOCAL_DMA_LKEY },
};
/* clang-format on */

_Static_assert(KRPING_NR_OPTIONS <= 64, "krping_params.given has a bit each");

_Static_assert(KRPING_NR_TESTS <= 32, "accept_tests has a bit each");

static __u64 option_bit(enum krping_option_id id)
{
	return 1ULL << id;
}

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
			return options[i].kind == KIND_SPELLING ?
				       &options[options[i].alias] :
				       &options[i];
	return NULL;
}

/*
 * Makes a token printable: the reason is read in a terminal and in a log, so
 * the text of a command must not get there unfiltered.
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

/* Returns NULL, or what is wrong with the number. */
static const char *parse_number(const char *s, size_t len, __u64 *value)
{
	unsigned int base = 10;
	__u64 v = 0;
	size_t i = 0;

	if (!len)
		return "needs a number";
	if (len > 1 && s[0] == '0') {
		/* Some read this as octal, others as decimal: refuse it. */
		if (s[1] != 'x' && s[1] != 'X')
			return "leading zero";
		base = 16;
		i = 2;
		if (i == len)
			return "not a number";
	}
	for (; i < len; i++) {
		unsigned int d = krping_digit_value(s[i]);

		if (d >= base)
			return "not a number";
		v = v * base + d;
		if (v > 0xffffffffULL)
			return out_of_range;
	}
	*value = v;
	return NULL;
}

/* Parses a number with an optional letter that multiplies it. */
static const char *parse_size(const char *s, size_t len, __u64 *value)
{
	unsigned int shift = 0;
	const char *why;

	switch (len > 1 ? s[len - 1] : '\0') {
	case 'G':
	case 'g':
		shift += 10;
		fallthrough;
	case 'M':
	case 'm':
		shift += 10;
		fallthrough;
	case 'K':
	case 'k':
		shift += 10;
		len--;
	}
	why = parse_number(s, len, value);
	if (!why)
		*value <<= shift;
	return why;
}

/* Parses a number with an optional unit; the value is in nanoseconds. */
static const char *parse_time(const char *s, size_t len, __u64 *value)
{
	__u64 unit = NS_PER_S;
	const char *why;

	if (len > 2 && s[len - 1] == 's' && s[len - 2] == 'u') {
		unit = NS_PER_US;
		len -= 2;
	} else if (len > 2 && s[len - 1] == 's' && s[len - 2] == 'm') {
		unit = NS_PER_MS;
		len -= 2;
	} else if (len > 1 && s[len - 1] == 's') {
		len--;
	}
	why = parse_number(s, len, value);
	/* At most 2^32 seconds, which is less than 2^62 ns. */
	if (!why)
		*value *= unit;
	return why;
}

static const char *parse_address(const struct krping_option *opt, const char *s,
				 size_t len, struct krping_params *params)
{
	struct krping_address *address =
		(struct krping_address *)((char *)params + opt->offset);

	/* addr and addr6 are one address. */
	if (address->family)
		return "given twice";
	if (opt->kind == KIND_IPV4 ||
	    (opt->kind == KIND_ADDRESS && !memchr(s, ':', len)))
		return krping_address_ipv4(s, len, address);
	return krping_address_ipv6(s, len, address);
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

/* Returns NULL, or what is wrong with the list. */
static const char *parse_accept(const char *s, size_t len,
				struct krping_params *params)
{
	const char *end = s + len, *why;
	__u32 test;
	__u64 size;
	size_t n;

	for (; s <= end; s += n + 1) {
		const char *plus = memchr(s, '+', end - s);

		n = plus ? plus - s : end - s;
		if (!parse_name(s, n, test_names, &test)) {
			params->accept_tests |= 1U << test;
			continue;
		}
		why = parse_size(s, n, &size);
		if (why)
			return "a test, or a size, or several with + between them";
		if (params->accept_size)
			return "has two sizes";
		if (!size || size > KRPING_SIZE_MAX)
			return "has a size that is out of range";
		params->accept_size = size;
	}
	return NULL;
}

/*
 * Files and tools show a label as it is, between blanks or commas, so it has
 * nothing that one of them would have to escape. Returns NULL, or what is wrong
 * with it.
 */
static const char *parse_text(const char *s, size_t len, char *text)
{
	size_t i;

	if (!len)
		return "needs a label";
	if (len >= KRPING_NAME_MAX)
		return "longer than 31 characters";
	if (len == 1 && *s == '-')
		return "this is what a run without a label shows";
	for (i = 0; i < len; i++) {
		if (s[i] == ' ')
			return "a label has no blank";
		if (s[i] == '"' || s[i] == '\'')
			return "a label has no quotes";
		if (s[i] == '\\')
			return "a label has no backslash";
		if (s[i] < 0x21 || s[i] > 0x7e)
			return "a label is printable ASCII";
	}
	memcpy(text, s, len);
	text[len] = '\0';
	return NULL;
}

static const char *take_number(const struct krping_option *opt,
			       struct krping_params *params, __u64 v)
{
	if (v < opt->min || v > opt->max)
		return out_of_range;
	if (opt->kind == KIND_TIME)
		*(__u64 *)((char *)params + opt->offset) = v;
	else
		*option_field(opt, params) = v;
	return NULL;
}

static const char *take_word(const struct krping_option *opt,
			     struct krping_params *params)
{
	__u64 bit = option_bit(opt->alias);

	if (opt->kind == KIND_ROLE) {
		params->role = opt->bit;
	} else if (opt->kind == KIND_FLAG) {
		params->flags |= opt->bit;
	} else if (opt->kind == KIND_ALIAS) {
		if (params->given & bit)
			return "given twice";
		params->given |= bit;
		*option_field(&options[opt->alias], params) = opt->bit;
	}
	return NULL;
}

/* Returns NULL, or what is wrong with the token. */
static const char *parse_token(const char *token, size_t len,
			       struct krping_params *params)
{
	const char *value = memchr(token, '=', len);
	size_t name_len = value ? (size_t)(value - token) : len;
	size_t value_len = value ? len - name_len - 1 : 0;
	const struct krping_option *opt = find_option(token, name_len);
	const char *why;
	__u64 bit, v;

	if (!opt)
		return *token == ' ' || *token == '\t' ?
			       "there is a blank before it" :
			       "unknown option";

	bit = option_bit(opt - options);
	if (params->given & bit)
		return "given twice";
	params->given |= bit;

	switch (opt->kind) {
	case KIND_FLAG:
	case KIND_GIVEN:
	case KIND_ROLE:
	case KIND_ALIAS:
		return value ? "takes no value" : take_word(opt, params);
	default:
		break;
	}
	if (!value)
		return "needs a value";
	value++;

	switch (opt->kind) {
	case KIND_NUMBER:
		why = parse_number(value, value_len, &v);
		break;
	case KIND_SIZE:
		why = parse_size(value, value_len, &v);
		break;
	case KIND_TIME:
		why = parse_time(value, value_len, &v);
		break;
	case KIND_IPV4:
	case KIND_IPV6:
	case KIND_ADDRESS:
		return parse_address(opt, value, value_len, params);
	case KIND_ACCEPT:
		return parse_accept(value, value_len, params);
	case KIND_TEXT:
		return parse_text(value, value_len,
				  (char *)params + opt->offset);
	default:
		/* It is given once, so the value is still 0. */
		if (opt->also && same_text(value, value_len, opt->also))
			return NULL;
		return parse_name(value, value_len, opt->names,
				  option_field(opt, params));
	}
	return why ? why : take_number(opt, params, v);
}

static const char *check_side(const struct krping_params *params,
			      const char **name)
{
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++) {
		if (!(params->given & option_bit(i)))
			continue;
		*name = options[i].name;
		if (options[i].side == SIDE_CLIENT &&
		    params->role != KRPING_ROLE_CLIENT)
			return "only a client has it";
		if (options[i].side == SIDE_SERVER &&
		    params->role != KRPING_ROLE_SERVER)
			return "only a server has it";
		if (options[i].side == SIDE_STOP &&
		    params->role != KRPING_ROLE_STOP)
			return "only stop has it";
		if (options[i].side != SIDE_STOP &&
		    options[i].kind != KIND_ROLE &&
		    params->role == KRPING_ROLE_STOP)
			return "stop has only id";
	}
	return NULL;
}

/**
 * krping_option_given - was an option in the command?
 * @params: the parsed command
 * @id: the option
 *
 * Return: 1 if it was, else 0.
 */
int krping_option_given(const struct krping_params *params,
			enum krping_option_id id)
{
	return !!(params->given & option_bit(id));
}

/* The name of an option that the test has no use for; NULL: there is none. */
static const char *useless_option(const struct krping_params *params)
{
	const struct krping_test_takes *test = &tests[params->test];
	__u64 useless = (SOME_TESTS & ~test->options) | test->refuses;
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++) {
		if (!(useless & option_bit(i)))
			continue;
		/* A flag may be the peer's. */
		if (params->given & option_bit(i) ||
		    (options[i].kind == KIND_FLAG &&
		     params->flags & options[i].bit))
			return options[i].name;
	}
	return NULL;
}

/*
 * An option that asks for a key which the run does not have. Returns NULL, or why it
 * has none; @name receives the option. Until the options are settled, a server
 * without duplex may still adopt it.
 */
static const char *keyless_option(const struct krping_params *params,
				  int settled, const char **name)
{
	int client = params->role == KRPING_ROLE_CLIENT;

	/* A client that only writes advertises nothing. */
	*name = options[KRPING_OPT_SERVER_INV].name;
	if (settled && params->test == KRPING_TEST_BW &&
	    params->flags & KRPING_RUN_F_SERVER_INV &&
	    !(params->flags & KRPING_RUN_F_DUPLEX))
		return "test=bw has no use for it without duplex";
	if (params->mem_mode != KRPING_MEM_DMA)
		return NULL;
	/* A server invalidates the client's keys, which may be others. */
	if (client && params->flags & KRPING_RUN_F_SERVER_INV)
		return "the key of mem_mode=dma is never invalidated";
	/* The sink of its READs is the server's. */
	*name = options[KRPING_OPT_READ_INV].name;
	if (!client && params->flags & KRPING_RUN_F_READ_INV)
		return "the key of mem_mode=dma is never invalidated";
	*name = options[KRPING_OPT_LOCAL_DMA_LKEY].name;
	if (params->flags & KRPING_RUN_F_LOCAL_DMA_LKEY)
		return "with mem_mode=dma nothing is registered";
	*name = options[KRPING_OPT_MEM_MODE].name;
	if (client && params->test == KRPING_TEST_FR)
		return "what test=fr does is to register";
	return NULL;
}

/**
 * krping_params_size_max - what size the options of an end allow, whatever its device is
 * @params: the options
 *
 * A key for all memory has no list of pages: what it names has to be contiguous.
 *
 * Context: any; does not sleep, takes no locks.
 * Return: bytes.
 */
__u32 krping_params_size_max(const struct krping_params *params)
{
	if (params->mem_mode == KRPING_MEM_DMA ||
	    params->flags & KRPING_RUN_F_LOCAL_DMA_LKEY)
		return KRPING_SIZE_CONTIGUOUS;
	return KRPING_SIZE_MAX;
}

/* The name of an option of which the test has another value by itself; NULL: none. */
static const char *decided_option(const struct krping_params *params)
{
	const struct krping_test_takes *test = &tests[params->test];

	if (!test->count)
		return NULL;
	/* The peer is another version, with other cases, or lies. */
	if (params->count != test->count)
		return options[KRPING_OPT_COUNT].name;
	if (params->size != test->size)
		return options[KRPING_OPT_SIZE].name;
	return params->warmup ? options[KRPING_OPT_WARMUP].name : NULL;
}

/* Does a server take what its options are now? */
static int accepts_test(const struct krping_params *params)
{
	return !params->accept_tests ||
	       params->accept_tests & 1U << params->test;
}

static int accepts_size(const struct krping_params *params)
{
	return !params->accept_size || params->size <= params->accept_size;
}

/* The name of an option that wants more requests than are in flight; NULL: none. */
static const char *too_deep(const struct krping_params *params)
{
	__u32 depth = params->txdepth ? params->txdepth : KRPING_TXDEPTH;

	if (params->post_list > depth)
		return "post_list";
	return params->signal > depth ? "signal" : NULL;
}

static int check_whole(const struct krping_params *params, char *reason,
		       size_t reason_size)
{
	int server = krping_option_given(params, KRPING_OPT_SERVER);
	int client = krping_option_given(params, KRPING_OPT_CLIENT);
	int stop = krping_option_given(params, KRPING_OPT_STOP);
	const char *name, *why;

	if (server + client + stop > 1) {
		snprintf(reason, reason_size, "%s: one command is one end",
			 !stop ? "server and client" : "stop and another role");
		return -EINVAL;
	}
	if (!server && !client && !stop) {
		snprintf(reason, reason_size, "neither server nor client");
		return -EINVAL;
	}
	why = check_side(params, &name);
	if (why) {
		snprintf(reason, reason_size, "%s: %s", name, why);
		return -EINVAL;
	}
	if (stop) {
		if (!krping_option_given(params, KRPING_OPT_ID))
			snprintf(reason, reason_size, "id: missing");
		return krping_option_given(params, KRPING_OPT_ID) ? 0 : -EINVAL;
	}
	name = useless_option(params);
	/* A server without a test may get one that has. */
	if (name && (client || krping_option_given(params, KRPING_OPT_TEST))) {
		snprintf(reason, reason_size, "%s: test=%s has no use for it",
			 name, test_names[params->test]);
		return -EINVAL;
	}
	why = keyless_option(params, client, &name);
	if (why) {
		snprintf(reason, reason_size, "%s: %s", name, why);
		return -EINVAL;
	}
	if (params->size > krping_params_size_max(params)) {
		snprintf(reason, reason_size,
			 "size: with %s memory is contiguous, of %u bytes at most",
			 params->mem_mode == KRPING_MEM_DMA ? "mem_mode=dma" :
							      "local_dma_lkey",
			 krping_params_size_max(params));
		return -EINVAL;
	}
	name = too_deep(params);
	if (name) {
		snprintf(reason, reason_size,
			 "%s: more than txdepth, which is %u", name,
			 params->txdepth ? params->txdepth : KRPING_TXDEPTH);
		return -EINVAL;
	}
	/* A test or size that was not given is going to be the client's. */
	if ((krping_option_given(params, KRPING_OPT_TEST) &&
	     !accepts_test(params)) ||
	    ((krping_option_given(params, KRPING_OPT_SIZE) ||
	      (krping_option_given(params, KRPING_OPT_TEST) &&
	       tests[params->test].count)) &&
	     !accepts_size(params))) {
		snprintf(reason, reason_size,
			 "accept: it leaves out this server's own test or size");
		return -EINVAL;
	}
	if (server && params->flags & KRPING_RUN_F_CHAIN &&
	    params->flags & (KRPING_RUN_F_VALIDATE | KRPING_RUN_F_VERBOSE)) {
		snprintf(reason, reason_size,
			 "chain: a server with validate or verbose has to look at the data in between");
		return -EINVAL;
	}
	if (!krping_option_given(params, KRPING_OPT_PORT)) {
		snprintf(reason, reason_size, "port: missing");
		return -EINVAL;
	}
	if (client && krping_address_is_any(&params->addr)) {
		snprintf(reason, reason_size,
			 "addr: a client needs the server's address");
		return -EINVAL;
	}
	if (params->bind.family && krping_address_is_any(&params->bind)) {
		snprintf(reason, reason_size,
			 "bind: any address is what a client has without it");
		return -EINVAL;
	}
	if (params->bind.family && params->bind.family != params->addr.family) {
		snprintf(reason, reason_size,
			 "bind: one of IPv4 and IPv6, the server's address is of the other");
		return -EINVAL;
	}
	return 0;
}

static const char *range_text(const struct krping_option *opt, char *buf,
			      size_t size)
{
	if (opt->kind == KIND_TIME)
		snprintf(buf, size, "%s..%llus",
			 !opt->min	       ? "0" :
			 opt->min == NS_PER_US ? "1us" :
						 "1ms",
			 (unsigned long long)(opt->max / NS_PER_S));
	else
		snprintf(buf, size, "%llu..%llu", (unsigned long long)opt->min,
			 (unsigned long long)opt->max);
	return buf;
}

/**
 * krping_command_parse - read a command
 * @text: the text, need not be NUL-terminated
 * @len: its length in bytes
 * @params: receives the options, with defaults for those not in the command
 * @reason: receives, on an error, which token is wrong and why
 * @reason_size: size of @reason in bytes
 *
 * Empty tokens are allowed, as they always were, and so is white space around
 * the whole command: "echo" adds a newline, and older scripts add a blank,
 * since the first krping lost a byte.
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
	char range[32];
	size_t n;

	memset(params, 0, sizeof(*params));
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
			snprintf(reason, reason_size, "%s: %s (%s)",
				 shown(text, n, show), why,
				 range_text(opt, range, sizeof(range)));
			return -EINVAL;
		}
		if (why) {
			snprintf(reason, reason_size, "%s: %s",
				 shown(text, n, show), why);
			return -EINVAL;
		}
	}
	if (!krping_option_given(params, KRPING_OPT_SIZE) &&
	    params->role != KRPING_ROLE_STOP)
		params->size = tests[params->test].size;
	if (tests[params->test].count)
		params->count = tests[params->test].count;
	if (params->mem_mode == KRPING_MEM_DMA)
		params->flags |= KRPING_RUN_F_DMA;
	if (krping_option_given(params, KRPING_OPT_PERSISTENT) &&
	    !krping_option_given(params, KRPING_OPT_CLIENTS))
		params->clients = 1;
	if (params->clients && !krping_option_given(params, KRPING_OPT_IDLE))
		params->idle_ns = KRPING_IDLE;
	return check_whole(params, reason, reason_size);
}

/* Has the client asked for what the server has, as far as they need to agree? */
static int fits(const struct krping_option *opt,
		const struct krping_params *client,
		const struct krping_params *server)
{
	__u64 bit = option_bit(opt - options);

	switch (opt->agree) {
	case KRPING_AGREE_LOCAL:
		return 1;
	case KRPING_AGREE_ASK:
		if (!option_value(opt, client))
			return 1;
		break;
	case KRPING_AGREE_WANT:
		/* 0 that was given is not the same as none. */
		if (!(server->given & bit))
			return 1;
		if (!(client->given & bit))
			return 0;
		break;
	default:
		break;
	}
	/* Each option that is not LOCAL is a flag or has a __u32. */
	return option_value(opt, client) == option_value(opt, server);
}

/*
 * Has a server agreed to what its client asked for? Returns NULL, or the name
 * of the first option that differs.
 */
const char *krping_params_same(const struct krping_params *mine,
			       const struct krping_params *peer)
{
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++)
		if (!fits(&options[i], mine, peer))
			return options[i].name;
	return NULL;
}

/**
 * krping_params_agree - settle the options of a server with its client
 * @mine: options of the server; an option that was not in its command adopts the
 *	client's value
 * @peer: options of the client
 *
 * Context: any; does not sleep, takes no locks.
 * Return: NULL, or the name of the first option that differs.
 */
const char *krping_params_agree(struct krping_params *mine,
				const struct krping_params *peer)
{
	const char *name;
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++) {
		const struct krping_option *opt = &options[i];

		if (fits(opt, peer, mine))
			continue;
		if (opt->agree == KRPING_AGREE_SAME ||
		    (mine->given & option_bit(i)))
			return opt->name;
		if (opt->kind == KIND_FLAG)
			mine->flags ^= opt->bit;
		else
			*option_field(opt, mine) = option_value(opt, peer);
	}
	if (!accepts_test(mine) || !accepts_size(mine))
		return options[KRPING_OPT_ACCEPT].name;
	if (mine->size > krping_params_size_max(mine))
		return options[KRPING_OPT_SIZE].name;
	name = decided_option(mine);
	if (name)
		return name;
	/* The test may be the peer's, and so may duplex. */
	if (keyless_option(mine, 1, &name))
		return name;
	return useless_option(mine);
}

/**
 * krping_params_classic - may a client that says nothing of its options come?
 * @mine: options of the server
 *
 * What size it has shows later.
 *
 * Context: any; does not sleep, takes no locks.
 * Return: NULL, or the name of the option that keeps it out.
 */
const char *krping_params_classic(const struct krping_params *mine)
{
	return accepts_test(mine) ? NULL : options[KRPING_OPT_ACCEPT].name;
}

/* A peer may send a number that has no word. */
static void value_text(const struct krping_option *opt,
		       const struct krping_params *params, char *text,
		       size_t size)
{
	__u32 i, value = option_value(opt, params);

	for (i = 0; opt->names && opt->names[i]; i++)
		if (i == value) {
			snprintf(text, size, "%s", opt->names[i]);
			return;
		}
	if (opt->agree == KRPING_AGREE_WANT &&
	    !(params->given & option_bit(opt - options)))
		snprintf(text, size, "none");
	else
		snprintf(text, size, "%u", value);
}

/**
 * krping_params_values - describe the two values of an option that differs
 * @mine: options of this end
 * @peer: options of the other end, which may have values that a command cannot have
 * @name: name of the option
 * @text: receives the text, to follow the name; empty for an option that each end
 *	has for itself, or that is none
 * @size: size of @text in bytes
 *
 * Context: any; does not sleep, takes no locks.
 */
void krping_params_values(const struct krping_params *mine,
			  const struct krping_params *peer, const char *name,
			  char *text, size_t size)
{
	const struct krping_option *opt = find_option(name, strlen(name));
	char there[12], here[12];

	text[0] = '\0';
	if (!opt || opt->agree == KRPING_AGREE_LOCAL)
		return;
	if (opt->kind == KIND_FLAG) {
		snprintf(text, size, "%s",
			 option_value(opt, peer) ? ": there, not here" :
						   ": here, not there");
		return;
	}
	value_text(opt, peer, there, sizeof(there));
	value_text(opt, mine, here, sizeof(here));
	snprintf(text, size, ": %s there, %s here", there, here);
}

static const char *kind_text(const struct krping_option *opt, char *buf,
			     size_t size)
{
	size_t used = 0;
	unsigned int i;

	switch (opt->kind) {
	case KIND_NUMBER:
	case KIND_SIZE:
	case KIND_TIME:
		return range_text(opt, buf, size);
	case KIND_IPV4:
		return "a.b.c.d";
	case KIND_IPV6:
		return "a::b[%scope]";
	case KIND_ADDRESS:
		return "address";
	case KIND_ACCEPT:
		return "TEST+...+SIZE";
	case KIND_TEXT:
		return "LABEL";
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
	static const char *const sides[] = { "both", "client", "server",
					     "stop" };
	static const char *const agrees[] = { "local", "same", "adopt", "ask",
					      "want" };
	const struct krping_option *opt;
	char value[48];

	if (row >= ARRAY_SIZE(options))
		return 0;
	opt = &options[row];
	if (opt->kind == KIND_SPELLING)
		line[0] = '\0';
	else
		snprintf(line, size, "%-10s %-13s %-6s %-5s %s", opt->name,
			 kind_text(opt, value, sizeof(value)),
			 opt->kind == KIND_ROLE ? "-" : sides[opt->side],
			 opt->kind == KIND_ROLE ? "-" : agrees[opt->agree],
			 opt->help);
	return 1;
}
