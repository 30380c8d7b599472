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
	} t[] = {
		/* clang-format off */
		{ 0, "0ns" }, { 999, "999ns" }, { 1000, "1.00us" }, { 1234, "1.23us" },
		{ 9994, "9.99us" }, { 9996, "10.0us" }, { 99940, "99.9us" },
		{ 99960, "100us" }, { 999499, "999us" }, { 999501, "1.00ms" },
		{ 45600000, "45.6ms" }, { 1000000000, "1.00s" }, { 78900000000, "78.9s" },
		{ 1234000000000, "1234s" }, { 99999000000000, "99999s" },
		{ 864000000000000, "10d" },
		/* clang-format on */
	};
	uint64_t ns;
	size_t i;

	for (i = 0; i < NR(t); i++)
		assert_string_equal(krp_ns(t[i].ns).s, t[i].text);
	for (ns = 1; ns < 1ULL << 62; ns += ns / 7 + 1)
		assert_true(strlen(krp_ns(ns).s) <= 6);
	assert_true(strlen(krp_ns(UINT64_MAX).s) <= 7);
}

TEST(parse_times)
{
	/* clang-format off */
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0ns", 0 }, { "1ns", 1 }, { "250us", 250000 }, { "1.5ms", 1500000 },
		{ "2s", 2000000000 }, { ".5us", 500 }, { "0.4ns", 0 },
		{ "86400s", 86400000000000 }, { "1.us", 1000 },
	};
	static const char *const bad[] = {
		"", "5", "ms", "5 ms", " 5ms", "5m", "5mss", "-5ms", "+5ms", "0x10us", "1e3us",
		"infs", "nanns", "1..5ms", "1.2.3ms", ".ms", "5MS", "99999999999s", "5ms ",
	};
	/* clang-format on */
	uint64_t ns;
	size_t i;

	for (i = 0; i < NR(good); i++) {
		ns = 77;
		assert_true(krp_parse_ns(good[i].text, &ns));
		assert_true(ns == good[i].ns);
	}
	for (i = 0; i < NR(bad); i++) {
		ns = 77;
		assert_false(krp_parse_ns(bad[i], &ns));
		assert_true(ns == 77);
	}
}

/* Intervals that began at different times end at the same. */
TEST(ticks)
{
	static const struct {
		double now, interval, tick;
	} rows[] = {
		{ 100.0, 1, 101 },     { 100.25, 1, 101 },   { 100.75, 1, 102 },
		{ 100.75, 60, 161 },   { 100.25, 2.5, 103 }, { 100.0, 0.5, 100.5 },
		{ 100.2, 0.5, 100.5 }, { 100.4, 0.5, 101 },
	};
	unsigned int i;
	double tick;

	for (i = 0; i < NR(rows); i++) {
		tick = krp_time_tick(rows[i].now, rows[i].interval);
		assert_true(tick > rows[i].tick - 1e-9 && tick < rows[i].tick + 1e-9);
	}
}

TEST(numbers)
{
	uint64_t v;
	double r;

	assert_string_equal(krp_count(0).s, "0");
	assert_string_equal(krp_count(99999).s, "99999");
	assert_string_equal(krp_count(100000).s, "100k");
	assert_string_equal(krp_count(4560000).s, "4.56M");
	assert_string_equal(krp_rate(0).s, "0.00");
	assert_string_equal(krp_rate(0.456).s, "0.46");
	assert_string_equal(krp_rate(99.94).s, "99.9");
	assert_string_equal(krp_rate(99.96).s, "100");
	assert_string_equal(krp_rate(1234.4).s, "1234");
	assert_string_equal(krp_rate(123456).s, "123k");
	for (v = 1; v < 1ULL << 62; v += v / 7 + 1)
		assert_true(strlen(krp_count(v).s) <= 6);
	for (r = 0.01; r < 1e15; r *= 1.1)
		assert_true(strlen(krp_rate(r).s) <= 6);
}

struct text {
	FILE *f;
	char *s;
	size_t size;
};

static void text_open(struct text *t)
{
	t->f = open_memstream(&t->s, &t->size);
	assert_non_null(t->f);
}

static void text_done(struct text *t)
{
	fclose(t->f);
}

