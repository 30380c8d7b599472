// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping-mr: what fast registrations cost, and whether each is invalidated. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/probe.h"
#include "../lib/display.h"
#include "../lib/tool.h"
#include "collect.h"
#include "../krping/views.h"

/*
 * The ledger of a run: the counts of all the time, or of an interval. In both
 * cases the number of valid keys, and whether the ledger balances, are as of
 * now.
 */
struct balance {
	struct krp_view run;
	struct mr_run st;
	uint64_t valid_before; /* st.valid when the interval began; 0 for all the time */
	uint64_t done_flushed;
	struct krp_totals missed; /* what was overwritten before it was read */
	bool gap;		  /* and the ledger lacks it */
	int64_t off;		  /* by how much it does not balance, since the run began */
	char comm[KRP_ESCAPED(KRP_COMM_LEN)]; /* of the process that wrote the command; escaped */
};

static const char *const cost_names[] = { "map", "post", "done" };
static const char *const inv_names[] = { "LOCAL_INV", "SEND_WITH_INV", "READ_WITH_INV" };
static const char *const region_names[] = { "-", "-", "FREE", "VALID", "FREED" };

static struct krp_runs runs;
/* Of the runs that are shown: since the last line, and all the time before that. */
static struct costs costs, costs_before;
/* By slot, the ledgers of runs when the last line was printed. */
static struct balance *marks;
static bool broken;
static bool keys, watch;
static struct krp_display display;
/* The first run whose ledger was wrong. */
static struct balance broke;

static int64_t off_balance(const struct balance *b)
{
	const struct mr_run *st = &b->st;

	return st->valid_at_attach + st->fastreg - st->localinv - st->reminv - st->readinv -
	       st->freed_valid - st->flushed - st->valid;
}

static uint64_t oddities(const struct mr_run *st)
{
	return st->inv_invalid + st->reg_valid + st->mismatch;
}

/*
 * Judges a run by its ledger of all the time. If the run began before we
 * attached, the beginning of the ledger is missing: then only --watch looks at
 * the run, and only for single events that are wrong. A ledger with a gap says
 * nothing.
 */
static void judge(const struct balance *b)
{
	bool is_broken = !b->run.head.late && !b->gap && (b->off || oddities(&b->st));

	broken |= is_broken;
	if ((is_broken || (watch && b->st.bad && !b->gap)) && !broke.run.head.run)
		broke = *b;
}

/* Sets since to total less the mark of the slot. */
static void sub_balance(struct balance *since, const struct balance *total, uint32_t slot)
{
	const struct balance *mark = &marks[slot];
	struct mr_run *st = &since->st;

	*since = *total;
	since->run.since = true;
	if (mark->run.head.run != total->run.head.run)
		return;
	since->valid_before = mark->st.valid;
	since->done_flushed -= mark->done_flushed;
	st->valid_at_attach -= mark->st.valid_at_attach;
	st->fastreg -= mark->st.fastreg;
	st->localinv -= mark->st.localinv;
	st->reminv -= mark->st.reminv;
	st->readinv -= mark->st.readinv;
	st->freed_valid -= mark->st.freed_valid;
	st->flushed -= mark->st.flushed;
	st->freed -= mark->st.freed;
	st->map_errs -= mark->st.map_errs;
	st->inv_invalid -= mark->st.inv_invalid;
	st->reg_valid -= mark->st.reg_valid;
	st->mismatch -= mark->st.mismatch;
	st->not_followed -= mark->st.not_followed;
	since->missed.records -= mark->missed.records;
	since->missed.ns -= mark->missed.ns;
	since->missed.whole -= mark->missed.whole;
}

