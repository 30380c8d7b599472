// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The parser of /proc/krping_runs. */
#include "unit.h"
#include "tools/lib/runs.h"

/* clang-format off */
#define HEAD	"# krping runs abi=1 events=1 evicted=3 nonce=0x1122334455667788\n"
#define RUN(id, rest)							\
	"id=" #id " parent=0 peer_run=2 name=- pid=412 role=server test=rping " \
	"dev=rxe0 port=1 qp=17 src=10.9.0.1:9999 dst=10.9.0.1:51234 " rest "\n"
/* clang-format on */

static int parse(struct krp_runs *runs, const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(f);
	err = krp_runs_parse(runs, f);
	fclose(f);
	return err;
}

TEST(full_line)
{
	struct krp_runs runs = { 0 };
	const struct krp_run_info *r;

	/* clang-format off */
	assert_int_equal(parse(&runs, HEAD
		RUN(7, "state=RDMA_READ_ADV size=64 count=100 iters=57 errno=0 start_ns=123456789 elapsed_ns=5555 "
		       "send_bytes=1 send_msgs=2 recv_bytes=3 recv_msgs=4 write_bytes=18446744073709551615 write_msgs=6 "
		       "read_bytes=7 read_msgs=8 lat_min_ns=9 lat_mean_ns=10 lat_max_ns=11 fastreg=13 localinv=14 reminv=15 cq=5 classic=1 rejects=12 scq=6 poll_ctx=busy reason=\"\"")), 0);
	/* clang-format on */
	assert_int_equal(runs.nr, 1);
	assert_int_equal(runs.events_abi, 1);
	assert_int_equal(runs.evicted, 3);
	assert_true(runs.nonce == 0x1122334455667788ULL);
	r = krp_runs_find(&runs, 7);
	assert_non_null(r);
	assert_int_equal(r->peer_run, 2);
	assert_int_equal(r->pid, 412);
	assert_string_equal(r->role, "server");
	assert_string_equal(r->test, "rping");
	assert_string_equal(r->poll_ctx, "busy");
	assert_int_equal(r->scq, 6);
	assert_string_equal(r->dev, "rxe0");
	assert_int_equal(r->port, 1);
	assert_int_equal(r->qp, 17);
	assert_string_equal(r->src, "10.9.0.1:9999");
	assert_string_equal(r->dst, "10.9.0.1:51234");
	assert_string_equal(r->state, "RDMA_READ_ADV");
	assert_int_equal(r->size, 64);
	assert_int_equal(r->count, 100);
	assert_int_equal(r->iters, 57);
	assert_int_equal(r->start_ns, 123456789);
	assert_int_equal(r->elapsed_ns, 5555);
	assert_true(r->write_bytes == UINT64_MAX);
	assert_int_equal(r->send_bytes, 1);
	assert_int_equal(r->send_msgs, 2);
	assert_int_equal(r->recv_bytes, 3);
	assert_int_equal(r->recv_msgs, 4);
	assert_int_equal(r->write_msgs, 6);
	assert_int_equal(r->read_bytes, 7);
	assert_int_equal(r->read_msgs, 8);
	assert_int_equal(r->lat_min_ns, 9);
	assert_int_equal(r->lat_mean_ns, 10);
	assert_int_equal(r->lat_max_ns, 11);
	assert_int_equal(r->fastreg, 13);
	assert_int_equal(r->localinv, 14);
	assert_int_equal(r->reminv, 15);
	assert_int_equal(r->rejects, 12);
	assert_string_equal(r->name, "-");
	assert_false(krp_run_listens(r));
	assert_int_equal(r->cq, 5);
	assert_true(r->classic);
	assert_string_equal(r->reason, "");
	assert_false(krp_run_finished(r));
	krp_runs_free(&runs);
}

TEST(reason)
{
	struct krp_runs runs = { 0 };

	/* clang-format off */
	assert_int_equal(parse(&runs, HEAD
		RUN(1, "state=ERROR errno=-22 reason=\"option \\\"size=x\\\": a \\\\ is no=number\"")
		RUN(2, "reason=\"first\" state=DONE")), 0);
	/* clang-format on */
	assert_int_equal(runs.nr, 2);
	assert_string_equal(runs.v[0].reason, "option \"size=x\": a \\\\ is no=number");
	assert_int_equal(runs.v[0].err, -22);
	assert_true(krp_run_finished(&runs.v[0]));
	/* Pairs after a quoted value are still read. */
	assert_string_equal(runs.v[1].reason, "first");
	assert_true(krp_run_finished(&runs.v[1]));
	krp_runs_free(&runs);
}

/* Unprintable bytes, as the kernel escapes them in a reason, and raw in other values. */
TEST(nasty)
{
	struct krp_runs runs = { 0 };
	char line[512];
	int c;

	/* clang-format off */
	assert_int_equal(parse(&runs, HEAD
		RUN(1, "dev=\x1b[2J\x9b reason=\"\\033[2J\\e\\n\\t\\a\\\\\\377\\477 \\0\"")), 0);
	/* clang-format on */
	assert_string_equal(runs.v[0].dev, "\\x1b[2J\\x9b");
	assert_string_equal(runs.v[0].reason, "\\x1b[2J\\x1b\\x0a\\x09\\x07\\\\\\xff477 0");
	for (c = 1; c < 256; c++) {
		if (strchr(" \n\"", c))
			continue;
		snprintf(line, sizeof(line), HEAD RUN(1, "dev=a%cb reason=\"a\\%03ob\""), c, c);
		assert_int_equal(parse(&runs, line), 0);
		assert_true(krp_is_clean(runs.v[0].dev));
		assert_string_equal(runs.v[0].reason, runs.v[0].dev);
	}
	krp_runs_free(&runs);
}