TEST(table)
{
	static const struct krp_col cols[] = {
		{ "RUN", 4 },
		{ "NAME", -6 },
		{ "N", 5 },
		{ "STATE", -8 },
	};
	static const char *const rows[][4] = {
		{ "1", "ab", "123", "DONE" },
		{ "12345", "longer than six", NULL, "" },
		{ "2", "", "7", "RDMA_READ_ADV" },
	};
	struct text t;
	size_t i;

	text_open(&t);
	krp_table_head(t.f, cols, 4);
	for (i = 0; i < 3; i++)
		krp_table_row(t.f, cols, 4, rows[i]);
	text_done(&t);
	assert_string_equal(t.s, " RUN NAME       N STATE\n"
				 "   1 ab       123 DONE\n"
				 "12345 longe~     -\n"
				 "   2            7 RDMA_RE~\n");
	free(t.s);
}

TEST(fit)
{
	/* clang-format off */
	static const char *const cells[] = {
		"1", "a name that is long", "123", "another that is long, too",
		"22", NULL, "4", "short",
	};
	/* clang-format on */
	struct krp_col cols[] = { { "RUN", 1 }, { "NAME", -1 }, { "N", 1 }, { "STATE", -1 } };

	krp_table_fit(cols, 4, cells, 2, 100);
	assert_int_equal(cols[0].width, 3);
	assert_int_equal(cols[1].width, -19);
	assert_int_equal(cols[2].width, 3);
	assert_int_equal(cols[3].width, -25);
	/* The widest column shrinks first, then each in turn; numbers keep their width. */
	krp_table_fit(cols, 4, cells, 2, 48);
	assert_int_equal(cols[1].width, -19);
	assert_int_equal(cols[3].width, -20);
	krp_table_fit(cols, 4, cells, 2, 30);
	assert_int_equal(-cols[1].width - cols[3].width, 30 - 3 - 3 - 3);
	krp_table_fit(cols, 4, cells, 2, 0);
	assert_int_equal(cols[0].width, 3);
	assert_int_equal(cols[1].width, -6);
	assert_int_equal(cols[2].width, 3);
	assert_int_equal(cols[3].width, -6);
	krp_table_fit(cols, 4, cells, 0, 100);
	assert_int_equal(cols[1].width, -4);
}

TEST(json)
{
	static const char nasty[] =
		"quote \" backslash \\ newline \n tab \t bell \a slash / \xc3\xa9";
	static const char *const keys[] = { "tool", "schema", "time", "final" };
	json_object *o, *back, *v;
	struct tm tm = { 0 };
	const char *time, *end;
	struct text t;
	size_t i;

	o = krp_json_new("krping-test", true);
	krp_json_text(o, "text", nasty);
	krp_json_u64(o, "big", UINT64_MAX);
	krp_json_s64(o, "small", INT64_MIN);
	krp_json_rate(o, "rate", 1234.5678);
	krp_json_rate(o, "nan", NAN);
	krp_json_rate(o, "inf", INFINITY);
	krp_json_bool(o, "no", false);
	text_open(&t);
	krp_json_emit(t.f, o);
	text_done(&t);

	/* The output is one line of ASCII. */
	for (i = 0; t.s[i + 1]; i++)
		assert_in_range(t.s[i], 0x20, 0x7e);
	assert_ptr_equal(strchr(t.s, '\n'), t.s + strlen(t.s) - 1);
	back = json_tokener_parse(t.s);
	assert_non_null(back);
	for (i = 0; i < NR(keys); i++)
		assert_true(json_object_object_get_ex(back, keys[i], &v));
	json_object_object_get_ex(back, "final", &v);
	assert_true(json_object_get_boolean(v));
	json_object_object_get_ex(back, "text", &v);
	assert_string_equal(json_object_get_string(v),
			    "quote \" backslash \\ newline \\x0a tab \\x09 bell \\x07 slash / \\xc3\\xa9");
	json_object_object_get_ex(back, "big", &v);
	assert_true(json_object_get_uint64(v) == UINT64_MAX);
	json_object_object_get_ex(back, "small", &v);
	assert_true(json_object_get_int64(v) == INT64_MIN);
	json_object_object_get_ex(back, "rate", &v);
	assert_true(fabs(json_object_get_double(v) - 1234.568) < 1e-9);
	assert_true(json_object_object_get_ex(back, "nan", &v));
	assert_null(v);
	assert_true(json_object_object_get_ex(back, "inf", &v));
	assert_null(v);

	/* 2026-01-02T03:04:05.678901+01:00 */
	json_object_object_get_ex(back, "time", &v);
	time = json_object_get_string(v);
	assert_int_equal(strlen(time), 32);
	end = strptime(time, "%Y-%m-%dT%H:%M:%S", &tm);
	assert_non_null(end);
	assert_int_equal(*end, '.');
	assert_int_equal(strspn(end + 1, "0123456789"), 6);
	assert_true(end[7] == '+' || end[7] == '-');
	assert_int_equal(end[10], ':');
	json_object_put(back);
	free(t.s);
}

