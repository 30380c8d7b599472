// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command text: "name" or "name=value" tokens between commas. One table says everything
 * about an option, for the parser, /proc/krping_help and the agreement between two ends. The
 * parser refuses a token that it does not understand, and says which token and why: a benchmark
 * that ran with other options than its user asked for is worse than no benchmark.
 *
 * Tests build this file on the host, with tests/fuzz/shim for the kernel's headers.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "command.h"

#define KRPING_IDLE  (30ULL * NSEC_PER_SEC) /* of a server of several clients */
#define TIMEOUT_MAX  (86400ULL * NSEC_PER_SEC)
#define INTERVAL_MAX (3600ULL * NSEC_PER_SEC)
#define TOKEN_MAX    128 /* with its NUL */
#define TOKEN_SHOWN  40	 /* bytes of a bad token in the reason */
#define VALUE_SHOWN  48

/* Compared by address: after this error the reason also has the range. */
static const char out_of_range[] = "out of range";

/* The order is that of the roles. */
enum side { SIDE_BOTH, SIDE_SERVER, SIDE_CLIENT, SIDE_STOP };

/* How the two ends of a connection settle an option. */
enum agree {
	AGREE_LOCAL, /* each end has its own */
	AGREE_SAME,  /* a difference is refused, by name */
	AGREE_ADOPT, /* a server without it takes the client's value */
	AGREE_ASK,   /* a flag: a server also has it if the client asks */
	AGREE_WANT,  /* a server that has it wants the same of the client */
};

struct unit {
	const char *name;
	u64 factor;
};

/* A row of the option table. An option without a parser takes no value. */
struct option {
	const char *name;
	const char *(*parse)(const struct option *opt, char *text, void *value);
	size_t offset; /* of the value in struct krping_params */
	u64 min;
	u64 max;
	const struct unit *units;
	const char *const *names; /* values by number */
	unsigned int nr_names;
	const char *also;	     /* another word for the value 0 */
	u32 flag;		     /* bit of krping_params.flags */
	enum krping_option_id alias; /* another word for this option; 0: none */
	const char *preset;	     /* and for this value */
	enum side side;
	enum agree agree;
	u32 tests;	   /* that have a use for it; 0: all */
	const char *value; /* its form in the help, unless that is a range */
	const char *help;  /* NULL: only a spelling of older krpings */
};

#define x(n, s) s,
static const char *const test_names[] = { KRPING_TESTS(x) };
static const char *const poll_ctx_names[] = { KRPING_POLLS(x) };
static const char *const mem_mode_names[] = { KRPING_MEMS(x) };
#undef x
/* From the second byte on: the names with | between them. */
#define x(n, s) "|" s
static const char test_values[] = KRPING_TESTS(x);
static const char poll_ctx_values[] = KRPING_POLLS(x);
static const char mem_mode_values[] = KRPING_MEMS(x);
#undef x
#define x(n, s, v, w) s,
static const char *const case_names[] = { KRPING_CASES(x) };
#undef x

/* The last unit of each list has no name. */
static const struct unit no_units[] = { { "", 1 } };
static const struct unit sizes[] = {
	{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "k", 1 << 10 },
	{ "m", 1 << 20 }, { "g", 1 << 30 }, { "", 1 },
};
static const struct unit times[] = {
	{ "us", NSEC_PER_USEC },
	{ "ms", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC },
	{ "", NSEC_PER_SEC },
};

/* What a test has where the command does not say, or may not. */
static u32 default_size(u32 test)
{
	if (test == KRPING_TEST_PROTECT)
		return KRPING_PROTECT_SIZE;
	if (test == KRPING_TEST_BLOCK)
		return 128 * 1024;
	return test == KRPING_TEST_FAST ? 64 * 1024 : 64;
}

static u32 default_queues(u32 test)
{
	return test == KRPING_TEST_PROTECT ? 2 : 1;
}

static void *option_field(const struct option *opt, const struct krping_params *params)
{
	return (char *)params + opt->offset;
}

/* Reads a number and its unit. memparse() would not notice a number that is too large for it. */
static const char *read_number(char *text, const struct unit *unit, u64 min, u64 max, u64 *value)
{
	size_t len = strlen(text), n = strlen(unit->name);
	u32 number;
	int err;

	while (len < n || strcmp(text + len - n, unit->name))
		n = strlen((++unit)->name);
	text[len - n] = '\0';
	/* Some read this as octal, others as decimal: refuse it. */
	if (text[0] == '0' && isdigit(text[1]))
		return "leading zero";
	/* kstrtou32() takes a sign and a newline. */
	if (!isdigit(text[0]) || !isalnum(text[len - n - 1]))
		return "not a number";
	err = kstrtou32(text, 0, &number);
	if (err)
		return err == -ERANGE ? out_of_range : "not a number";
	*value = number * unit->factor;
	return *value < min || *value > max ? out_of_range : NULL;
}

static const char *parse_number(const struct option *opt, char *text, void *value)
{
	u64 number;
	const char *why = read_number(text, opt->units ?: no_units, opt->min, opt->max, &number);

	if (!why && opt->units == times)
		*(u64 *)value = number;
	else if (!why)
		*(u32 *)value = number;
	return why;
}

