// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ranges come from the text of /proc/krping_help and not from the parser's
 * constants, so they are what a user is promised. An option with a range that
 * has no row below ends the fuzzer: somebody has to say where its value is.
 */
#include <sys/socket.h>

#include "fuzz.h"
#include "params.h"

#define given(p, id) krping_option_given(p, id)
#define RUN_FLAGS                                                                                \
	(KRPING_RUN_F_VERBOSE | KRPING_RUN_F_VALIDATE | KRPING_RUN_F_SERVER_INV |                \
	 KRPING_RUN_F_CHAIN | KRPING_RUN_F_SPLIT | KRPING_RUN_F_DUPLEX | KRPING_RUN_F_READ_INV | \
	 KRPING_RUN_F_LOCAL_DMA_LKEY | KRPING_RUN_F_DMA | KRPING_RUN_F_RANDOM_SIZE |             \
	 KRPING_RUN_F_SRQ | KRPING_RUN_F_SHARED | KRPING_RUN_F_RO)

struct field {
	const char *name;
	size_t offset;
	bool wide; /* a time, in 64 bits */
	/* From here on it comes from the table. */
	unsigned int row;
	uint64_t min, max;
};

/* clang-format off */
#define NUMBER(member)		{ .name = #member, .offset = offsetof(struct krping_params, member) }
#define TIME(option, member)	{ .name = option, .offset = offsetof(struct krping_params, member), .wide = true }
static struct field fields[] = {
	NUMBER(port), NUMBER(tos), NUMBER(count), NUMBER(size), NUMBER(txdepth), NUMBER(post_list),
	NUMBER(signal), NUMBER(inline_size), NUMBER(warmup), NUMBER(comp_vector), NUMBER(cpu),
	NUMBER(clients), NUMBER(id), NUMBER(offset), NUMBER(queues), NUMBER(window),
	NUMBER(in_capsule),
	TIME("timeout", timeout_ns), TIME("idle", idle_ns), TIME("interval", interval_ns),
	TIME("io_timeout", io_timeout_ns),
};
/* clang-format on */

static char names[KRPING_NR_OPTIONS][16];

/* Parses a bound such as 65535, 1us or 86400s. false: it is none. */
static bool bound(const char *s, uint64_t *v)
{
	unsigned long long n;
	char unit[4] = "";

	if (sscanf(s, "%llu%3[a-z]", &n, unit) < 1)
		return false;
	*v = n * (!strcmp(unit, "us") ? 1000ULL :
		  !strcmp(unit, "ms") ? 1000000ULL :
		  !strcmp(unit, "s")  ? 1000000000ULL :
					1);
	return true;
}

static void learn_row(unsigned int row, const char *line)
{
	uint64_t min, max;
	char value[32];
	const char *dots;
	size_t i;

	CHECK(sscanf(line, "%15s %31s", names[row], value) == 2);
	dots = strstr(value, "..");
	if (!dots || !bound(value, &min) || !bound(dots + 2, &max))
		return;
	CHECK(min <= max);
	for (i = 0; i < ARRAY_LEN(fields); i++) {
		if (strcmp(fields[i].name, names[row]))
			continue;
		fields[i].row = row;
		fields[i].min = min;
		fields[i].max = max;
		return;
	}
	fprintf(stderr, "%s has a range, and no row in tests/fuzz/params.c\n", names[row]);
	abort();
}

static void learn(void)
{
	static bool done;
	unsigned int row;
	char line[256];
	size_t i;

	if (done)
		return;
	for (row = 0; krping_option_help(row, line, sizeof(line)); row++) {
		/* Behind the options of this version are those that it only knows by name. */
		if (row < KRPING_NR_OPTIONS)
			learn_row(row, line);
		else
			CHECK(!*line);
	}
	for (i = 0; i < ARRAY_LEN(fields); i++)
		CHECK(fields[i].max);
	done = true;
}

static uint64_t value(const struct field *f, const struct krping_params *p)
{
	const char *at = (const char *)p + f->offset;

	return f->wide ? *(const __u64 *)at : *(const __u32 *)at;
}

