// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* tools/stages/cause.c: which task, softirq or interrupt had the CPU. */
#include "unit.h"
#include "tools/stages/cause.h"

#define CPUS	2
#define RUN	100 /* the run's thread */
#define PEER	200
#define HOG	300
#define KTHREAD 400
#define USER	500

static struct rec_event events[CPUS][64];
static struct krp_cpu_events cpus[CPUS];
static struct krp_cause_input in;

static const char *name_of(uint32_t id)
{
	static const char *const names[] = { "swapper/0", "run", "peer", "hog", "kworker", "user" };

	return names[id / 100];
}

static void begin(void)
{
	unsigned int c;

	memset(events, 0, sizeof(events));
	for (c = 0; c < CPUS; c++)
		cpus[c] = (struct krp_cpu_events){ .v = events[c] };
	in = (struct krp_cause_input){ cpus, CPUS, .tid = RUN, .peer_tid = PEER, .wakeups = true };
}

/* What a CPU has recorded. READY: a task that lost the CPU. */
struct on_cpu {
	unsigned int cpu;
	struct rec_event e;
};
#define ON(on, ...)	       ((struct on_cpu){ on, { __VA_ARGS__ } })
#define TASK(on, from, to, is) ON(on, .kind = REC_TASK, .t = from, .t_end = to, .id = is)
#define READY(on, from, to, is) \
	ON(on, .kind = REC_TASK, .t = from, .t_end = to, .id = is, .flags = REC_F_READY)
#define WAKEUP(on, at, is, cpu)                                                \
	ON(on, .kind = REC_WAKEUP, .t = at, .t_end = at, .id = is, .arg = cpu, \
	   .flags = is == KTHREAD ? REC_F_KTHREAD : 0)
#define MIGRATE(on, at, is, cpu) \
	ON(on, .kind = REC_MIGRATE, .t = at, .t_end = at, .id = is, .arg = cpu)
#define IRQ(on, from, to, nr) ON(on, .kind = REC_IRQ, .t = from, .t_end = to, .id = nr)
#define SOFTIRQ(on, from, to, vec, tid) \
	ON(on, .kind = REC_SOFTIRQ, .t = from, .t_end = to, .id = vec, .arg = tid)

static void put(struct on_cpu is)
{
	struct rec_event *e = &events[is.cpu][cpus[is.cpu].nr++];

	*e = is.e;
	strcpy(e->comm, e->kind == REC_TASK || e->kind == REC_WAKEUP ? name_of(e->id) : "");
}

/* All that the CPUs have recorded. */
#define history(...)                                          \
	do {                                                  \
		const struct on_cpu all_[] = { __VA_ARGS__ }; \
		begin();                                      \
		each(is, all_)                                \
			put(*is);                             \
	} while (0)

static struct krp_causes found;

