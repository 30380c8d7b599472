// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The result of a run: exit status, cause, summary, progress, list. */
#include "unit.h"
#include "tools/krping/result.h"

/* clang-format off */
/* A line as the module prints it; keys in rest come last and override earlier ones. */
#define LINE(id, role, rest)								\
	"id=" #id " parent=0 peer_run=3 name=- pid=412 role=" role " test=rping dev=rxe0 port=1 qp=17 " \
	"src=10.9.0.2:51234 dst=10.9.0.1:9999 state=DONE size=4096 count=100 iters=100 errno=0 " \
	"start_ns=1000 elapsed_ns=87300000 send_bytes=1 send_msgs=2 recv_bytes=3 recv_msgs=4 " \
	"write_bytes=5 write_msgs=6 read_bytes=7 read_msgs=8 lat_min_ns=421000 lat_mean_ns=512000 " \
	"lat_max_ns=1930000 cq=5 classic=0 rejects=0 lat_p50_ns=500000 lat_p90_ns=700000 " \
	"lat_p99_ns=1200000 lat_p999_ns=1900000 moves=2 bits_per_s=128000000 msgs_per_s=3906 regs_per_s=3906 " rest "\n"
/* A command that the parser refused. */
#define REFUSED(reason)									\
	"id=9 parent=0 peer_run=0 name=- pid=412 role=- test=- dev=- port=0 qp=0 src=- dst=- state=ERROR " \
	"size=0 count=0 iters=0 errno=22 start_ns=1 elapsed_ns=2000 lat_min_ns=0 lat_mean_ns=0 " \
	"lat_max_ns=0 cq=0 classic=0 rejects=0 reason=\"" reason "\"\n"

static const struct krp_cmdtext client = { .role = "client", .text = (char *)"client,...",
	.host = (char *)"10.9.0.1", .port = (char *)"9999", .target = (char *)"10.9.0.1:9999" };
static const struct krp_cmdtext server = { .role = "server", .text = (char *)"server,...",
	.host = (char *)"10.9.0.1", .port = (char *)"9999", .target = (char *)"10.9.0.1:9999" };
static const struct krp_cmdtext any = { .role = "server", .text = (char *)"server,...",
	.host = (char *)"", .port = (char *)"9999", .target = (char *)"*:9999" };
/* clang-format on */

static struct krp_runs runs;

/* Parses text and returns its first run. */
static const struct krp_run_info *parse(const char *line)
{
	krp_runs_free(&runs);
	assert_int_equal(from_text(f, line, krp_runs_parse(&runs, f)), 0);
	assert_true(runs.nr > 0);
	return &runs.v[0];
}

TEST(exit)
{
	static const struct {
		int err;
		const char *line;
		enum krp_exit want;
	} t[] = TABLE(
		{ 0, NULL, 0 }, { 0, LINE(1, "client", ""), 0 },
		/* No run was started. */
		{ EINVAL, REFUSED("siz: unknown option"), 1 }, { EINVAL, NULL, 1 }, { EPERM, NULL, 1 },
		/* EINVAL of a provider does not mean wrong usage. */
		{ EINVAL, LINE(1, "client", "state=ERROR errno=22"), 2 }, { ECONNREFUSED, NULL, 2 },
		/* An endless run that ended well on a signal has no errno: EINTR is always a failure. */
		{ EINTR, LINE(1, "client", "errno=4 count=0 iters=1"), 2 }, { EINTR, LINE(1, "client", "errno=4 count=0 iters=0"), 2 },
		{ EINTR, LINE(1, "client", "errno=4 count=9 iters=8"), 2 }, { EINTR, NULL, 2 },
	);

	each(row, t) {
		if (krp_result_exit(row->err, row->line ? parse(row->line) : NULL) != row->want)
			fail_msg("not %d: %d, %s", row->want, row->err, row->line);
	}
}