static void check_address(const struct krping_address *a)
{
	static const __u8 zero[12];
	bool link_local = a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;

	CHECK(a->family == 0 || a->family == AF_INET || a->family == AF_INET6);
	CHECK_TEXT(a->scope, sizeof(a->scope));
	CHECK(!*a->scope == !(a->family == AF_INET6 && link_local));
	CHECK(a->family == AF_INET6 || !memcmp(a->bytes + 4, zero, sizeof(zero)));
	CHECK(a->family || krping_address_is_any(a));
}

void fuzz_check_values(const struct krping_params *p)
{
	size_t i;

	learn();
	for (i = 0; i < ARRAY_LEN(fields); i++) {
		const struct field *f = &fields[i];
		uint64_t v = value(f, p);

		/* 0 is what an option has that was not given. */
		CHECK((v >= f->min && v <= f->max) || (!v && !given(p, f->row)));
	}
	CHECK(!(p->given >> KRPING_NR_OPTIONS));
	CHECK(p->role < KRPING_NR_ROLES);
	CHECK(p->test < KRPING_NR_TESTS);
	CHECK(p->poll_ctx < KRPING_NR_POLLS);
	CHECK(!(p->flags & ~RUN_FLAGS));
	CHECK(p->mem_mode < KRPING_NR_MEMS);
	CHECK(!(p->flags & KRPING_RUN_F_DMA) == (p->mem_mode != KRPING_MEM_DMA));
	CHECK(!(p->accept_tests >> KRPING_NR_TESTS));
	CHECK(p->accept_size <= KRPING_SIZE_MAX);
	CHECK(p->window % KRPING_BLOCK_UNIT == 0);
	CHECK(!p->sector || p->sector == 512 || p->sector == 4096);
	CHECK_TEXT(p->name, sizeof(p->name));
	CHECK(!strpbrk(p->name, " ,\"'\\") && strcmp(p->name, "-"));
	check_address(&p->addr);
	check_address(&p->bind);
}

/* What only a disk has. */
static void check_block(const struct krping_params *p, bool server)
{
	bool block = p->test == KRPING_TEST_BLOCK;

	CHECK(!p->window == !(server && block));
	CHECK(block == !!p->sector && block == !!p->io_timeout_ns);
	CHECK(server || !(p->flags & KRPING_RUN_F_SHARED));
	CHECK(!server || !(given(p, KRPING_OPT_SECTOR) || given(p, KRPING_OPT_LOCAL_INV) ||
			   given(p, KRPING_OPT_IO_TIMEOUT)));
	if (!block)
		return;
	CHECK(p->txdepth <= KRPING_BLOCK_DEPTH && (server || p->txdepth));
	CHECK(p->size <= KRPING_BLOCK_CHUNK && p->size % KRPING_BLOCK_UNIT == 0);
	CHECK(p->poll_ctx == KRPING_POLL_SOFTIRQ || p->poll_ctx == KRPING_POLL_WORKQUEUE);
	CHECK(!p->count && !p->warmup);
}