/* If the run began before we attached, reads the name of its process, which may be gone. */
static void read_comm(struct balance *b)
{
	char path[64], comm[KRP_COMM_LEN];
	size_t len;
	FILE *f;

	if (*b->run.head.comm) {
		krp_escape(b->comm, sizeof(b->comm), b->run.head.comm, KRP_COMM_LEN);
		return;
	}
	strcpy(b->comm, "?");
	if (!b->run.info.pid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", b->run.info.pid);
	f = fopen(path, "re");
	if (!f)
		return;
	/* The text ends with a newline, and the name itself may contain one. */
	len = fread(comm, 1, sizeof(comm), f);
	if (len)
		krp_escape(b->comm, sizeof(b->comm), comm, len - 1);
	fclose(f);
}

static bool view(void *total, void *since, uint32_t slot, bool whole)
{
	struct balance *b = total;
	struct collected c;

	if (!collect_get(&c, slot, whole))
		return false;
	b->run.head = c.st.head;
	b->st = c.st;
	b->done_flushed = c.done_flushed;
	b->missed = c.missed;
	b->gap = c.gap;
	b->off = off_balance(b);
	if (!b->run.info.pid)
		b->run.info.pid = b->run.head.pid;
	if (keys)
		read_comm(b);
	judge(b);
	collect_costs(&costs, slot);
	if (since)
		sub_balance(since, b, slot);
	return true;
}

static void line(uint32_t slot, void *total)
{
	marks[slot] = *(struct balance *)total;
}

/* Three cells: the mean of a sum, and two more figures of it; "-" if it has no values. */
static void cost_cells(struct krp_table *t, const struct krp_sum *s, uint64_t second,
		       uint64_t third)
{
	krp_cell(t, "%s", s->count ? krp_ns(s->sum / s->count).s : "-");
	krp_cell(t, "%s", s->count ? krp_ns(second).s : "-");
	krp_cell(t, "%s", s->count ? krp_ns(third).s : "-");
}

static void print_inv_costs(FILE *f, const struct costs *c)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "INVALIDATED BY", -14 }, { "COUNT", 7 },
		{ "|", 1 }, { "MEAN", 6 }, { "MIN", 6 }, { "MAX", 6 },
		{ "|", 1 }, { "MEAN", 6 }, { "MIN", 6 }, { "MAX", 6 },
	} };
	/* clang-format on */
	unsigned int i;

	for (i = 0; i < MR_NR_INVS; i++) {
		const struct krp_sum *post = &c->inv_post[i], *done = &c->inv_done[i];

		if (!post->count)
			continue;
		krp_cell(&t, "%s", inv_names[i]);
		krp_cell(&t, "%s", krp_count(post->count).s);
		krp_cell(&t, "|");
		cost_cells(&t, post, post->min, post->max);
		krp_cell(&t, "|");
		cost_cells(&t, done, done->min, done->max);
	}
	if (!t.nr)
		return;
	fprintf(f, "\n%-22s | %-20s | %s\n", "", "post the chain, CPU", "to next completion");
	krp_table_print(f, &t, 0);
}

static void print_costs(FILE *f, const struct costs *c)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "PAGES", 5 }, { "COUNT", 6 },
		{ "MEAN", 6 }, { "P50", 6 }, { "P99", 6 },
		{ "|", 1 }, { "MEAN", 6 }, { "P50", 6 }, { "P99", 6 },
		{ "|", 1 }, { "MEAN", 6 }, { "P50", 6 }, { "P99", 6 },
	} };
	/* clang-format on */
	struct krp_hist hist;
	unsigned int i, k;

	fprintf(f, "\n%-13s%-20s | %-20s | %s\n", "", "map, CPU", "post the chain, CPU",
		"to next completion");
	for (i = 0; i < c->nr; i++) {
		const struct cost *v = &c->v[i];

		krp_cell(&t, "%u", v->pages);
		krp_cell(&t, "%s", krp_count(v->sum[MR_COST_MAP].count).s);
		for (k = 0; k < MR_NR_COSTS; k++) {
			if (k)
				krp_cell(&t, "|");
			costs_hist(&hist, &v->hist[k]);
			cost_cells(&t, &v->sum[k], krp_hist_percentile(&hist, &v->sum[k], KRP_P50),
				   krp_hist_percentile(&hist, &v->sum[k], KRP_P99));
		}
	}
	krp_table_print(f, &t, 0);
	print_inv_costs(f, c);
	if (!krp_tool.opts.histograms)
		return;
	for (i = 0; i < c->nr; i++) {
		for (k = 0; k < MR_NR_COSTS; k++) {
			char title[32];

			snprintf(title, sizeof(title), "%u pages, %s", c->v[i].pages,
				 cost_names[k]);
			costs_hist(&hist, &c->v[i].hist[k]);
			krp_hist_print(f, title, &hist);
		}
	}
}

