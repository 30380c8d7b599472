// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The counters of a device's port, from a folder that looks like sysfs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/lib/hwc.h"

static char root[] = "test_hwc.XXXXXX";
static char dir[256];

static int make_root(void **state)
{
	static const char *const parts[] = { "mlx9_0", "ports", "1", "hw_counters" };
	unsigned int i;

	(void)state;
	if (!mkdtemp(root))
		return -1;
	strcpy(dir, root);
	for (i = 0; i < 4; i++) {
		strcat(dir, "/");
		strcat(dir, parts[i]);
		if (mkdir(dir, 0700))
			return -1;
	}
	return 0;
}

static int remove_root(void **state)
{
	char cmd[sizeof(root) + 16];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	return system(cmd);
}

static void counter(const char *name, const char *value)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(value, f);
	fclose(f);
}

static void test_read(void **state)
{
	struct krp_hwcs c;

	(void)state;
	assert_int_equal(krp_hwc_read(&c, root, "mlx9_0", 2), -ENOENT);
	assert_int_equal(c.nr, 0);
	assert_int_equal(krp_hwc_read(&c, root, "mlx9_0", 1), 0);
	assert_int_equal(c.nr, 0);
	counter("rnr_nak", "18446744073709551615\n");
	counter("duplicate_request", "7\n");
	counter("lifespan", "10\n");
	counter("text", "not a number\n");
	assert_int_equal(krp_hwc_read(&c, root, "mlx9_0", 1), 0);
	assert_int_equal(c.nr, 2);
	assert_string_equal(c.v[0].name, "duplicate_request");
	assert_true(c.v[0].value == 7);
	assert_string_equal(c.v[1].name, "rnr_nak");
	assert_true(c.v[1].value == UINT64_MAX);
	krp_hwc_free(&c);
	krp_hwc_free(&c);
}

static void test_diff(void **state)
{
	struct krp_hwc old[] = { { "a", 1 }, { "b", 5 }, { "d", 9 }, { "e", 3 } };
	struct krp_hwc new[] = { { "a", 1 }, { "b", 8 }, { "c", 2 }, { "d", 4 }, { "e", 4 } };
	struct krp_hwcs from = { old, 4 }, now = { new, 5 }, none = { 0 }, d;

	(void)state;
	krp_hwc_diff(&d, &from, &now);
	assert_int_equal(d.nr, 2);
	assert_string_equal(d.v[0].name, "b");
	assert_true(d.v[0].value == 3);
	assert_string_equal(d.v[1].name, "e");
	assert_true(d.v[1].value == 1);
	krp_hwc_free(&d);
	krp_hwc_diff(&d, &none, &now);
	assert_int_equal(d.nr, 0);
	krp_hwc_diff(&d, &from, &none);
	assert_int_equal(d.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests_name("hwc", tests, make_root, remove_root) ? 1 : 0;
}