TEST(causes)
{
#define CL(rest)  LINE(1, "client", rest), &client
#define SRV(rest) LINE(1, "server", rest), &server
	static const struct {
		int err;
		const char *line;
		const struct krp_cmdtext *cmd;
		const char *text;
	} t[] = TABLE(
		{ EINVAL, REFUSED("siz=64: unknown option"), &client, "siz=64: unknown option; see \"krping help\"" },
		{ EINVAL, REFUSED("addr6=fd09::x: not an IPv6 address"), &client, "addr6=fd09::x: not an IPv6 address; see \"krping help\"" },
		{ EINVAL, NULL, &client, "the command is wrong; see \"krping help\"" },
		{ EINVAL, SRV("errno=22 reason=\"listening: error -22\""), "Invalid argument [listening: error -22]" },
		{ ECONNREFUSED, CL("errno=111 reason=\"connection refused (status 8)\""),
		  "connection refused: nobody listens on 10.9.0.1:9999; start \"krping server\" there [connection refused (status 8)]" },
		/* A server listens there, and refuses. */
		{ ECONNREFUSED, CL("errno=111 reason=\"the server refused: reason 7\""), "Connection refused [the server refused: reason 7]" },
		/* A run that found no device, and one whose device was removed. */
		{ ENODEV, CL("dev=- reason=\"resolving the address: error -19\""),
		  "no RDMA device leads to 10.9.0.1; compare \"ip route get 10.9.0.1\" with \"rdma link\" "
		  "[resolving the address: error -19]" },
		{ ENODEV, CL("reason=\"device rxe0 was removed\""), "the RDMA device rxe0 was removed [device rxe0 was removed]" },
		{ ENODEV, SRV("dev=-"), "no RDMA device has the address 10.9.0.1; compare \"ip address\" with \"rdma link\"" },
		{ ENODEV, LINE(1, "server", "dev=-"), &any, "there is no RDMA device; see \"rdma link\"" },
		{ EBUSY, CL("reason=\"the server serves another client\""),
		  "the server on 10.9.0.1:9999 serves another client; wait for its end, or start one on another port" },
		{ EBUSY, CL("reason=\"the server's window is another client's\""),
		  "another client has the disk of the server on 10.9.0.1:9999; wait for its end, or give both ro, or that server shared" },
		{ EINTR, CL("iters=57 reason=\"interrupted\""), "interrupted after 57 of 100 iterations" },
		{ EINTR, CL("iters=57 reason=\"stopped by id=9\""), "stopped by id=9 after 57 of 100 iterations" },
		{ EINTR, SRV("clients=3 served=1 cq=0 reason=\"interrupted\""), "interrupted after 1 of 3 clients" },
		{ EINTR, SRV("iters=0 count=0 cq=0 reason=\"interrupted\""), "interrupted before a client came" },
		{ EINTR, CL("iters=0 count=0 cq=0 reason=\"interrupted\""), "interrupted before there was a connection" },
		{ EINTR, CL("iters=7 count=0 cq=3 reason=\"interrupted\""), "interrupted in iteration 7, which did not end within a second" },
		{ EINTR, NULL, &client, "interrupted" },
		{ ECONNRESET, CL("reason=\"r\""), "the server left too early; \"krping list -a\" there may say why [r]" },
		{ ECONNRESET, SRV("reason=\"r\""), "the client left too early; \"krping list -a\" there may say why [r]" },
		{ ETIMEDOUT, SRV("clients=3 served=1 reason=\"not done within timeout=2s\""), "not done within timeout=2s: 1 of 3 clients" },
		{ ETIMEDOUT, SRV("cq=0 reason=\"not done within timeout=2s\""), "not done within timeout=2s: no client came" },
		{ ETIMEDOUT, CL("dst=- cq=0 reason=\"not done within timeout=2s\""), "not done within timeout=2s: there was no connection" },
		{ ETIMEDOUT, CL("src=- dst=10.9.0.77:9999 cq=3 iters=0 reason=\"not done within timeout=2s\""),
		  "not done within timeout=2s: no answer from 10.9.0.77:9999" },
		{ ETIMEDOUT, CL("cq=3 iters=7 reason=\"not done within timeout=2s\""), "not done within timeout=2s: 7 iterations" },
		{ ETIMEDOUT, CL("reason=\"resolving the address: error -110\""),
		  "no answer from 10.9.0.1; are its host and link up? [resolving the address: error -110]" },
		{ EINVAL, CL("errno=22 reason=\"cpu: CPU 9 is not online\""), "cpu: CPU 9 is not online" },
		/* The reason names the option, and it is not the server's address that is wrong. */
		{ ENODEV, CL("dev=- errno=19 reason=\"addr6: there is no interface eth7\""), "addr6: there is no interface eth7" },
		{ EADDRNOTAVAIL, CL("errno=99 reason=\"bind: fd09::7 is no address of this host\""),
		  "bind: fd09::7 is no address of this host" },
		{ EOPNOTSUPP, CL("errno=95 reason=\"tos: siw0 does not set it\""), "tos: siw0 does not set it" },
		/* An errno that the design does not list. */
		{ ENOSPC, CL("reason=\"words\""), "No space left on device [words]" },
	);
	char buf[512];

	each(row, t) {
		krp_result_cause(buf, sizeof(buf), row->err, row->line ? parse(row->line) : NULL,
				 row->cmd);
		same_text(row->line ?: "no run", buf, row->text);
	}
}

