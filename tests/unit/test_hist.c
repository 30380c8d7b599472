// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Histograms against exact answers. */
#include <linux/types.h>

#include "unit.h"
#include "tools/lib/hist.h"

/* The values from here on are in the last bucket, with some before it. */
#define END (1ULL << KRP_HIST_BITS)

static const unsigned int percentiles[] = {
	1, 100, 1000, KRP_P50, KRP_P90, KRP_P99, KRP_P999, 10000
};

/* A generator of our own: the same numbers on every machine. */
static uint64_t random_state = 88172645463325252ULL;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct data {
	struct krp_hist hist;
	struct krp_sum sum;
};

static void add(struct data *d, uint64_t v)
{
	d->hist.bucket[krp_hist_index(v)]++;
	krp_sum_add(&d->sum, v);
}

static void add_many(struct data *d, unsigned int nr, uint64_t v)
{
	while (nr--)
		add(d, v);
}

static uint64_t pct(const struct data *d, unsigned int p)
{
	return krp_hist_percentile(&d->hist, &d->sum, p);
}

TEST(log2)
{
	unsigned int i;

	assert_int_equal(krp_log2(0), 0);
	for (i = 0; i < 64; i++) {
		assert_int_equal(krp_log2(1ULL << i), i);
		assert_int_equal(krp_log2(~0ULL >> (63 - i)), i);
	}
}