static const char *parse_name(const struct option *opt, char *text, void *value)
{
	int i = match_string(opt->names, opt->nr_names, text);

	if (i < 0 && (!opt->also || strcmp(text, opt->also)))
		return "not one of its values";
	*(u32 *)value = max(i, 0);
	return NULL;
}

static const char *parse_window(const struct option *opt, char *text, void *value)
{
	const char *why = parse_number(opt, text, value);

	return why ?: *(u32 *)value % KRPING_BLOCK_UNIT ? "not whole pages of 4K" : NULL;
}

static const char *parse_sector(const struct option *opt, char *text, void *value)
{
	const char *why = parse_number(opt, text, value);
	u32 sector = *(u32 *)value;

	return why ?: sector != 512 && sector != KRPING_BLOCK_UNIT ? "512 or 4096" : NULL;
}

static const char *parse_accept(const struct option *opt, char *text, void *value)
{
	struct krping_params *params = value - opt->offset;
	char *word;
	u64 size;
	int test;

	while ((word = strsep(&text, "+"))) {
		test = match_string(test_names, KRPING_NR_TESTS, word);
		if (test >= 0) {
			params->accept_tests |= BIT(test);
			continue;
		}
		if (params->accept_size)
			return "has two sizes";
		if (read_number(word, sizes, 1, KRPING_SIZE_MAX, &size))
			return "tests, or a size of up to 2M, with + between them";
		params->accept_size = size;
	}
	return NULL;
}

/* Files and tools show a label between blanks or commas, without escaping anything. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (!isascii(*text) || !isgraph(*text) || strchr("\"'\\", *text))
			return false;
	return true;
}

static const char *parse_label(const struct option *opt, char *text, void *value)
{
	if (!*text)
		return "needs a label";
	if (!strcmp(text, "-"))
		return "this is what a run without a label shows";
	if (!is_plain(text))
		return "a label is printable ASCII without blank, quotes and backslash";
	if (strscpy(value, text, KRPING_NAME_MAX) < 0)
		return "longer than 31 characters";
	return NULL;
}

static const char *parse_ipv4(const struct option *opt, char *text, void *value)
{
	struct krping_address *address = value;
	const char *end;

	/* addr and addr6 are one address. */
	if (address->family)
		return "given twice";
	if (!in4_pton(text, -1, address->bytes, '\0', &end) || *end)
		return "not an IPv4 address";
	address->family = AF_INET;
	return NULL;
}

/* Only a link-local address needs a scope; elsewhere a scope would be ignored, and is refused. */
static const char *parse_ipv6(const struct option *opt, char *text, void *value)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct krping_address *address = value;
	const u8 *bytes = address->bytes;
	const char *scope;

	if (address->family)
		return "given twice";
	if (!in6_pton(text, -1, address->bytes, '%', &scope) || (*scope && *scope != '%'))
		return "not an IPv6 address";
	if (!memcmp(bytes, mapped, sizeof(mapped)))
		return "an IPv4 address; write it as a.b.c.d";
	address->family = AF_INET6;
	if (bytes[0] != 0xfe || (bytes[1] & 0xc0) != 0x80)
		return *scope ? "only a link-local address has a scope" : NULL;
	if (!*scope)
		return "a link-local address needs a scope, as %eth0 behind it";
	scope++;
	if (!is_plain(scope) || strscpy(address->scope, scope, sizeof(address->scope)) <= 0)
		return "the scope is no name or number of an interface";
	return NULL;
}

static const char *parse_address(const struct option *opt, char *text, void *value)
{
	return strchr(text, ':') ? parse_ipv6(opt, text, value) : parse_ipv4(opt, text, value);
}

/* clang-format off */
#define AT(member) .offset = offsetof(struct krping_params, member)
#define NUMBER(member, lo, hi) .parse = parse_number, AT(member), .min = lo, .max = hi
#define SIZE(member, lo, hi) .units = sizes, NUMBER(member, lo, hi)
#define TIME(member, lo, hi) .units = times, NUMBER(member, lo, hi)
#define NAME(member) .parse = parse_name, AT(member), \
	.names = member##_names, .nr_names = ARRAY_SIZE(member##_names), \
	.value = member##_values + 1
#define ADDRESS(member, how, form) .parse = how, AT(member), .value = form
#define FLAG(bit) .flag = KRPING_RUN_F_##bit
#define ALIAS(id, text) .alias = KRPING_OPT_##id, .preset = text
#define FOR(test) BIT(KRPING_TEST_##test)
#define BUT(test) ((u32)~FOR(test))
#define PINGS (BUT(PROTECT) & BUT(BLOCK)) /* all that count their turns */

