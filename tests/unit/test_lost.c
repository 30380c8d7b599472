// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A counter of lost events that cannot be read is unknown, not 0. */
#include "unit.h"
#include "tools/lib/lost.h"
#include "tools/lib/out.h"

static json_object *json_of(struct krp_lost l)
{
	json_object *o = json_object_new_object();

	krp_json_lost(o, l);
	return o;
}

TEST(known)
{
	struct krp_lost l = { .missed = 3, .failed = 20, .dropped = 100 };

	assert_string_equal(krp_lost_text(l), "123");
	json_is(json_of(l),
		"{\"lost\":123,\"lost_missed\":3,\"lost_failed\":20,\"lost_dropped\":100}");
}

/* These descriptors are not open. */
TEST(unreadable)
{
	static const int none[2] = { -1, -1 };
	struct krp_lost l;

	l = krp_lost_read(none, 2, -1);
	assert_true(l.unknown);
	assert_string_equal(krp_lost_text(l), "-");
	json_is(json_of(l),
		"{\"lost\":null,\"lost_missed\":null,\"lost_failed\":null,\"lost_dropped\":null}");
	/* There are no programs, and the map alone cannot be read. */
	assert_true(krp_lost_read(none, 0, -1).unknown);
}
