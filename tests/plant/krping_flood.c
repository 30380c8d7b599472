// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raises the events of one run on each of two CPUs, without any RDMA, and so
 * more of them than soft providers ever could: what do the readers of iterations
 * lose, and do they know it? For tests/guest/flood.t and make bench.
 *
 * The tracepoints are those of rdma_krping, whose programs and probes are called as
 * trace_krping_iter() would call them. Nothing may be attached or detached meanwhile:
 * how the kernel protects that differs between versions, and is not repeated here.
 * insmod returns when the flood is over.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "krping_abi.h"
#include "krping_trace.h"

#define FLOOD_RUNS  2
#define FLOOD_RUN   3000000000U /* runs that no command of a test reaches */
#define FLOOD_WORDS 8

static unsigned int rate;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "iterations a second, both runs together; 0: as many as there can be");

static unsigned int count = 100000;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "iterations of each run");

static unsigned long long ns;
module_param(ns, ullong, 0444);
MODULE_PARM_DESC(ns, "how long the slower run took");

struct flood {
	unsigned int run;
	u64 ns;
};

static struct flood floods[FLOOD_RUNS];
static DECLARE_COMPLETION(flood_done);
static struct module *flood_of;
static struct tracepoint *tp_start, *tp_iter, *tp_end;

static u64 flood_begin(const struct flood *f)
{
	u64 t = ktime_get_ns();

	preempt_disable_notrace();
	((typeof(&__traceiter_krping_run_start))tp_start->iterator)(NULL, f->run, t, 0,
								    KRPING_ROLE_CLIENT,
								    KRPING_TEST_BW, 64, count, 0,
								    current->pid, current->comm,
								    "flood", ktime_get_real_ns());
	preempt_enable_notrace();
	return t;
}

/* An iteration from t_begin to now; returns its end. */
static u64 flood_iteration(const struct flood *f, u64 iter, u64 t_begin)
{
	u64 t = ktime_get_ns(), words[FLOOD_WORDS], part, left;
	unsigned int i;

	left = t - t_begin;
	part = div_u64(left, FLOOD_WORDS);
	for (i = 0; i < FLOOD_WORDS; i++) {
		if (i == FLOOD_WORDS - 1)
			part = left;
		words[i] = KRPING_SEG(KRPING_PHASE_MAP + i % 3, 0, 0, part);
		left -= part;
	}
	preempt_disable_notrace();
	((typeof(&__traceiter_krping_iter))tp_iter->iterator)(NULL, f->run, t, iter,
							      KRPING_PHASE_F_COMMIT |
								      KRPING_ITER_F_PHASES,
							      t_begin, FLOOD_WORDS, words, 0, 0,
							      64);
	preempt_enable_notrace();
	return t;
}

static void flood_end(const struct flood *f, u64 t)
{
	preempt_disable_notrace();
	((typeof(&__traceiter_krping_run_end))tp_end->iterator)(NULL, f->run, t, count, 0, f->ns,
								KRPING_PHASE_NONE, 0);
	preempt_enable_notrace();
}

static int flood_thread(void *data)
{
	struct flood *f = data;
	u64 start = flood_begin(f), t = start, due = count;
	unsigned int i = 0;

	while (i < count) {
		if (rate)
			due = div_u64((ktime_get_ns() - start) * rate, FLOOD_RUNS * NSEC_PER_SEC);
		for (; i < count && i < due; i++) {
			t = flood_iteration(f, i, t);
			if (!(i % 1024))
				cond_resched();
		}
		if (i < count)
			usleep_range(200, 400);
	}
	f->ns = t - start;
	flood_end(f, t);
	complete(&flood_done);
	return 0;
}

static int flood_find(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *m = data;
	struct tracepoint *tp;
	unsigned int i;

	if (state != MODULE_STATE_COMING || strcmp(m->mod->name, "rdma_krping"))
		return NOTIFY_OK;
	for (i = 0; i < m->mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&m->mod->tracepoints_ptrs[i]);
		if (!strcmp(tp->name, "krping_run_start"))
			tp_start = tp;
		else if (!strcmp(tp->name, "krping_iter"))
			tp_iter = tp;
		else if (!strcmp(tp->name, "krping_run_end"))
			tp_end = tp;
	}
	if (!flood_of && try_module_get(m->mod))
		flood_of = m->mod;
	return NOTIFY_OK;
}

static struct notifier_block flood_nb = { .notifier_call = flood_find };

static int flood_all(void)
{
	unsigned int cpu = cpumask_first(cpu_online_mask), i;
	struct task_struct *threads[FLOOD_RUNS];

	for (i = 0; i < FLOOD_RUNS; i++) {
		floods[i].run = FLOOD_RUN + i;
		threads[i] =
			kthread_create_on_cpu(flood_thread, &floods[i], cpu, "krping_flood/%u");
		if (IS_ERR(threads[i]))
			break;
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	if (i < FLOOD_RUNS) {
		while (i--)
			kthread_stop(threads[i]);
		return -ENOMEM;
	}
	for (i = 0; i < FLOOD_RUNS; i++)
		wake_up_process(threads[i]);
	for (i = 0; i < FLOOD_RUNS; i++)
		wait_for_completion(&flood_done);
	for (i = 0; i < FLOOD_RUNS; i++)
		ns = max_t(u64, ns, floods[i].ns);
	return 0;
}

static int __init flood_init(void)
{
	int err;

	err = register_tracepoint_module_notifier(&flood_nb);
	if (err)
		return err;
	unregister_tracepoint_module_notifier(&flood_nb);
	if (!flood_of)
		return -ENOENT;
	err = tp_start && tp_iter && tp_end ? flood_all() : -ENOENT;
	module_put(flood_of);
	return err;
}

static void __exit flood_exit(void)
{
}

module_init(flood_init);
module_exit(flood_exit);

MODULE_AUTHOR("The krping developers");
MODULE_DESCRIPTION("Many events for the test suite; of no other use");
MODULE_LICENSE("Dual BSD/GPL");
