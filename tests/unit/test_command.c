// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The parser of commands: commands that it accepts, commands that it refuses and why, and options on which two ends
 * agree; and that no text makes it read or write outside of its buffers.
 */
#include <sys/socket.h>
#include <arpa/inet.h>
#include "unit.h"
#include "command.h"

static char reason[KRPING_REASON_MAX];

/* Parses a text that ends where its allocation ends: ASan sees a byte more. */
static int parse_n(const char *text, size_t len, struct krping_params *params)
{
	char *copy = malloc(len ? len : 1);
	int ret;

	memcpy(copy, text, len);
	memset(reason, 0x55, sizeof(reason));
	ret = krping_command_parse(copy, len, params, reason);
	free(copy);
	assert_non_null(memchr(reason, '\0', sizeof(reason)));
	return ret;
}

static int parse(const char *text, struct krping_params *params)
{
	return parse_n(text, strlen(text), params);
}

/* clang-format off */
#define V4(...) { .family = AF_INET, .bytes = { __VA_ARGS__ } }
#define V6(...) { .family = AF_INET6, .bytes = { __VA_ARGS__ } }
#define S "server,port=7,"
#define C "client,addr=1.2.3.4,port=7,"
#define SERVER(s, ...) { .role = KRPING_ROLE_SERVER, .port = 7, .size = s, __VA_ARGS__ }
#define CLIENT(s, ...) { .role = KRPING_ROLE_CLIENT, .addr = V4(1, 2, 3, 4), .port = 7, .size = s, __VA_ARGS__ }