static const struct option options[] = {
	[KRPING_OPT_SERVER] = { "server", .help = "wait for a client and serve it" },
	[KRPING_OPT_CLIENT] = { "client", .help = "connect to a server and ping it" },
	[KRPING_OPT_STOP] = { "stop", .help = "end a run, which id names, as a signal does" },
	[KRPING_OPT_ADDR] = { "addr", ADDRESS(addr, parse_ipv4, "a.b.c.d"),
	  .help = "the server's IPv4 address; a server's 0.0.0.0 is any" },
	[KRPING_OPT_ADDR6] = { "addr6", ADDRESS(addr, parse_ipv6, "a::b[%scope]"),
	  .help = "its IPv6 address instead; fe80::1%eth0 if it is link-local" },
	[KRPING_OPT_PORT] = { "port", NUMBER(port, 1, 65535), .help = "the server's port" },
	[KRPING_OPT_BIND] = { "bind", ADDRESS(bind, parse_address, "address"), .side = SIDE_CLIENT,
	  .help = "this end's address, of the same kind (default: by the route)" },
	[KRPING_OPT_TOS] = { "tos", NUMBER(tos, 0, 255), .agree = AGREE_WANT,
	  .help = "the client's type of service, traffic class (default: the RDMA core's)" },
	[KRPING_OPT_COUNT] = { "count", NUMBER(count, 0, KRPING_COUNT_MAX),
	  .agree = AGREE_ADOPT, .tests = PINGS,
	  .help = "iterations; 0, the default, is no end" },
	[KRPING_OPT_SIZE] = { "size", SIZE(size, 1, KRPING_SIZE_MAX),
	  .agree = AGREE_ADOPT, .tests = BUT(PROTECT),
	  .help = "bytes (default 64, of fast 64K, of block's largest request 128K); at most one registration" },
	[KRPING_OPT_RANDOM_SIZE] = { "random_size", FLAG(RANDOM_SIZE),
	  .agree = AGREE_ADOPT, .tests = FOR(RPING),
	  .help = "each ping has another size, from 1 to size" },
	[KRPING_OPT_OFFSET] = { "offset", NUMBER(offset, 0, KRPING_OFFSET_MAX),
	  .tests = PINGS,
	  .help = "where in a page this end's buffers begin (default 0)" },
	[KRPING_OPT_TIMEOUT] = { "timeout", TIME(timeout_ns, NSEC_PER_MSEC, TIMEOUT_MAX),
	  .value = "1ms..86400s",
	  .help = "how long it may take; then an endless run ends well, any other fails" },
	[KRPING_OPT_IDLE] = { "idle", TIME(idle_ns, 0, TIMEOUT_MAX),
	  .value = "0..86400s", .side = SIDE_SERVER, .tests = BUT(PROTECT),
	  .help = "ends a client that does not begin, or is gone, for so long; 0: none (clients: 30s)" },
	[KRPING_OPT_TEST] = { "test", NAME(test), .agree = AGREE_ADOPT,
	  .help = "what to run (default rping)" },
	[KRPING_OPT_FR] = { "fr", ALIAS(TEST, "fr"),
	  .help = "test=fr: registrations and invalidations, no data moves" },
	[KRPING_OPT_WLAT] = { "wlat", ALIAS(TEST, "wlat"),
	  .help = "test=wlat: a WRITE there and one back" },
	[KRPING_OPT_RLAT] = { "rlat", ALIAS(TEST, "rlat"), .help = "test=rlat: a READ at a time" },
	[KRPING_OPT_BW] = { "bw", ALIAS(TEST, "bw"),
	  .help = "test=bw: WRITEs of the client, many in flight" },
	[KRPING_OPT_FAST] = { "fast", ALIAS(TEST, "fast"),
	  .help = "test=fast: WRITEs of the server, many in flight" },
	[KRPING_OPT_CASE] = { "case", .parse = parse_name, AT(case_nr),
	  .names = case_names, .nr_names = ARRAY_SIZE(case_names), .value = "NAME",
	  .agree = AGREE_ADOPT, .tests = FOR(PROTECT),
	  .help = "protect: what to try; docs/protect.md has the list" },
	[KRPING_OPT_DUPLEX] = { "duplex", FLAG(DUPLEX), .agree = AGREE_ADOPT, .tests = FOR(BW),
	  .help = "test=bw: the server writes, too" },
	[KRPING_OPT_QUEUES] = { "queues", NUMBER(queues, 1, KRPING_QUEUES_MAX),
	  .agree = AGREE_ADOPT, .tests = FOR(RLAT) | FOR(BW) | FOR(FAST) | FOR(BLOCK),
	  .help = "rlat, bw, fast, block: connections, each with requests in flight (default 1)" },
	[KRPING_OPT_TXDEPTH] = { "txdepth", NUMBER(txdepth, 1, KRPING_TXDEPTH_MAX),
	  .help = "requests in the send queue; fr, bw, fast, block: in flight (default 16, 64, 64, 64)" },
	[KRPING_OPT_POST_LIST] = { "post_list", NUMBER(post_list, 1, KRPING_TXDEPTH_MAX),
	  .tests = FOR(BW) | FOR(FAST),
	  .help = "bw, fast: WRITEs in one post, at most txdepth (default 1)" },
	[KRPING_OPT_SIGNAL] = { "signal", NUMBER(signal, 1, KRPING_TXDEPTH_MAX),
	  .tests = FOR(BW) | FOR(FAST),
	  .help = "bw, fast: WRITEs of an iteration, whose last one has a completion (default 1)" },
	[KRPING_OPT_INLINE_SIZE] = { "inline_size", SIZE(inline_size, 0, KRPING_INLINE_MAX),
	  .tests = FOR(WLAT) | FOR(BW) | FOR(FAST),
	  .help = "wlat, bw, fast: WRITEs up to this carry their data in the request (default 0)" },
	[KRPING_OPT_WARMUP] = { "warmup", NUMBER(warmup, 0, KRPING_WARMUP_MAX),
	  .agree = AGREE_ADOPT, .tests = PINGS,
	  .help = "iterations before the first one that counts (default 0)" },
	[KRPING_OPT_INTERVAL] = { "interval", TIME(interval_ns, NSEC_PER_USEC, INTERVAL_MAX),
	  .value = "1us..3600s", .side = SIDE_CLIENT,
	  .tests = FOR(RPING) | FOR(FR) | FOR(WLAT) | FOR(RLAT),
	  .help = "all but bw, fast: pause between two iterations (default none)" },
	[KRPING_OPT_ACCEPT] = { "accept", .parse = parse_accept, AT(accept_tests),
	  .side = SIDE_SERVER, .value = "TEST+...+SIZE",
	  .help = "tests, and a largest size, that clients may ask for: rping+bw+4K (default all)" },
	[KRPING_OPT_MEM_MODE] = { "mem_mode", NAME(mem_mode), .also = "fastreg",
	  .tests = PINGS,
	  .help = "reg: a key for each buffer (default); dma: one key for all of this host's memory" },
	[KRPING_OPT_POLL_CTX] = { "poll_ctx", NAME(poll_ctx),
	  .help = "who polls for completions (default thread, the run's; block: softirq)" },
	[KRPING_OPT_POLL] = { "poll", ALIAS(POLL_CTX, "busy"),
	  .help = "poll_ctx=busy: the run's thread, which never sleeps" },
	[KRPING_OPT_COMP_VECTOR] = { "comp_vector", NUMBER(comp_vector, 0, 65535),
	  .help = "the device's interrupt for completions (default: the core's choice)" },
	[KRPING_OPT_CPU] = { "cpu", NUMBER(cpu, 0, 65535),
	  .help = "the CPU on which the run's thread stays (default: where the writer may run)" },
	[KRPING_OPT_SRQ] = { "srq", FLAG(SRQ), .tests = BUT(BLOCK),
	  .help = "a shared receive queue; clients=: one of all its clients on a device" },
	[KRPING_OPT_CHAIN] = { "chain", FLAG(CHAIN), .tests = FOR(RPING),
	  .help = "post what belongs together in one call" },
	[KRPING_OPT_SERVER_INV] = { "server_inv", FLAG(SERVER_INV), .agree = AGREE_SAME,
	  .tests = FOR(RPING) | FOR(WLAT) | FOR(BW) | FOR(FAST),
	  .help = "the server invalidates the client's keys (SEND_WITH_INV)" },
	[KRPING_OPT_READ_INV] = { "read_inv", FLAG(READ_INV), .agree = AGREE_ASK,
	  .tests = FOR(RPING),
	  .help = "the server's READs invalidate the key of their sink (READ_WITH_INV; iWARP)" },
	[KRPING_OPT_LOCAL_DMA_LKEY] = { "local_dma_lkey", FLAG(LOCAL_DMA_LKEY),
	  .tests = FOR(RPING) | FOR(WLAT) | FOR(BW) | FOR(FAST) | FOR(BLOCK),
	  .help = "the source of WRITEs is not registered; block: nor is the server's window" },
	[KRPING_OPT_SPLIT] = { "split", FLAG(SPLIT), .side = SIDE_CLIENT, .tests = FOR(RPING),
	  .help = "tell apart the time of either host and that of the network" },
	[KRPING_OPT_VALIDATE] = { "validate", FLAG(VALIDATE), .tests = FOR(RPING),
	  .help = "client: compare pong with ping; server: check the ping's pattern" },
	[KRPING_OPT_VERBOSE] = { "verbose", FLAG(VERBOSE), .tests = FOR(RPING),
	  .help = "print the first 64 bytes of each ping to the kernel log" },
	[KRPING_OPT_WINDOW] = { "window", .units = sizes, .parse = parse_window, AT(window),
	  .min = KRPING_BLOCK_UNIT, .max = 3U << 30, .side = SIDE_SERVER, .tests = FOR(BLOCK),
	  .help = "block: memory that is the disk of clients, and stays from one to the next" },
	[KRPING_OPT_SHARED] = { "shared", FLAG(SHARED), .side = SIDE_SERVER, .tests = FOR(BLOCK),
	  .help = "block: several clients at once may write to the window" },
	[KRPING_OPT_RO] = { "ro", FLAG(RO), .tests = FOR(BLOCK),
	  .help = "block: the disk is read only; server: for all clients" },
	[KRPING_OPT_SECTOR] = { "sector", .parse = parse_sector, AT(sector), .min = 512,
	  .max = KRPING_BLOCK_UNIT, .value = "512|4096", .side = SIDE_CLIENT, .tests = FOR(BLOCK),
	  .help = "block: bytes of a logical block of the disk (default 512)" },
	[KRPING_OPT_IN_CAPSULE] = { "in_capsule", NUMBER(in_capsule, 0, KRPING_BLOCK_DATA),
	  .side = SIDE_CLIENT, .tests = FOR(BLOCK),
	  .help = "block: a write of so many bytes at most is in its capsule (default 4096)" },
	[KRPING_OPT_LOCAL_INV] = { "local_inv", .side = SIDE_CLIENT, .tests = FOR(BLOCK),
	  .help = "block: the client invalidates its keys, and not the server (SEND_WITH_INV)" },
	[KRPING_OPT_IO_TIMEOUT] = { "io_timeout", TIME(io_timeout_ns, NSEC_PER_MSEC, INTERVAL_MAX),
	  .value = "1ms..3600s", .side = SIDE_CLIENT, .tests = FOR(BLOCK),
	  .help = "block: a request without an answer ends the run after so long (default 30s)" },
	[KRPING_OPT_NAME] = { "name", .parse = parse_label, AT(name), .value = "LABEL",
	  .help = "label of the run, which the tools show (up to 31 characters)" },
	[KRPING_OPT_CLIENTS] = { "clients", NUMBER(clients, 1, KRPING_CLIENTS_MAX),
	  .side = SIDE_SERVER,
	  .help = "serve so many at once, each a run of its own; ends after them" },
	[KRPING_OPT_PERSISTENT] = { "persistent", .side = SIDE_SERVER,
	  .help = "serve one client, or clients=, after another, without end" },
	[KRPING_OPT_ID] = { "id", NUMBER(id, 1, U32_MAX), .side = SIDE_STOP,
	  .help = "number of the run, as in /proc/krping_runs" },
	/* Rows without a number: other spellings. */
	{ "tx-depth", ALIAS(TXDEPTH, NULL) },
	{ "depth", ALIAS(TXDEPTH, NULL) },
	{ "random", ALIAS(RANDOM_SIZE, NULL) },
	{ "server_invalidate", ALIAS(SERVER_INV, NULL) },
	{ "read-inv", ALIAS(READ_INV, NULL) },
	{ "stag0", ALIAS(LOCAL_DMA_LKEY, NULL) },
};