/* The columns of the balance, and what the line of a run calls them. */
enum { FASTREG, LOCALINV, REMINV, READINV, FREED, FLUSHED, VALID, ODD, NR_COUNTS };
static const char *const count_words[] = {
	"", "by LOCAL_INV", "by the peer", "by READ_WITH_INV", "freed", "flushed", "valid now",
};

static const uint64_t *counts_of(const struct balance *b)
{
	static uint64_t n[NR_COUNTS];
	const struct mr_run *st = &b->st;

	n[FASTREG] = st->fastreg + st->valid_at_attach;
	n[LOCALINV] = st->localinv;
	n[REMINV] = st->reminv;
	n[READINV] = st->readinv;
	n[FREED] = st->freed_valid;
	n[FLUSHED] = st->flushed;
	n[VALID] = st->valid;
	n[ODD] = oddities(st);
	return n;
}

static void print_verdict(FILE *f, const struct balance *b)
{
	const uint64_t before = b->valid_before + b->st.valid_at_attach, *n = counts_of(b),
		       all = n[FASTREG] + b->valid_before,
		       gone = n[LOCALINV] + n[REMINV] + n[READINV];
	unsigned int i;

	if (b->gap)
		fprintf(f, "%" PRIu64 " iterations not seen, %s in all: no verdict",
			b->missed.whole, krp_ns(b->missed.ns).s);
	else if (b->off)
		fprintf(f,
			b->off > 0 ? "%" PRId64 " keys not accounted for" :
				     "off balance by %" PRId64,
			b->off);
	else
		fputs(n[ODD] ? "keys are wrong" : all ? "no key leaked" : "no keys", f);
	if (b->gap || !(all || gone))
		return;
	fprintf(f,
		gone ? ": %2$" PRIu64 " of %1$" PRIu64 " invalidated" : ": %" PRIu64 " registered",
		all, gone);
	for (i = LOCALINV; i <= VALID; i++) {
		if (n[i] && n[i] == gone && i <= READINV)
			fprintf(f, " %s", count_words[i]);
		else if (n[i])
			fprintf(f, ", %" PRIu64 " %s", n[i], count_words[i]);
	}
	if (before)
		fprintf(f, "; %" PRIu64 " valid before", before);
}

/* The answer, in one line, and what else there is to say of a run. */
static void print_run(FILE *f, const struct balance *b)
{
	const struct mr_run *st = &b->st;
	char text[256];
	FILE *line = fmemopen(text, sizeof(text), "w");

	if (!line)
		krp_die("out of memory");
	fprintf(line, "run %u %s%s: ", b->run.head.run, b->run.info.role,
		b->run.head.late ? ", late" : "");
	print_verdict(line, b);
	fclose(line);
	krp_fold(f, text, 2, KRP_TEXT_WIDTH);
	if (krp_run_label(&b->run.info))
		fprintf(f, "  name %s\n", b->run.info.name);
	if (oddities(st))
		fprintf(f,
			"  invalidated while not valid %llu, registered while valid %llu, ledgers differ %llu\n",
			st->inv_invalid, st->reg_valid, st->mismatch);
	if (b->done_flushed || st->map_errs)
		fprintf(f, "  without a completion %" PRIu64 ", failed mappings %llu\n",
			b->done_flushed, st->map_errs);
	if (st->not_followed)
		fprintf(f, "  %llu steps of regions after the first %u are not in this ledger\n",
			st->not_followed, MR_REGIONS);
	if (b->missed.records && !b->gap)
		fprintf(f, "  %" PRIu64 " iterations not seen: not in the costs\n",
			b->missed.whole);
}

