// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Groups of runs: their keys, places, order, and sums. */
#include <linux/types.h>

#include "unit.h"
#include "tools/lib/by.h"
#include "tools/lib/out.h"
#include "bpf/slot.h"

static struct krp_run_info run(const char *dev, const char *dst, uint32_t size)
{
	struct krp_run_info info = { .id = 1, .port = 1, .size = size };

	strcpy(info.dev, dev);
	strcpy(info.dst, dst);
	strcpy(info.role, "client");
	strcpy(info.test, "bw");
	strcpy(info.state, "CONNECTED");
	return info;
}

/* The keys of a run, by everything in turn. */
static const char *keys_of(const struct krp_run_info *info)
{
	char key[KRP_NR_BYS][KRP_BY_KEY];
	int by;

	for (by = KRP_BY_RUN; by < KRP_NR_BYS; by++)
		krp_by_key(by, info, key[by], sizeof(key[by]));
	assert_int_equal(KRP_NR_BYS, 6);
	return joined(TEXTS(key[0], key[1], key[2], key[3], key[4], key[5]), KRP_NR_BYS);
}

TEST(words)
{
	int by;

	for (by = KRP_BY_RUN + 1; by < KRP_NR_BYS; by++)
		assert_int_equal(krp_by_find(krp_by_word(by)), by);
	assert_null(krp_by_word(KRP_BY_RUN));
	are("-1 -1 -1 -1", krp_by_find("run"), krp_by_find(""), krp_by_find("de"),
	    krp_by_find("device"));
}

TEST(keys)
{
	struct krp_run_info info = run("rxe0", "10.9.0.1:4711", 65536), none = { 0 };

	assert_string_equal(keys_of(&info), "-|rxe0|10.9.0.1|client|bw|65536");
	assert_string_equal(keys_of(&none), "-|-|-|-|-|-");
	strcpy(info.dst, "[fd09::1]:4711");
	assert_string_equal(keys_of(&info), "-|rxe0|fd09::1|client|bw|65536");
	strcpy(info.dst, "-");
	assert_string_equal(keys_of(&info), "-|rxe0|-|client|bw|65536");
	/* Its device was renamed. */
	strcpy(info.dev, "mlx5_0");
	strcpy(info.dev_was, "rxe0");
	assert_string_equal(keys_of(&info), "-|rxe0|-|client|bw|65536");
}

/* A run that /proc did not list yet is in the groups of what its events told. */
TEST(told)
{
	struct krp_head head = { .role = KRPING_ROLE_SERVER,
				 .test = KRPING_TEST_BW,
				 .size = 4096,
				 .pid = 17,
				 .late = 1,
				 .name = "a b" };
	const struct krp_run_info *info;
	unsigned int ctx;

	assert_null(krp_run_info_of(&head));
	head.late = 0;
	info = krp_run_info_of(&head);
	assert_string_equal(keys_of(info), "-|-|-|server|bw|4096");
	are("17 1", info->pid, info->moves);
	assert_string_equal(info->name, "a b");
	/* The order of stages and the causes depend on who polls. */
	for (ctx = 0; ctx < KRPING_NR_POLLS; ctx++) {
		head.flags = KRPING_RUN_F_SRQ | KRPING_RUN_F_POLL(ctx);
		info = krp_run_info_of(&head);
		assert_string_equal(info->poll_ctx, ((const char *[]){ "thread", "softirq",
								       "workqueue", "busy" })[ctx]);
	}
}

TEST(groups)
{
	struct krp_groups g = { .by = KRP_BY_DEV };
	struct krp_run_info siw = run("siw0", "10.9.0.1:1", 64),
			    rxe = run("rxe0", "10.9.0.1:2", 64), none = run("-", "-", 64);
	json_object *o;

	assert_int_equal(krp_groups_add(&g, &none, true), 0);
	assert_int_equal(krp_groups_add(&g, &siw, false), 1);
	assert_int_equal(krp_groups_add(&g, &rxe, true), 2);
	assert_int_equal(krp_groups_add(&g, &siw, true), 1);
	are("2 1", g.v[1].ends, g.v[1].running);
	/* What is not known comes last, whatever the order of their coming. */
	are("1 1 -1", krp_groups_compare(&g, 0, 1) > 0, krp_groups_compare(&g, 1, 2) > 0,
	    krp_groups_compare(&g, 1, 0));
	o = json_object_new_object();
	krp_group_json(o, &g, 1);
	json_is(o, "{\"by\":\"dev\",\"group\":\"siw0\",\"ends\":2,\"running\":1}");

	/* A group keeps its place while it has no runs. */
	krp_groups_begin(&g);
	assert_int_equal(krp_groups_add(&g, &siw, true), 1);
	are("0 1 3", g.v[0].ends, g.v[1].ends, g.nr);
	krp_groups_free(&g);

	/* Sizes are in the order of their values. */
	g.by = KRP_BY_SIZE;
	assert_int_equal(krp_groups_add(&g, &siw, true), 0);
	rxe.size = 4096;
	assert_int_equal(krp_groups_add(&g, &rxe, true), 1);
	rxe.size = 100;
	assert_int_equal(krp_groups_add(&g, &rxe, true), 2);
	are("-1 1 -1", krp_groups_compare(&g, 0, 2), krp_groups_compare(&g, 1, 2),
	    krp_groups_compare(&g, 0, 1));
	krp_groups_free(&g);
}

TEST(sums)
{
	struct krp_sum to = { 0 }, none = { .min = 5 },
		       known = { .count = 2, .sum = 30, .min = 10, .max = 20 },
		       unknown = { .count = 3, .sum = 7, .min = KRP_NS_UNKNOWN, .max = 4 };

	krp_by_sum(&to, &none);
	assert_int_equal(to.count, 0);
	krp_by_sum(&to, &known);
	krp_by_sum(&to, &none);
	krp_by_sum(&to, &known);
	are("10 20", to.min, to.max);
	/* Part of the values has a minimum that is not known: so has the whole, whatever comes next. */
	krp_by_sum(&to, &unknown);
	krp_by_sum(&to, &known);
	are("9 97", to.count, to.sum);
	assert_true(to.min == KRP_NS_UNKNOWN);
	assert_int_equal(to.max, 20);
	unknown.max = KRP_NS_UNKNOWN;
	krp_by_sum(&to, &unknown);
	krp_by_sum(&to, &known);
	assert_true(to.max == KRP_NS_UNKNOWN);
}
