// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What figures depend on, read from folders that look like /proc and /sys, in a line and in JSON. */
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "unit.h"
#include "tools/lib/environment.h"
#include "tree.h"

static void link_to(const char *name, const char *target)
{
	char path[512];

	tree_path(path, sizeof(path), name);
	assert_int_equal(symlink(target, path), 0);
}

static struct krp_environment s;

SETUP()
{
	/* clang-format off */
	static const char *const files[][2] = {
		{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n" },
		{ "sys/class/infiniband/rxe0/node_type", "1: CA\n" }, { "sys/class/infiniband/siw0/node_type", "4: RNIC\n" },
		{ "sys/class/infiniband/ib0/node_type", "1: CA\n" }, { "sys/class/infiniband/new0/device/vendor", "0x15b3\n" },
		/* These make the folders for the links. */
		{ "sys/class/infiniband/ib0/device/vendor", "0x15b3\n" }, { "proc/self/ns/user", "" },
	};
	/* clang-format on */

	tree_setup();
	each(row, files)
		tree_put((*row)[0], (*row)[1]);
	link_to("sys/class/infiniband/ib0/device/driver", "../../bus/pci/drivers/mlx5_core");
	link_to("proc/self/ns/pid", "pid:[4026531836]");
	krp_environment_open(&s, root);
}

TEARDOWN()
{
	krp_environment_close(&s);
	tree_teardown();
}

/* A run is seen; returns how many devices there are. */
static unsigned int run(uint32_t id, const char *dev, uint32_t port)
{
	struct krp_run_info info = { .id = id, .port = port };

	strcpy(info.dev, dev);
	krp_environment_run(&s, &info);
	return s.nr_devs;
}

static const char *text_of(unsigned int width)
{
	static char text[KRP_ENVIRONMENT_TEXT];

	krp_environment_text(&s, text, sizeof(text), width);
	assert_true(strlen(text) <= width);
	return text;
}

TEST(runs)
{
	char want[256];

	are("1", run(3, "rxe0", 1));
	s.online = 7;
	CPU_SET_S(5, sizeof(s.threads), s.threads);
	snprintf(want, sizeof(want), "# rxe0/1 rdma_rxe  %s  clock tsc  threads 5 of 7", s.kernel);
	assert_string_equal(text_of(200), want);

	/* A run that is not connected has no device yet. */
	are("1 1 2", run(9, "-", 0), run(9, "siw0", 0), run(9, "siw0", 1));
	/* Hardware has a driver, unless none is bound to it. */
	are("3 4", run(4, "ib0", 2), run(4, "new0", 1));
	/* Another look at the same adds nothing; neither does a name that would lead elsewhere. */
	are("4 4", run(4, "ib0", 2), run(5, "../net", 1));
	strcpy(s.kernel, "6.1");
	assert_string_equal(
		text_of(200),
		"# rxe0/1 rdma_rxe, siw0/1 siw, ib0/2 mlx5_core, new0/1  6.1  clock tsc  threads 5 of 7");
	assert_string_equal(text_of(60),
			    "# rxe0/1 rdma_rxe, siw0/1 siw, ib0/2 mlx5_core, new0/1  6.1~");
}

/* What a recording has is said as it was said live; it may also be anything. */
TEST(recorded)
{
	char want[256];

	run(3, "rxe0", 1);
	snprintf(want, sizeof(want), "%s  on h", text_of(200));
	s.recorded = krp_environment_json(&s);
	json_object_object_add(s.recorded, "host", json_object_new_string("h"));
	assert_string_equal(text_of(200), want);
	json_object_put(s.recorded);
	s.recorded = json_tokener_parse(
		"{\"devices\":[7,null,{\"dev\":[1]}],\"kernel\":\"\\u001b[2J\",\"thread_cpus\":{}}");
	assert_string_equal(text_of(200), "# /, /, [ 1 ]/  \\x1b[2J  threads { } of ");
	json_object_put(s.recorded);
	s.recorded = NULL;
}

/* Printed once, and again when it is another. */
TEST(head)
{
	json_object *o[4], *v, *d;
	unsigned int i;

	krp_environment_head(&s, printer(), 79);
	krp_environment_head(&s, unit_out, 79);
	for (i = 0; i < 4; i++) {
		o[i] = json_object_new_object();
		if (i == 2)
			run(3, "rxe0", 1);
		krp_environment_add(&s, o[i], false);
	}
	krp_environment_head(&s, unit_out, 79);
	tree_put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	krp_environment_head(&s, unit_out, 79);
	printed();
	assert_int_equal(lines_within(unit_text, 79), 3);
	has(unit_text, "clock hpet");
#define HAS(i) json_object_object_get_ex(o[i], "setting", &v)
	are("1 0 0", HAS(0), HAS(1), HAS(3));
	krp_environment_add(&s, o[3], true);
	are("1 1 1", HAS(3), HAS(2), json_object_object_get_ex(v, "devices", &d));
	json_is(json_object_get(d), "[{\"dev\":\"rxe0\",\"port\":1,\"driver\":\"rdma_rxe\"}]");
	for (i = 0; i < 4; i++)
		json_object_put(o[i]);
}

TEST(cpus)
{
	static const unsigned int cpus[] = { 3, 1, 0, 62, 63, 64, 65, KRP_ENVIRONMENT_CPUS - 1 };
	cpu_set_t c[KRP_ENVIRONMENT_CPUS / CPU_SETSIZE] = { 0 };
	char text[KRP_ENVIRONMENT_LIST];
	unsigned int i;

	krp_cpus_text(c, text, sizeof(text));
	assert_string_equal(text, "");
	each(cpu, cpus)
		CPU_SET_S(*cpu, sizeof(c), c);
	krp_cpus_text(c, text, sizeof(text));
	assert_string_equal(text, "0-1,3,62-65,8191");
	/* A list that is too long is cut between two numbers, and says so. */
	for (i = 0; i < KRP_ENVIRONMENT_CPUS; i += 2)
		CPU_SET_S(i, sizeof(c), c);
	krp_cpus_text(c, text, 12);
	assert_string_equal(text, "0-4,6,8,~");
}

/* The CPUs of a run's thread are those of the thread with that number, here of our own. */
TEST(thread)
{
	char want[KRP_ENVIRONMENT_LIST], text[KRP_ENVIRONMENT_LIST], path[512];
	cpu_set_t set[KRP_ENVIRONMENT_CPUS / CPU_SETSIZE] = { 0 };

	assert_int_equal(sched_getaffinity(0, sizeof(set), set), 0);
	krp_cpus_text(set, want, sizeof(want));

	assert_false(krp_environment_has(&s, 3));
	/* A run that is not shown, and one whose thread has gone. */
	krp_environment_thread(&s, 3, 0);
	assert_true(krp_environment_has(&s, 3));
	krp_environment_thread(&s, 4, 0x7fffffff);
	assert_int_equal(CPU_COUNT_S(sizeof(s.threads), s.threads), 0);
	krp_environment_thread(&s, 9, gettid());
	assert_true(krp_environment_has(&s, 9));
	krp_cpus_text(s.threads, text, sizeof(text));
	assert_string_equal(text, want);
	krp_environment_close(&s);

	/* In another PID namespace the number is another thread's. */
	tree_path(path, sizeof(path), "proc/self/ns/pid");
	assert_int_equal(unlink(path), 0);
	link_to("proc/self/ns/pid", "pid:[4026532180]");
	krp_environment_open(&s, root);
	krp_environment_thread(&s, 9, gettid());
	assert_int_equal(CPU_COUNT_S(sizeof(s.threads), s.threads), 0);
}
