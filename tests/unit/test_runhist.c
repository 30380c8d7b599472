// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* /proc/krping_hist: a run is found, what is no such text is refused, intervals are differences. */
#include "unit.h"
#include "tools/krping/runhist.h"

#define HEAD "# krping hist abi=1 per_octave=32 bits=36\n"

static struct krp_runhist rh;

static int parse(const char *text, uint32_t id)
{
	return from_text(f, text, krp_runhist_parse(&rh, id, f));
}

TEST(found)
{
	static const char text[] = HEAD
		"id=1 iters=1 elapsed_ns=9 lat_sum_ns=7 lat_min_ns=7 lat_max_ns=7 buckets=7:1\n"
		"id=12 iters=6 elapsed_ns=5000 lat_sum_ns=3100 lat_min_ns=31 lat_max_ns=1040 later=1 "
		"buckets=31:2,992:3,1024:1\n"
		"id=121 iters=1 elapsed_ns=9 lat_sum_ns=7 lat_min_ns=7 lat_max_ns=7 buckets=8:1\n";

	assert_int_equal(parse(text, 12), 0);
	are("5000 6 3100 31 1040 2 3 1 6", rh.elapsed_ns, rh.sum.count, rh.sum.sum, rh.sum.min,
	    rh.sum.max, rh.hist.bucket[krp_hist_index(31)], rh.hist.bucket[krp_hist_index(1000)],
	    rh.hist.bucket[krp_hist_index(1040)], krp_hist_total(&rh.hist));
	assert_int_equal(parse(text, 2), -ENODATA);
	assert_int_equal(parse(HEAD, 1), -ENODATA);
	assert_int_equal(parse(HEAD "id=1 iters=1 buckets=7:1", 1), -ENODATA);
}

TEST(refused)
{
	each_text(text, "id=1 \n", "id=1 iters=1\n", "id=1 buckets=\n", "id=1 buckets=7\n",
		  "id=1 buckets=7:\n", "id=1 buckets=7:1,\n", "id=1 buckets=7:1;8:1\n")
		assert_int_equal(parse(text, 1), -EPROTO);
	/* A value of any size has a bucket. */
	assert_int_equal(parse("id=1 buckets=18446744073709551615:1\n", 1), 0);
	assert_int_equal(rh.hist.bucket[KRP_HIST_BUCKETS - 1], 1);
}

TEST(since)
{
	struct krp_runhist before;

	assert_int_equal(parse("id=1 elapsed_ns=100 lat_sum_ns=40 lat_min_ns=10 lat_max_ns=30 buckets=10:1,30:1\n",
			       1),
			 0);
	before = rh;
	assert_int_equal(parse("id=1 elapsed_ns=300 lat_sum_ns=95 lat_min_ns=10 lat_max_ns=35 buckets=10:1,20:1,30:1,35:1\n",
			       1),
			 0);
	krp_runhist_since(&rh, &before);
	are("200 2 55 20 35", rh.elapsed_ns, rh.sum.count, rh.sum.sum, rh.sum.min, rh.sum.max);
	/* Nothing came. */
	before = rh;
	krp_runhist_since(&rh, &before);
	are("0 0", rh.sum.count, krp_hist_total(&rh.hist));
}