/* What a run cannot have together, and the option that is refused for that. */
static const struct rule {
	enum krping_option_id option;
	enum side side;
	u32 tests; /* 0: all */
	u32 flags;
	u32 without; /* a flag that a server may still adopt */
	const char *why;
} rules[] = {
	/* A client that only writes advertises nothing. */
	{ KRPING_OPT_SERVER_INV, SIDE_BOTH, FOR(BW), KRPING_RUN_F_SERVER_INV,
	  KRPING_RUN_F_DUPLEX, "test=bw has no use for it without duplex" },
	/* A server invalidates the client's keys: its own mem_mode does not matter. */
	{ KRPING_OPT_SERVER_INV, SIDE_CLIENT, 0, KRPING_RUN_F_DMA | KRPING_RUN_F_SERVER_INV,
	  0, "the key of mem_mode=dma is never invalidated" },
	/* A READ_WITH_INV invalidates a key of the server. */
	{ KRPING_OPT_READ_INV, SIDE_SERVER, 0, KRPING_RUN_F_DMA | KRPING_RUN_F_READ_INV,
	  0, "the key of mem_mode=dma is never invalidated" },
	{ KRPING_OPT_LOCAL_DMA_LKEY, SIDE_BOTH, 0, KRPING_RUN_F_DMA | KRPING_RUN_F_LOCAL_DMA_LKEY,
	  0, "with mem_mode=dma nothing is registered" },
	{ KRPING_OPT_LOCAL_DMA_LKEY, SIDE_CLIENT, FOR(BLOCK), KRPING_RUN_F_LOCAL_DMA_LKEY,
	  0, "a client's memory is read and written by the server, under keys" },
	{ KRPING_OPT_MEM_MODE, SIDE_CLIENT, FOR(FR), KRPING_RUN_F_DMA,
	  0, "what test=fr does is to register" },
	{ KRPING_OPT_CHAIN, SIDE_SERVER, 0, KRPING_RUN_F_CHAIN | KRPING_RUN_F_VALIDATE,
	  0, "a server with validate or verbose has to look at the data in between" },
	{ KRPING_OPT_CHAIN, SIDE_SERVER, 0, KRPING_RUN_F_CHAIN | KRPING_RUN_F_VERBOSE,
	  0, "a server with validate or verbose has to look at the data in between" },
};
/* clang-format on */