static const struct {
	const char *text;
	struct krping_params want; /* all but the member given */
} good[] = {
	{ "server,port=9999", { .role = KRPING_ROLE_SERVER, .port = 9999, .size = 64 } },
	{ "server,addr=0.0.0.0,port=1", { .role = KRPING_ROLE_SERVER, .addr = V4(0), .port = 1, .size = 64 } },
	{ "server,addr6=::,port=1", { .role = KRPING_ROLE_SERVER, .addr = V6(0), .port = 1, .size = 64 } },
	{ "client,addr6=fd09::1,port=7,bind=fd09::2,tos=0", { .role = KRPING_ROLE_CLIENT, .addr = V6(0xfd, 9, [15] = 1),
	  .bind = V6(0xfd, 9, [15] = 2), .port = 7, .size = 64 } },
	{ "client,bind=10.9.0.2,tos=255,addr=10.9.0.1,port=7", { .role = KRPING_ROLE_CLIENT, .addr = V4(10, 9, 0, 1),
	  .bind = V4(10, 9, 0, 2), .port = 7, .size = 64, .tos = 255 } },
	{ "client,addr6=fe80::1%eth0,port=7,bind=fe80::2%3", { .role = KRPING_ROLE_CLIENT, .addr = { .family = AF_INET6,
	  .bytes = { 0xfe, 0x80, [15] = 1 }, .scope = "eth0" }, .bind = { .family = AF_INET6, .bytes = { 0xfe, 0x80, [15] = 2 },
	  .scope = "3" }, .port = 7, .size = 64 } },
	/* What an IPv6 address is the kernel says, and here tests/fuzz/shim/linux/inet.h. */
	{ S "addr6=2001:DB8::1:0:0:1", SERVER(64, .addr = V6(0x20, 1, 0xd, 0xb8, [9] = 1, [15] = 1)) },
	{ S "addr6=::13.1.68.3", SERVER(64, .addr = V6(0, [12] = 13, 1, 68, 3)) }, { S "addr6=ff01::101", SERVER(64, .addr = V6(0xff, 1, [14] = 1, 1)) },
	{ S "addr6=feb0::%br-1.2@x", SERVER(64, .addr = { .family = AF_INET6, .bytes = { 0xfe, 0xb0 }, .scope = "br-1.2@x" }) },
	{ S "addr6=fe80::%0123456789abcde", SERVER(64, .addr = { .family = AF_INET6, .bytes = { 0xfe, 0x80 }, .scope = "0123456789abcde" }) },
	{ "client,addr=10.9.0.1,port=65535", { .role = KRPING_ROLE_CLIENT, .addr = V4(10, 9, 0, 1), .port = 65535, .size = 64 } },
	{ "client,addr=255.255.255.255,port=7,count=0", { .role = KRPING_ROLE_CLIENT, .addr = V4(255, 255, 255, 255), .port = 7,
	  .size = 64 } }, { C "count=2147483647,size=131072", CLIENT(131072, .count = 0x7fffffff) },
	{ "client,addr=1.2.3.4,port=0x10,count=0XfF,size=1", { .role = KRPING_ROLE_CLIENT, .addr = V4(1, 2, 3, 4), .port = 16,
	  .size = 1, .count = 255 } },
	{ "port=7,size=0x00000000000000000040,addr=1.2.3.4,client", { .role = KRPING_ROLE_CLIENT, .addr = V4(1, 2, 3, 4),
	  .port = 7, .size = 64 } }, { S "test=rping,mem_mode=reg", SERVER(64, .test = KRPING_TEST_RPING) },
	{ S "verbose,validate,server_inv", SERVER(64,
	  .flags = KRPING_RUN_F_VERBOSE | KRPING_RUN_F_VALIDATE | KRPING_RUN_F_SERVER_INV) },
	{ S "read_inv,local_dma_lkey", SERVER(64, .flags = KRPING_RUN_F_READ_INV | KRPING_RUN_F_LOCAL_DMA_LKEY) },
	/* The names of the family's older versions. */
	{ S "read-inv,stag0,server_invalidate,mem_mode=fastreg,random", SERVER(64,
	  .flags = KRPING_RUN_F_READ_INV | KRPING_RUN_F_LOCAL_DMA_LKEY | KRPING_RUN_F_SERVER_INV | KRPING_RUN_F_RANDOM_SIZE) },
	/* What the server does to its own key does not need one of the client. */
	{ C "read_inv,mem_mode=dma", CLIENT(64, .mem_mode = KRPING_MEM_DMA, .flags = KRPING_RUN_F_DMA | KRPING_RUN_F_READ_INV) },
	{ S "tos=32", SERVER(64, .tos = 32) },
	/* Each end has a shared receive queue or not, and so need several clients. */
	{ S "srq,clients=3", SERVER(64, .clients = 3, .flags = KRPING_RUN_F_SRQ) },
	{ C "srq,fr", CLIENT(64, .test = KRPING_TEST_FR, .flags = KRPING_RUN_F_SRQ) },
	/* A server invalidates the client's keys, whatever its own are. */
	{ S "mem_mode=dma,server_inv", SERVER(64, .mem_mode = KRPING_MEM_DMA,
	  .flags = KRPING_RUN_F_DMA | KRPING_RUN_F_SERVER_INV) },
	/* It may yet adopt duplex. */
	{ S "bw,server_inv", SERVER(64, .test = KRPING_TEST_BW, .flags = KRPING_RUN_F_SERVER_INV) },
	{ S "chain", SERVER(64, .flags = KRPING_RUN_F_CHAIN) },
	{ C "chain,validate", CLIENT(64, .flags = KRPING_RUN_F_CHAIN | KRPING_RUN_F_VALIDATE) },
	{ C "split", CLIENT(64, .flags = KRPING_RUN_F_SPLIT) }, { S "poll_ctx=busy", SERVER(64, .poll_ctx = KRPING_POLL_BUSY) },
	{ S "fr", SERVER(64, .test = KRPING_TEST_FR) },
	{ S "bw,duplex,tx-depth=7", SERVER(64, .test = KRPING_TEST_BW, .txdepth = 7, .flags = KRPING_RUN_F_DUPLEX) },
	{ S "wlat,txdepth=65535", SERVER(64, .test = KRPING_TEST_WLAT, .txdepth = 65535) },
	{ C "bw,depth=7,queues=16", CLIENT(64, .test = KRPING_TEST_BW, .txdepth = 7, .queues = 16) },
	{ C "bw,txdepth=16,post_list=16,signal=8,inline_size=64", CLIENT(64, .test = KRPING_TEST_BW, .txdepth = 16,
	  .post_list = 16, .signal = 8, .inline_size = 64) },
	{ C "fast,post_list=64,signal=64,inline_size=4K", CLIENT(65536, .test = KRPING_TEST_FAST, .post_list = 64, .signal = 64,
	  .inline_size = 4096) },
	{ C "wlat,warmup=1000000,interval=1us,inline_size=0", CLIENT(64, .test = KRPING_TEST_WLAT, .warmup = 1000000,
	  .interval_ns = 1000) }, { C "interval=1", CLIENT(64, .interval_ns = 1000000000) },
	{ S "accept=rping+bw+4K", SERVER(64, .accept_tests = 1 << KRPING_TEST_RPING | 1 << KRPING_TEST_BW, .accept_size = 4096) },
	{ S "accept=100", SERVER(64, .accept_size = 100) },
	{ S "test=fr,accept=fr+rlat", SERVER(64, .test = KRPING_TEST_FR,
	  .accept_tests = 1 << KRPING_TEST_FR | 1 << KRPING_TEST_RLAT) },
	/* The size is the client's, so that of the test does not count. */
	{ S "fast,accept=4K", SERVER(65536, .test = KRPING_TEST_FAST, .accept_size = 4096) },
	/* A server without a test may get one that has a use for them. */
	{ S "duplex,signal=2", SERVER(64, .signal = 2, .flags = KRPING_RUN_F_DUPLEX) },
	{ S "rlat", SERVER(64, .test = KRPING_TEST_RLAT) }, { S "fast", SERVER(65536, .test = KRPING_TEST_FAST) },
	{ S "poll", SERVER(64, .poll_ctx = KRPING_POLL_BUSY) }, { S "comp_vector=1", SERVER(64, .comp_vector = 1) },
	{ S "cpu=3", SERVER(64, .cpu = 3) }, { S "poll_ctx=thread", SERVER(64) },
	{ S "size=2M,offset=4095", SERVER(2097152, .offset = 4095) },
	{ C "random,size=0x20001,offset=0", CLIENT(131073, .flags = KRPING_RUN_F_RANDOM_SIZE) },
	{ C "size=131072,local_dma_lkey,random_size", CLIENT(131072,
	  .flags = KRPING_RUN_F_RANDOM_SIZE | KRPING_RUN_F_LOCAL_DMA_LKEY) }, { S "size=128K", SERVER(131072) },
	{ S "size=1k", SERVER(1024) }, { S "timeout=5", SERVER(64, .timeout_ns = 5000000000ULL) },
	{ S "timeout=86400s", SERVER(64, .timeout_ns = 86400000000000ULL) },
	{ S "timeout=250ms", SERVER(64, .timeout_ns = 250000000) }, { S "timeout=1000us", SERVER(64, .timeout_ns = 1000000) },
	{ S "name=x", SERVER(64, .name = "x") },
	{ "server,name=1234567890123456789012345678901,port=7", SERVER(64, .name = "1234567890123456789012345678901") },
	{ S "name=rack-4:a=b!#$%~\n", SERVER(64, .name = "rack-4:a=b!#$%~") }, { S "clients=256", SERVER(64, .clients = 256) },
	{ S "persistent", SERVER(64, .clients = 1) },
	{ S "idle=0", SERVER(64) }, { S "clients=2,idle=0", SERVER(64, .clients = 2) }, { S "idle=2s", SERVER(64, .idle_ns = 2000000000) },
	{ S "persistent,clients=4,fr", SERVER(64, .test = KRPING_TEST_FR, .clients = 4) },
	{ "client,test=protect,case=read_again,addr=1.2.3.4,port=7,timeout=1,poll,txdepth=9", { .role = KRPING_ROLE_CLIENT,
	  .addr = V4(1, 2, 3, 4), .port = 7, .test = KRPING_TEST_PROTECT, .size = KRPING_PROTECT_SIZE, .count = 1, .case_nr = KRPING_CASE_READ_AGAIN,
	  .timeout_ns = 1000000000, .poll_ctx = KRPING_POLL_BUSY, .txdepth = 9 } },
	{ "stop,id=1", { .role = KRPING_ROLE_STOP, .id = 1 } },
	{ "id=0xffffffff,stop\n", { .role = KRPING_ROLE_STOP, .id = 0xffffffff } }, { ",,server,,port=7,,", SERVER(64) },
	{ "server,port=7\n", SERVER(64) }, { " \tserver,port=7 \r\n", SERVER(64) },
};
/* clang-format on */

