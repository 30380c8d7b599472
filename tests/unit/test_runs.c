// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The parser of /proc/krping_runs. */
#include "unit.h"
#include "tools/lib/runs.h"

#define HEAD "# krping runs abi=1 events=1 evicted=3 nonce=0x1122334455667788\n"
#define RUN(id, rest)                                                           \
	"id=" #id " parent=0 peer_run=2 name=- pid=412 role=server test=rping " \
	"dev=rxe0 port=1 qp=17 src=10.9.0.1:9999 dst=10.9.0.1:51234 " rest "\n"

static struct krp_runs runs;

static void parse(const char *text, size_t nr)
{
	assert_int_equal(from_text(f, text, krp_runs_parse(&runs, f)), 0);
	assert_int_equal(runs.nr, nr);
}

TEARDOWN()
{
	krp_runs_free(&runs);
}

TEST(full_line)
{
	const struct krp_run_info *r;

	parse(HEAD RUN(7,
		       "state=RDMA_READ_ADV size=64 count=100 iters=57 errno=0 start_ns=123456789 elapsed_ns=5555 "
		       "send_bytes=1 send_msgs=2 recv_bytes=3 recv_msgs=4 write_bytes=18446744073709551615 write_msgs=6 "
		       "read_bytes=7 read_msgs=8 lat_min_ns=9 lat_mean_ns=10 lat_max_ns=11 fastreg=13 localinv=14 reminv=15 cq=5 "
		       "classic=1 rejects=12 scq=6 poll_ctx=busy reason=\"\""),
	      1);
	are("1 3 1", runs.events_abi, runs.evicted, runs.nonce == 0x1122334455667788ULL);
	r = krp_runs_find(&runs, 7);
	assert_non_null(r);
	are("2 412 6 1 17", r->peer_run, r->pid, r->scq, r->port, r->qp);
	say("server|rping|busy|rxe0|10.9.0.1:9999|10.9.0.1:51234|RDMA_READ_ADV|-|", r->role,
	    r->test, r->poll_ctx, r->dev, r->src, r->dst, r->state, r->name, r->reason);
	are("64 100 57 123456789 5555", r->size, r->count, r->iters, r->start_ns, r->elapsed_ns);
	assert_true(r->write_bytes == UINT64_MAX);
	are("1 2 3 4 6 7 8", r->send_bytes, r->send_msgs, r->recv_bytes, r->recv_msgs,
	    r->write_msgs, r->read_bytes, r->read_msgs);
	are("9 10 11 13 14 15 12 5 1", r->lat_min_ns, r->lat_mean_ns, r->lat_max_ns, r->fastreg,
	    r->localinv, r->reminv, r->rejects, r->cq, r->classic);
	assert_false(krp_run_listens(r));
	assert_false(krp_run_finished(r));
}

TEST(reason)
{
	parse(HEAD RUN(1,
		       "state=ERROR errno=-22 reason=\"option \\\"size=x\\\": a \\\\ is no=number\"")
		      RUN(2, "reason=\"first\" state=DONE"),
	      2);
	assert_string_equal(runs.v[0].reason, "option \"size=x\": a \\\\ is no=number");
	assert_int_equal(runs.v[0].err, -22);
	assert_true(krp_run_finished(&runs.v[0]));
	/* Pairs after a quoted value are still read. */
	assert_string_equal(runs.v[1].reason, "first");
	assert_true(krp_run_finished(&runs.v[1]));
}

/* Unprintable bytes, as the kernel escapes them in a reason, and raw in other values. */
TEST(nasty)
{
	char line[512];
	int c;

	parse(HEAD RUN(1, "dev=\x1b[2J\x9b reason=\"\\033[2J\\e\\n\\t\\a\\\\\\377\\477 \\0\""), 1);
	assert_string_equal(runs.v[0].dev, "\\x1b[2J\\x9b");
	assert_string_equal(runs.v[0].reason, "\\x1b[2J\\x1b\\x0a\\x09\\x07\\\\\\xff477 0");
	for (c = 1; c < 256; c++) {
		if (strchr(" \n\"", c))
			continue;
		snprintf(line, sizeof(line), HEAD RUN(1, "dev=a%cb reason=\"a\\%03ob\""), c, c);
		parse(line, 1);
		assert_true(krp_is_clean(runs.v[0].dev));
		assert_string_equal(runs.v[0].reason, runs.v[0].dev);
	}
}

TEST(unknown_keys)
{
	/* clang-format off */
	parse("# krping runs abi=9 events=4 future=yes\n"
		RUN(3, "colour=red note=\"with blanks = and \\\" quotes\" state=CONNECTED iters=9 idx=4"), 1);
	/* clang-format on */
	are("4 3", runs.events_abi, runs.v[0].id);
	assert_string_equal(runs.v[0].state, "CONNECTED");
	assert_int_equal(runs.v[0].iters, 9);
}

TEST(truncated)
{
	static const char text[] = HEAD RUN(1, "state=DONE")
		RUN(23, "state=ERROR reason=\"a \\\"b\\\" c\"");
	size_t complete = strlen(HEAD RUN(1, "state=DONE")), len;
	char *part;

	/* A text that is cut anywhere never yields a wrong run, nor an access beyond its end. */
	for (len = 1; len < strlen(text); len++) {
		part = strndup(text, len);
		parse(part, len >= complete);
		free(part);
	}
	/* A quote that is never closed. */
	parse(RUN(1, "reason=\"open") RUN(2, "state=DONE"), 2);
	say("|DONE", runs.v[0].reason, runs.v[1].state);
}

/* Keys may come in any order, be missing, or come twice. */
TEST(order)
{
	parse("rejects=2 errno=5 state=ERROR dev=rxe0 id=9 size=64 port=1 pid=7\n"
	      "pid=7 id=10 id=11 size=128 size=256\n",
	      2);
	are("9 2 5 1 7", runs.v[0].id, runs.v[0].rejects, runs.v[0].err, runs.v[0].port,
	    runs.v[0].pid);
	assert_string_equal(runs.v[0].dev, "rxe0");
	are("11 256", runs.v[1].id, runs.v[1].size);
}

TEST(odd_lines)
{
	char line[4096];

	parse("\n \nno pairs here\nrole=server\nid=0 role=client\n=\n", 0);
	/* A value longer than its member is cut. */
	memset(line, 'x', sizeof(line));
	memcpy(line, "id=5 dev=", 9);
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	parse(line, 1);
	assert_int_equal(strlen(runs.v[0].dev), sizeof(runs.v[0].dev) - 1);
}

TEST(find)
{
	unsigned int i;

	printer();
	for (i = 1; i <= 1000; i += 3)
		fprintf(unit_out, "id=%u state=DONE\n", i);
	parse(printed(), 334);
	for (i = 0; i <= 1003; i++) {
		if (i % 3 == 1 && i <= 1000)
			assert_int_equal(krp_runs_find(&runs, i)->id, i);
		else
			assert_null(krp_runs_find(&runs, i));
	}
	krp_runs_free(&runs);
	assert_null(krp_runs_find(&runs, 1));
}

TEST(states)
{
	parse(HEAD RUN(1, "state=IDLE dst=-") RUN(2, "state=IDLE dst=- src=-")
		      RUN(3, "state=IDLE role=client") RUN(4, "state=CONNECTED"),
	      4);
	are("1 0 0 0", krp_run_listens(&runs.v[0]), krp_run_listens(&runs.v[1]),
	    krp_run_listens(&runs.v[2]), krp_run_listens(&runs.v[3]));
#define x(n, s) assert_true(strlen(krp_state_short(s)) <= 8);
	KRPING_STATES(x)
#undef x
}
