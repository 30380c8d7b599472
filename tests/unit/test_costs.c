// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Costs of registrations: each size has its distributions, intervals add up, memory is for what came; and their ledger. */
#include "unit.h"
#include "tools/lib/tool.h"
#include "tools/mr/costs.h"
#include "tools/mr/ledger.h"

/* The address sanitizer counts, and gcc has no header of it. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* So many values of each cost of this size; the least is first, and each is 1/8 more than the one before. */
static void take(struct costs *c, unsigned int pages, unsigned int nr, uint64_t first)
{
	unsigned int what, i;
	uint64_t ns = first;

	for (i = 0; i < nr; i++, ns += ns / 8) {
		for (what = 0; what < MR_NR_COSTS; what++)
			costs_take(c, KRPING_COST(KRPING_WR_REG_MR, what, 0, pages, ns));
	}
}

static void same_hist(const struct costs *c, size_t i, const struct krp_hist *want)
{
	struct krp_hist h;
	unsigned int k;

	for (k = 0; k < MR_NR_COSTS; k++) {
		costs_hist(&h, &c->v[i].hist[k]);
		assert_memory_equal(&h, want, sizeof(h));
	}
}

/* What was moved is there, and nothing of it is left: the next interval begins with nothing. */
TEST(interval)
{
	static struct costs c, before;
	struct krp_hist want = { 0 };
	uint64_t ns = 5000;
	unsigned int i;

	/* Sizes and values come in no order. */
	take(&c, 7, 30, 9000);
	take(&c, 3, 20, 400);
	costs_move(&before, &c);
	take(&c, 7, 40, 5000);
	for (i = 0; i < 40; i++, ns += ns / 8)
		want.bucket[krp_hist_index(ns)]++;
	are("1 7 40 5000", c.nr, c.v[0].pages, c.v[0].sum[MR_COST_DONE].count,
	    c.v[0].sum[MR_COST_DONE].min);
	same_hist(&c, 0, &want);
	/* And a sum of both is all of it. */
	costs_move(&before, &c);
	are("2 20 70 5000 0", before.nr, before.v[0].sum[MR_COST_MAP].count,
	    before.v[1].sum[MR_COST_MAP].count, before.v[1].sum[MR_COST_MAP].min, c.nr);
	for (i = 0, ns = 9000; i < 30; i++, ns += ns / 8)
		want.bucket[krp_hist_index(ns)]++;
	same_hist(&before, 1, &want);
	costs_free(&before);
}

TEST(memory)
{
	static struct costs c, all;
	size_t before = __sanitizer_get_current_allocated_bytes();
	unsigned int pages;

	/* A run of "fr size=2M", and its copy in a line. */
	for (pages = 1; pages <= 512; pages++)
		take(&c, pages, 20, 1000);
	costs_move(&all, &c);
	assert_true(__sanitizer_get_current_allocated_bytes() - before < 1 << 20);
	costs_free(&all);
	assert_int_equal(__sanitizer_get_current_allocated_bytes(), before);
}

/* A step of all regions, the numbers of which come in no order. */
static void step(struct ledger *l, unsigned int kind, unsigned int state, unsigned int turn)
{
	for (unsigned int i = 0; i < 3000; i++)
		ledger_step(l, KRPING_STEP(kind, state, 1, (i * 7919 % 65536) << 8 | turn));
}

TEST(many)
{
	struct ledger l = { 0 };
	struct mr_run *r = &l.run;

	step(&l, KRPING_STEP_REG, 0, 1);
	step(&l, KRPING_STEP_REM_INV, 1, 1);
	step(&l, KRPING_STEP_REG, 0, 2);
	are("6000 3000 3000 0 0", r->fastreg, r->reminv, r->valid, r->mismatch, r->bad);
	/* One of them, if the module had lost a step of it. */
	ledger_step(&l, KRPING_STEP(KRPING_STEP_REG, 0, 1, (2000 * 7919 % 65536) << 8 | 3));
	are("3000 1 1 1", r->valid, r->mismatch, r->reg_valid, r->bad);
	ledger_begin_again(&l);
	are("-3000 0", r->valid_at_attach, r->valid);
	step(&l, KRPING_STEP_DEREG, KRPING_MR_VALID, 2);
	are("0 3000 3000 0 1", r->valid_at_attach, r->freed, r->freed_valid, r->valid, r->mismatch);
	ledger_free(&l);
}

TEST(places)
{
	struct mr_run r = { 0 };
	unsigned int i;

	for (i = 0; i < 2 * MR_REGIONS; i++)
		r.not_followed += !mr_reg(&r, mr_region_of(&r, i), 0, i << 8, 1, 0);
	/* The places of those that are freed first are no places for the others, of which nothing is known. */
	for (i = 0; i < 2 * MR_REGIONS; i++)
		r.not_followed += !mr_free(&r, mr_region_of(&r, i), i << 8, KRPING_MR_VALID);
	are("8 8 8 0 0 16", r.fastreg, r.freed, r.freed_valid, r.valid, r.mismatch, r.not_followed);
}
