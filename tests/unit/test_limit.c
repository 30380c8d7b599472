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

static bool broken(const char *text)
{
	struct krp_limit limit;

	*why = '\0';
	if (!krp_limit_parse(&limit, text, why, sizeof(why)))
		fail_msg("%s", why);
	return krp_limit_broken(&limit, &run, why, sizeof(why));
}

TEST(limits)
{
	/* Equal is neither above nor below. */
	assert_false(broken("p99>30us"));
	assert_false(broken("p99<30us"));
	assert_true(broken("p99>29.999us"));
	assert_string_equal(why, "p99>29.999us: p99 is 30us");
	assert_true(broken("p99<30.001us"));
	assert_true(broken("p99.9>39.9999us"));
	assert_string_equal(why, "p99.9>39.9999us: p99.9 is 40.004us");
	assert_true(broken("min>9us"));
	assert_true(broken("avg>19us"));
	assert_true(broken("p50>14us"));
	assert_true(broken("p90>24us"));
	assert_true(broken("p99.9>39us"));
	assert_false(broken("p99.9>41us"));
	assert_true(broken("max>0.049ms"));
	assert_true(broken("time>1s"));
	assert_true(broken("iterations<101"));
	assert_true(broken("Gbit/s<2.6"));
	assert_string_equal(why, "Gbit/s<2.6: Gbit/s is 2.5");
	assert_false(broken("Gbit/s<2.5"));
	assert_true(broken("messages/s<1001"));
	assert_true(broken("registrations/s>1999"));
	assert_true(broken("iterations/s<50001"));
	assert_false(broken("iterations/s<50000"));
	assert_true(broken("MB/s>312"));
	assert_false(broken("MB/s<312.5"));
}

TEST(refused)
{
	static const char *const texts[] = {
		"",	   "p99",	   "p99>",	     "p98>3us",	 "p99>30",   "p99=30us",
		">30us",   "p99>-3us",	   "p99>3us ",	     "p99 >3us", "p99>>3us", "Gbit/s<3Gbit",
		"Gbit/s<", "Gbit/s<1.2.3", "lat_p99_ns>1us", "p9>1us",	 "p999>1us",
	};
	struct krp_limit limit;
	size_t i;

	for (i = 0; i < NR(texts); i++) {
		assert_false(krp_limit_parse(&limit, texts[i], why, sizeof(why)));
		assert_int_equal(strncmp(why, texts[i], strlen(texts[i])), 0);
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
