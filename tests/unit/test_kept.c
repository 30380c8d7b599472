// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The last of many elements are kept, in order and at their addresses; the dropped are counted. */
#include "unit.h"
#include "tools/lib/kept.h"

#define ROOM 5

TEST(last)
{
	struct krp_kept k;
	unsigned int n, i, oldest;
	uint64_t *v, *where[ROOM];

	assert_int_equal(krp_kept_init(&k, ROOM, sizeof(*v)), 0);
	for (n = 0; n < 4 * ROOM + 2; n++) {
		assert_int_equal(krp_kept_full(&k), n >= ROOM);
		oldest = n < ROOM ? 0 : n - ROOM;
		for (i = 0; i < k.nr; i++) {
			v = krp_kept_at(&k, i);
			assert_int_equal(*v, oldest + i);
			/* An element never moves: other code points at it. */
			assert_ptr_equal(v, where[*v % ROOM]);
		}
		v = krp_kept_add(&k);
		*v = n;
		where[n % ROOM] = v;
		assert_int_equal(k.nr, n < ROOM ? n + 1 : ROOM);
		assert_int_equal(k.dropped, n < ROOM ? 0 : n + 1 - ROOM);
	}
	krp_kept_free(&k);
}