/* Every errno of the design has a sentence of its own: not strerror()'s, nor another errno's. */
TEST(all_causes)
{
	static const int errs[] = {
		EINVAL,	     EPERM,	   ENODEV,    EADDRINUSE,   EADDRNOTAVAIL, EOPNOTSUPP,
		ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, ECONNREFUSED, EBUSY,	   EPROTO,
		ECONNRESET,  EBADMSG,	   EIO,	      EINTR,	    ENOMEM,	   EOVERFLOW,
	};
	enum { NR = NR(errs) };
	char text[NR][512], tiny[8];
	size_t i, k;

	for (i = 0; i < NR; i++) {
		krp_result_cause(text[i], sizeof(text[i]), errs[i], NULL, &client);
		assert_true(*text[i] && !strchr(text[i], '\n') &&
			    !strstr(text[i], strerror(errs[i])));
		for (k = 0; k < i; k++)
			assert_string_not_equal(text[i], text[k]);
		/* A cut text is terminated. */
		memset(tiny, 'x', sizeof(tiny));
		krp_result_cause(tiny, sizeof(tiny), errs[i], NULL, &client);
		assert_true(strlen(tiny) < sizeof(tiny));
	}
}

TEST(summary)
{
#define C_HEAD "--- 10.9.0.1:9999 krping client statistics ---\n"
#define S_HEAD "--- *:9999 krping server statistics ---\n"
#define OF_100 "100 of 100 iterations of 4096 bytes, time 87.3ms\n"
#define NONE   "0 of 100 iterations of 4096 bytes, time 87.3ms\n"
#define LATENCY \
	"latency min/avg/max = 421us/512us/1.93ms\nlatency p50/p90/p99/p99.9 = 500us/700us/1.20ms/1.90ms\n"
#define SPACING \
	"spacing min/avg/max = 421us/512us/1.93ms\nspacing p50/p90/p99/p99.9 = 500us/700us/1.20ms/1.90ms\n"
#define WHERE "run 4 on rxe0/1, peer run 3 at 10.9.0.1:9999\n"
	static const struct {
		const char *line;
		const struct krp_cmdtext *cmd;
		const char *text;
	} t[] = TABLE(
		{ LINE(4, "server", "clients=2 served=5 failed=1 count=0 iters=0 dev=- port=0 peer_run=0 dst=-"), &any,
		  S_HEAD "served 5 clients, 1 failed, time 87.3ms\nrun 4\n" },
		{ LINE(4, "client", ""), &client, C_HEAD OF_100 "1953 iterations/s, 16.0 MB/s, " LATENCY WHERE },
		/* Tests with many requests in flight, of which the first one moves no data. */
		{ LINE(4, "client", "test=fr moves=0 regs_per_s=89366"), &client, C_HEAD OF_100 "89366 registrations/s, " SPACING WHERE },
		/* Requests that overlap: 100 in 87.3 ms. */
		{ LINE(4, "client", "test=block moves=1 count=0"), &client, C_HEAD "100 iterations of 4096 bytes, time 87.3ms\n"
		  "1145 iterations/s, 4.69 MB/s, " LATENCY WHERE },
		{ LINE(4, "client", "test=bw moves=1 iters=1"), &client, C_HEAD "1 of 100 iterations of 4096 bytes, time 87.3ms\n"
		  "1953 iterations/s, 8.00 MB/s, " SPACING WHERE },
		/* Random sizes: half of 100 times 8192 bytes, at 1953 iterations a second. */
		{ LINE(4, "client", "moved_bytes=409600"), &client, C_HEAD "100 of 100 iterations of up to 4096 bytes, time 87.3ms\n"
		  "1953 iterations/s, 8.00 MB/s, " LATENCY WHERE },
		/* All of them were of the full size. */
		{ LINE(4, "client", "moved_bytes=819200"), &client, C_HEAD OF_100 "1953 iterations/s, 16.0 MB/s, " LATENCY WHERE },
		/* A label. */
		{ LINE(4, "client", "name=rack-4 iters=0"), &client,
		  C_HEAD NONE "run 4 \"rack-4\" on rxe0/1, peer run 3 at 10.9.0.1:9999\n" },
		/* An endless run, a classic peer, refusals. */
		{ LINE(4, "server", "count=0 iters=7 peer_run=0 classic=1 rejects=1"), &any,
		  S_HEAD "7 iterations of 4096 bytes, time 87.3ms with waiting\n1953 iterations/s, 16.0 MB/s, " LATENCY
		  "run 4 on rxe0/1, a classic peer at 10.9.0.1:9999\n1 other client was refused\n" },
		/* No client came: no latency, no device, no division by zero. */
		{ LINE(4, "server", "iters=0 count=0 dev=- peer_run=0 lat_mean_ns=0 rejects=2"), &any,
		  S_HEAD "0 iterations of 4096 bytes, time 87.3ms\nrun 4\n2 other clients were refused\n" },
		/* The run has found its device, but did not connect. */
		{ LINE(4, "client", "iters=0 port=0 peer_run=0"), &client, C_HEAD NONE "run 4 on rxe0\n" },
		/* Whose time it was, with the longest of texts. */
		{ LINE(4, "client", "iters=0 split_iters=3 own_host_ns=3000 peer_host_ns=33333333 network_ns=66663667"), &client,
		  C_HEAD NONE "own host 1.00us 0 %, peer's host 11.1ms 33 %, network and devices 22.2ms 67 %\n" WHERE },
		/* Too long for a line. */
		{ LINE(4294967295, "client", "dev=rocep59s0f0 peer_run=4294967295 "
		       "dst=[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:51234 iters=0"), &client,
		  C_HEAD NONE "run 4294967295 on rocep59s0f0/1\n"
		  "peer run 4294967295 at [2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:51234\n" },
	);

	each(row, t) {
		krp_result_summary(printer(), parse(row->line), row->cmd);
		same_text(row->line, printed(), row->text);
	}
}

