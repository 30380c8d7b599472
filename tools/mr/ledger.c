// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <search.h>
#include <stdlib.h>

#include "../lib/alloc.h"
#include "../lib/tool.h"
#include "ledger.h"

/* The bits of a key that it has in common with the other keys of its region. */
#define REGION_OF(key) ((key) >> 8)

static int by_id(const void *a, const void *b)
{
	const struct mr_region *l = a, *r = b;

	return (l->id > r->id) - (l->id < r->id);
}

/* The region with this number, which may be new. */
static struct mr_region *region_of(struct ledger *l, uint32_t id)
{
	struct mr_region wanted = { .id = id }, **g = tsearch(&wanted, &l->regions, by_id);

	if (!g)
		krp_die("out of memory");
	if (*g == &wanted)
		*g = krp_new(1, sizeof(**g));
	if ((*g)->state == MR_REGION_UNUSED || (*g)->state == MR_REGION_FREED)
		mr_region_new(&l->run, *g, id);
	return *g;
}

void ledger_step(struct ledger *l, uint64_t word)
{
	uint32_t key = KRPING_STEP_KEY(word), state = KRPING_STEP_STATE(word);
	struct mr_region *g = region_of(l, REGION_OF(key));
	struct mr_run *r = &l->run;

	switch (KRPING_STEP_KIND(word)) {
	case KRPING_STEP_REG:
		mr_reg(r, g, 0, key, KRPING_STEP_PAGES(word), state);
		break;
	case KRPING_STEP_LOCAL_INV:
		mr_inv(r, &r->localinv, g, key, state);
		break;
	case KRPING_STEP_REM_INV:
		mr_inv(r, &r->reminv, g, key, state);
		break;
	case KRPING_STEP_READ_INV:
		mr_inv(r, &r->readinv, g, key, state);
		break;
	case KRPING_STEP_DEREG:
		mr_free(r, g, key, state);
		break;
	}
}

void ledger_begin_again(struct ledger *l)
{
	ledger_free(l);
	l->run.head.late = 1;
	l->run.valid_at_attach -= l->run.valid;
	l->run.valid = 0;
}

void ledger_free(struct ledger *l)
{
	tdestroy(l->regions, free);
	l->regions = NULL;
}
