// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A whole recording, of which an iteration is chosen and drawn, as by
 * "krping-trace -I FILE ladder". Its lines are lost, doubled and moved, as well
 * as changed: what came in between decides what an event means.
 */
#include "fuzz.h"
#include "tools/trace/input.h"
#include "tools/trace/ladder.h"
#include "tools/lib/out.h"

/* Runs that are told apart; a recording of more is cut. */
#define RUNS_MAX 8

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
static struct krp_ladder *pair_up(const struct krp_event_rec *rec, json_object *o,
				  enum krp_pick pick)
{
	struct krp_run_info *info = know(rec->head.run);
	struct krp_pair pair;
	uint64_t nonce = 0;
	json_object *v;

	if (!info)
		return NULL;
	if (json_object_object_get_ex(o, "role", &v) && v)
		krp_clean(info->role, sizeof(info->role), json_object_get_string(v));
	if (rec->head.event == KRP_EV_run_start)
		snprintf(info->test, sizeof(info->test), "%s",
			 krp_name_of(KRP_HOW_test, (uint32_t)KRP_ARG(rec, run_start, test)));
	if (json_object_object_get_ex(o, "peer_here", &v) && json_object_get_boolean(v))
		nonce = KRP_ARG(rec, conn, peer_nonce);
	if (!krp_pair_of_conn(&pair, rec, info, nonce, false))
		return NULL;
	CHECK(krp_pair_side(&pair, rec->head.run) >= 0 || !rec->head.run);
	return krp_ladder_new(pick, 0, &pair);
}

static void check_step(const struct krp_step *s)
{
	json_object *o = krp_step_json(s);

	CHECK_JSON(o);
	CHECK(krp_step_what_name(s->what));
	krp_step_duration(s);
	CHECK_TEXT(s->text, sizeof(s->text));
}

static void draw(const struct krp_ladder *l, const struct krp_iteration *it)
{
	struct krp_steps steps;
	char *text = NULL;
	const char *at, *line;
	size_t i, len;

	CHECK(krp_steps_make(&steps, krp_ladder_pair(l), it));
	for (i = 0; i < steps.nr; i++)
		check_step(&steps.v[i]);
	WRITTEN(f, text, CHECK(krp_ladder_draw(f, krp_ladder_pair(l), it, &steps)));
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *line;
	enum krp_pick pick = size % (KRP_PICK_NUMBER + 1);
	struct krp_ladder *l = NULL;
	struct krp_input in = { 0 };
	struct krp_event_rec rec;
	json_object *o;
	size_t len;

	nr_runs = 0;
	while ((line = fuzz_line(&at, (const char *)data + size, &len))) {
		if (krp_input_line(&in, line, len, &rec, &o) == KRP_LINE_EVENT) {
			if (!l)
				l = pair_up(&rec, o, pick);
			if (l)
				krp_ladder_feed(l, &rec);
		}
		json_object_put(o);
	}
	krp_input_end(&in);
	if (l)
		look(l, pick);
	krp_ladder_free(l);
	return 0;
}