TEST(takes)
{
	each(row, good) {
		struct krping_params got, want = row->want;

		if (parse(row->text, &got))
			fail_msg("\"%s\": %s", row->text, reason);
		assert_string_equal(reason, "");
		want.given = got.given;
		if (want.role != KRPING_ROLE_STOP && !want.queues)
			want.queues = want.test == KRPING_TEST_PROTECT ? 2 : 1;
		/* Where it is not given, a server of several clients has it all the same. */
		if (want.clients && !krping_option_given(&got, KRPING_OPT_IDLE))
			want.idle_ns = 30000000000ULL;
		if (memcmp(&got, &want, sizeof(got)))
			fail_msg("\"%s\" means something else", row->text);
	}
}

/* clang-format off */
#define BAD(head, option, why) { head option, option ": " why }
#define PROTECT ",test=protect,case=write_past_end"
#define NEEDS_SCOPE "a link-local address needs a scope, as %eth0 behind it"
#define HAS_NO_SCOPE "only a link-local address has a scope"
#define BAD_SCOPE "the scope is no name or number of an interface"
#define USELESS(text, option, test) { text, option ": test=" test " has no use for it" }

static const struct {
	const char *text;
	const char *reason;
} bad[] = {
	{ "", "empty command" }, { "\n", "empty command" }, { " \t \r\n", "empty command" }, { ",", "neither server nor client" },
	{ "port=7", "neither server nor client" }, { "server,client,port=7", "more than one of server, client and stop" },
	{ "server", "port: missing" }, { "client,port=7", "addr: a client needs the server's address" },
	{ "client,addr=0.0.0.0,port=7", "addr: a client needs the server's address" }, BAD(C, "nope", "unknown option"),
	BAD(C, "Size=1", "unknown option"), BAD(C, " size=1", "there is a blank before it"), BAD(C, "=", "unknown option"),
	BAD(C, "=1", "unknown option"), BAD(C, "siz", "unknown option"), BAD(C, "sizes=1", "unknown option"),
	BAD(C, "size", "needs a value"), BAD(C, "size=", "not a number"), BAD(C, "size=0", "out of range (1..2097152)"),
	BAD(C, "size=2097153", "out of range (1..2097152)"), BAD(C, "size=-1", "not a number"), BAD(C, "size=k", "not a number"),
	BAD(C, "size=1KK", "not a number"), BAD(C, "size=1T", "not a number"),
	{ C "size=131073,mem_mode=dma", "size: with mem_mode=dma memory is contiguous, of 131072 bytes at most" },
	{ C "local_dma_lkey,size=1M", "size: with local_dma_lkey memory is contiguous, of 131072 bytes at most" },
	{ S "size=131073,mem_mode=dma", "size: with mem_mode=dma memory is contiguous, of 131072 bytes at most" },
	BAD(C, "offset=4096", "out of range (0..4095)"), BAD(C, "offset", "needs a value"),
	BAD(C, "random_size=3", "takes no value"), { C "random,random_size", "random_size: given twice" },
	USELESS(C "random,bw", "random_size", "bw"), USELESS(S "random,fr", "random_size", "fr"),
	{ S "server_invalidate,server_inv", "server_inv: given twice" }, { C "read-inv,read_inv", "read_inv: given twice" },
	USELESS(C "stag0,rlat", "local_dma_lkey", "rlat"), { C "mem_mode=fastreg,mem_mode=reg", "mem_mode=reg: given twice" },
	BAD(C, "test=fastreg", "not one of its values"), BAD(C, "size=0K", "out of range (1..2097152)"),
	BAD(C, "size=3M", "out of range (1..2097152)"), BAD(C, "size=4294967295G", "out of range (1..2097152)"),
	BAD(C, "count=1K", "not a number"), BAD(C, "timeout", "needs a value"), BAD(C, "timeout=", "not a number"),
	BAD(C, "timeout=s", "not a number"), BAD(C, "timeout=ms", "not a number"), BAD(C, "timeout=1m", "not a number"),
	BAD(C, "timeout=1ns", "not a number"), BAD(C, "timeout=1.5s", "not a number"),
	BAD(C, "timeout=0", "out of range (1ms..86400s)"), BAD(C, "timeout=999us", "out of range (1ms..86400s)"),
	BAD(C, "timeout=86401", "out of range (1ms..86400s)"), BAD(C, "timeout=4294967295s", "out of range (1ms..86400s)"),
	{ C "size=1 ,count=1", "size=1 : not a number" }, BAD(C, "size=010", "leading zero"), BAD(C, "count=+5", "not a number"),
	BAD(C, "count=+010", "not a number"), BAD(C, "size=00", "leading zero"),
	BAD(C, "size=0x", "not a number"), BAD(C, "size=0xg", "not a number"), BAD(C, "size=a", "not a number"),
	BAD(C, "size=1=1", "not a number"), BAD(C, "size=4294967296", "out of range (1..2097152)"),
	BAD(C, "size=18446744073709551680", "out of range (1..2097152)"),
	BAD(C, "count=2147483648", "out of range (0..2147483647)"),
	{ C "count=99999999999999999999999999999999999999999",
	  "count=9999999999999999999999999999999999...: out of range (0..2147483647)" },
	{ "server,port=0", "port=0: out of range (1..65535)" }, { "server,port=65536", "port=65536: out of range (1..65535)" },
	BAD(S, "port=7", "given twice"), BAD(C, "server_inv=1", "takes no value"), BAD(C, "verbose=", "takes no value"),
	{ C "validate,validate", "validate: given twice" }, BAD(C, "client", "given twice"),
	BAD(C, "test=", "not one of its values"), BAD(C, "test=rpin", "not one of its values"),
	BAD(C, "test=rpingx", "not one of its values"), BAD(C, "mem_mode=dmaX", "not one of its values"),
	{ C "mem_mode=dma,server_inv", "server_inv: the key of mem_mode=dma is never invalidated" },
	{ C "mem_mode=dma,local_dma_lkey", "local_dma_lkey: with mem_mode=dma nothing is registered" },
	{ C "mem_mode=dma,fr", "mem_mode: what test=fr does is to register" },
	{ S "mem_mode=dma,read_inv", "read_inv: the key of mem_mode=dma is never invalidated" },
	BAD(S, "addr=1.2.3.4.", "not an IPv4 address"), BAD(S, "addr=1.2.3.256", "not an IPv4 address"), { C "\tsize=1", "?size=1: there is a blank before it" },
	{ S "addr=1.2.3.4 ,count=1", "addr=1.2.3.4 : not an IPv4 address" },
	BAD(S, "addr=", "not an IPv4 address"), BAD(S, "addr", "needs a value"),
	{ C "a\x1b[31m\nb\x7f\xff", "a?[31m?b??: unknown option" },
	BAD(C, "0123456789012345678901234567890123456789", "unknown option"),
	{ C "01234567890123456789012345678901234567890", "0123456789012345678901234567890123456789...: unknown option" },
	{ C "idle=2", "idle: only a server has it" }, BAD(S, "idle=86401", "out of range (0..86400s)"),
	{ C "clients=2", "clients: only a server has it" }, BAD(S, "clients=0", "out of range (1..256)"),
	BAD(S, "clients=257", "out of range (1..256)"), { C "id=2", "id: only stop has it" }, { S "id=2", "id: only stop has it" },
	{ "stop", "id: missing" }, { "stop,id=0", "id=0: out of range (1..4294967295)" },
	{ "stop,id=4294967296", "id=4294967296: out of range (1..4294967295)" }, { "stop,id=1,id=2", "id=2: given twice" },
	{ "stop,id=1,port=7", "port: only a server or client has it" }, { "stop,id=1,verbose", "verbose: only a server or client has it" },
	{ "stop,id=1,poll", "poll_ctx: only a server or client has it" }, { "stop,id=1,persistent", "persistent: only a server has it" },
	{ "stop,server,id=1", "more than one of server, client and stop" },
	{ "client,stop,id=1", "more than one of server, client and stop" }, BAD(C, "addr6=::1", "given twice"),
	{ "client,addr6=::1,port=7,addr=1.2.3.4", "addr=1.2.3.4: given twice" },
	{ "client,addr6=::1,port=7,addr6=::1", "addr6=::1: given twice" },
	{ "client,addr6=::,port=7", "addr: a client needs the server's address" },
	{ "server,addr6=1.2.3.4,port=7", "addr6=1.2.3.4: not an IPv6 address" },
	{ "server,addr=::1,port=7", "addr=::1: not an IPv4 address" }, { "server,addr6=,port=7", "addr6=: not an IPv6 address" },
	{ "server,addr6,port=7", "addr6: needs a value" }, { "server,addr6=[::1],port=7", "addr6=[::1]: not an IPv6 address" },
	BAD(S, "addr6=fe80::1", NEEDS_SCOPE), BAD(S, "addr6=febf:ffff::1", NEEDS_SCOPE), BAD(S, "addr6=::1%lo", HAS_NO_SCOPE),
	BAD(S, "addr6=fec0::1%eth0", HAS_NO_SCOPE), BAD(S, "addr6=ff02::1%eth0", HAS_NO_SCOPE), BAD(S, "addr6=::%eth0", HAS_NO_SCOPE),
	BAD(S, "addr6=fe80::1%", BAD_SCOPE), BAD(S, "addr6=fe80::1%0123456789abcdef", BAD_SCOPE), BAD(S, "addr6=fe80::1%a b", BAD_SCOPE),
	{ S "addr6=fe80::1%a\x7f", "addr6=fe80::1%a?: " BAD_SCOPE }, BAD(S, "addr6=::ffff:10.9.0.1", "an IPv4 address; write it as a.b.c.d"),
	BAD(S, "addr6=%eth0", "not an IPv6 address"), BAD(S, "addr6=::1/64", "not an IPv6 address"), BAD(S, "addr6=1::2::3", "not an IPv6 address"),
	{ S "bind=10.9.0.1", "bind: only a client has it" }, BAD(S, "tos=256", "out of range (0..255)"),
	BAD(C, "bind=", "not an IPv4 address"), BAD(C, "bind", "needs a value"), BAD(C, "bind=1.2.3", "not an IPv4 address"),
	BAD(C, "bind=:::", "not an IPv6 address"), { C "bind=1.2.3.4,bind=1.2.3.4", "bind=1.2.3.4: given twice" },
	{ C "bind=0.0.0.0", "bind: any address is what a client has without it" },
	{ "client,addr6=::1,port=7,bind=::", "bind: any address is what a client has without it" },
	{ C "bind=fd09::1", "bind: one of IPv4 and IPv6, the server's address is of the other" },
	{ "client,addr6=::1,port=7,bind=1.2.3.4", "bind: one of IPv4 and IPv6, the server's address is of the other" },
	BAD(C, "bind=fe80::1", NEEDS_SCOPE),
	{ S "chain,validate", "chain: a server with validate or verbose has to look at the data in between" },
	{ S "verbose,chain", "chain: a server with validate or verbose has to look at the data in between" },
	{ C "fr,test=rping", "test=rping: given twice" }, USELESS(C "fr,validate", "validate", "fr"),
	USELESS(C "test=fr,chain", "chain", "fr"), USELESS(C "post_list=2", "post_list", "rping"),
	USELESS(C "wlat,signal=2", "signal", "wlat"), USELESS(C "rlat,inline_size=2", "inline_size", "rlat"),
	USELESS(C "bw,interval=1", "interval", "bw"), USELESS(S "fr,signal=2", "signal", "fr"),
	{ S "interval=1", "interval: only a client has it" }, BAD(C, "interval=0", "out of range (1us..3600s)"),
	BAD(C, "interval=3601s", "out of range (1us..3600s)"), BAD(C, "warmup=1000001", "out of range (0..1000000)"),
	{ C "bw,inline_size=4097", "inline_size=4097: out of range (0..4096)" },
	{ C "bw,queues=17", "queues=17: out of range (1..16)" }, USELESS(C "wlat,queues=2", "queues", "wlat"),
	{ C "bw,post_list=0", "post_list=0: out of range (1..65535)" },
	{ C "bw,post_list=65", "post_list: more than txdepth, which is 64" },
	{ C "bw,signal=65", "signal: more than txdepth, which is 64" },
	{ C "bw,txdepth=4,signal=5", "signal: more than txdepth, which is 4" }, { C "accept=bw", "accept: only a server has it" },
	BAD(S, "accept=", "tests, or a size of up to 2M, with + between them"),
	BAD(S, "accept=b", "tests, or a size of up to 2M, with + between them"), BAD(S, "accept=1K+2K", "has two sizes"),
	BAD(S, "accept=0", "tests, or a size of up to 2M, with + between them"), BAD(S, "accept=2049K", "tests, or a size of up to 2M, with + between them"),
	{ S "accept=bw,test=rlat", "accept: it leaves out this server's own test or size" },
	{ S "accept=64,size=65", "accept: it leaves out this server's own test or size" },
	BAD(C, "local_dma_lkey=1", "takes no value"), USELESS(C "local_dma_lkey,rlat", "local_dma_lkey", "rlat"),
	USELESS(C "local_dma_lkey,fr", "local_dma_lkey", "fr"), USELESS(C "server_inv,rlat", "server_inv", "rlat"),
	{ C "server_inv,bw", "server_inv: test=bw has no use for it without duplex" }, BAD(C, "persistent", "only a server has it"),
	BAD(S, "persistent=1", "takes no value"), { C "poll,poll_ctx=thread", "poll_ctx=thread: given twice" },
	{ C "poll_ctx=thread,poll", "poll: given twice" }, BAD(C, "poll=1", "takes no value"),
	BAD(C, "comp_vector=65536", "out of range (0..65535)"), BAD(C, "cpu=65536", "out of range (0..65535)"),
	BAD(C, "cpu=-1", "not a number"), BAD(C, "cpu", "needs a value"), BAD(C, "poll_ctx=direct", "not one of its values"),
	BAD(C, "poll_ctx", "needs a value"), BAD(C, "name", "needs a value"), BAD(C, "name=", "needs a label"),
	BAD(C, "name=-", "this is what a run without a label shows"), { C "name=a,name=b", "name=b: given twice" },
	{ C "name=a,b", "b: unknown option" }, BAD(C, "name=a b", "a label is printable ASCII without blank, quotes and backslash"),
	{ C "name=a\"", "name=a\": a label is printable ASCII without blank, quotes and backslash" }, BAD(C, "name='a'", "a label is printable ASCII without blank, quotes and backslash"),
	{ C "name=a\\x", "name=a\\x: a label is printable ASCII without blank, quotes and backslash" }, { C "name=a\tb", "name=a?b: a label is printable ASCII without blank, quotes and backslash" },
	{ C "name=a\x1b[2J", "name=a?[2J: a label is printable ASCII without blank, quotes and backslash" },
	{ C "name=\xc3\xbc", "name=??: a label is printable ASCII without blank, quotes and backslash" },
	BAD(C, "name=12345678901234567890123456789012", "longer than 31 characters"),
	USELESS(C "read_inv,wlat", "read_inv", "wlat"), USELESS(S "read_inv,wlat", "read_inv", "wlat"),
	BAD(C, "srq=1", "takes no value"), { C "srq,srq", "srq: given twice" }, BAD(C, "tos=256", "out of range (0..255)"),
	BAD(C, "tos", "needs a value"), { C "bw,wlat", "wlat: given twice" }, USELESS(C "rlat,validate", "validate", "rlat"),
	BAD(C, "duplex", "test=rping has no use for it"), USELESS(C "fast,duplex", "duplex", "fast"),
	/* The test decides these. */
	USELESS(C "test=protect,count=5", "count", "protect"), USELESS(C "test=protect,size=64", "size", "protect"),
	USELESS(C "warmup=1,test=protect", "warmup", "protect"), USELESS(C "test=protect,mem_mode=reg", "mem_mode", "protect"),
	USELESS(C "case=read", "case", "rping"), USELESS(C "test=protect,interval=1", "interval", "protect"),
	USELESS(S "test=protect,idle=9s", "idle", "protect"), USELESS(S "test=bw,case=read", "case", "bw"),
	{ C "test=protect", "case: missing; \"krping client ADDRESS protect\" runs all cases" }, { C "test=protect,case=reed", "case=reed: not one of its values" },
	{ S "test=protect,accept=protect+4K", "accept: it leaves out this server's own test or size" },
	BAD(C, "txdepth=0", "out of range (1..65535)"), BAD(C, "tx-depth=65536", "out of range (1..65535)"),
	{ C "txdepth=1,tx-depth=2", "tx-depth=2: given twice" },
};
/* clang-format on */

