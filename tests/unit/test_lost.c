// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A counter of lost events that cannot be read is unknown, not 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/lib/lost.h"
#include "tools/lib/out.h"

static void json_is(struct krp_lost l, const char *want)
{
	json_object *o = json_object_new_object();

	krp_json_lost(o, l);
	assert_string_equal(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), want);
	json_object_put(o);
}

static void test_known(void **state)
{
	struct krp_lost l = { .missed = 3, .failed = 20, .dropped = 100 };

	(void)state;
	assert_string_equal(krp_lost_text(l), "123");
	json_is(l, "{\"lost\":123,\"lost_missed\":3,\"lost_failed\":20,\"lost_dropped\":100}");
}

/* These descriptors are not open. */
static void test_unreadable(void **state)
{
	static const int none[2] = { -1, -1 };
	struct krp_lost l;
	char csv[64] = "";
	json_object *o;
	bool head = false;
	FILE *f;

	(void)state;
	l = krp_lost_read(none, 2, -1);
	assert_true(l.unknown);
	assert_string_equal(krp_lost_text(l), "-");
	json_is(l,
		"{\"lost\":null,\"lost_missed\":null,\"lost_failed\":null,\"lost_dropped\":null}");
	/* There are no programs, and the map alone cannot be read. */
	assert_true(krp_lost_read(none, 0, -1).unknown);
	f = fmemopen(csv, sizeof(csv), "w");
	o = json_object_new_object();
	krp_json_lost_sum(o, "lost", l);
	krp_json_u64(o, "runs", 2);
	krp_csv_emit(f, o, &head);
	fclose(f);
	assert_string_equal(csv, "lost,runs\n,2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests_name("lost", tests, NULL, NULL) ? 1 : 0;
}
