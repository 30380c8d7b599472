// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The words of iterations: what is put into one comes out, no field reaches into another, and a
 * number that is too large becomes the largest one.
 */
#include "unit.h"
#include "trace/krping_abi.h"

TEST(times)
{
	static const uint64_t times[] = { 0, 1, 12345678901, KRPING_SEG_NS_MAX - 1,
					  KRPING_SEG_NS_MAX };
	static const unsigned int all_flags[] = { 0, KRPING_SEG_F_SUM, KRPING_SEG_F_EARLY,
						  KRPING_SEG_F_SUM | KRPING_SEG_F_EARLY };
	unsigned int i, phase, stage, flags;
	uint64_t w, ns;

	for (i = 0; i < KRPING_WORD_STEP * 8 * NR(all_flags) * NR(times); i++) {
		phase = i % KRPING_WORD_STEP;
		stage = i / KRPING_WORD_STEP % 8;
		flags = all_flags[i / KRPING_WORD_STEP / 8 % NR(all_flags)];
		ns = times[i / KRPING_WORD_STEP / 8 / NR(all_flags)];
		w = KRPING_SEG(phase, stage, flags, ns);
		are("1 1", KRPING_WORD_IS_TIME(w), KRPING_SEG_NS(w) == ns);
		assert_true(KRPING_SEG_PHASE(w) == phase && KRPING_SEG_STAGE(w) == stage);
		assert_true((w & all_flags[3]) == flags);
		assert_int_equal(KRPING_SEG_WHAT(w),
				 phase | stage << 8 | (flags & KRPING_SEG_F_SUM));
	}
}

/* 26 days, and not a nanosecond less. */
TEST(saturation)
{
	uint64_t w = KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, UINT64_MAX);

	assert_true(KRPING_SEG_NS(w) == (1ULL << 51) - 1);
	assert_true(KRPING_SEG_NS_MAX > 26 * 86400 * 1000000000ULL);
	assert_int_equal(KRPING_SEG_WHAT(w), KRPING_PHASE_LISTEN);
	assert_true(KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, KRPING_SEG_NS_MAX + 1) == w);
	assert_true(KRPING_SEG(KRPING_PHASE_LISTEN, 0, 0, KRPING_SEG_NS_MAX - 1) != w);

	w = KRPING_COST(KRPING_WR_REG_MR, KRPING_COST_DONE, 0, 5000, UINT64_MAX);
	assert_true(KRPING_COST_NS(w) == KRPING_COST_NS_MAX);
	assert_true(KRPING_COST_NS_MAX > 9 * 60 * 1000000000ULL);
	assert_int_equal(KRPING_COST_PAGES(w), 1023);
	assert_int_equal(KRPING_COST_KIND(w), KRPING_WR_REG_MR);
	assert_int_equal(KRPING_COST_WHAT(w), KRPING_COST_DONE);
	assert_int_equal(w & KRPING_COST_F_FAILED, 0);

	w = KRPING_STEP(KRPING_STEP_REG, 1, 1 << 20, 0);
	assert_int_equal(KRPING_STEP_PAGES(w), (1 << 18) - 1);
	are("1 0", KRPING_STEP_STATE(w), KRPING_STEP_KEY(w));
}

TEST(steps_and_costs)
{
	static const uint32_t keys[] = { 0, 1, 0xdeadbeef, UINT32_MAX };
	unsigned int i, kind, what, flags;
	uint64_t w;

	for (i = 0; i < 16 * 4 * 4; i++) {
		kind = i / 16;
		what = i / 4 % 4;
		w = KRPING_STEP(kind, what, i % 4 * 171, keys[i % 4]);
		assert_true(!KRPING_WORD_IS_TIME(w) && KRPING_WORD_KIND(w) == KRPING_WORD_STEP);
		assert_true(KRPING_STEP_KIND(w) == kind && KRPING_STEP_STATE(w) == what);
		assert_true(KRPING_STEP_PAGES(w) == i % 4 * 171 &&
			    KRPING_STEP_KEY(w) == keys[i % 4]);

		flags = i & 1 ? KRPING_COST_F_FAILED : 0;
		w = KRPING_COST(kind, what, flags, i % 4 * 341, i % 4 * 99999999999ULL);
		assert_true(!KRPING_WORD_IS_TIME(w) && KRPING_WORD_KIND(w) == KRPING_WORD_COST);
		assert_true(KRPING_COST_KIND(w) == kind && KRPING_COST_WHAT(w) == what);
		assert_true((w & KRPING_COST_F_FAILED) == flags);
		assert_true(KRPING_COST_PAGES(w) == i % 4 * 341 &&
			    KRPING_COST_NS(w) == i % 4 * 99999999999ULL);
	}
	assert_true(KRPING_NR_STEPS <= 16 && KRPING_NR_MR_STATES <= 4);
	assert_true(KRPING_NR_WRS <= 16 && KRPING_NR_COSTS <= 4);
	/* The pages of the largest registration, which may begin anywhere in its first page. */
	assert_true(KRPING_SIZE_MAX / 4096 + 1 < 1023);
}