TEST(refuses)
{
	struct krping_params params;

	each(row, bad) {
		if (parse(row->text, &params) != -EINVAL)
			fail_msg("\"%s\" is taken", row->text);
		if (strcmp(reason, row->reason))
			fail_msg("\"%s\": got \"%s\", wanted \"%s\"", row->text, reason,
				 row->reason);
	}
}

TEST(nul_is_no_end)
{
	static const char text[] = "server,port=7\0,size=1";
	struct krping_params params;

	assert_int_equal(parse_n(text, sizeof(text) - 1, &params), -EINVAL);
	assert_string_equal(reason, "port=7?: has a NUL");
	assert_int_equal(parse_n(text, 14, &params), -EINVAL);
	assert_int_equal(parse_n(text, 13, &params), 0);
	assert_int_equal(parse_n("\0", 1, &params), -EINVAL);
	assert_string_equal(reason, "?: has a NUL");
}

TEST(length)
{
	char text[KRPING_CMD_MAX + 2];
	struct krping_params params;
	int n;

	for (n = 127; n <= 128; n++) {
		memset(text, '0', sizeof(text));
		memcpy(text, "server,port=7,size=0x", 21);
		text[13 + n] = '1';
		assert_int_equal(parse_n(text, 14 + n, &params), n == 127 ? 0 : -EINVAL);
	}
	assert_string_equal(reason, "size=0x000000000000000000000000000000000...: too long");

	memset(text, ',', sizeof(text));
	memcpy(text, "server,port=7", 13);
	assert_int_equal(parse_n(text, KRPING_CMD_MAX, &params), 0);
	for (n = 1; n <= 2; n++) {
		assert_int_equal(parse_n(text, KRPING_CMD_MAX + n, &params), -EINVAL);
		assert_string_equal(reason, "longer than 1024 bytes");
	}
}

