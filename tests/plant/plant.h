/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the modules of this folder share: tests load them beside rdma_krping, in the VM. */
#ifndef KRPING_PLANT_H
#define KRPING_PLANT_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/tracepoint.h>

typedef char *charp;

/* A parameter that insmod sets, with the value that it has otherwise; and one that the module sets, for the test to read. */
#define PLANT_PARAM(type, name, value, mode, text) \
	static type name = value;                  \
	module_param(name, type, mode);            \
	MODULE_PARM_DESC(name, text)
#define PLANT_COUNTER(name, text) PLANT_PARAM(ulong, name, 0, 0444, text)

/* The module's beginning and end. */
#define PLANT_MODULE(begin, end, text) \
	module_init(begin);            \
	module_exit(end);              \
	MODULE_DESCRIPTION(text);      \
	MODULE_LICENSE("Dual BSD/GPL")

static inline void plant_no_end(void)
{
}

/* A client of the RDMA core, which is told of each device. */
#define PLANT_CLIENT(client, added, removed) \
	static struct ib_client client = { .name = KBUILD_MODNAME, .add = added, .remove = removed }

/* What is called when a function is entered, or NULL, and when it returns. */
#define PLANT_RETPROBE(name, symbol, entered, left)                \
	static struct kretprobe name = { .kp.symbol_name = symbol, \
					 .entry_handler = entered, \
					 .handler = left }

/* A whole module, of nothing but probes; kind is kprobe or kretprobe. */
#define PLANT_PROBES(kind, probes, nr, text)           \
	static int __init plant_begin(void)            \
	{                                              \
		return register_##kind##s(probes, nr); \
	}                                              \
	static void __exit plant_end(void)             \
	{                                              \
		unregister_##kind##s(probes, nr);      \
	}                                              \
	PLANT_MODULE(plant_begin, plant_end, text)

/* Waits for as long as the condition is true, and for so many ns at most, without giving the CPU away. */
#define PLANT_SPIN(condition, ns)                                 \
	do {                                                      \
		u64 plant_end = ktime_get_ns() + (ns);            \
		while ((condition) && ktime_get_ns() < plant_end) \
			cpu_relax();                              \
	} while (0)

/* Raises an event, whose tracepoint is tp, as trace_EVENT() would: the module that has it does not export it. */
#define PLANT_RAISE(tp, event, ...)                                                \
	do {                                                                       \
		preempt_disable_notrace();                                         \
		((typeof(&__traceiter_##event))(tp)->iterator)(NULL, __VA_ARGS__); \
		preempt_enable_notrace();                                          \
	} while (0)

struct plant_search {
	struct notifier_block nb;
	const char *name;
	struct tracepoint *tp;
};

static inline int plant_look(struct notifier_block *nb, unsigned long state, void *data)
{
	struct plant_search *s = container_of(nb, struct plant_search, nb);
	struct tp_module *m = data;
	unsigned int i;

	for (i = 0; i < m->mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&m->mod->tracepoints_ptrs[i]);

		if (!strcmp(tp->name, s->name))
			s->tp = tp;
	}
	return NOTIFY_OK;
}

/* A notifier is told of all modules that are loaded. NULL: none of them has the event. */
static inline struct tracepoint *plant_tracepoint(const char *name)
{
	struct plant_search s = { .nb.notifier_call = plant_look, .name = name };

	register_tracepoint_module_notifier(&s.nb);
	unregister_tracepoint_module_notifier(&s.nb);
	return s.tp;
}

#define PLANT_THREADS 2

static __maybe_unused DECLARE_COMPLETION(plant_done);

/* Runs the threads, on CPUs of their own if there are two, and waits until each has completed plant_done. */
static inline int plant_threads(int (*fn)(void *), void *data[PLANT_THREADS])
{
	struct task_struct *threads[PLANT_THREADS];
	unsigned int cpu = cpumask_first(cpu_online_mask), i;

	for (i = 0; i < PLANT_THREADS; i++) {
		threads[i] = kthread_create_on_cpu(fn, data[i], cpu, KBUILD_MODNAME "/%u");
		if (IS_ERR(threads[i])) {
			while (i--)
				kthread_stop(threads[i]);
			return -ENOMEM;
		}
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	for (i = 0; i < PLANT_THREADS; i++)
		wake_up_process(threads[i]);
	for (i = 0; i < PLANT_THREADS; i++)
		wait_for_completion(&plant_done);
	return 0;
}

#endif /* KRPING_PLANT_H */