static_assert(KRPING_NR_OPTIONS <= 64); /* bits of krping_params.given */
static_assert(KRPING_NR_TESTS <= 32);	/* bits of accept_tests */
static_assert(KRPING_OPT_STOP - KRPING_ROLE_STOP == 0);
static_assert(SIDE_STOP - KRPING_ROLE_STOP == 1);

/* Was an option in the command? */
int krping_option_given(const struct krping_params *params, enum krping_option_id id)
{
	return !!(params->given & BIT_ULL(id));
}

/* Is it no particular address, or none at all? */
int krping_address_is_any(const struct krping_address *address)
{
	return !memchr_inv(address->bytes, 0, sizeof(address->bytes));
}

static const struct option *find_option(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(name, options[i].name))
			return &options[i];
	return NULL;
}

/* Each option that is not AGREE_LOCAL is a flag or has a u32. */
static u32 option_value(const struct option *opt, const struct krping_params *params)
{
	return opt->flag ? params->flags & opt->flag : *(u32 *)option_field(opt, params);
}

/* Returns NULL, or what is wrong with the token; *@found is the option then. */
static const char *parse_token(char *token, struct krping_params *params,
			       const struct option **found)
{
	const char *name = strsep(&token, "=");
	const struct option *opt = find_option(name);
	const char *preset = NULL;
	void *value;

	if (!opt)
		return isspace(*name) ? "there is a blank before it" : "unknown option";
	if (opt->alias) {
		preset = opt->preset;
		opt = &options[opt->alias];
	}
	*found = opt;
	if (krping_option_given(params, opt - options))
		return "given twice";
	params->given |= BIT_ULL(opt - options);
	params->flags |= opt->flag;
	value = option_field(opt, params);
	if (preset)
		*(u32 *)value = match_string(opt->names, opt->nr_names, preset);
	if (preset || !opt->parse)
		return token ? "takes no value" : NULL;
	return token ? opt->parse(opt, token, value) : "needs a value";
}