TEST(given)
{
	struct krping_params params;

	assert_int_equal(parse("server,port=7,size=64,validate", &params), 0);
	assert_true(krping_option_given(&params, KRPING_OPT_SERVER));
	assert_true(krping_option_given(&params, KRPING_OPT_PORT));
	assert_true(krping_option_given(&params, KRPING_OPT_SIZE));
	assert_true(krping_option_given(&params, KRPING_OPT_VALIDATE));
	assert_false(krping_option_given(&params, KRPING_OPT_CLIENT));
	assert_false(krping_option_given(&params, KRPING_OPT_COUNT));
}

static const struct {
	const char *server, *client, *differs;
	__u32 size, count;
} agreements[] = TABLE(
	{ "", "", NULL, 64, 0 }, { "", ",size=100,count=5", NULL, 100, 5 }, { ",size=100", ",size=100,count=5", NULL, 100, 5 },
	{ ",size=100,count=5", ",size=100,count=5", NULL, 100, 5 }, { ",size=64", ",size=100", "size", 0, 0 },
	{ ",size=64", "", NULL, 64, 0 }, { ",size=100", "", "size", 0, 0 }, { ",count=5", "", "count", 0, 0 },
	{ ",count=0", ",count=5", "count", 0, 0 }, { ",count=5", ",count=6", "count", 0, 0 },
	{ ",server_inv", ",server_inv", NULL, 64, 0 }, { ",server_inv", "", "server_inv", 0, 0 },
	{ "", ",server_inv", "server_inv", 0, 0 }, { ",validate,verbose", "", NULL, 64, 0 },
	{ "", ",validate,verbose", NULL, 64, 0 }, { ",test=rping", "", NULL, 64, 0 }, { ",test=rping", ",bw", "test", 0, 0 },
	{ "", ",bw,size=100,warmup=7", NULL, 100, 0 }, { ",warmup=7", "", "warmup", 0, 0 },
	{ ",warmup=7", ",warmup=7", NULL, 64, 0 }, { ",accept=rping+fr", ",bw", "accept", 0, 0 },
	{ ",accept=rping+bw", ",bw", NULL, 64, 0 }, { ",accept=100", ",bw,size=100", NULL, 100, 0 },
	{ ",accept=100", ",bw,size=101", "accept", 0, 0 }, { ",accept=64K", ",fast", NULL, 65536, 0 },
	{ ",fast,accept=4K", ",fast,size=1K", NULL, 1024, 0 }, { ",fast,accept=4K", ",fast", "accept", 0, 0 },
	{ ",accept=bw", ",bw", NULL, 64, 0 }, { ",read_inv", "", NULL, 64, 0 }, { ",read_inv", ",read_inv", NULL, 64, 0 },
	{ "", ",read_inv", NULL, 64, 0 }, { "", ",read_inv,mem_mode=dma", NULL, 64, 0 },
	{ ",mem_mode=dma", ",read_inv", "read_inv", 0, 0 }, { "", ",tos=32", NULL, 64, 0 }, { ",tos=32", ",tos=32", NULL, 64, 0 },
	{ ",tos=32", ",tos=0", "tos", 0, 0 }, { ",tos=0", "", "tos", 0, 0 }, { ",tos=32", "", "tos", 0, 0 },
	{ ",random_size", ",random_size", NULL, 64, 0 }, { ",random_size", "", "random_size", 0, 0 },
	{ ",random_size", ",wlat", "random_size", 0, 0 }, { ",read_inv", ",wlat", "read_inv", 0, 0 },
	{ ",local_dma_lkey", ",wlat", NULL, 64, 0 }, { ",local_dma_lkey", ",rlat", "local_dma_lkey", 0, 0 },
	{ ",mem_mode=dma", ",mem_mode=reg", NULL, 64, 0 }, { ",mem_mode=dma,server_inv", ",server_inv", NULL, 64, 0 },
	{ ",signal=2", ",bw", NULL, 64, 0 }, { ",signal=2", ",rlat", "signal", 0, 0 }, { ",signal=2", "", "signal", 0, 0 },
	{ "", ",bw,queues=8", NULL, 64, 0 }, { ",queues=2", ",bw,queues=4", "queues", 0, 0 }, { ",queues=2", ",wlat", "queues", 0, 0 },
	{ ",duplex", ",rlat", "duplex", 0, 0 }, { "", ",random_size,size=2M", NULL, 2097152, 0 },
	{ ",size=100,offset=7", ",random,size=100,offset=8", NULL, 100, 0 }, { ",size=100", ",random_size,size=99", "size", 0, 0 },
	{ ",accept=1M", ",size=1048577", "accept", 0, 0 }, { ",mem_mode=dma", ",size=131073", "size", 0, 0 },
	{ ",mem_mode=dma", ",size=131072", NULL, 131072, 0 }, { ",local_dma_lkey", ",size=131073", "size", 0, 0 },
	{ "", ",size=131072,mem_mode=dma", NULL, 131072, 0 }, { "", PROTECT, NULL, KRPING_PROTECT_SIZE, 1 },
	{ ",test=protect", PROTECT, NULL, KRPING_PROTECT_SIZE, 1 }, { ",test=protect", "", "test", 0, 0 },
	{ PROTECT, PROTECT, NULL, KRPING_PROTECT_SIZE, 1 }, { ",test=protect,case=read", PROTECT, "case", 0, 0 },
	{ ",count=5", PROTECT, "count", 0, 0 }, { ",size=4K", PROTECT, "size", 0, 0 },
	{ ",accept=rping+fr", PROTECT, "accept", 0, 0 }, { ",accept=4K", PROTECT, "accept", 0, 0 },
	{ ",accept=protect+12K", PROTECT, NULL, KRPING_PROTECT_SIZE, 1 }, { ",persistent", PROTECT, NULL, KRPING_PROTECT_SIZE, 1 },
	{ ",clients=4", PROTECT, NULL, KRPING_PROTECT_SIZE, 1 }, { ",idle=9s", PROTECT, "idle", 0, 0 },
	{ ",mem_mode=dma", PROTECT, "mem_mode", 0, 0 }, { ",validate", PROTECT, "validate", 0, 0 },
	{ "", ",bw,signal=2,post_list=2,txdepth=4,inline_size=64", NULL, 64, 0 },
);

