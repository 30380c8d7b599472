// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A whole recording, of which an iteration is chosen and drawn, as by "krping-trace -I FILE ladder". The input is its events, behind a
 * table of this version: what came in between decides what an event means.
 */
#include "fuzz.h"
#include "tools/lib/recording.h"
#include "tools/lib/names.h"
#include "tools/trace/ladder.h"

/* Runs that are told apart; a recording of more is cut. */
#define RUNS_MAX 8
/* Of the module whose events tests/unit/recording.pl makes. */
#define NONCE	 0x1122334455667788ULL

void krp_die(const char *fmt, ...)
{
	CHECK(!fmt);
	abort();
}

static struct krp_run_info runs[RUNS_MAX];
static unsigned int nr_runs;

static struct krp_run_info *know(uint32_t run)
{
	unsigned int i;

	for (i = 0; i < nr_runs; i++) {
		if (runs[i].id == run)
			return &runs[i];
	}
	if (nr_runs == RUNS_MAX)
		return NULL;
	memset(&runs[nr_runs], 0, sizeof(runs[nr_runs]));
	runs[nr_runs].id = run;
	return &runs[nr_runs++];
}

/* What krping-trace learns of a run before it has a pair. */
static struct krp_ladder *pair_up(const struct krp_event_rec *rec, enum krp_pick pick)
{
	struct krp_run_info *info = know(rec->head.run);
	struct krp_pair pair;

	if (!info)
		return NULL;
	if (rec->head.event == KRP_EV_run_start) {
		snprintf(info->role, sizeof(info->role), "%s",
			 krp_name(&krp_role_names, KRP_ARG(rec, run_start, role)));
		snprintf(info->test, sizeof(info->test), "%s",
			 krp_name(&krp_test_names, KRP_ARG(rec, run_start, test)));
	}
	if (!krp_pair_of_conn(&pair, rec, info, NONCE, false))
		return NULL;
	CHECK(krp_pair_side(&pair, rec->head.run) >= 0 || !rec->head.run);
	return krp_ladder_new(pick, 0, &pair);
}

static void check_step(const struct krp_step *s)
{
	json_object *o = krp_step_json(s);

	CHECK_JSON(o);
	krp_step_duration(s);
	CHECK_TEXT(s->text, sizeof(s->text));
}

static void draw(const struct krp_ladder *l, const struct krp_iteration *it)
{
	struct krp_steps steps;
	char *text = NULL;
	const char *at, *line;
	size_t i, len;

	krp_steps_make(&steps, krp_ladder_pair(l), it);
	for (i = 0; i < steps.nr; i++)
		check_step(&steps.v[i]);
	WRITTEN(f, text, krp_ladder_draw(f, krp_ladder_pair(l), it, &steps));
	/* All lines fit on a terminal. */
	for (at = text; (line = fuzz_line(&at, text + strlen(text), &len));)
		CHECK(len < 80 && fuzz_is_printable(line, len, false));
	free(text);
	krp_steps_free(&steps);
}

static void look(struct krp_ladder *l, enum krp_pick pick)
{
	struct krp_ladder_stats stats;
	const struct krp_iteration *it = krp_ladder_choice(l, &stats);

	krp_ladder_is_settled(l);
	krp_ladder_has_ended(l);
	CHECK(!stats.seen || stats.exact);
	CHECK(!stats.seen || (stats.fastest <= stats.median && stats.median <= stats.slowest));
	CHECK(stats.rank <= stats.seen && !it == !stats.rank);
	if (!it)
		return;
	CHECK(it->nr && it->nr <= KRP_LADDER_EVENTS);
	CHECK(pick != KRP_PICK_NUMBER || it->iter == 0);
	draw(l, it);
}

/* A recording of the data, behind what is in front of the events. */
static FILE *recording_of(const uint8_t *data, size_t size)
{
	char *table = krp_recording_table();
	struct krp_chunk c = { KRP_CHUNK_TABLE, strlen(table) };
	FILE *f = tmpfile();

	CHECK(f && fputs(KRP_RECORDING_MAGIC, f) >= 0 && fwrite(&c, sizeof(c), 1, f) == 1);
	CHECK(fwrite(table, c.size, 1, f) == 1);
	fwrite("\0\0\0\0\0\0\0", -c.size % 8, 1, f);
	fwrite(data, size, 1, f);
	rewind(f);
	free(table);
	return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum krp_pick pick = size % (KRP_PICK_NUMBER + 1);
	const struct krp_event_head *h;
	struct krp_ladder *l = NULL;
	struct krp_runs listed = { 0 };
	struct krp_event_rec rec;
	struct krp_recording r;
	size_t bytes;

	nr_runs = 0;
	CHECK(!krp_recording_open(&r, recording_of(data, size), &listed));
	while ((h = krp_recording_next(&r, &bytes))) {
		CHECK(krp_event_parse(&rec, h, bytes));
		if (!l)
			l = pair_up(&rec, pick);
		if (l)
			krp_ladder_feed(l, &rec);
	}
	krp_recording_close(&r);
	krp_runs_free(&listed);
	if (l)
		look(l, pick);
	krp_ladder_free(l);
	return 0;
}