TEST(has_figures)
{
	assert_true(krp_result_has_figures(0, parse(LINE(1, "client", ""))));
	assert_true(krp_result_has_figures(EINTR, parse(LINE(1, "client", "iters=0"))));
	assert_true(krp_result_has_figures(EIO, parse(LINE(1, "client", "iters=1"))));
	assert_false(krp_result_has_figures(ECONNREFUSED, parse(LINE(1, "client", "iters=0"))));
	assert_false(krp_result_has_figures(EINVAL, parse(REFUSED("x"))));
	assert_false(krp_result_has_figures(0, NULL));
}

TEST(progress)
{
	static const struct {
		const char *line, *last;
		const struct krp_cmdtext *cmd;
		const char *text;
	} t[] = TABLE(
		{ LINE(4, "client", "state=RDMA_READ_ADV iters=57"), NULL, &client,
		  "run 4 client: RDMA_READ_ADV, 57 of 100 iterations (57 %), 1953/s, 87.3ms" },
		/* The rate is that of the time between the two lines. */
		{ LINE(4, "client", "state=RDMA_READ_ADV count=0 iters=1500 elapsed_ns=3000000000"),
		  LINE(4, "client", "count=0 iters=500 elapsed_ns=1000000000"), &client,
		  "run 4 client: RDMA_READ_ADV, 1500 iterations, 500/s, 3.00s" },
		/* A run that hangs has the rate 0, not its earlier rate. */
		{ LINE(4, "client", "state=RDMA_READ_ADV count=0 iters=500 elapsed_ns=3000000000"),
		  LINE(4, "client", "count=0 iters=500 elapsed_ns=1000000000"), &client,
		  "run 4 client: RDMA_READ_ADV, 500 iterations, 0.00/s, 3.00s" },
		{ LINE(4, "client", "state=IDLE iters=0 lat_mean_ns=0"), NULL, &client,
		  "run 4 client: IDLE, 0 of 100 iterations (0 %), 0.00/s, 87.3ms" },
		{ LINE(4, "server", "state=IDLE iters=0 count=0 dst=- src=10.9.0.1:9999"), NULL, &server,
		  "server on 10.9.0.1:9999: waits for a client, 87.3ms" },
		/* A client knows its own address when it is connected. */
		{ LINE(4, "client", "state=IDLE iters=0 src=- dst=10.9.0.77:9999 port=0"), NULL, &client,
		  "run 4 client: no answer from 10.9.0.77:9999 yet, 87.3ms" },
		{ LINE(4, "client", "state=ROUTE_RESOLVED iters=0 src=- dst=10.9.0.77:9999 port=0"), NULL, &client,
		  "run 4 client: no answer from 10.9.0.77:9999 to the connection request, 87.3ms" },
	);
	struct krp_run_info before, *last;
	char buf[256], tiny[16];

	each(row, t) {
		last = row->last ? &before : NULL;
		if (last)
			before = *parse(row->last);
		krp_result_progress(buf, sizeof(buf), parse(row->line), last, row->cmd);
		same_text(row->line, buf, row->text);
		krp_result_progress(tiny, sizeof(tiny), parse(row->line), last, row->cmd);
		assert_true(strlen(tiny) < sizeof(tiny));
		assert_memory_equal(tiny, row->text, strlen(tiny));
	}
}