/* Parses the commands of a server and of a client, which have these options. */
static void parse_both(const char *for_server, struct krping_params *server, const char *for_client,
		       struct krping_params *client)
{
	char text[128];

	snprintf(text, sizeof(text), "server,port=7%s", for_server);
	assert_int_equal(parse(text, server), 0);
	snprintf(text, sizeof(text), "client,addr=1.2.3.4,port=7%s", for_client);
	assert_int_equal(parse(text, client), 0);
}

TEST(agree)
{
	each(row, agreements) {
		struct krping_params mine, peer, before;
		const char *differs;

		parse_both(row->server, &mine, row->client, &peer);
		before = mine;
		differs = krping_params_agree(&mine, &peer);
		if (strcmp(differs ?: "nothing", row->differs ?: "nothing"))
			fail_msg("\"%s\" and \"%s\": %s differs", row->server, row->client,
				 differs ?: "nothing");
		if (differs)
			continue;
		assert_int_equal(mine.size, row->size);
		assert_int_equal(mine.count, row->count);
		/* The client changes no other parameter of the server. */
		before.size = mine.size;
		before.count = mine.count;
		assert_int_equal(mine.test, peer.test);
		before.test = mine.test;
		assert_int_equal(mine.case_nr, peer.case_nr);
		before.case_nr = mine.case_nr;
		assert_int_equal(mine.warmup, peer.warmup);
		before.warmup = mine.warmup;
		assert_int_equal(mine.queues, peer.queues);
		before.queues = mine.queues;
		assert_int_equal(mine.flags & KRPING_RUN_F_RANDOM_SIZE,
				 peer.flags & KRPING_RUN_F_RANDOM_SIZE);
		before.flags |= mine.flags & KRPING_RUN_F_RANDOM_SIZE;
		assert_false(peer.flags & ~mine.flags & KRPING_RUN_F_READ_INV);
		before.flags |= peer.flags & KRPING_RUN_F_READ_INV;
		/* The client is content with the answer. */
		assert_null(krping_params_same(&peer, &mine));
		assert_memory_equal(&before, &mine, sizeof(mine));
	}
}