static void print_balances(FILE *f, const struct krp_shown *s)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "RUN", 4 }, { "ROLE", -6 }, { "FASTREG", 7 }, { "LOCALINV", 8 },
		{ "REMINV", 7 }, { "READINV", 7 }, { "FREED", 6 }, { "FLUSHED", 7 },
		{ "VALID", 5 }, { "ODD", 4 }, { "BALANCE", 7 },
	} };
	/* clang-format on */
	unsigned int i, k;

	fprintf(f,
		"\n%sfastreg = localinv + reminv + readinv + freed while valid + flushed + valid\n",
		s->since ? "was valid + " : "");
	for (i = 0; i < s->nr; i++) {
		const struct balance *b = s->v[i];

		krp_cell(&t, "%u", b->run.head.run);
		krp_cell(&t, "%s", b->run.info.role);
		for (k = 0; k < NR_COUNTS; k++)
			krp_cell(&t, "%s", krp_count(counts_of(b)[k]).s);
		krp_cell(&t, b->off ? "%+" PRId64 : "ok", b->off);
	}
	krp_table_print(f, &t, 0);
}

/* The time since the last change of a region; 0 if no change was seen. */
static uint64_t age(const struct mr_region *g, uint64_t now)
{
	return g->t && now > g->t ? now - g->t : 0;
}

static void print_keys(FILE *f, void *const *v, unsigned int nr)
{
	/* clang-format off */
	struct krp_table t = { .col = {
		{ "RUN", 4 }, { "ROLE", -6 }, { "MR", 5 }, { "KEY", 10 }, { "STATE", -5 },
		{ "PAGES", 5 }, { "AGE", 6 }, { "OWNER", -24 },
	} };
	/* clang-format on */
	uint64_t now = krp_time_now();
	unsigned int i, k;

	fputc('\n', f);
	for (i = 0; i < nr; i++) {
		const struct balance *b = v[i];

		for (k = 0; k < MR_REGIONS; k++) {
			const struct mr_region *g = &b->st.region[k];

			if (g->state == MR_REGION_UNUSED)
				continue;
			krp_cell(&t, "%u", b->run.head.run);
			krp_cell(&t, "%s", b->run.info.role);
			krp_cell(&t, "%u", g->id);
			krp_cell(&t, g->key ? "0x%08x" : "-", g->key);
			krp_cell(&t, "%s", region_names[g->state]);
			krp_cell(&t, g->pages ? "%u" : "-", g->pages);
			krp_cell(&t, "%s", g->t ? krp_ns(age(g, now)).s : "-");
			krp_cell(&t, "%s/%u", b->comm, b->run.info.pid);
		}
	}
	krp_table_print(f, &t, 0);
}

static json_object *keys_json(const struct balance *b)
{
	json_object *a = json_object_new_array(), *o;
	uint64_t now = krp_time_now();
	unsigned int k;

	for (k = 0; k < MR_REGIONS; k++) {
		const struct mr_region *g = &b->st.region[k];

		if (g->state == MR_REGION_UNUSED)
			continue;
		o = json_object_new_object();
		krp_json_u64(o, "mr_id", g->id);
		krp_json_u64(o, "key", g->key);
		krp_json_text(o, "state", region_names[g->state]);
		krp_json_u64(o, "pages", g->pages);
		krp_json_u64(o, "age_ns", age(g, now));
		json_object_array_add(a, o);
	}
	return a;
}

/* The ledgers are made of events, and have the numbers of MRs. */
static bool has_mr_ids(void)
{
	return keys || watch;
}

/* Describes the first error of a run, without the number of the run. */
static void bad_text(const struct balance *b, char *buf, size_t size)
{
	const struct mr_run *st = &b->st;
	char mr[24] = "";

	/* The words of an iteration have keys, and no numbers of MRs. */
	if (has_mr_ids())
		snprintf(mr, sizeof(mr), "MR %u: ", st->bad_id);
	switch (st->bad) {
	case MR_BAD_REG_VALID:
		snprintf(buf, size, "%sregistered under key 0x%08x while key 0x%08x was valid", mr,
			 st->bad_new_key, st->bad_key);
		break;
	case MR_BAD_INV_INVALID:
		snprintf(buf, size, "%skey 0x%08x was invalidated while it was not valid", mr,
			 st->bad_key);
		break;
	case MR_BAD_FREE:
		snprintf(buf, size,
			 "%sfreed, and of key 0x%08x module and events say different things", mr,
			 st->bad_key);
		break;
	default:
		snprintf(buf, size, "off balance by %+" PRId64, b->off);
	}
}