TEST(unknown_keys)
{
	struct krp_runs runs = { 0 };

	/* clang-format off */
	assert_int_equal(parse(&runs, "# krping runs abi=9 events=4 future=yes\n"
		RUN(3, "colour=red note=\"with blanks = and \\\" quotes\" state=CONNECTED iters=9 idx=4")), 0);
	/* clang-format on */
	assert_int_equal(runs.nr, 1);
	assert_int_equal(runs.events_abi, 4);
	assert_int_equal(runs.v[0].id, 3);
	assert_string_equal(runs.v[0].state, "CONNECTED");
	assert_int_equal(runs.v[0].iters, 9);
	krp_runs_free(&runs);
}

TEST(truncated)
{
	static const char text[] = HEAD RUN(1, "state=DONE")
		RUN(23, "state=ERROR reason=\"a \\\"b\\\" c\"");
	struct krp_runs runs = { 0 };
	size_t complete = strlen(HEAD RUN(1, "state=DONE")), len;
	char *part;

	/* A text that is cut anywhere never yields a wrong run, nor an access beyond its end. */
	for (len = 1; len < strlen(text); len++) {
		part = strndup(text, len);
		assert_int_equal(parse(&runs, part), 0);
		assert_int_equal(runs.nr, len >= complete ? 1 : 0);
		free(part);
	}
	/* A quote that is never closed. */
	assert_int_equal(parse(&runs, RUN(1, "reason=\"open") RUN(2, "state=DONE")), 0);
	assert_int_equal(runs.nr, 2);
	assert_string_equal(runs.v[0].reason, "");
	assert_string_equal(runs.v[1].state, "DONE");
	krp_runs_free(&runs);
}

/* Keys may come in any order, be missing, or come twice. */
TEST(order)
{
	struct krp_runs runs = { 0 };

	assert_int_equal(parse(&runs,
			       "rejects=2 errno=5 state=ERROR dev=rxe0 id=9 size=64 port=1 pid=7\n"
			       "pid=7 id=10 id=11 size=128 size=256\n"),
			 0);
	assert_int_equal(runs.nr, 2);
	assert_int_equal(runs.v[0].id, 9);
	assert_int_equal(runs.v[0].rejects, 2);
	assert_int_equal(runs.v[0].err, 5);
	assert_string_equal(runs.v[0].dev, "rxe0");
	assert_int_equal(runs.v[0].port, 1);
	assert_int_equal(runs.v[0].pid, 7);
	assert_int_equal(runs.v[1].id, 11);
	assert_int_equal(runs.v[1].size, 256);
	krp_runs_free(&runs);
}

TEST(odd_lines)
{
	struct krp_runs runs = { 0 };
	char line[4096];

	assert_int_equal(parse(&runs, "\n \nno pairs here\nrole=server\nid=0 role=client\n=\n"), 0);
	assert_int_equal(runs.nr, 0);
	/* A value longer than its member is cut. */
	memset(line, 'x', sizeof(line));
	memcpy(line, "id=5 dev=", 9);
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	assert_int_equal(parse(&runs, line), 0);
	assert_int_equal(runs.nr, 1);
	assert_int_equal(strlen(runs.v[0].dev), sizeof(runs.v[0].dev) - 1);
	krp_runs_free(&runs);
}

TEST(find)
{
	struct krp_runs runs = { 0 };
	char *text = NULL;
	size_t size;
	unsigned int i;
	FILE *f;

	f = open_memstream(&text, &size);
	for (i = 1; i <= 1000; i += 3)
		fprintf(f, "id=%u state=DONE\n", i);
	fclose(f);
	assert_int_equal(parse(&runs, text), 0);
	assert_int_equal(runs.nr, 334);
	for (i = 0; i <= 1003; i++) {
		if (i % 3 == 1 && i <= 1000)
			assert_int_equal(krp_runs_find(&runs, i)->id, i);
		else
			assert_null(krp_runs_find(&runs, i));
	}
	krp_runs_free(&runs);
	assert_null(krp_runs_find(&runs, 1));
	free(text);
}

TEST(states)
{
	struct krp_runs runs = { 0 };

	/* clang-format off */
	assert_int_equal(parse(&runs, HEAD
		RUN(1, "state=IDLE dst=-")
		RUN(2, "state=IDLE dst=- src=-")
		RUN(3, "state=IDLE role=client")
		RUN(4, "state=CONNECTED")), 0);
	/* clang-format on */
	assert_true(krp_run_listens(&runs.v[0]));
	assert_false(krp_run_listens(&runs.v[1]));
	assert_false(krp_run_listens(&runs.v[2]));
	assert_false(krp_run_listens(&runs.v[3]));
	krp_runs_free(&runs);
#define x(n, s) assert_true(strlen(krp_state_short(s)) <= 8);
	KRPING_STATES(x)
#undef x
}
