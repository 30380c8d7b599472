// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of tests. */
#include "test.h"

static const struct krping_test *const krping_tests[] = {
	[KRPING_TEST_RPING] = &krping_test_rping,     [KRPING_TEST_FR] = &krping_test_fr,
	[KRPING_TEST_WLAT] = &krping_test_wlat,	      [KRPING_TEST_RLAT] = &krping_test_rlat,
	[KRPING_TEST_BW] = &krping_test_bw,	      [KRPING_TEST_FAST] = &krping_test_fast,
	[KRPING_TEST_PROTECT] = &krping_test_protect, [KRPING_TEST_BLOCK] = &krping_test_block,
};

const struct krping_test *krping_test_find(enum krping_test_id id)
{
	return krping_tests[id];
}