static void find(uint64_t t, uint64_t t_end, enum krp_cause_mode mode)
{
	const struct krp_window w = { t, t_end, mode };
	struct krp_history *h = krp_history_new(&in);

	krp_causes_free(&found);
	krp_causes_find(&found, h, &w);
	krp_history_free(h);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Looks for the causes in a window: a text like "hog 900, idle 50", sorted, with a task that waited behind a "for". */
static void finds(uint64_t t, uint64_t t_end, enum krp_cause_mode mode, const char *want)
{
	static const char *const kinds[] = { [REC_SOFTIRQ] = "softirq", [REC_IRQ] = "irq" };
	char got[256] = "", lines[16][64], *to;
	const struct krp_cause *c;
	size_t i, n = 0;

	find(t, t_end, mode);
	assert_true(found.nr <= NR(lines));
	for (i = 0; i < found.nr; i++) {
		c = &found.v[i];
		to = lines[i];
		if (c->kind == REC_TASK)
			to += sprintf(to, "%s", c->id ? name_of(c->id) : "idle");
		else
			to += sprintf(to, "%s/%u", kinds[c->kind], c->id);
		if (c->waiter)
			to += sprintf(to, " for %s", name_of(c->waiter));
		sprintf(to, " %lu", (unsigned long)c->ns);
		if (!c->id && c->kind == REC_TASK)
			assert_string_equal(c->comm, "idle");
	}
	qsort(lines, found.nr, sizeof(*lines), by_text);
	for (i = 0; i < found.nr; i++)
		n += sprintf(got + n, "%s%s", n ? ", " : "", lines[i]);
	assert_string_equal(got, want);
}

/* A hog holds the CPU that the thread was woken on. */
TEST(wake)
{
	history(TASK(0, 0, 1000, RUN), WAKEUP(1, 1100, RUN, 0), TASK(0, 1000, 2000, HOG),
		TASK(0, 2000, 2050, 0), TASK(0, 2050, UINT64_MAX, RUN));
	finds(1100, 2050, KRP_CAUSE_WAKE, "hog 900, idle 50");
	assert_int_equal(krp_causes_sum(&found), 950);
	/* Only time in the window counts. */
	finds(1500, 1600, KRP_CAUSE_WAKE, "hog 100");
	/* Before the thread was woken, no task is a cause; and an empty window has none. */
	finds(1000, 1100, KRP_CAUSE_WAKE, "");
	finds(1500, 1500, KRP_CAUSE_WAKE, "");
}

/* The time of softirqs and interrupts does not count for the task that they interrupt. */
TEST(nested)
{
	history(TASK(0, 0, 100, RUN), WAKEUP(0, 100, RUN, 0), IRQ(0, 240, 260, 11),
		SOFTIRQ(0, 200, 300, 3, HOG), TASK(0, 100, 1000, HOG),
		TASK(0, 1000, UINT64_MAX, RUN));
	finds(100, 1000, KRP_CAUSE_WAKE, "hog 800, irq/11 20, softirq/3 80");
	/* With PREEMPT_RT, a softirq's thread may lose the CPU to another thread. */
	history(TASK(0, 0, 100, RUN), WAKEUP(0, 100, RUN, 0), TASK(0, 100, 200, KTHREAD),
		TASK(0, 200, 900, HOG), SOFTIRQ(0, 150, 950, 3, KTHREAD),
		TASK(0, 900, 1000, KTHREAD), TASK(0, 1000, UINT64_MAX, RUN));
	finds(100, 1000, KRP_CAUSE_WAKE, "hog 700, kworker 100, softirq/3 100");
}

/* While the thread works: tasks that take the CPU away, and softirqs that interrupt. */
TEST(run)
{
	history(SOFTIRQ(0, 100, 150, 1, RUN), READY(0, 0, 300, RUN), TASK(0, 300, 700, USER),
		SOFTIRQ(1, 0, 1000, 3, 0), TASK(1, 0, 1000, 0), TASK(0, 700, UINT64_MAX, RUN));
	/* Softirqs of another CPU are no cause. */
	finds(50, 800, KRP_CAUSE_RUN, "softirq/1 50, user 400");
	/* A thread that is woken while it runs has not waited. */
	history(WAKEUP(0, 300, RUN, 0), TASK(0, 0, 500, RUN), TASK(0, 500, 1000, HOG),
		TASK(0, 1000, UINT64_MAX, RUN));
	finds(0, 1000, KRP_CAUSE_RUN, "");
}

/* The thread waited on one CPU and was moved to another. */
TEST(moved)
{
	history(TASK(0, 0, 100, RUN), TASK(0, 100, 2000, HOG), WAKEUP(1, 200, RUN, 0),
		MIGRATE(1, 1200, RUN, 1), TASK(1, 0, 1250, 0), TASK(1, 1250, UINT64_MAX, RUN));
	finds(200, 1250, KRP_CAUSE_WAKE, "hog 1000, idle 50");
}

/* While the thread sleeps: a kernel thread, or the peer's thread, was ready and could not run. */
TEST(away)
{
	history(TASK(0, 0, 100, RUN), TASK(0, 100, 1000, 0), WAKEUP(0, 200, KTHREAD, 1),
		WAKEUP(0, 250, USER, 1), WAKEUP(0, 600, PEER, 1), TASK(1, 0, 500, HOG),
		TASK(1, 500, 550, KTHREAD), TASK(1, 550, 700, HOG), TASK(1, 700, 800, PEER),
		TASK(1, 800, 900, HOG));
	/* That another program has to wait is no cause. */
	finds(100, 1000, KRP_CAUSE_AWAY, "hog for kworker 300, hog for peer 100");
	/* A peer on another host has no thread here. */
	in.peer_tid = 0;
	finds(100, 1000, KRP_CAUSE_AWAY, "hog for kworker 300");
}

/* Without wakeups, it is only known where the thread ran next. */
TEST(no_wakeups)
{
	history(TASK(0, 0, 1000, RUN), TASK(0, 1000, 2000, HOG), TASK(0, 2000, UINT64_MAX, RUN));
	in.wakeups = false;
	finds(1200, 2000, KRP_CAUSE_WAKE, "hog 800");
	/* The thread already ran when the window began. */
	finds(2100, 2200, KRP_CAUSE_WAKE, "");
	/* The thread was never seen to run. */
	history(TASK(0, 0, 2000, HOG));
	in.wakeups = false;
	finds(100, 200, KRP_CAUSE_WAKE, "");
}

TEST(limit)
{
	struct krp_cause some[] = {
		{ .kind = REC_TASK, .id = 1, .comm = "krping-stages", .ns = 700 },
		{ .kind = REC_TASK, .id = 2, .comm = "krping-stage", .ns = 200 },
		{ .kind = REC_SOFTIRQ, .id = 1, .comm = "krping-stages", .ns = 100 },
	};
	struct krp_causes from = { some, 3 }, c = { 0 };
	uint64_t limit;
	char line[192];

	krp_causes_add(&c, &from);
	krp_causes_add(&c, &from);
	are("3 2000", c.nr, krp_causes_sum(&c));
	/* A tool that is much of it says so itself. */
	krp_causes_own(line, sizeof(line), &c, "krping-stages", 2000, 2);
	assert_string_equal(
		line,
		"  krping-stages itself is 70 % of this: on 2 CPUs watching is the likely cause\n");
	krp_causes_own(line, sizeof(line), &c, "krping-stages", 5601, 2);
	has(line, "25 %");
	krp_causes_own(line, sizeof(line), &c, "krping-stages", 5605, 2);
	assert_string_equal(line, "");
	krp_causes_own(line, sizeof(line), &c, "krping", 0, 2);
	assert_string_equal(line, "");
	krp_causes_limit(&c, 2000);
	are("1400", c.v[0].ns);
	krp_causes_limit(&c, 500);
	are("350 100 50", c.v[0].ns, c.v[1].ns, c.v[2].ns);
	/* The sum is exact to the last nanosecond, for any limit. */
	for (limit = 499; limit; limit -= limit > 7 ? 7 : 1) {
		krp_causes_limit(&c, limit);
		assert_int_equal(krp_causes_sum(&c), limit);
	}
	krp_causes_limit(&c, 0);
	assert_int_equal(krp_causes_sum(&c), 0);
	krp_causes_free(&c);
	krp_causes_limit(&c, 0);
	krp_causes_sort(&c);
	/* Times of many days do not overflow. */
	some[0].ns = some[1].ns = UINT64_MAX / 4;
	krp_causes_add(&c, &from);
	krp_causes_limit(&c, UINT64_MAX / 8);
	assert_true(krp_causes_sum(&c) == UINT64_MAX / 8);
	krp_causes_sort(&c);
	assert_true(c.v[0].ns >= c.v[1].ns && c.v[1].ns >= c.v[2].ns);
	krp_causes_free(&c);
}
