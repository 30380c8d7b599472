// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How many CPU numbers there are, also if the list leaves some out. */
#include "unit.h"
#include "tools/lib/environment.h"

TEST(lists)
{
	static const struct {
		const char *list;
		int ids;
	} t[] = TABLE(
		{ "0", 1 }, { "0\n", 1 }, { "0-1\n", 2 }, { "0-127\n", 128 },
		/* These lists have 3, 4, 8 and 2 CPUs, but more numbers. */
		{ "0,2-3\n", 4 }, { "0-1,4-5", 6 }, { "0-3,8-11\n", 12 }, { "0,4095\n", 4096 },
		{ "", -EINVAL }, { "\n", -EINVAL }, { "0-", -EINVAL }, { "none", -EINVAL },
	);

	each(row, t) {
		if (krp_cpu_ids_of(row->list) != row->ids)
			fail_msg("%s: %d", row->list, krp_cpu_ids_of(row->list));
	}
}

TEST(here)
{
	assert_true(krp_cpu_ids() > 0);
}