TEST(sum_json)
{
	static struct krp_hist h;
	struct krp_sum s = { 0 };
	json_object *o = json_object_new_object(), *v;

	krp_sum_add(&s, 1000);
	krp_sum_add(&s, 3000);
	h.bucket[krp_hist_index(1000)]++;
	h.bucket[krp_hist_index(3000)]++;
	krp_json_sum(o, &s, &h);
	assert_true(json_object_object_get_ex(o, "mean_ns", &v));
	assert_int_equal(json_object_get_int(v), 2000);
	assert_true(json_object_object_get_ex(o, "p999_ns", &v));
	assert_in_range(json_object_get_int(v), 3000 - 3000 / 32, 3000);
	json_object_put(o);

	o = krp_hist_json(&h);
	assert_int_equal(json_object_array_length(o), 2);
	v = json_object_array_get_idx(o, 1);
	assert_int_equal(json_object_get_int(json_object_array_get_idx(v, 0)),
			 krp_hist_low(krp_hist_index(3000)));
	assert_int_equal(json_object_get_int(json_object_array_get_idx(v, 1)), 1);
	json_object_put(o);
}

static const char *text_of(json_object *o, const char *key)
{
	json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return v ? json_object_get_string(v) : "null";
}

/* An unknown value is null in JSON and empty in CSV, and never replaced by another value. */
TEST(unknown)
{
	static const char *const keys[] = { "mean_ns", "min_ns", "max_ns", "p50_ns",
					    "p90_ns",  "p99_ns", "p999_ns" };
	static struct krp_hist h;
	struct krp_sum s = { 0 };
	json_object *o = json_object_new_object();
	bool head_done = false;
	struct text t;
	size_t i;

	/* Without values there is neither a mean nor a percentile. */
	krp_json_sum(o, &s, &h);
	assert_string_equal(text_of(o, "count"), "0");
	assert_string_equal(text_of(o, "sum_ns"), "0");
	for (i = 0; i < NR(keys); i++)
		assert_string_equal(text_of(o, keys[i]), "null");
	text_open(&t);
	krp_csv_emit(t.f, o, &head_done);
	text_done(&t);
	assert_string_equal(t.s,
			    "count,sum_ns,mean_ns,min_ns,max_ns,p50_ns,p90_ns,p99_ns,p999_ns\n0,0,,,,,,,\n");
	free(t.s);

	/* Two different values without a histogram. */
	krp_sum_add(&s, 1000);
	krp_sum_add(&s, 3000);
	o = json_object_new_object();
	krp_json_sum(o, &s, NULL);
	assert_string_equal(text_of(o, "mean_ns"), "2000");
	assert_false(json_object_object_get_ex(o, "p50_ns", NULL));
	krp_json_percentiles(o, &s, NULL);
	for (i = 3; i < NR(keys); i++)
		assert_string_equal(text_of(o, keys[i]), "null");
	json_object_put(o);

	/* The percentiles of a single value are that value. */
	s = (struct krp_sum){ 0 };
	krp_sum_add(&s, 1234567);
	o = json_object_new_object();
	krp_json_percentiles(o, &s, NULL);
	for (i = 3; i < NR(keys); i++)
		assert_string_equal(text_of(o, keys[i]), "1234567");
	json_object_put(o);
}

TEST(csv)
{
	bool head_done = false;
	json_object *o;
	struct text t;
	int i;

	text_open(&t);
	for (i = 0; i < 2; i++) {
		o = json_object_new_object();
		krp_json_u64(o, "run", i + 1);
		krp_json_text(o, "reason", i ? "a, \"b\"" : "plain");
		json_object_object_add(o, "none", NULL);
		krp_csv_emit(t.f, o, &head_done);
	}
	text_done(&t);
	assert_string_equal(t.s, "run,reason,none\n1,plain,\n2,\"a, \"\"b\"\"\",\n");
	free(t.s);
}

TEST(hist_text)
{
	static struct krp_hist h;
	char *line, *save;
	struct text t;
	int lines = 0;

	text_open(&t);
	krp_hist_print(t.f, "nothing", &h);
	fflush(t.f);
	assert_int_equal(t.size, 0);
	h.bucket[krp_hist_index(1000)] = 1;
	h.bucket[krp_hist_index(5000)] = 1000000000;
	h.bucket[KRP_HIST_BUCKETS - 1] = 5;
	krp_hist_print(t.f, "title", &h);
	text_done(&t);
	for (line = strtok_r(t.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_true(strlen(line) < 80);
		lines++;
	}
	assert_true(lines > 3);
	free(t.s);
}