/* Makes a token printable: the reason is read in a terminal and in a log. */
static void show_token(const char *token, size_t len, char shown[TOKEN_SHOWN + 4])
{
	size_t i;

	for (i = 0; i < len && i < TOKEN_SHOWN; i++)
		shown[i] = isascii(token[i]) && isprint(token[i]) ? token[i] : '?';
	strcpy(shown + i, len > TOKEN_SHOWN ? "..." : "");
}

/* The form of an option's value. */
static const char *value_form(const struct option *opt, char buf[VALUE_SHOWN])
{
	if (opt->value || !opt->parse)
		return opt->value ?: "-";
	snprintf(buf, VALUE_SHOWN, "%llu..%llu", opt->min, opt->max);
	return buf;
}

static __printf(2, 3)
int refuse(char *reason, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, KRPING_REASON_MAX, fmt, args);
	va_end(args);
	return -EINVAL;
}

static int parse_tokens(const char *text, const char *end, struct krping_params *params,
			char *reason)
{
	char token[TOKEN_MAX], shown[TOKEN_SHOWN + 4], form[VALUE_SHOWN];
	const struct option *opt;
	const char *why;
	size_t n;

	/* Empty tokens are allowed, as they always were. */
	for (; text < end; text += n + 1) {
		n = ((const char *)memchr(text, ',', end - text) ?: end) - text;
		if (!n)
			continue;
		show_token(text, n, shown);
		if (n >= sizeof(token))
			return refuse(reason, "%s: too long", shown);
		memcpy(token, text, n);
		token[n] = '\0';
		if (strlen(token) < n)
			return refuse(reason, "%s: has a NUL", shown);
		why = parse_token(token, params, &opt);
		if (why == out_of_range)
			return refuse(reason, "%s: %s (%s)", shown, why, value_form(opt, form));
		if (why)
			return refuse(reason, "%s: %s", shown, why);
	}
	return 0;
}

/* Finds the command's role, and an option that is not for that role. */
static int check_role(struct krping_params *params, char *reason)
{
	static const char *const who[] = { "a server or client", "a server", "a client", "stop" };
	unsigned int i, roles = 0;

	for (i = 0; i <= KRPING_OPT_STOP; i++) {
		if (krping_option_given(params, i)) {
			params->role = i;
			roles++;
		}
	}
	if (roles != 1)
		return refuse(reason, roles ? "more than one of server, client and stop" :
					      "neither server nor client");
	for (; i < KRPING_NR_OPTIONS; i++) {
		enum side side = options[i].side;

		if (krping_option_given(params, i) &&
		    (side ? side != params->role + 1 : params->role == KRPING_ROLE_STOP))
			return refuse(reason, "%s: only %s has it", options[i].name, who[side]);
	}
	return 0;
}

static void set_defaults(struct krping_params *params)
{
	if (params->role == KRPING_ROLE_STOP)
		return;
	if (!params->size)
		params->size = default_size(params->test);
	if (params->test == KRPING_TEST_BLOCK) {
		/* Requests come from any CPU, and nobody has to be woken for their answers. */
		if (!krping_option_given(params, KRPING_OPT_POLL_CTX))
			params->poll_ctx = KRPING_POLL_SOFTIRQ;
		params->sector = params->sector ?: 512;
		if (!krping_option_given(params, KRPING_OPT_IN_CAPSULE))
			params->in_capsule = KRPING_BLOCK_DATA;
		params->io_timeout_ns = params->io_timeout_ns ?: 30 * NSEC_PER_SEC;
		if (params->role == KRPING_ROLE_CLIENT && !params->txdepth)
			params->txdepth = KRPING_TXDEPTH;
	}
	if (params->test == KRPING_TEST_PROTECT)
		params->count = 1;
	if (!params->queues)
		params->queues = default_queues(params->test);
	if (params->mem_mode == KRPING_MEM_DMA)
		params->flags |= KRPING_RUN_F_DMA;
	if (krping_option_given(params, KRPING_OPT_PERSISTENT) && !params->clients)
		params->clients = 1;
	if (params->clients && !krping_option_given(params, KRPING_OPT_IDLE))
		params->idle_ns = KRPING_IDLE;
}

/* The name of an option that the test has no use for; NULL: there is none. */
static const char *useless_option(const struct krping_params *params)
{
	const struct option *opt;
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++) {
		opt = &options[i];
		/* A flag may be the peer's. */
		if (opt->tests && !(opt->tests & BIT(params->test)) &&
		    (krping_option_given(params, i) || params->flags & opt->flag))
			return opt->name;
	}
	return NULL;
}

/* @settled: the other end has no say any more. */
static const struct rule *broken_rule(const struct krping_params *params, bool settled)
{
	const struct rule *rule;

	for (rule = rules; rule < rules + ARRAY_SIZE(rules); rule++)
		if ((!rule->side || rule->side == params->role + 1) &&
		    (!rule->tests || rule->tests & BIT(params->test)) &&
		    (params->flags & rule->flags) == rule->flags &&
		    !(params->flags & rule->without) && (settled || !rule->without))
			return rule;
	return NULL;
}