static json_object *broke_json(void)
{
	json_object *o = json_object_new_object();
	char text[160];

	bad_text(&broke, text, sizeof(text));
	krp_json_u64(o, "run", broke.run.head.run);
	if (has_mr_ids())
		krp_json_u64(o, "mr_id", broke.st.bad_id);
	else
		json_object_object_add(o, "mr_id", NULL);
	krp_json_u64(o, "key", broke.st.bad_key);
	krp_json_s64(o, "off_balance", broke.off);
	krp_json_text(o, "what", text);
	return o;
}

/* With --watch, also looks at running runs, which view() judges. */
static void look(void)
{
	struct balance b;
	uint32_t slot;

	collect_tidy(&runs);
	for (slot = 0; watch && !broke.run.head.run && slot < display.seen->slots; slot++) {
		if (krp_seen_slot(display.seen, slot) && !krp_seen_ended(display.seen, slot))
			krp_display_view(&display, &b, slot);
	}
}

static void counts_json(json_object *o, const struct balance *b)
{
	const struct mr_run *st = &b->st;

	krp_json_s64(o, "valid_at_attach", st->valid_at_attach);
	krp_json_u64(o, "fastreg", st->fastreg);
	krp_json_u64(o, "localinv", st->localinv);
	krp_json_u64(o, "reminv", st->reminv);
	krp_json_u64(o, "readinv", st->readinv);
	krp_json_u64(o, "freed_valid", st->freed_valid);
	krp_json_u64(o, "flushed", st->flushed);
	krp_json_u64(o, "valid_now", st->valid);
	krp_json_u64(o, "freed", st->freed);
	krp_json_s64(o, "off_balance", b->off);
	krp_json_bool(o, "balanced", !b->off);
	krp_json_u64(o, "invalidated_invalid", st->inv_invalid);
	krp_json_u64(o, "registered_valid", st->reg_valid);
	krp_json_u64(o, "ledger_mismatch", st->mismatch);
	krp_json_u64(o, "map_errors", st->map_errs);
	krp_json_u64(o, "without_completion", b->done_flushed);
	krp_json_u64(o, "valid_before", b->valid_before);
	krp_json_u64(o, "not_seen", b->missed.whole);
	krp_json_u64(o, "not_seen_records", b->missed.records);
	krp_json_u64(o, "not_seen_ns", b->missed.ns);
	krp_json_u64(o, "not_followed", b->st.not_followed);
}

static json_object *balance_json(const struct balance *b)
{
	json_object *o = krp_view_json(&b->run);

	counts_json(o, b);
	if (keys) {
		krp_json_u64(o, "pid", b->run.info.pid);
		krp_json_text(o, "comm", b->comm);
		json_object_object_add(o, "keys", keys_json(b));
	}
	return o;
}

static json_object *inv_json(const struct costs *c, unsigned int i)
{
	json_object *o = json_object_new_object(), *post = json_object_new_object(),
		    *done = json_object_new_object();

	krp_json_text(o, "by", inv_names[i]);
	krp_json_sum(post, &c->inv_post[i], NULL);
	json_object_object_add(o, "post", post);
	krp_json_sum(done, &c->inv_done[i], NULL);
	json_object_object_add(o, "done", done);
	return o;
}

static json_object *cost_json(const struct cost *c)
{
	json_object *o = json_object_new_object(), *k;
	struct krp_hist hist;
	unsigned int i;

	krp_json_u64(o, "pages", c->pages);
	for (i = 0; i < MR_NR_COSTS; i++) {
		k = json_object_new_object();
		costs_hist(&hist, &c->hist[i]);
		krp_json_sum(k, &c->sum[i], &hist);
		if (krp_tool.opts.histograms)
			json_object_object_add(k, "buckets", krp_hist_json(&hist));
		json_object_object_add(o, cost_names[i], k);
	}
	return o;
}

static void costs_json(json_object *o, const struct costs *c)
{
	json_object *a = json_object_new_array();
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		json_object_array_add(a, cost_json(&c->v[i]));
	json_object_object_add(o, "costs", a);
	a = json_object_new_array();
	for (i = 0; i < MR_NR_INVS; i++) {
		if (c->inv_post[i].count)
			json_object_array_add(a, inv_json(c, i));
	}
	json_object_object_add(o, "invalidations", a);
}

