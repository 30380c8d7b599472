// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the tools read of /proc/krping_runs, and all that "krping" says of a run that is in it.
 */
#include <errno.h>

#include "fuzz.h"
#include "tools/krping/classic.h"
#include "tools/trace/ladder.h"
#include "tools/krping/limit.h"
#include "tools/krping/result.h"

/* As if "krping" was given this. */
static const struct krp_cmdtext cmds[] = {
	{ .role = "client",
	  .text = "",
	  .host = "10.9.0.1",
	  .port = "9999",
	  .target = "10.9.0.1:9999" },
	{ .role = "server", .text = "", .host = "", .port = "7174", .target = "*:7174" },
};

static void check_texts(const struct krp_run_info *r)
{
	CHECK_TEXT(r->name, sizeof(r->name));
	CHECK_TEXT(r->role, sizeof(r->role));
	CHECK_TEXT(r->test, sizeof(r->test));
	CHECK_TEXT(r->poll_ctx, sizeof(r->poll_ctx));
	CHECK_TEXT(r->state, sizeof(r->state));
	CHECK_TEXT(r->phase, sizeof(r->phase));
	CHECK_TEXT(r->dev, sizeof(r->dev));
	CHECK_TEXT(r->dev_was, sizeof(r->dev_was));
	CHECK_TEXT(r->disk, sizeof(r->disk));
	CHECK_TEXT(r->src, sizeof(r->src));
	CHECK_TEXT(r->dst, sizeof(r->dst));
	CHECK_TEXT(r->reason, sizeof(r->reason));
}

static void print(const struct krp_run_info *r, const struct krp_run_info *last,
		  const struct krp_cmdtext *cmd)
{
	char buf[512];
	json_object *o;

	CHECK_PRINTED(f, krp_result_summary(f, r, cmd));
	krp_result_progress(buf, sizeof(buf), r, last, cmd);
	CHECK_TEXT(buf, sizeof(buf));
	o = json_object_new_object();
	krp_result_json(o, r);
	CHECK_JSON(o);
}

static void explain(const struct krp_run_info *r, const struct krp_cmdtext *cmd)
{
	/* Those that have words of their own, and some that have not. */
	static const int errs[] = { 0,		EINVAL,	   EPERM,	 ENODEV, EADDRINUSE,
				    EOPNOTSUPP, ETIMEDOUT, ECONNREFUSED, EBUSY,	 EPROTO,
				    ECONNRESET, EINTR,	   ENOTTY,	 4095 };
	const int err[] = { r->err, errs[r->id % ARRAY_LEN(errs)] };
	char cause[1024], little[16];
	size_t i;

	for (i = 0; i < ARRAY_LEN(err); i++) {
		krp_result_cause(cause, sizeof(cause), err[i], r, cmd);
		CHECK_TEXT(cause, sizeof(cause));
		krp_result_exit(err[i], r);
		krp_result_has_figures(err[i], r);
	}
	krp_result_cause(little, sizeof(little), r->err, r, cmd);
	CHECK(memchr(little, '\0', sizeof(little)));
}

static void judge(const struct krp_run_info *r)
{
	static const char *const limits[] = { "p99>30us", "avg<1ns", "MB/s<0.5", "iterations/s>3",
					      "time>1s" };
	char why[256], line[256];
	struct krp_limit limit;
	size_t i;

	for (i = 0; i < ARRAY_LEN(limits); i++) {
		CHECK(krp_limit_parse(&limit, limits[i], why, sizeof(why)));
		if (krp_limit_broken(&limit, r, why, sizeof(why)))
			CHECK_TEXT(why, sizeof(why));
	}
	krp_classic_line(line, sizeof(line), r);
	CHECK_TEXT(line, sizeof(line));
}

static void list(const struct krp_runs *runs)
{
	static const unsigned int widths[] = { 1, 40, 80, 500 };
	const struct krp_run_info **v = calloc(runs->nr + 1, sizeof(*v));
	size_t i;

	CHECK(v);
	for (i = 0; i < runs->nr; i++)
		v[i] = &runs->v[i];
	for (i = 0; i < ARRAY_LEN(widths); i++)
		CHECK_PRINTED(f, krp_result_list(f, v, runs->nr, widths[i]));
	free(v);
}

static void check_run(const struct krp_runs *runs, const struct krp_run_info *r)
{
	struct krp_pair pair;
	const struct krp_cmdtext *cmd = &cmds[r->id % ARRAY_LEN(cmds)];

	CHECK(r->id);
	check_texts(r);
	CHECK(!krp_run_label(r) || *krp_run_label(r));
	krp_run_finished(r);
	krp_run_listens(r);
	krp_run_may_be_passive(r);
	CHECK(krp_state_short(r->state));
	print(r, r == runs->v ? NULL : r - 1, cmd);
	explain(r, cmd);
	judge(r);
	if (krp_pair_of_runs(&pair, runs, r->id, false))
		CHECK(pair.end[pair.own].run && krp_pair_side(&pair, r->id) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct krp_runs runs = { 0 };
	bool sorted = true;
	size_t i, nr;
	FILE *f;

	if (!size)
		return 0;
	f = fuzz_file(data, size);
	CHECK(!krp_runs_parse(&runs, f));
	nr = runs.nr;
	for (i = 0; i < runs.nr; i++) {
		check_run(&runs, &runs.v[i]);
		sorted &= !i || runs.v[i - 1].id < runs.v[i].id;
	}
	/* The module has them in this order, and then each one is found. */
	for (i = 0; sorted && i < runs.nr; i++)
		CHECK(krp_runs_find(&runs, runs.v[i].id) == &runs.v[i]);
	CHECK(!krp_runs_find(&runs, 0));
	list(&runs);
	/* Reading anew forgets what was there before. */
	rewind(f);
	CHECK(!krp_runs_parse(&runs, f) && runs.nr == nr);
	fclose(f);
	krp_runs_free(&runs);
	return 0;
}