/* What size options allow. A key for all memory has no list of pages, but contiguous memory. */
u32 krping_params_size_max(const struct krping_params *params)
{
	if (params->test == KRPING_TEST_BLOCK)
		return KRPING_BLOCK_CHUNK;
	return params->flags & (KRPING_RUN_F_DMA | KRPING_RUN_F_LOCAL_DMA_LKEY) ?
		       KRPING_SIZE_CONTIGUOUS :
		       KRPING_SIZE_MAX;
}

static bool accepts_test(const struct krping_params *params)
{
	return !params->accept_tests || params->accept_tests & BIT(params->test);
}

static bool accepts_size(const struct krping_params *params)
{
	return !params->accept_size || params->size <= params->accept_size;
}

/* A request of test=block is in one chunk of the window. */
static bool is_block_size(u32 size)
{
	return size <= KRPING_BLOCK_CHUNK && size % KRPING_BLOCK_UNIT == 0;
}

/* What is wrong with the options of test=block? NULL: nothing. */
static const char *bad_block(const struct krping_params *params)
{
	if (params->role == KRPING_ROLE_SERVER && !params->window)
		return "window: missing, test=block needs it";
	if (params->poll_ctx != KRPING_POLL_SOFTIRQ && params->poll_ctx != KRPING_POLL_WORKQUEUE)
		return "poll_ctx: test=block has softirq, the default, and workqueue";
	if (params->txdepth > KRPING_BLOCK_DEPTH)
		return "txdepth: test=block has 256 requests in flight at most";
	if (!is_block_size(params->size))
		return "size: a request of test=block has whole pages, and 256K at most";
	return NULL;
}

/* Do the options of a server or client go together? */
static int check_options(const struct krping_params *params, char *reason)
{
	bool client = params->role == KRPING_ROLE_CLIENT;
	bool has_test = krping_option_given(params, KRPING_OPT_TEST);
	bool has_size = krping_option_given(params, KRPING_OPT_SIZE) ||
			(has_test && params->test == KRPING_TEST_PROTECT);
	u32 depth = params->txdepth ?: KRPING_TXDEPTH;
	const struct rule *rule;
	const char *name;

	/* A server without a test may get one that has a use for an option. */
	name = client || has_test ? useless_option(params) : NULL;
	if (name)
		return refuse(reason, "%s: test=%s has no use for it", name,
			      test_names[params->test]);
	if (client && params->test == KRPING_TEST_PROTECT &&
	    !krping_option_given(params, KRPING_OPT_CASE))
		return refuse(reason,
			      "case: missing; \"krping client ADDRESS protect\" runs all cases");
	if (params->window && params->test != KRPING_TEST_BLOCK)
		return refuse(reason, "window: only a server with test=block has it");
	if (params->test == KRPING_TEST_BLOCK) {
		name = bad_block(params);
		if (name)
			return refuse(reason, "%s", name);
	}
	rule = broken_rule(params, client);
	if (rule)
		return refuse(reason, "%s: %s", options[rule->option].name, rule->why);
	if (params->size > krping_params_size_max(params))
		return refuse(reason, "size: with %s memory is contiguous, of %u bytes at most",
			      params->mem_mode == KRPING_MEM_DMA ? "mem_mode=dma" :
								   "local_dma_lkey",
			      krping_params_size_max(params));
	if (params->post_list > depth || params->signal > depth)
		return refuse(reason, "%s: more than txdepth, which is %u",
			      params->post_list > depth ? "post_list" : "signal", depth);
	/* A test or size that was not given is going to be the client's. */
	if ((has_test && !accepts_test(params)) || (has_size && !accepts_size(params)))
		return refuse(reason, "accept: it leaves out this server's own test or size");
	if (!params->port)
		return refuse(reason, "port: missing");
	if (client && krping_address_is_any(&params->addr))
		return refuse(reason, "addr: a client needs the server's address");
	if (params->bind.family && krping_address_is_any(&params->bind))
		return refuse(reason, "bind: any address is what a client has without it");
	if (params->bind.family && params->bind.family != params->addr.family)
		return refuse(reason,
			      "bind: one of IPv4 and IPv6, the server's address is of the other");
	return 0;
}

/**
 * krping_command_parse - read a command
 * @text: the text, need not be NUL-terminated
 * @len: its length in bytes
 * @params: receives the options, with defaults for those not in the command
 * @reason: receives, in KRPING_REASON_MAX bytes, which token is wrong and why; or is empty
 *
 * Returns 0, or -EINVAL.
 */
int krping_command_parse(const char *text, size_t len, struct krping_params *params, char *reason)
{
	const char *end = text + len;
	int err;

	memset(params, 0, sizeof(*params));
	reason[0] = '\0';
	if (len > KRPING_CMD_MAX)
		return refuse(reason, "longer than %d bytes", KRPING_CMD_MAX);
	/* echo adds a newline; older scripts add a blank, as the first krping lost a byte. */
	while (text < end && isspace(end[-1]))
		end--;
	while (text < end && isspace(*text))
		text++;
	if (text == end)
		return refuse(reason, "empty command");

	err = parse_tokens(text, end, params, reason);
	if (!err)
		err = check_role(params, reason);
	if (err)
		return err;
	set_defaults(params);
	if (params->role != KRPING_ROLE_STOP)
		return check_options(params, reason);
	return params->id ? 0 : refuse(reason, "id: missing");
}

