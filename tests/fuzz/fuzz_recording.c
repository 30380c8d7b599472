// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A recording that krping-stages, krping-mr and krping-trace read: chunks that nobody has written. The first byte says whether the
 * table of this version is in front of them. What is told of iterations goes to the accounts of stages and mr.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "tools/lib/events.h"
#include "tools/mr/costs.h"
#include "tools/mr/ledger.h"
#include "tools/record/anonymize.h"
#include "tools/stages/stages.h"
#include "tools/top/sums.h"

/* A recording needs no live source. */
void krp_source_open(struct krp_source *s, bool (*event)(const char *event), uint32_t run,
		     uint32_t ring, uint32_t wake, int (*take)(void *ctx, void *data, size_t size),
		     void *ctx)
{
}

void krp_source_read(struct krp_source *s)
{
}

void krp_source_end(struct krp_source *s)
{
}

void krp_source_close(struct krp_source *s)
{
}

struct krp_lost krp_source_lost(const struct krp_source *s)
{
	return (struct krp_lost){ 0 };
}

bool krp_has_filter(void)
{
	return false;
}

bool krp_shows(uint32_t run, const struct krp_run_info *info)
{
	return true;
}

struct krp_tool krp_tool = { .opts = { .max_runs = 3 } };

void krp_die(const char *fmt, ...)
{
	CHECK(!fmt);
	abort();
}

/* No tool runs that would call it. */
void krp_error(const char *fmt, ...)
{
	CHECK(!fmt);
}

static void put(int fd, const void *data, size_t size)
{
	CHECK(write(fd, data, size) == (ssize_t)size);
}

/* The file that has these bytes, by its name. */
static const char *file_of(const uint8_t *data, size_t size)
{
	static char name[32];
	static int fd = -1;
	char *table;
	struct krp_chunk c = { .kind = KRP_CHUNK_TABLE };

	if (fd >= 0)
		close(fd);
	fd = memfd_create("recording", 0);
	CHECK(fd >= 0);
	put(fd, KRP_RECORDING_MAGIC, sizeof(KRP_RECORDING_MAGIC) - 1);
	if (data[0] & 1) {
		table = krp_recording_table();
		c.size = strlen(table);
		put(fd, &c, sizeof(c));
		put(fd, table, c.size);
		put(fd, "\0\0\0\0\0\0\0", -c.size % 8);
		free(table);
	}
	put(fd, data + 1, size - 1);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return name;
}

/* Every event can be printed, at any width. */
static void print(const struct krp_event_head *h, size_t size)
{
	static const unsigned int widths[] = { 0, 30, 79, 1000 };
	struct krp_event_rec rec;
	char *text = NULL;
	unsigned int i;

	CHECK(krp_event_parse(&rec, h, size));
	for (i = 0; i < ARRAY_LEN(widths); i++)
		CHECK_PRINTED(f, krp_event_text(f, &rec, rec.args[1], 0, 20, widths[i]));
	WRITTEN(f, text, krp_event_json(f, &rec));
	CHECK(fuzz_is_printable(text, strlen(text), false));
	free(text);
}

static void other(struct krp_recording *r, const struct krp_chunk *c)
{
	if (c->kind == KRP_CHUNK_RUNS)
		free(anonymize_runs(r->chunk));
}

static void read_events(const char *name)
{
	struct krp_runs runs = { 0 };
	const struct krp_event_head *h;
	struct krp_environment environment = { 0 };
	char text[KRP_ENVIRONMENT_TEXT];
	struct krp_recording r;
	FILE *f = fopen(name, "re");
	size_t size;

	CHECK(f && !krp_recording_open(&r, f, &runs));
	r.other = other;
	while ((h = krp_recording_next(&r, &size))) {
		print(h, size);
		anonymize_event((void *)h);
		print(h, size);
	}
	CHECK(r.whole != !!r.damage);
	krp_recording_last_runs(&r);
	environment.recorded = r.about;
	krp_environment_text(&environment, text, sizeof(text), 79);
	CHECK_TEXT(text, sizeof(text));
	krp_recording_close(&r);
	krp_runs_free(&runs);
}

static void read_stages(const char *name)
{
	struct krp_runs runs = { 0 };
	struct view v = { 0 };
	uint32_t slot;

	account_open(1000, NULL, name, &runs, NULL);
	while (krp_seen_replay(&runs_seen, 1000000000) != KRP_REPLAY_END)
		;
	account_join();
	for (slot = 0; slot < runs_seen.slots; slot++) {
		if (!krp_seen_slot(&runs_seen, slot))
			continue;
		account_view(&v, NULL, slot, true);
		account_view_free(&v);
	}
	account_close();
	krp_runs_free(&runs);
}

static struct ledger ledger;
static struct costs costs;

static void take(struct krp_seen_run *s, const struct krp_rec *rec)
{
	uint32_t i;

	if (rec->gap)
		ledger_begin_again(&ledger);
	for (i = 0; i < rec->nr; i++) {
		if (KRPING_WORD_KIND(rec->word[i]) == KRPING_WORD_STEP)
			ledger_step(&ledger, rec->word[i]);
		else if (KRPING_WORD_KIND(rec->word[i]) == KRPING_WORD_COST)
			costs_take(&costs, rec->word[i]);
	}
}

static struct top_sums sums;
static struct top_log top_log;

static void take_top(struct krp_seen_run *s, const struct krp_rec *rec)
{
	top_sums_take(&sums, rec, true);
}

static void take_rare(const struct krp_event_head *h)
{
	top_sums_rare(&sums, &top_log, h);
}

static void read_runs(const char *name, enum krp_event event,
		      void (*take_rec)(struct krp_seen_run *s, const struct krp_rec *rec))
{
	struct krp_seen seen = { .other = take_rare };
	struct krp_runs runs = { 0 };

	krp_seen_open(&seen, event, name, &runs, take_rec, NULL);
	while (krp_seen_replay(&seen, 1) != KRP_REPLAY_END)
		;
	krp_seen_close(&seen);
	krp_runs_free(&runs);
}

static void read_top(const char *name)
{
	read_runs(name, KRP_EV_iter_stages, take_top);
	free(sums.hist);
	memset(&sums, 0, sizeof(sums));
	memset(&top_log, 0, sizeof(top_log));
}

static void read_memory(const char *name)
{
	read_runs(name, KRP_EV_iter_memory, take);
	ledger_free(&ledger);
	costs_free(&costs);
	memset(&ledger, 0, sizeof(ledger));
	memset(&costs, 0, sizeof(costs));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name;

	if (!size)
		return 0;
	name = file_of(data, size);
	read_events(name);
	read_stages(name);
	read_memory(name);
	read_top(name);
	return 0;
}
