// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The limits of krping --fail. */
#include "unit.h"
#include "tools/krping/limit.h"

static char why[512];

static const struct krp_run_info run = {
	.iters = 100,
	.elapsed_ns = 2000000000,
	.lat_min_ns = 10000,
	.lat_mean_ns = 20000,
	.lat_p50_ns = 15000,
	.lat_p90_ns = 25000,
	.lat_p99_ns = 30000,
	.lat_p999_ns = 40004,
	.lat_max_ns = 50000,
	.bits_per_s = 2500000000,
	.msgs_per_s = 1000,
	.regs_per_s = 2000,
};

TEST(limits)
{
	/* Without words: it is kept. Equal is neither above nor below. */
	static const struct {
		const char *limit, *words;
	} t[] = TABLE(
		{ "p99>30us", "" }, { "p99<30us", "" }, { "p99>29.999us", "p99>29.999us: p99 is 30us" },
		{ "p99<30.001us", "p99<30.001us: p99 is 30us" }, { "p99.9>39.9999us", "p99.9>39.9999us: p99.9 is 40.004us" },
		{ "min>9us", "min>9us: min is 10us" }, { "avg>19us", "avg>19us: avg is 20us" }, { "p50>14us", "p50>14us: p50 is 15us" },
		{ "p90>24us", "p90>24us: p90 is 25us" }, { "p99.9>39us", "p99.9>39us: p99.9 is 40.004us" }, { "p99.9>41us", "" },
		{ "max>0.049ms", "max>0.049ms: max is 50us" }, { "time>1s", "time>1s: time is 2000000us" },
		{ "iterations<101", "iterations<101: iterations is 100" }, { "Gbit/s<2.6", "Gbit/s<2.6: Gbit/s is 2.5" },
		{ "Gbit/s<2.5", "" }, { "messages/s<1001", "messages/s<1001: messages/s is 1000" },
		{ "registrations/s>1999", "registrations/s>1999: registrations/s is 2000" }, { "iterations/s<50000", "" },
		{ "iterations/s<50001", "iterations/s<50001: iterations/s is 50000" }, { "MB/s<312.5", "" },
		{ "MB/s>312", "MB/s>312: MB/s is 312.5" },
	);
	struct krp_limit limit;

	each(row, t) {
		if (!krp_limit_parse(&limit, row->limit, why, sizeof(why)))
			fail_msg("%s", why);
		*why = '\0';
		assert_int_equal(krp_limit_broken(&limit, &run, why, sizeof(why)),
				 *row->words != '\0');
		same_text(row->limit, why, row->words);
	}
}

TEST(refused)
{
	struct krp_limit limit;

	each_text(text, "", "p99", "p99>", "p98>3us", "p99>30", "p99=30us", ">30us", "p99>-3us",
		  "p99>3us ", "p99 >3us", "p99>>3us", "Gbit/s<3Gbit", "Gbit/s<", "Gbit/s<1.2.3",
		  "lat_p99_ns>1us", "p9>1us", "p999>1us") {
		assert_false(krp_limit_parse(&limit, text, why, sizeof(why)));
		assert_int_equal(strncmp(why, text, strlen(text)), 0);
	}
}

TEST(unknown)
{
	static const struct krp_run_info none = { .elapsed_ns = 5 };
	struct krp_limit limit;

	/* What nobody measured is within no limit. */
	assert_true(krp_limit_parse(&limit, "p99>1s", why, sizeof(why)));
	assert_true(krp_limit_broken(&limit, &none, why, sizeof(why)));
	assert_string_equal(why, "p99>1s: there is no complete iteration");
	assert_true(krp_limit_parse(&limit, "iterations<1", why, sizeof(why)));
	assert_true(krp_limit_broken(&limit, &none, why, sizeof(why)));
	assert_true(krp_limit_parse(&limit, "time>1s", why, sizeof(why)));
	assert_false(krp_limit_broken(&limit, &none, why, sizeof(why)));
}
