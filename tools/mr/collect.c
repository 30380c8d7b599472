// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/alloc.h"
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
	bool gap; /* events of its ledger were lost */
	struct costs costs;
};

static struct krp_seen seen;
static struct account **accounts; /* by slot */
static bool from_events;
static struct krping_mr_bpf *skel;
static struct krp_probe probe;

static struct account *account_of(uint32_t slot)
{
	struct account *acc = accounts[slot];

	if (acc)
		return acc;
	acc = accounts[slot] = krp_new(1, sizeof(*acc));
	acc->ledger.run.head.late = seen.slot[slot].head.late;
	return acc;
}

static void forget(uint32_t slot)
{
	uint32_t run = seen.slot[slot].head.run;

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

static void take(struct krp_seen_run *s, const struct krp_rec *rec)
{
	struct account *acc = account_of(rec->slot);
	const __u64 *word, *end = rec->word + rec->nr;

	(void)s;
	if (rec->gap) {
		acc->gap = true;
		ledger_begin_again(&acc->ledger);
	}
	for (word = rec->word; word < end; word++) {
		if (KRPING_WORD_KIND(*word) == KRPING_WORD_STEP)
			ledger_step(&acc->ledger, *word);
		else if (KRPING_WORD_KIND(*word) == KRPING_WORD_COST)
			take_cost(acc, *word);
	}
}

struct krp_seen *collect_open(bool events, const char *input, struct krp_runs *runs)
{
	from_events = events;
	krp_seen_open(&seen, KRP_EV_iter_memory, input, runs, take, forget);
	if (events) {
		skel = krping_mr_bpf__open();
		krp_probe_opened(skel);
		bpf_map__set_max_entries(skel->maps.ledgers, seen.slots);
		krp_probe_open(&probe, &(struct krp_want){
					       KRP_SKELETON(skel),
					       .run = krp_tool.opts.run,
				       });
	}
	accounts = krp_new(seen.slots, sizeof(*accounts));
	return &seen;
}

void collect_close(void)
{
	uint32_t slot;

	for (slot = 0; slot < seen.slots; slot++)
		forget(slot);
	free(accounts);
	if (from_events) {
		krp_probe_close(&probe);
		krping_mr_bpf__destroy(skel);
	}
	krp_seen_close(&seen);
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
	const struct krp_seen_run *s = &seen.slot[slot];
	struct account *acc = account_of(slot);
	bool late;

	c->st = acc->ledger.run;
	if (from_events && !read_events(&c->st, s->head.run))
		return false;
	late = s->head.late || (from_events && c->st.head.late);
	c->st.head = s->head;
	c->st.head.late = late;
	c->st.head.state = whole ? KRP_SLOT_ENDED : KRP_SLOT_RUNNING;
	c->done_flushed = acc->done_flushed;
	c->missed = s->missed;
	c->gap = !from_events && (acc->gap || c->missed.records);
	return true;
}

void collect_costs(struct costs *to, uint32_t slot)
{
	if (accounts[slot])
		costs_move(to, &accounts[slot]->costs);
}

void collect_tidy(const struct krp_runs *runs)
{
	const struct krp_run_info *info;
	uint32_t run, next;
	bool more;
	int fd;

	if (!from_events)
		return;
	fd = bpf_map__fd(skel->maps.ledgers);
	more = !bpf_map_get_next_key(fd, NULL, &next);
	while (more) {
		run = next;
		more = !bpf_map_get_next_key(fd, &run, &next);
		info = krp_runs_find(runs, run);
		if (krp_seen_find(&seen, run) < 0 && info && krp_run_finished(info))
			bpf_map_delete_elem(fd, &run);
	}
}

struct krp_lost collect_lost(void)
{
	struct krp_lost lost = krp_seen_lost(&seen);

	return from_events ? krp_lost_add(lost, krp_probe_lost(&probe)) : lost;
}
