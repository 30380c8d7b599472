// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Events of a trace.dat, as libtracecmd hands them over: fields that are found by name, and what is cut off or forged. */
#include "unit.h"
#include <trace-cmd.h>
#include <unistd.h>
#include "tools/lib/tool.h"
#include "tools/lib/tracedat.h"

#define CPUS 2

/* In place of libtracecmd: the records of each CPU. */
static struct tep_handle *tep;
static struct tep_record records[CPUS][8];
static unsigned int nr[CPUS], at[CPUS];

struct tracecmd_input *tracecmd_open_fd(int fd, int flags)
{
	assert_int_equal(flags, TRACECMD_FL_LOAD_NO_PLUGINS);
	close(fd);
	return (struct tracecmd_input *)records;
}

struct tep_handle *tracecmd_get_tep(UNUSED struct tracecmd_input *in)
{
	return tep;
}

struct tep_record *tracecmd_read_data(UNUSED struct tracecmd_input *in, int cpu)
{
	return at[cpu] < nr[cpu] ? &records[cpu][at[cpu]++] : NULL;
}

void tracecmd_free_record(UNUSED struct tep_record *rec)
{
}

void tracecmd_close(UNUSED struct tracecmd_input *in)
{
}

void tracecmd_set_loglevel(UNUSED enum tep_loglevel level)
{
}

/* The fields of an event, behind those of all events, as "TYPE NAME SIZE" each. Some are older, newer, or elsewhere than in this version. */
static void format(int id, const char *name, const char *fields)
{
	char text[2048], type[32], field[32];
	unsigned int offset = 8, size;
	int len, n;

	len = snprintf(text, sizeof(text),
		       "name: krping_%s\nID: %d\nformat:\n"
		       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		       name, id);
	for (; sscanf(fields, " %31s %31s %u%n", type, field, &size, &n) == 3; fields += n) {
		if (*field == '[')
			len += snprintf(text + len, sizeof(text) - len, "\tfield:%s %s[%u]", type,
					field + 1, size);
		else if (*field == '@')
			len += snprintf(text + len, sizeof(text) - len,
					"\tfield:__data_loc %s[] %s", type, field + 1);
		else
			len += snprintf(text + len, sizeof(text) - len, "\tfield:%s %s", type,
					field);
		len += snprintf(text + len, sizeof(text) - len,
				";\toffset:%u;\tsize:%u;\tsigned:0;\n", offset, size);
		offset += size;
	}
	len += snprintf(text + len, sizeof(text) - len, "\nprint fmt: \"\"\n");
	assert_int_equal(tep_parse_event(tep, text, len, "krping"), 0);
}

enum { WORDS = 300, ADDR, START, WAIT, OTHER };

static void begin(void)
{
	memset(nr, 0, sizeof(nr));
	memset(at, 0, sizeof(at));
	tep = tep_alloc();
	tep_set_cpus(tep, CPUS);
	format(WORDS, "iter_stages",
	       "u64 t 8 u64 new 8 u64 t_begin 8 u32 run 4 u32 nr 4 u64 @words 4 u32 pad 4");
	format(ADDR, "addr", "u32 run 4 u32 src_port 4 u8 [src 16 u64 nonce 8");
	format(START, "run_start", "u64 t 8 u32 run 4 char [comm 4 char [name 40");
	format(WAIT, "wait", "u64 t_wc 8 u64 t_run 8 u32 run 4 u32 phase 4 u32 kind 4 u32 slept 4");
	format(OTHER, "of_tomorrow", "u32 run 4");
}

/* Memory of its own size: a sanitizer sees what is read behind it. */
static void add(unsigned int cpu, uint16_t type, const void *data, int size)
{
	struct tep_record *rec = &records[cpu][nr[cpu]++];
	uint32_t head[2] = { type, 77 };

	*rec = (struct tep_record){ .ts = nr[cpu], .cpu = cpu, .size = 8 + size };
	rec->data = malloc(rec->size);
	memcpy(rec->data, head, 8);
	memcpy((char *)rec->data + 8, data, size);
}

static void end(struct krp_tracedat *d)
{
	unsigned int cpu;

	krp_tracedat_close(d);
	tep_free(tep);
	for (cpu = 0; cpu < CPUS; cpu++) {
		while (nr[cpu])
			free(records[cpu][--nr[cpu]].data);
	}
}

static struct krp_tracedat *opened(void)
{
	FILE *f = tmpfile();
	const char *why = NULL;
	struct krp_tracedat *d = krp_tracedat_open(fileno(f), &why);

	assert_true(d && !why);
	fclose(f);
	return d;
}

static struct words {
	uint64_t t, new, t_begin;
	uint32_t run, nr, loc, pad;
	uint64_t words[2];
} words = { 440, 1, 400, 3, 2, 48 | 16 << 16, 0, { 0x1111, 0x2222 } };
static const struct {
	uint32_t run, src_port;
	char src[16];
	uint64_t nonce;
} addr = { 3, 9, "abcdefghijklmnop", 42 };
static const struct {
	uint64_t t;
	uint32_t run;
	char comm[4], name[40];
} __attribute__((packed)) start = { 450, 3, "abcd", "0123456789012345678901234567890123456789" };
static const struct {
	uint64_t t_wc, t_run;
	uint32_t run, phase, kind, slept;
} wait_ = { 700, 600, 3, 5, 2, 1 };