TEST(connected)
{
	static const struct {
		const char *line, *text;
	} t[] = TABLE(
		{ LINE(4, "client", ""), "run 4 is connected to 10.9.0.1:9999 on rxe0/1, test=rping size=4096" },
		/* Nobody has chosen a client's port. */
		{ LINE(4, "server", "dst=10.9.0.2:51234"), "run 4 serves 10.9.0.2 on rxe0/1, test=rping size=4096" },
		{ LINE(4, "server", "dst=[fd09::2]:51234"), "run 4 serves fd09::2 on rxe0/1, test=rping size=4096" },
	);
	char buf[256];

	each(row, t) {
		krp_result_connected(buf, sizeof(buf), parse(row->line));
		same_text(row->line, buf, row->text);
	}
}

/* clang-format off */
static const char list_text[] =
	LINE(1, "server", "state=IDLE iters=0 count=0 dst=- src=10.9.0.1:7174")
	LINE(2, "server", "state=RDMA_WRITE_COMPLETE dst=10.9.0.2:51234 iters=1234567")
	LINE(3, "client", "state=RDMA_READ_ADV elapsed_ns=5000000000")
	LINE(4, "client", "state=ERROR errno=111 dst=- iters=0")
	LINE(5, "client", "state=ERROR errno=4 iters=7")
	LINE(6, "client", "state=DONE dev=rocep59s0f0 dst=[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:9999")
	REFUSED("x");
