// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the tools print: numbers, tables, JSON, CSV. */
#include <math.h>
#include <time.h>

#include "unit.h"
#include "tools/lib/out.h"

TEST(times)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} t[] = TABLE(
		{ 0, "0ns" }, { 999, "999ns" }, { 1000, "1.00us" }, { 1234, "1.23us" }, { 9994, "9.99us" }, { 9996, "10.0us" },
		{ 99940, "99.9us" }, { 99960, "100us" }, { 999499, "999us" }, { 999501, "1.00ms" }, { 45600000, "45.6ms" },
		{ 1000000000, "1.00s" }, { 78900000000, "78.9s" }, { 1234000000000, "1234s" }, { 99999000000000, "99999s" },
		{ 864000000000000, "10d" },
	);
	uint64_t ns;

	each(row, t)
		assert_string_equal(krp_ns(row->ns).s, row->text);
	for (ns = 1; ns < 1ULL << 62; ns += ns / 7 + 1)
		assert_true(strlen(krp_ns(ns).s) <= 6);
	assert_true(strlen(krp_ns(UINT64_MAX).s) <= 7);
}

TEST(parse_times)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = TABLE(
		{ "0ns", 0 }, { "1ns", 1 }, { "250us", 250000 }, { "1.5ms", 1500000 }, { "2s", 2000000000 }, { ".5us", 500 },
		{ "0.4ns", 0 }, { "86400s", 86400000000000 }, { "1.us", 1000 },
	);
	uint64_t ns;

	each(row, good)
		assert_true(krp_parse_ns(row->text, &ns) && ns == row->ns);
	ns = 77;
	each_text(bad, "", "5", "ms", "5 ms", " 5ms", "5m", "5mss", "-5ms", "+5ms", "0x10us",
		  "1e3us", "infs", "nanns", "1..5ms", "1.2.3ms", ".ms", "5MS", "99999999999s",
		  "5ms ") {
		same_number(bad, krp_parse_ns(bad, &ns), false);
		assert_true(ns == 77);
	}
}

/* Intervals that began at different times end at the same. */
TEST(ticks)
{
	static const struct {
		double now, interval, tick;
	} rows[] = TABLE(
		{ 100.0, 1, 101 }, { 100.25, 1, 101 }, { 100.75, 1, 102 }, { 100.75, 60, 161 }, { 100.25, 2.5, 103 },
		{ 100.0, 0.5, 100.5 }, { 100.2, 0.5, 100.5 }, { 100.4, 0.5, 101 },
	);
	double tick;

	each(row, rows) {
		tick = krp_time_tick(row->now, row->interval);
		assert_true(tick > row->tick - 1e-9 && tick < row->tick + 1e-9);
	}
}

TEST(numbers)
{
	static const struct {
		uint64_t count;
		const char *text;
	} counts[] = { { 0, "0" }, { 99999, "99999" }, { 100000, "100k" }, { 4560000, "4.56M" } };
	static const struct {
		double rate;
		const char *text;
	} rates[] = TABLE(
		{ 0, "0.00" }, { 0.456, "0.46" }, { 99.94, "99.9" }, { 99.96, "100" }, { 1234.4, "1234" }, { 123456, "123k" },
	);
	uint64_t v;
	double r;

	each(row, counts)
		assert_string_equal(krp_count(row->count).s, row->text);
	each(row, rates)
		assert_string_equal(krp_rate(row->rate).s, row->text);
	for (v = 1; v < 1ULL << 62; v += v / 7 + 1)
		assert_true(strlen(krp_count(v).s) <= 6);
	for (r = 0.01; r < 1e15; r *= 1.1)
		assert_true(strlen(krp_rate(r).s) <= 6);
}

/* Prints a table of these four columns. */
static const char *table_of(const char *const *cells, size_t nr, int wide, bool headless,
			    unsigned int width)
{
	struct krp_table t = {
		.col = { { "RUN", 4 }, { "NAME", -wide }, { "N", 5 }, { "STATE", -8 } },
		.headless = headless,
	};
	size_t i;

	for (i = 0; i < nr; i++)
		krp_cell(&t, "%s", cells[i]);
	krp_table_print(printer(), &t, width);
	assert_int_equal(t.nr, 0);
	return printed();
}

TEST(table)
{
	static const char *const cells[] = { "1", "ab", "123", "DONE", "12345", "longer than six",
					     "-", "",	"2",   "",     "7",	"RDMA_READ_ADV" };

	assert_string_equal(table_of(cells, NR(cells), 6, false, 0),
			    " RUN NAME       N STATE\n"
			    "   1 ab       123 DONE\n"
			    "12345 longe~     -\n"
			    "   2            7 RDMA_RE~\n");
	/* Rows may come one by one, and the last one need not be full. */
	assert_string_equal(table_of(cells, 4, 6, true, 0), "   1 ab       123 DONE\n");
	assert_string_equal(table_of(cells, 0, 6, false, 0), " RUN NAME       N STATE\n");
}