static struct krp_event_rec rec;

static void next_is(struct krp_tracedat *d, enum krp_event event, uint64_t t)
{
	const struct krp_event_head *h;
	const char *why = NULL;
	size_t size;

	h = krp_tracedat_next(d, &size, &why);
	assert_true(h && !why && krp_event_parse(&rec, h, size));
	assert_false(krp_event_parse(&rec, h, size - 1));
	assert_true(krp_event_parse(&rec, h, size));
	are("3 77", h->run, h->tid);
	assert_true(h->event == event && h->t == t && rec.args[0] == 3);
}

/* In the order of their own times; one without a time follows the event before it. */
TEST(read)
{
	struct krp_tracedat *d;
	const char *why = NULL;
	size_t size;

	begin();
	add(0, ADDR, &addr, sizeof(addr));
	add(0, START, &start, sizeof(start));
	add(0, ADDR, &addr, sizeof(addr));
	add(0, WAIT, &wait_, sizeof(wait_));
	add(1, OTHER, &addr, 4);
	add(1, WORDS, &words, sizeof(words));
	add(1, 7, "", 0);
	records[1][1].missed_events = 5;
	records[1][2].missed_events = -1;
	d = opened();
	next_is(d, KRP_EV_addr, 440);
	assert_true(!memcmp(&KRP_ARG(&rec, addr, src_hi), "abcdefgh", 8) &&
		    !memcmp(&KRP_ARG(&rec, addr, src_lo), "ijklmnop", 8));
	are("9 42 0", KRP_ARG(&rec, addr, src_port), KRP_ARG(&rec, addr, nonce),
	    KRP_ARG(&rec, addr, dst_hi));
	next_is(d, KRP_EV_iter_stages, 440);
	are("400 2 0", KRP_ARG(&rec, iter_stages, t_begin), KRP_ARG(&rec, iter_stages, nr),
	    KRP_ARG(&rec, iter_stages, told));
	assert_true(rec.words[0] == 0x1111 && rec.words[1] == 0x2222);
	next_is(d, KRP_EV_run_start, 450);
	assert_string_equal(rec.text, "abcd");
	assert_string_equal(rec.label, "0123456789012345678901234567890");
	next_is(d, KRP_EV_addr, 450);
	next_is(d, KRP_EV_wait, 700);
	assert_int_equal(KRP_ARG(&rec, wait, what), KRPING_WAIT(5, 2, 1));
	assert_true(!krp_tracedat_next(d, &size, &why) && !why);
	are("5 1", krp_tracedat_lost(d).dropped, krp_tracedat_lost(d).unknown);
	end(d);
}

static void refused(uint16_t type, const void *data, int len)
{
	struct krp_tracedat *d;
	const char *why = NULL;
	size_t size;

	begin();
	add(0, type, data, len);
	d = opened();
	assert_true(!krp_tracedat_next(d, &size, &why) && why);
	end(d);
}

/* Cut off at each byte. */
TEST(cut)
{
	int len;

	for (len = 0; len < (int)sizeof(words); len++)
		refused(WORDS, &words, len);
	for (len = 0; len < (int)sizeof(addr); len++)
		refused(ADDR, &addr, len);
	for (len = 0; len < (int)sizeof(start); len++)
		refused(START, &start, len);
	for (len = 0; len < (int)sizeof(wait_); len++)
		refused(WAIT, &wait_, len);
}

TEST(forged)
{
	static const struct {
		uint32_t nr, loc;
	} rows[] = TABLE(
		{ 3, 48 | 16 << 16 }, { 2, 48 | 15 << 16 }, { 2, 49 | 16 << 16 }, { 2, 0xffff | 16 << 16 }, { 2, 48 | 0xffffU << 16 },
		{ 49, 48 | 16 << 16 }, { UINT32_MAX, 48 | 16 << 16 }, { 1U << 31, 48 | 16 << 16 },
	);
	struct words w = words;

	each(row, rows) {
		w.nr = row->nr;
		w.loc = row->loc;
		refused(WORDS, &w, sizeof(w));
	}
}

/* No event of krping, and no file. */
TEST(others)
{
	const char *why = NULL;
	FILE *f = tmpfile();
	int ends[2];

	tep = tep_alloc();
	tep_set_cpus(tep, CPUS);
	assert_null(krp_tracedat_open(fileno(f), &why));
	assert_string_equal(why, "it has no events of krping");
	tep_free(tep);
	fclose(f);
	assert_int_equal(pipe(ends), 0);
	assert_null(krp_tracedat_open(ends[0], &why));
	assert_string_equal(why, "a file of trace-cmd cannot be read from a pipe");
	close(ends[0]);
	close(ends[1]);
}
