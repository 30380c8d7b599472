// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How many CPU numbers there are, also if the list leaves some out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/lib/cpus.h"

static void test_lists(void **state)
{
	static const struct {
		const char *list;
		int ids;
	} t[] = {
		/* clang-format off */
		{ "0", 1 }, { "0\n", 1 }, { "0-1\n", 2 }, { "0-127\n", 128 },
		/* These lists have 3, 4, 8 and 2 CPUs, but more numbers. */
		{ "0,2-3\n", 4 }, { "0-1,4-5", 6 }, { "0-3,8-11\n", 12 }, { "0,4095\n", 4096 },
		{ "8-11,0-3\n", 12 },
		{ "", -EINVAL }, { "\n", -EINVAL }, { "-", -EINVAL }, { "0-", -EINVAL }, { "0,", -EINVAL },
		{ ",0", -EINVAL }, { "3-1", -EINVAL }, { "0x3", -EINVAL }, { "0-1 2", -EINVAL },
		{ "0\n1", -EINVAL }, { "99999999999", -EINVAL }, { "0-99999999999999999999", -EINVAL },
		/* clang-format on */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		if (krp_cpu_ids_of(t[i].list) != t[i].ids)
			fail_msg("%s: %d", t[i].list, krp_cpu_ids_of(t[i].list));
	}
}

static void test_here(void **state)
{
	(void)state;
	assert_true(krp_cpu_ids() > 0);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_here),
	};
	/* clang-format on */

	return cmocka_run_group_tests_name("cpus", tests, NULL, NULL) ? 1 : 0;
}
