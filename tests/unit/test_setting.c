// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What figures depend on, read from folders that look like /proc and /sys, in a line and in JSON. */
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "unit.h"
#include "tools/lib/setting.h"
#include "tree.h"

static void link_to(const char *name, const char *target)
{
	char path[512];

	tree_path(path, sizeof(path), name);
	assert_int_equal(symlink(target, path), 0);
}

static struct krp_setting s;

SETUP()
{
	/* clang-format off */
	static const char *const files[][2] = {
		{ "proc/cpuinfo", "processor : 0\nflags\t\t: fpu tsc hypervisor lahf_lm\n" }, { "sys/hypervisor/type", "xen\n" },
		{ "sys/devices/system/cpu/online", "0-5,8\n" },
		{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n" },
		{ "sys/class/infiniband/rxe0/node_type", "1: CA\n" },
		{ "sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n" },
		{ "sys/class/infiniband/siw0/node_type", "4: RNIC\n" },
		{ "sys/class/infiniband/siw0/ports/1/link_layer", "Ethernet\n" },
		{ "sys/class/infiniband/ib0/node_type", "1: CA\n" },
		{ "sys/class/infiniband/ib0/ports/2/link_layer", "InfiniBand\n" },
		{ "sys/class/infiniband/ib0/device/msi_irqs/40", "msix\n" }, { "proc/irq/40/effective_affinity_list", "4\n" },
		{ "sys/class/infiniband/ib0/device/msi_irqs/41", "msix\n" }, { "proc/irq/41/effective_affinity_list", "8\n" },
		/* All machines have this interface and this address. */
		{ "sys/class/net/lo/mtu", "4321\n" },
		/* This makes the folder for the link. */
		{ "proc/self/ns/user", "" },
	};
	/* clang-format on */

	tree_setup();
	each(row, files)
		tree_put((*row)[0], (*row)[1]);
	link_to("sys/class/infiniband/ib0/device/driver", "../../bus/pci/drivers/mlx5_core");
	link_to("proc/self/ns/pid", "pid:[4026531836]");
	krp_setting_open(&s, root);
}

TEARDOWN()
{
	krp_setting_close(&s);
	tree_teardown();
}

/* A run is seen; returns how many devices there are. */
static unsigned int run(uint32_t id, const char *dev, uint32_t port, const char *src)
{
	struct krp_run_info info = { .id = id, .port = port };

	strcpy(info.dev, dev);
	strcpy(info.src, src);
	strcpy(info.state, "CONNECTED");
	assert_true(krp_setting_run(&s, &info));
	return s.nr_devs;
}

static const char *text_of(unsigned int width)
{
	static char text[KRP_SETTING_TEXT];

	krp_setting_text(&s, text, sizeof(text), width);
	assert_true(strlen(text) <= width);
	return text;
}

TEST(runs)
{
	char want[256];

	say("tsc|xen", s.clock, s.accelerator);
	are("7 1", s.online, run(3, "rxe0", 1, "127.0.0.1:9999"));
	krp_cpus_parse(&s.threads, "0-2,5");
	snprintf(want, sizeof(want),
		 "# rxe0/1 rdma_rxe mtu 4321  %s  clock tsc  accel xen  threads 0-2,5 of 7",
		 s.kernel);
	assert_string_equal(text_of(200), want);

	/* A run that is not connected has no device yet. */
	are("1 1", run(9, "-", 0, "-"), run(9, "siw0", 0, "-"));
	assert_int_equal(run(9, "siw0", 1, "[::1]:9999"), 2);
	are("4321", s.devs[1].mtu);
	assert_string_equal(s.devs[1].driver, "siw");

	/* Hardware has a driver and interrupts; an InfiniBand port has not the MTU of an interface. */
	assert_int_equal(run(4, "ib0", 2, "127.0.0.1:9999"), 3);
	are("0", s.devs[2].mtu);
	assert_string_equal(s.devs[2].driver, "mlx5_core");
	has(text_of(300), "irqs 4,8 of 7");
	/* Another look at the same adds nothing; neither does a name that would lead elsewhere. */
	are("3 3", run(4, "ib0", 2, "127.0.0.1:9999"), run(5, "../net", 1, "127.0.0.1:1"));
}

/* At each width the line fits, and what it has of a part it has whole. */
TEST(width)
{
	static const char *const whole[] = { "clock tsc", "accel xen", "threads 0-2,5 of 7",
					     "irqs 4,8 of 7" };
	unsigned int width, full;
	const char *text;

	strcpy(s.kernel, "6.1.0-56-amd64");
	krp_cpus_parse(&s.threads, "0-2,5");
	run(3, "rxe0", 1, "127.0.0.1:9999");
	run(9, "siw0", 1, "127.0.0.1:9999");
	run(4, "ib0", 2, "127.0.0.1:9999");
	full = strlen(text_of(1000));
	assert_null(strchr(text_of(full), '~'));
	for (width = 8; width < full; width++) {
		text = text_of(width);
		assert_true(*text == '#' && (strchr(text, '~') || strstr(text, " more")));
		each(row, whole) {
			if (strstr(text, (char[]){ (*row)[0], (*row)[1], (*row)[2], '\0' }))
				has(text, *row);
		}
	}
	/* 80 columns have the device, the kernel, the clock and what emulates it. */
	assert_string_equal(text_of(80),
			    "# rxe0/1 rdma_rxe mtu 4321, 2 more  6.1.0-56-amd64  clock tsc  accel xen ~");
}

/* Printed once, and again when it is another. */
TEST(head)
{
	json_object *o[4], *v, *d;
	unsigned int i;

	krp_setting_head(&s, printer(), 79);
	krp_setting_head(&s, unit_out, 79);
	for (i = 0; i < 4; i++) {
		o[i] = json_object_new_object();
		if (i == 2)
			run(3, "rxe0", 1, "127.0.0.1:9999");
		krp_setting_add(&s, o[i], false);
	}
	krp_setting_head(&s, unit_out, 79);
	tree_put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	krp_setting_head(&s, unit_out, 79);
	printed();
	assert_int_equal(lines_within(unit_text, 79), 3);
	has(unit_text, "clock hpet");
#define HAS(i) json_object_object_get_ex(o[i], "setting", &v)
	are("1 0 0", HAS(0), HAS(1), HAS(3));
	krp_setting_add(&s, o[3], true);
	are("1 1 1", HAS(3), HAS(2), json_object_object_get_ex(v, "devices", &d));
	json_is(json_object_get(d),
		"[{\"dev\":\"rxe0\",\"port\":1,\"driver\":\"rdma_rxe\",\"mtu\":4321,\"irq_cpus\":null}]");
	for (i = 0; i < 4; i++)
		json_object_put(o[i]);
}

TEST(cpus)
{
	struct krp_cpus c = { 0 };
	char text[KRP_SETTING_LIST];
	unsigned int i;

	krp_cpus_text(&c, text, sizeof(text));
	assert_string_equal(text, "");
	krp_cpus_parse(&c, "3,1,0-1,62-65,8191,8192,99999999\n");
	krp_cpus_text(&c, text, sizeof(text));
	assert_string_equal(text, "0-1,3,62-65,8191");
	each_text(none, "nonsense", "7-3", "")
		krp_cpus_parse(&c, none);
	are("8", c.nr);
	/* A list that is too long is cut between two numbers, and says so. */
	for (i = 0; i < KRP_SETTING_CPUS; i += 2) {
		snprintf(text, sizeof(text), "%u", i);
		krp_cpus_parse(&c, text);
	}
	krp_cpus_text(&c, text, 12);
	assert_string_equal(text, "0-4,6,8,~");
}

TEST(accelerator)
{
	static const struct {
		const char *signature;
		bool flag, real;
		const char *type, *product, *want;
	} t[] = TABLE(
		{ "TCGTCGTCGTCG", true, false, "", "Standard PC (Q35 + ICH9, 2009)", "tcg" },
		{ "KVMKVMKVM", true, false, "", "Standard PC (Q35 + ICH9, 2009)", "kvm" },
		{ "Microsoft Hv", true, false, "", "Virtual Machine", "hyperv" }, { "SomethingNew", true, false, "", "", "SomethingNew" },
		{ "", true, false, "xen", "", "xen" }, { "", true, false, "", "VMware7,1", "vmware" }, { "", true, false, "", "", "unknown" },
		{ "", false, true, "", "PowerEdge R650", "none" },
		/* An arm64 says it by DMI, or not at all. */
		{ "", false, false, "", "KVM Virtual Machine", "kvm" }, { "", false, false, "", "QEMU Virtual Machine", "qemu" },
		{ "", false, false, "", "m6g.large", "" },
	);
	char text[32];

	each(row, t) {
		krp_accelerator(text, sizeof(text), row->signature, row->flag, row->real, row->type,
				row->product);
		assert_string_equal(text, row->want);
	}
}

/* The CPUs of a run's thread are those of the thread with that number, here of our own. */
TEST(thread)
{
	struct krp_cpus mine = { 0 };
	char want[KRP_SETTING_LIST], text[KRP_SETTING_LIST], path[512];
	cpu_set_t set;
	unsigned int cpu;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		snprintf(text, sizeof(text), "%u", cpu);
		if (CPU_ISSET(cpu, &set))
			krp_cpus_parse(&mine, text);
	}
	krp_cpus_text(&mine, want, sizeof(want));

	assert_false(krp_setting_has(&s, 3));
	/* A run that is not shown, and one whose thread has gone. */
	krp_setting_thread(&s, 3, 0);
	assert_true(krp_setting_has(&s, 3));
	krp_setting_thread(&s, 4, 0x7fffffff);
	assert_int_equal(s.threads.nr, 0);
	krp_setting_thread(&s, 9, gettid());
	assert_true(krp_setting_has(&s, 9));
	krp_cpus_text(&s.threads, text, sizeof(text));
	assert_string_equal(text, want);
	krp_setting_close(&s);

	/* In another PID namespace the number is another thread's. */
	tree_path(path, sizeof(path), "proc/self/ns/pid");
	assert_int_equal(unlink(path), 0);
	link_to("proc/self/ns/pid", "pid:[4026532180]");
	krp_setting_open(&s, root);
	krp_setting_thread(&s, 9, gettid());
	assert_int_equal(s.threads.nr, 0);
}