/* Has the client asked for what the server has, as far as they need to agree? */
static bool fits(const struct option *opt, const struct krping_params *client,
		 const struct krping_params *server)
{
	enum krping_option_id id = opt - options;

	if (opt->agree == AGREE_LOCAL || (opt->agree == AGREE_ASK && !option_value(opt, client)) ||
	    (opt->agree == AGREE_WANT && !krping_option_given(server, id)))
		return true;
	/* 0 that was given is not the same as none. */
	if (opt->agree == AGREE_WANT && !krping_option_given(client, id))
		return false;
	return option_value(opt, client) == option_value(opt, server);
}

/* Has a server agreed to what its client asked for? Returns as krping_params_agree(). */
const char *krping_params_same(const struct krping_params *mine, const struct krping_params *peer)
{
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++)
		if (!fits(&options[i], mine, peer))
			return options[i].name;
	return NULL;
}

/* A test decides these: a peer with others is another version, or lies. NULL: they fit. */
static const char *decided_option(const struct krping_params *params)
{
	if (params->queues != default_queues(params->test) &&
	    !(options[KRPING_OPT_QUEUES].tests & BIT(params->test)))
		return "queues";
	if (params->test == KRPING_TEST_BLOCK) {
		/* A server has a window only with its own test=block. */
		if (!params->window)
			return "test";
		if (params->count || params->warmup)
			return params->count ? "count" : "warmup";
		return is_block_size(params->size) ? NULL : "size";
	}
	if (params->test != KRPING_TEST_PROTECT)
		return NULL;
	if (params->count != 1)
		return "count";
	return params->size != KRPING_PROTECT_SIZE ? "size" : params->warmup ? "warmup" : NULL;
}

/*
 * Settles the options of a server with those of its client, whose values the server adopts where
 * its command has none. Returns NULL, or the name of the first option that differs.
 */
const char *krping_params_agree(struct krping_params *mine, const struct krping_params *peer)
{
	const struct rule *rule;
	const char *name;
	unsigned int i;

	for (i = 0; i < KRPING_NR_OPTIONS; i++) {
		const struct option *opt = &options[i];

		if (fits(opt, peer, mine))
			continue;
		if (opt->agree == AGREE_SAME || krping_option_given(mine, i))
			return opt->name;
		if (opt->flag)
			mine->flags ^= opt->flag;
		else
			*(u32 *)option_field(opt, mine) = option_value(opt, peer);
	}
	if (mine->test == KRPING_TEST_BLOCK) {
		if (!peer->txdepth || peer->txdepth > KRPING_BLOCK_DEPTH)
			return "txdepth";
		mine->txdepth = min(mine->txdepth ?: KRPING_BLOCK_DEPTH, peer->txdepth);
	}
	if (!accepts_test(mine) || !accepts_size(mine))
		return "accept";
	if (mine->size > krping_params_size_max(mine))
		return "size";
	name = decided_option(mine);
	if (name)
		return name;
	/* The test may be the peer's, and so may duplex. */
	rule = broken_rule(mine, true);
	return rule ? options[rule->option].name : useless_option(mine);
}

/* May a client that says nothing of its options come? Returns as krping_params_agree(). */
const char *krping_params_classic(const struct krping_params *mine)
{
	return accepts_test(mine) ? NULL : "accept";
}

/* A peer may send a number that has no name. */
static void value_text(const struct option *opt, const struct krping_params *params, char text[24])
{
	u32 value = option_value(opt, params);

	if (opt->agree == AGREE_WANT && !krping_option_given(params, opt - options))
		strcpy(text, "none");
	else if (value < opt->nr_names)
		strcpy(text, opt->names[value]);
	else
		sprintf(text, "%u", value);
}

/*
 * Describes the two values of an option that differs, to follow its name; nothing for an option
 * that each end has for itself, or that is none. The peer's may be a value of no command.
 */
void krping_params_values(const struct krping_params *mine, const struct krping_params *peer,
			  const char *name, char *text, size_t size)
{
	const struct option *opt = find_option(name);
	char there[24], here[24];

	text[0] = '\0';
	if (!opt || opt->agree == AGREE_LOCAL)
		return;
	if (opt->flag) {
		snprintf(text, size, "%s",
			 option_value(opt, peer) ? ": there, not here" : ": here, not there");
		return;
	}
	value_text(opt, peer, there);
	value_text(opt, mine, here);
	snprintf(text, size, ": %s there, %s here", there, here);
}

/*
 * Writes a row of /proc/krping_help, empty for an option that this version only knows by name.
 * Returns 0 when the table has no such row.
 */
int krping_option_help(unsigned int row, char *line, size_t size)
{
	static const char *const sides[] = { "both", "server", "client", "stop" };
	static const char *const agrees[] = { "local", "same", "adopt", "ask", "want" };
	const struct option *opt;
	bool role = row <= KRPING_OPT_STOP;
	char form[VALUE_SHOWN];

	if (row >= ARRAY_SIZE(options))
		return 0;
	opt = &options[row];
	line[0] = '\0';
	if (opt->help)
		snprintf(line, size, "%-10s %-13s %-6s %-5s %s", opt->name, value_form(opt, form),
			 role ? "-" : sides[opt->side], role ? "-" : agrees[opt->agree], opt->help);
	return 1;
}