void fuzz_check_command(const struct krping_params *p)
{
	bool server = given(p, KRPING_OPT_SERVER), client = given(p, KRPING_OPT_CLIENT),
	     stop = given(p, KRPING_OPT_STOP);
	uint32_t depth = p->txdepth ? p->txdepth : KRPING_TXDEPTH;

	fuzz_check_values(p);
	CHECK(server + client + stop == 1);
	CHECK(p->role == (server ? KRPING_ROLE_SERVER :
			  client ? KRPING_ROLE_CLIENT :
				   KRPING_ROLE_STOP));
	if (stop) {
		/* It has nothing but a number. */
		CHECK(p->given == (1ULL << KRPING_OPT_STOP | 1ULL << KRPING_OPT_ID) && p->id);
		CHECK(!p->size && !p->port && !p->flags);
		return;
	}
	CHECK(!p->id && p->port && p->size);
	check_block(p, server);
	CHECK(p->post_list <= depth && p->signal <= depth);
	/* The one key for all memory is never invalidated; the READs that do so are the server's. */
	CHECK(p->mem_mode != KRPING_MEM_DMA || !(p->flags & KRPING_RUN_F_LOCAL_DMA_LKEY));
	CHECK(p->mem_mode != KRPING_MEM_DMA || client || !(p->flags & KRPING_RUN_F_READ_INV));
	/* What a key for all memory names is contiguous. */
	CHECK(p->size <= KRPING_SIZE_CONTIGUOUS ||
	      !(p->flags & (KRPING_RUN_F_DMA | KRPING_RUN_F_LOCAL_DMA_LKEY)));
	CHECK(!client || !krping_address_is_any(&p->addr));
	CHECK(client || (!p->bind.family && !p->interval_ns));
	CHECK(server || (!p->clients && !p->accept_tests && !p->accept_size));
	CHECK(!p->bind.family ||
	      (p->bind.family == p->addr.family && !krping_address_is_any(&p->bind)));
	CHECK(!p->clients || given(p, KRPING_OPT_CLIENTS) || given(p, KRPING_OPT_PERSISTENT));
	CHECK(!!*p->name == given(p, KRPING_OPT_NAME));
	CHECK(!p->count || given(p, KRPING_OPT_COUNT));
	CHECK(!p->test || given(p, KRPING_OPT_TEST));
	/* What a server has given is also what it takes. */
	CHECK(!p->accept_tests || !given(p, KRPING_OPT_TEST) || p->accept_tests >> p->test & 1);
	CHECK(!p->accept_size || !given(p, KRPING_OPT_SIZE) || p->size <= p->accept_size);
}

void fuzz_check_agreed(const struct krping_params *mine, const struct krping_params *after)
{
	struct krping_params p = *mine;

	fuzz_check_values(after);
	CHECK(!given(mine, KRPING_OPT_TEST) || mine->test == after->test);
	CHECK(!given(mine, KRPING_OPT_SIZE) || mine->size == after->size);
	CHECK(!given(mine, KRPING_OPT_COUNT) || mine->count == after->count);
	CHECK(!given(mine, KRPING_OPT_WARMUP) || mine->warmup == after->warmup);
	CHECK(!given(mine, KRPING_OPT_QUEUES) || mine->queues == after->queues);
	CHECK(after->size <= KRPING_SIZE_CONTIGUOUS ||
	      !(after->flags & (KRPING_RUN_F_DMA | KRPING_RUN_F_LOCAL_DMA_LKEY)));
	CHECK(!given(mine, KRPING_OPT_DUPLEX) || after->flags & KRPING_RUN_F_DUPLEX);
	CHECK(!given(mine, KRPING_OPT_RANDOM_SIZE) || after->flags & KRPING_RUN_F_RANDOM_SIZE);
	/* A client may ask for it, and cannot forbid it. */
	CHECK(!(mine->flags & ~after->flags & KRPING_RUN_F_READ_INV));
	if (after->test == KRPING_TEST_BLOCK && after->txdepth != mine->txdepth) {
		CHECK(after->txdepth <= KRPING_BLOCK_DEPTH &&
		      (!mine->txdepth || after->txdepth < mine->txdepth));
		p.txdepth = after->txdepth;
	}
	/* These are the peer's to choose; a byte of all others must not have changed. */
	p.test = after->test;
	p.size = after->size;
	p.count = after->count;
	p.warmup = after->warmup;
	p.queues = after->queues;
	p.flags ^= (p.flags ^ after->flags) &
		   (KRPING_RUN_F_DUPLEX | KRPING_RUN_F_RANDOM_SIZE | KRPING_RUN_F_READ_INV);
	CHECK(!memcmp(&p, after, sizeof(p)));
}

void fuzz_check_name(const char *name)
{
	unsigned int row;

	learn();
	if (!name)
		return;
	for (row = 0; row < KRPING_NR_OPTIONS; row++) {
		if (!strcmp(names[row], name))
			return;
	}
	fprintf(stderr, "\"%s\" is no option\n", name);
	abort();
}