/*
 * The costs that a line shows: since the last line, or of all the time. Of the former the caller adds
 * them to the latter when it has printed them.
 */
static const struct costs *costs_of(const struct krp_shown *s)
{
	if (s->since)
		return &costs;
	costs_move(&costs_before, &costs);
	return &costs_before;
}

static void print_json(json_object *o, const struct krp_shown *s)
{
	json_object *a = json_object_new_array();
	unsigned int i;

	costs_json(o, costs_of(s));
	costs_move(&costs_before, &costs);
	if (broke.run.head.run)
		json_object_object_add(o, "broke", broke_json());
	for (i = 0; i < s->nr; i++)
		json_object_array_add(a, balance_json(s->v[i]));
	json_object_object_add(o, "runs", a);
}

static void print_text(FILE *f, const struct krp_shown *s)
{
	const struct costs *c = costs_of(s);
	unsigned int i;

	fputs(s->nr ? "\n" : "", f);
	for (i = 0; i < s->nr; i++)
		print_run(f, s->v[i]);
	if (c->nr)
		print_costs(f, c);
	costs_move(&costs_before, &costs);
	if (s->nr && krp_tool.opts.verbose)
		print_balances(f, s);
	if (s->nr && keys)
		print_keys(f, s->v, s->nr);
}

static const char *what_is_broken(void)
{
	return !broken	 ? NULL :
	       broke.off ? "registrations and invalidations do not balance" :
			   "keys were registered or invalidated that should not be";
}

static bool is_done(void)
{
	return watch && broke.run.head.run;
}

enum {
	OPT_KEYS = 512,
	OPT_WATCH,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	(void)state;
	switch (key) {
	case OPT_KEYS:
		keys = true;
		break;
	case OPT_WATCH:
		watch = true;
		break;
	case ARGP_KEY_END:
		if (krp_tool.opts.input && (keys || watch))
			krp_die("--keys and --watch are not for --input");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "keys", OPT_KEYS, NULL, 0, "each memory region: key, state, age", 2 },
	{ "watch", OPT_WATCH, NULL, 0, "stop, with exit status 2, when a balance breaks", 1 },
	{ 0 }
};

int krp_mr_main(int argc, char **argv)
{
	static const struct argp own = { .options = options, .parser = parse };
	static const char doc[] =
		"What krping's fast registrations cost, by the number of pages, and for each run "
		"the balance of registrations against invalidations."
		"\v"
		"Prints at each INTERVAL, if there is one, what was in it, and a summary of all "
		"the time at the end: after COUNT intervals, or at Ctrl-C.\n\n"
		"  krping mr                watch until Ctrl-C, then print\n"
		"  krping mr -e -j          until all runs have ended; JSON\n"
		"  krping mr --keys 1 1     the keys of running runs, after a second\n"
		"  krping mr --watch        until a key is not accounted for\n\n"
		"Exit status: 0, or 1 for a wrong usage or environment, or 2 if a run does not "
		"balance, or a key was registered or invalidated that should not be.";
	enum krp_exit status;
	char text[160];

	krp_tool.has = KRP_HAS_VIEW | KRP_HAS_HISTOGRAMS;
	krp_tool_init(argc, argv, "krping-mr", doc, &own);
	krp_start();
	krp_probe_init();
	display.seen = collect_open(has_mr_ids(), krp_tool.opts.input, &runs);
	marks = krp_new(display.seen->slots, sizeof(*marks));

	display = (struct krp_display){
		.traces = "krping's memory registrations",
		.seen = display.seen,
		.runs = &runs,
		.size = sizeof(struct balance),
		/* A run that goes on is looked at some times a second. */
		.eager = watch,
		.view = view,
		.line = line,
		.json = print_json,
		.text = print_text,
		.lost = collect_lost,
		.broken = what_is_broken,
		.look = look,
		.done = is_done,
	};
	status = krp_display_run(&display);
	if (broke.run.head.run && !krp_tool.opts.json) {
		bad_text(&broke, text, sizeof(text));
		krp_error("run %u, %s", broke.run.head.run, text);
	}
	collect_close();
	return broke.run.head.run ? KRP_EXIT_BROKEN : status;
}