/* What a client reads of an option that differs. */
static const struct {
	const char *server, *client, *name, *text;
} values[] = {
	{ ",size=100", "", "size", ": 100 there, 64 here" },
	{ ",count=7", ",count=8", "count", ": 7 there, 8 here" },
	{ "", ",warmup=1", "warmup", ": 0 there, 1 here" },
	{ ",bw", "", "test", ": bw there, rping here" },
	{ ",tos=32", ",tos=0", "tos", ": 32 there, 0 here" },
	{ ",tos=0", "", "tos", ": 0 there, none here" },
	{ ",server_inv", "", "server_inv", ": there, not here" },
	{ "", ",read_inv", "read_inv", ": here, not there" },
	{ "", ",random", "random_size", ": here, not there" },
	{ ",mem_mode=dma", "", "mem_mode", "" },
	{ ",validate", "", "validate", "" },
	{ "", "", "bw", "" },
	{ "", "", "server", "" },
	{ "", "", "nope", "" },
	{ "", "", "", "" },
};

TEST(differing_values)
{
	struct krping_params server, client;
	char text[48];

	each(row, values) {
		parse_both(row->server, &server, row->client, &client);
		krping_params_values(&client, &server, row->name, text, sizeof(text));
		assert_string_equal(text, row->text);
	}
	/* A peer may send what no command has. */
	server.test = 255;
	krping_params_values(&client, &server, "test", text, sizeof(text));
	assert_string_equal(text, ": 255 there, rping here");
	server.size = 0xffffffff;
	krping_params_values(&client, &server, "size", text, sizeof(text));
	assert_string_equal(text, ": 4294967295 there, 64 here");
}

/* Each option has a line of help, which is not cut off. */
TEST(help)
{
	unsigned int row;
	char line[160];

	printer();
	for (row = 0; krping_option_help(row, line, sizeof(line)); row++) {
		if (!line[0])
			continue;
		assert_true(strlen(line) < sizeof(line) - 1);
		assert_null(strchr(line, '\n'));
		fprintf(unit_out, "%.*s ", (int)strcspn(line, " "), line);
	}
	same_text("options", printed(),
		  "server client stop addr addr6 port bind tos count size random_size offset timeout idle test fr wlat rlat bw fast "
		  "case duplex queues txdepth post_list signal inline_size warmup interval accept mem_mode poll_ctx poll comp_vector cpu "
		  "srq chain server_inv read_inv local_dma_lkey split validate verbose "
		  "window shared ro sector in_capsule local_inv io_timeout name clients persistent id ");
	assert_false(krping_option_help(row, line, sizeof(line)));
	assert_false(krping_option_help(~0u, line, sizeof(line)));
}
