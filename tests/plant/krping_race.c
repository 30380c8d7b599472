// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A race of two instructions, for tests/guest/smp.t: threads on two CPUs add 1
 * to one number, by a load and a store, without a lock. Only where the CPUs are
 * at work at the same time is an addition lost. The CPUs of an emulator that
 * lets them take turns never stop between the two instructions.
 */
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

#define RACE_ADDS    20000000
#define RACE_THREADS 2

static unsigned int lost;
module_param(lost, uint, 0444);
MODULE_PARM_DESC(lost, "additions that were lost, of 40000000");

static unsigned int race_number;
static atomic_t race_ready = ATOMIC_INIT(0);
static DECLARE_COMPLETION(race_done);

/* Both begin at the same moment: one of them alone would soon be through. */
static int race_add(void *unused)
{
	unsigned int i, n;

	atomic_inc(&race_ready);
	while (atomic_read(&race_ready) < RACE_THREADS)
		cond_resched();
	for (i = 0; i < RACE_ADDS; i++) {
		n = READ_ONCE(race_number);
		WRITE_ONCE(race_number, n + 1);
	}
	complete(&race_done);
	return 0;
}

static int __init race_init(void)
{
	struct task_struct *threads[RACE_THREADS];
	unsigned int cpu = cpumask_first(cpu_online_mask), i;

	if (num_online_cpus() < RACE_THREADS)
		return -ENODEV;
	for (i = 0; i < RACE_THREADS; i++) {
		threads[i] = kthread_create_on_cpu(race_add, NULL, cpu, "krping_race/%u");
		if (IS_ERR(threads[i]))
			break;
		cpu = cpumask_next(cpu, cpu_online_mask);
	}
	if (i < RACE_THREADS) {
		while (i--)
			kthread_stop(threads[i]);
		return -ENOMEM;
	}
	for (i = 0; i < RACE_THREADS; i++)
		wake_up_process(threads[i]);
	for (i = 0; i < RACE_THREADS; i++)
		wait_for_completion(&race_done);
	lost = RACE_THREADS * RACE_ADDS - race_number;
	return 0;
}

static void __exit race_exit(void)
{
}

module_init(race_init);
module_exit(race_exit);

MODULE_AUTHOR("The krping developers");
MODULE_DESCRIPTION("A race for the test suite to find; of no other use");
MODULE_LICENSE("Dual BSD/GPL");
