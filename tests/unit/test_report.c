// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* krping bug-report, of files that look like those of a host. */
#include <sys/utsname.h>

#include "unit.h"
#include "tools/krping/report.h"
#include "tree.h"

static struct utsname host;

static const char *report(bool plain)
{
	krp_report(printer(), root, plain);
	printed();
	lines_within(unit_text, 300);
	return unit_text;
}

SETUP()
{
	tree_setup();
	assert_int_equal(uname(&host), 0);
}

TEARDOWN()
{
	tree_teardown();
}

#define DEV "sys/class/infiniband/mlx5_0/"

static void put_host(void)
{
	/* clang-format off */
	static const char *const files[][2] = {
		{ "etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some Linux 7\"\n" }, { "proc/sys/kernel/tainted", "4096\n" },
		{ "sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6\n" }, { "sys/module/rdma_krping/srcversion", "ABC\n" },
		{ "sys/module/rdma_krping/parameters/history", "0\n" }, { DEV "node_type", "1: CA\n" }, { DEV "fw_ver", "229.0.151.0\n" },
		{ DEV "ports/1/state", "4: ACTIVE\n" }, { DEV "ports/1/gids/0", "fe80:0000:0000:0000:0202:03ff:fe04:0506\n" },
		{ DEV "ports/1/gids/1", "0000:0000:0000:0000:0000:ffff:0a09:0001\n" }, { DEV "ports/1/gids/2", "0000:0000:0000:0000:0000:0000:0000:0000\n" },
		{ DEV "ports/1/gid_attrs/ndevs/1", "eth7\n" }, { "sys/class/net/eth7/mtu", "1500\n" },
		{ DEV "ports/1/hw_counters/lifespan", "10\n" }, { DEV "ports/1/hw_counters/out_of_sequence", "5\n" },
		{ DEV "ports/1/hw_counters/rx_write_requests", "7\n" }, { DEV "ports/1/hw_counters/rnr_nak", "0\n" },
		{ DEV "ports/1/hw_counters/local_ack_timeout_err", "3\n" }, { DEV "ports/1/counters/port_xmit_wait", "9\n" },
	};
	/* clang-format on */

	each(row, files)
		tree_put((*row)[0], (*row)[1]);
}

TEST(host)
{
	put_host();
	report(false);
	each_text(line, "os-release: PRETTY_NAME=\"Some Linux 7\"\n",
		  "proc/sys/kernel/tainted: 4096\n", "cpu0/cpuidle/state3/name: C6\n",
		  "  srcversion: ABC\n", "  parameters/history: 0\n", "  mlx5_0: driver rdma_rxe\n",
		  "  mlx5_0/node_type: 1: CA\n", "  mlx5_0/fw_ver: 229.0.151.0\n",
		  "  mlx5_0/ports/1/state: 4: ACTIVE\n", "  mlx5_0/ports/1/gids/0: a\n",
		  "  mlx5_0/ports/1/gids/1: b\n", "!gids/2", "!lifespan", "!rnr_nak",
		  "  mlx5_0/ports/1/gid_attrs/ndevs/1: eth7, MTU 1500, active MTU of RoCE 1024\n",
		  "/hw_counters/local_ack_timeout_err: 3 !\n", "/counters/port_xmit_wait: 9\n",
		  "/out_of_sequence: 5 !\n", "/rx_write_requests: 7\n", "!is not loaded")
		has(unit_text, line);
	has(report(true), "gids/1: 0000:0000:0000:0000:0000:ffff:0a09:0001\n");
}

/* Where there is nothing it says so, and what may not be read. */
TEST(nothing)
{
	char path[512];

	report(false);
	each_text(line, "is not there: the module is not loaded",
		  "(/sys/class/infiniband/ is not there)",
		  "/proc/krping_runs, the last lines\n  (cannot be read: No such file or directory)",
		  "/dev/kmsg, the last lines about RDMA\n  (cannot be read: ")
		has(unit_text, line);
	put_host();
	tree_path(path, sizeof(path), "proc/sys/kernel/tainted");
	assert_int_equal(chmod(path, 0), 0);
	has(report(false), geteuid() ? "tainted: (may not be read)\n" : "tainted: 4096\n");
	tree_put("proc/krping_runs", "# krping runs abi=1\n");
	has(report(false), "/proc/krping_runs, the last lines\n  # krping runs abi=1\n  none\n");
}

TEST(runs)
{
	char text[8192] = "# krping runs abi=1 events=3 evicted=7\n";
	unsigned int i;

	put_host();
	for (i = 1; i <= 25; i++)
		sprintf(text + strlen(text), "id=%u name=- src=0.0.0.0:0 reason=\"\"\n", i);
	strcat(text,
	       "id=99 name=rack-4 src=10.9.0.1:9999 dst=[fd09::1]:7174 reason=\"refused by 10.9.0.1.\"\n");
	tree_put("proc/krping_runs", text);
	report(false);
	each_text(line, "evicted=7\n  (6 before these)\n  id=7 name=- src=0.0.0.0:0 reason=\"\"\n",
		  /* The address is that of a GID, and so is its letter; a label has its own. */
		  "  id=99 name=c src=b:9999 dst=[d]:7174 reason=\"refused by b.\"\n")
		has(unit_text, line);
	has(report(true), "id=99 name=rack-4 src=10.9.0.1:9999 dst=[fd09::1]:7174");
}

/* What is left of a line of the log, behind its head. */
static void log_is(const char *line, const char *want)
{
	char text[1024];

	snprintf(text, sizeof(text), "6,1,2,-;krping %s\n", line);
	tree_put("dev/kmsg", text);
	report(false);
	snprintf(text, sizeof(text), "6,1,2,-;krping %s\n", want);
	has(unit_text, text);
}

TEST(names)
{
	char text[512], want[512];

	log_is("at 10.0.0.1:7, 10.0.0.2 and ::ffff:10.0.0.1.", "at a:7, b and a.");
	log_is("addr:10.0.0.1 dead:10.0.0.1 fe80::1%eth0", "addr:a dead:a b%eth0");
	log_is("02:00:5e:00:53:01 0202:03ff:fe04:0506", "a b");
	log_is("80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:0a:0b:0c!", "a!");
	/* No addresses: of PCI, a time, a version, words, nobody's. */
	log_is("0000:3b:00.0 12:34:56 6.1.0 bead: dad:beef :: 0.0.0.0:1",
	       "0000:3b:00.0 12:34:56 6.1.0 bead: dad:beef :: 0.0.0.0:1");
	log_is("\033[2J\xff", "\\x1b[2J\\xff");
	snprintf(text, sizeof(text), "%s: x%s %sx", host.nodename, host.nodename, host.nodename);
	snprintf(want, sizeof(want), "host: x%s %sx", host.nodename, host.nodename);
	log_is(text, want);
}

TEST(log)
{
	put_host();
	tree_put("dev/kmsg",
		 "6,1,2,-;RDMA: one\n SUBSYSTEM=rdma\n6,2,3,-;rdmac\n6,3,4,-;other\nrdma\n6,4,5,-;InfiniBand\n");
	has(report(false),
	    "about RDMA\n  6,1,2,-;RDMA: one\n  6,2,3,-;rdmac\n  6,4,5,-;InfiniBand\n");
}