TEST(index)
{
	uint32_t i;

	for (i = 0; i < KRP_HIST_BUCKETS; i++) {
		uint64_t low = krp_hist_low(i);

		assert_int_equal(krp_hist_index(low), i);
		if (!i)
			continue;
		/* Bounds rise, and there is no gap between two buckets. */
		assert_true(low > krp_hist_low(i - 1));
		assert_int_equal(krp_hist_index(low - 1), i - 1);
		/* A bucket is at most 1/32 of its values wide. */
		if (i < KRP_HIST_BUCKETS - 1)
			assert_true((krp_hist_low(i + 1) - low - 1) * KRP_HIST_SUB <= low);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(krp_hist_index(LIST(END - 1, END, -1)[i]), KRP_HIST_BUCKETS - 1);
}

static int cmp(const void *a, const void *b)
{
	uint64_t l = *(const uint64_t *)a, r = *(const uint64_t *)b;

	return (l > r) - (l < r);
}

static void check_against_sort(uint64_t *v, size_t n)
{
	struct data d = { 0 };
	uint64_t exact, got, diff, sum = 0, before = 0;
	size_t i, rank;

	for (i = 0; i < n; i++) {
		add(&d, v[i]);
		sum += v[i];
	}
	qsort(v, n, sizeof(*v), cmp);
	assert_true(krp_hist_total(&d.hist) == n && d.sum.count == n && d.sum.sum == sum);
	assert_true(d.sum.min == v[0] && d.sum.max == v[n - 1]);
	each(p, percentiles) {
		rank = (n * *p + 9999) / 10000;
		exact = v[rank ? rank - 1 : 0];
		got = pct(&d, *p);
		diff = got > exact ? got - exact : exact - got;
		assert_true(diff * 32 <= exact && got >= v[0] && got <= v[n - 1] && got >= before);
		before = got;
	}
}

TEST(sorted)
{
	static uint64_t v[10007];
	size_t n, i;

	each(row, v)
		*row = next_random() % 1000000;
	check_against_sort(v, NR(v));
	/* All magnitudes, as latencies with outliers have them. */
	each(row, v)
		*row = next_random() >> (64 - KRP_HIST_BITS + next_random() % KRP_HIST_BITS);
	check_against_sort(v, NR(v));
	/* Few values. */
	for (n = 1; n <= 23; n++) {
		for (i = 0; i < n; i++)
			v[i] = next_random() % 5000;
		check_against_sort(v, n);
	}
}

TEST(empty)
{
	static struct krp_hist h;
	struct krp_sum s = { 0 };

	each(p, percentiles)
		are("0 0", krp_hist_percentile(&h, &s, *p), krp_hist_percentile(&h, NULL, *p));
	/* There were values, and no bucket has them. */
	s.count = 1;
	assert_int_equal(krp_hist_percentile(&h, &s, KRP_P50), KRP_NS_UNKNOWN);
}

/* With a single value, percentiles are exact, since they are clamped to [min, max]. */
TEST(one)
{
	static const uint64_t values[] = { 0,	      1,       31,	32,  33,	1000,
					   123456789, END / 2, END - 1, END, UINT64_MAX };

	each(v, values) {
		struct data d = { 0 };

		add(&d, *v);
		each(p, percentiles)
			assert_int_equal(pct(&d, *p), *v);
	}
}

TEST(huge)
{
	struct data d = { 0 };

	add(&d, 10);
	add(&d, 1ULL << 50);
	assert_int_equal(pct(&d, KRP_P50), 10);
	assert_int_equal(pct(&d, KRP_P99), 1ULL << 50);
	/* Ranks do not overflow. */
	d = (struct data){ .hist.bucket = { [5] = 1ULL << 60, [7] = 1ULL << 50 } };
	are("5 7", krp_hist_percentile(&d.hist, NULL, KRP_P99),
	    krp_hist_percentile(&d.hist, NULL, 10000));
}

#define MINUTES(n) ((n)*60000000000ULL)

/*
 * Values from 68 seconds on share one bucket: a percentile there is unknown unless it is the
 * minimum or the maximum.
 */
TEST(last_bucket)
{
	struct data d = { 0 };

	add_many(&d, 99, MINUTES(33));
	add(&d, MINUTES(100));
	assert_true(pct(&d, KRP_P50) == KRP_NS_UNKNOWN && pct(&d, KRP_P99) == KRP_NS_UNKNOWN);
	assert_true(pct(&d, 10000) == MINUTES(100) && pct(&d, 1) == MINUTES(33));
	assert_int_equal(krp_hist_percentile(&d.hist, NULL, KRP_P50), KRP_NS_UNKNOWN);
	/* Values below that bucket have bounds. */
	add_many(&d, 200, 1000);
	assert_in_range(pct(&d, KRP_P50), 1000, 1031);
	assert_int_equal(pct(&d, KRP_P90), KRP_NS_UNKNOWN);
	/* The last bucket has an upper bound if no value is beyond it. */
	memset(&d, 0, sizeof(d));
	add_many(&d, 99, END - 1000);
	add(&d, END - 10);
	assert_in_range(pct(&d, KRP_P50), END - (END >> 5), END - 10);
}

/* Sets s to the sum of the values between two states; with or without the histogram of these values. */
static struct krp_sum since(const struct data *now, const struct data *before,
			    const struct krp_hist *hist)
{
	struct krp_sum s = now->sum;

	krp_sum_since(&s, &before->sum, hist);
	return s;
}

/* The values between two states: exact if that can be known, otherwise within a bucket. */
TEST(since)
{
	struct data now = { 0 }, before = { 0 };
	struct krp_sum s;
	uint64_t i;

	for (i = 500; i <= 900; i += 200)
		add(&now, i);
	s = since(&now, &before, &now.hist);
	assert_memory_equal(&s, &now.sum, sizeof(s));
	/* Nothing new. */
	before = now;
	assert_int_equal(since(&now, &before, NULL).count, 0);
	/* A single new value is known exactly. */
	add(&now, 700);
	s = since(&now, &before, NULL);
	are("1 700 700 700", s.count, s.sum, s.min, s.max);
	/* Of more new values, minimum and maximum are known from the buckets, or not at all. */
	add(&now, 800);
	krp_hist_sub(&now.hist, &before.hist);
	s = since(&now, &before, &now.hist);
	are("2 1500 2", s.count, s.sum, krp_hist_total(&now.hist));
	assert_in_range(s.min, 700 - 700 / 32, 700);
	assert_in_range(s.max, 800, 800 + 800 / 32);
	s = since(&now, &before, NULL);
	assert_true(s.min == KRP_NS_UNKNOWN && s.max == KRP_NS_UNKNOWN);
	/* A new extreme of the whole run must be one of the new values. */
	krp_hist_add(&now.hist, &before.hist);
	add(&now, 12345);
	s = since(&now, &before, NULL);
	assert_int_equal(s.min, KRP_NS_UNKNOWN);
	are("12345 6", s.max, krp_hist_total(&now.hist));
}

TEST(merge)
{
	struct krp_sum a = { 0 }, b = { 0 };

	krp_sum_merge(&a, &b);
	are("0", a.count);
	krp_sum_add(&b, 7);
	krp_sum_add(&b, 0);
	krp_sum_merge(&a, &b);
	are("0 7", a.min, a.max);
	memset(&b, 0, sizeof(b));
	krp_sum_add(&b, 3);
	krp_sum_merge(&a, &b);
	are("3 10 0 7", a.count, a.sum, a.min, a.max);
}
