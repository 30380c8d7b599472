// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/probe.h"
#include "../lib/tool.h"
#include "collect.h"
#include "krping_mr.skel.h"
#include "ledger.h"

/* How often a ledger that is being written is read. */
#define ATTEMPTS 100

struct account {
	struct ledger ledger;
	uint64_t done_flushed;
	uint64_t records; /* the number of the last record */
	bool gap;	  /* and some before it were not seen */
	struct costs costs;
};

static struct krp_programs programs;
static struct krp_follow follow;
static struct account **accounts; /* by slot */
static bool from_events;
static struct krping_mr_bpf *skel;
static struct krp_probe probe;

static struct account *account_of(uint32_t slot)
{
	struct account *acc = accounts[slot];

	if (acc)
		return acc;
	acc = accounts[slot] = calloc(1, sizeof(*acc));
	if (!acc)
		krp_die("out of memory");
	acc->ledger.run.head.late = follow.slot[slot].late;
	return acc;
}

static void forget(uint32_t slot)
{
	uint32_t run = follow.slot[slot].run;

	if (from_events && run)
		bpf_map_delete_elem(bpf_map__fd(skel->maps.ledgers), &run);
	if (!accounts[slot])
		return;
	ledger_free(&accounts[slot]->ledger);
	costs_free(&accounts[slot]->costs);
	free(accounts[slot]);
	accounts[slot] = NULL;
}

static void take_cost(struct account *acc, uint64_t word)
{
	costs_take(&acc->costs, word);
	if (!(word & KRPING_COST_F_FAILED))
		return;
	if (KRPING_COST_WHAT(word) == KRPING_COST_MAP)
		acc->ledger.run.map_errs++;
	else if (KRPING_COST_KIND(word) == KRPING_WR_REG_MR)
		acc->done_flushed++;
}

static void take(struct krp_followed *s, const struct krp_rec *rec)
{
	struct krp_totals t = {
		.records = 1,
		.ns = rec->t - rec->t_begin,
		.whole = !!(rec->flags & KRP_REC_F_WHOLE),
	};
	struct account *acc = account_of(rec->slot);
	const __u64 *word, *end = rec->word + rec->nr;

	krp_follow_seen(s, &t);
	if (rec->records != acc->records + 1) {
		acc->gap = true;
		ledger_begin_again(&acc->ledger);
	}
	acc->records = rec->records;
	for (word = rec->word; word < end; word++) {
		if (KRPING_WORD_KIND(*word) == KRPING_WORD_STEP)
			ledger_step(&acc->ledger, *word);
		else if (KRPING_WORD_KIND(*word) == KRPING_WORD_COST)
			take_cost(acc, *word);
	}
}

void collect_open(bool events)
{
	from_events = events;
	krp_programs_open(&programs, KRP_KIND_MEMORY);
	if (events) {
		skel = krping_mr_bpf__open();
		krp_probe_opened(skel);
		krp_probe_open(&probe, &(struct krp_want){
					       KRP_SKELETON(skel),
					       .run = krp_tool.opts.run,
					       .runs = krp_programs_slots(&programs),
				       });
	}
	accounts = calloc(krp_programs_slots(&programs), sizeof(*accounts));
	if (!accounts)
		krp_die("out of memory");
	krp_follow_open(&follow, &programs, take, forget);
}

void collect_close(void)
{
	uint32_t slot;

	for (slot = 0; slot < krp_programs_slots(&programs); slot++)
		forget(slot);
	free(accounts);
	krp_follow_close(&follow);
	if (from_events) {
		krp_probe_close(&probe);
		krping_mr_bpf__destroy(skel);
	}
	krp_programs_close(&programs);
}

struct krp_programs *collect_programs(void)
{
	return &programs;
}

struct krp_follow *collect_follow(void)
{
	return &follow;
}

uint32_t collect_slots(void)
{
	return krp_programs_slots(&programs);
}

uint32_t collect_run(uint32_t slot)
{
	const struct krp_followed *s = krp_follow_slot(&follow, slot);

	return s ? s->run : 0;
}

/* The ledger that the programs keep: two readings have to agree. */
static bool read_events(struct mr_run *st, uint32_t run)
{
	int fd = bpf_map__fd(skel->maps.ledgers);
	struct mr_run again;
	unsigned int i;

	for (i = 0; i < ATTEMPTS; i++) {
		/* No step of it was seen. */
		if (bpf_map_lookup_elem(fd, &run, st)) {
			memset(st, 0, sizeof(*st));
			st->head.late = 1;
			return true;
		}
		if (!(st->head.seq & 1) && !bpf_map_lookup_elem(fd, &run, &again) &&
		    !memcmp(st, &again, sizeof(again)))
			return true;
	}
	return false;
}

bool collect_get(struct collected *c, uint32_t slot, bool whole)
{
	struct krp_followed *s = &follow.slot[slot];
	struct account *acc = account_of(slot);
	struct krp_run r;
	bool late;

	if (!krp_programs_read(&programs, slot, &r))
		return false;
	if (whole)
		krp_follow_end(s, &r);
	c->st = acc->ledger.run;
	if (from_events && !read_events(&c->st, s->run))
		return false;
	late = s->late || (from_events && c->st.head.late);
	c->st.head = r.head;
	c->st.head.late = late;
	c->st.head.state = whole ? KRP_SLOT_ENDED : KRP_SLOT_RUNNING;
	c->done_flushed = acc->done_flushed;
	c->missed = krp_follow_missed(s);
	c->gap = !from_events && (acc->gap || c->missed.records);
	return true;
}

void collect_costs(struct costs *to, uint32_t slot)
{
	if (accounts[slot])
		costs_move(to, &accounts[slot]->costs);
}

void collect_tidy(void)
{
	if (from_events)
		krp_programs_sweep(&programs, bpf_map__fd(skel->maps.ledgers));
}

struct krp_lost collect_lost(void)
{
	struct krp_lost lost = krp_programs_lost(&programs);

	return from_events ? krp_lost_add(lost, krp_probe_lost(&probe)) : lost;
}