/* Columns as wide as their cells: the widest shrinks first, then each in turn; numbers keep their width. */
TEST(fit)
{
	static const char *const cells[] = { "1",   "a name that is long",
					     "123", "another that is long, too",
					     "22",  "-",
					     "4",   "short" };

	assert_string_equal(table_of(cells, NR(cells), 1, false, 100),
			    "RUN NAME                  N STATE\n"
			    "  1 a name that is long 123 another that is long, too\n"
			    " 22 -                     4 short\n");
	assert_string_equal(table_of(cells, NR(cells), 1, true, 48),
			    "  1 a name that is long 123 another that is lon~\n"
			    " 22 -                     4 short\n");
	assert_string_equal(table_of(cells, NR(cells), 1, true, 30),
			    "  1 a name th~ 123 another th~\n"
			    " 22 -            4 short\n");
	assert_string_equal(table_of(cells, NR(cells), 1, true, 1), "  1 a nam~ 123 anoth~\n"
								    " 22 -        4 short\n");
}

TEST(json)
{
	static const char nasty[] =
		"quote \" backslash \\ newline \n tab \t bell \a slash / \xc3\xa9";
	json_object *o = krp_json_new("krping-test", true);
	const char *time, *end;
	struct tm tm = { 0 };
	size_t i;

	krp_json_text(o, "text", nasty);
	krp_json_u64(o, "big", UINT64_MAX);
	krp_json_s64(o, "small", INT64_MIN);
	krp_json_rate(o, "rate", 1234.5678);
	krp_json_rate(o, "nan", NAN);
	krp_json_rate(o, "inf", INFINITY);
	krp_json_bool(o, "no", false);
	krp_json_emit(printer(), o);
	printed();
	/* The output is one line of ASCII. */
	for (i = 0; unit_text[i + 1]; i++)
		assert_in_range(unit_text[i], 0x20, 0x7e);
	assert_int_equal(unit_text[i], '\n');
	o = json_tokener_parse(unit_text);
	assert_non_null(o);
	members(json_object_get(o), "tool", "krping-test", "schema", "1", "final", "true", "text",
		"quote \" backslash \\ newline \\x0a tab \\x09 bell \\x07 slash / \\xc3\\xa9",
		"big", "18446744073709551615", "small", "-9223372036854775808", "rate", "1234.568",
		"nan", "null", "inf", "null", "no", "false");

	/* 2026-01-02T03:04:05.678901+01:00 */
	time = member(o, "time");
	assert_int_equal(strlen(time), 32);
	end = strptime(time, "%Y-%m-%dT%H:%M:%S", &tm);
	assert_true(end && *end == '.' && strspn(end + 1, "0123456789") == 6);
	assert_true((end[7] == '+' || end[7] == '-') && end[10] == ':');
	json_object_put(o);
}

TEST(sum_json)
{
	static struct krp_hist h;
	struct krp_sum s = { 0 };
	json_object *o = json_object_new_object();
	char want[64];

	krp_sum_add(&s, 1000);
	krp_sum_add(&s, 3000);
	h.bucket[krp_hist_index(1000)]++;
	h.bucket[krp_hist_index(3000)]++;
	krp_json_sum(o, &s, &h);
	assert_string_equal(member(o, "mean_ns"), "2000");
	assert_in_range(atoi(member(o, "p999_ns")), 3000 - 3000 / 32, 3000);
	json_object_put(o);
	snprintf(want, sizeof(want), "[[%lu,1],[%lu,1]]",
		 (unsigned long)krp_hist_low(krp_hist_index(1000)),
		 (unsigned long)krp_hist_low(krp_hist_index(3000)));
	json_is(krp_hist_json(&h), want);
}

/* An unknown value is null, and never replaced by another value. */
TEST(unknown)
{
	static struct krp_hist h;
	struct krp_sum s = { 0 };
	json_object *o = json_object_new_object();

	/* Without values there is neither a mean nor a percentile. */
	krp_json_sum(o, &s, &h);
	json_is(o, "{\"count\":0,\"sum_ns\":0,\"mean_ns\":null,\"min_ns\":null,\"max_ns\":null,"
		   "\"p50_ns\":null,\"p90_ns\":null,\"p99_ns\":null,\"p999_ns\":null}");

	/* Two different values without a histogram. */
	krp_sum_add(&s, 1000);
	krp_sum_add(&s, 3000);
	o = json_object_new_object();
	krp_json_sum(o, &s, NULL);
	members(o, "mean_ns", "2000", "p50_ns", "(none)");
}

TEST(hist_text)
{
	static struct krp_hist h;

	krp_hist_print(printer(), "nothing", &h);
	assert_string_equal(printed(), "");
	h.bucket[krp_hist_index(1000)] = 1;
	h.bucket[krp_hist_index(5000)] = 1000000000;
	h.bucket[KRP_HIST_BUCKETS - 1] = 5;
	krp_hist_print(printer(), "title", &h);
	assert_true(lines_within(printed(), 79) > 3);
}