/* clang-format on */

/* Prints all runs in lines of a width. */
static const char *list_of(const char *lines, unsigned int width)
{
	const struct krp_run_info *v[16];
	size_t i;

	parse(lines);
	for (i = 0; i < runs.nr; i++)
		v[i] = &runs.v[i];
	krp_result_list(printer(), v, runs.nr, width);
	return printed();
}

TEST(list)
{
	unsigned int width;

	assert_string_equal(
		list_of(list_text, 200),
		"ID ROLE   TEST  DEV         PEER                                          SIZE ITERS STATE        ELAPSED\n"
		" 1 server rping rxe0        -                                             4096     0 LISTEN:7174   87.3ms\n"
		" 2 server rping rxe0        10.9.0.2                                      4096 1.23M WRIT_CMP      87.3ms\n"
		" 3 client rping rxe0        10.9.0.1:9999                                 4096   100 READ_ADV       5.00s\n"
		" 4 client rping rxe0        -                                             4096     0 ECONNREFUSED  87.3ms\n"
		" 5 client rping rxe0        10.9.0.1:9999                                 4096     7 EINTR         87.3ms\n"
		" 6 client rping rocep59s0f0 [2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:9999 4096   100 DONE          87.3ms\n"
		" 9 -      -     -           -                                                -     0 EINVAL        2.00us\n");
	/* Columns for disks and for labels, if a run has one. */
	assert_string_equal(
		list_of(LINE(4, "client", "disk=krping0") LINE(5, "server", "disk=- name=rack-4"),
			99),
		"ID ROLE   TEST  DEV  PEER          SIZE ITERS STATE ELAPSED DISK    NAME\n"
		" 4 client rping rxe0 10.9.0.1:9999 4096   100 DONE   87.3ms krping0 -\n"
		" 5 server rping rxe0 10.9.0.1      4096   100 DONE   87.3ms -       rack-4\n");
	assert_string_equal(list_of(LINE(4, "client", "name=rack-4") LINE(5, "server", ""), 79),
			    "ID ROLE   TEST  DEV  PEER          SIZE ITERS STATE ELAPSED NAME\n"
			    " 4 client rping rxe0 10.9.0.1:9999 4096   100 DONE   87.3ms rack-4\n"
			    " 5 server rping rxe0 10.9.0.1      4096   100 DONE   87.3ms -\n");
	for (width = 60; width < 120; width++)
		assert_int_equal(lines_within(list_of(list_text, width), width), 8);
	/* Narrower than is possible: columns that cannot be cut are still there. */
	has(list_of(list_text, 10), "87.3ms");
	/* Without runs there is only the head. */
	krp_result_list(printer(), NULL, 0, 79);
	assert_string_equal(printed(), "ID ROLE TEST DEV PEER SIZE ITERS STATE ELAPSED\n");
}

TEST(json)
{
	json_object *o = json_object_new_object();

	krp_result_json(o, parse(LINE(4, "client", "errno=104 reason=\"say \\\"no\\\"\" iters=7")));
	members(o, "run", "4", "reason", "say \"no\"", "errno", "104", "lat_max_ns", "1930000",
		"iters_per_s", "1953.125", "mb_per_s", "16.000", "read_msgs", "8");
}

TEARDOWN()
{
	krp_runs_free(&runs);
}
