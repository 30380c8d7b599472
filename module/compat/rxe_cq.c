// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include "rxe_cq.h"

#ifndef HAVE_RXE_CQ_CALLS
struct krping_rxe_flush {
	struct tasklet_struct tasklet;
	unsigned int ran;
};

static DEFINE_PER_CPU(struct krping_rxe_flush, krping_rxe_flush);
static DECLARE_WAIT_QUEUE_HEAD(krping_rxe_wait);

static void krping_rxe_flushed(struct tasklet_struct *tasklet)
{
	struct krping_rxe_flush *flush = container_of(tasklet, struct krping_rxe_flush, tasklet);

	WRITE_ONCE(flush->ran, flush->ran + 1);
	wake_up_all(&krping_rxe_wait);
}

/* Interrupts are off. A module's data of CPUs have no pointers from the beginning. */
static void krping_rxe_schedule(void *unused)
{
	struct tasklet_struct *tasklet = this_cpu_ptr(&krping_rxe_flush.tasklet);

	if (!tasklet->callback)
		tasklet_setup(tasklet, krping_rxe_flushed);
	tasklet_schedule(tasklet);
}

/*
 * Waits until the tasklets of rxe have run that are scheduled: those of a CPU run in the order in
 * which they were scheduled, so one of ours is behind them. Ours may have been scheduled before
 * this call, for another run, and rxe's is put behind ours while it runs on another CPU: so it
 * takes three turns. An interrupt schedules ours, since a thread with a realtime priority may own
 * the CPU; and where such a thread keeps ksoftirqd from running, two seconds have to do, of which
 * the scheduler gives ksoftirqd a part.
 */
void krping_rxe_flush_cqs(const struct ib_device *dev)
{
	unsigned long until = jiffies + 2 * HZ;
	int cpu, turn;
	long left;

	if (dev->ops.driver_id != RDMA_DRIVER_RXE)
		return;
	for_each_online_cpu(cpu) {
		struct krping_rxe_flush *flush = per_cpu_ptr(&krping_rxe_flush, cpu);

		for (turn = 0; turn < 3; turn++) {
			unsigned int ran = READ_ONCE(flush->ran);

			/* A CPU that goes takes its tasklets to another one. */
			if (smp_call_function_single(cpu, krping_rxe_schedule, NULL, 1))
				break;
			left = until - jiffies;
			wait_event_timeout(krping_rxe_wait, READ_ONCE(flush->ran) != ran,
					   max(left, 0L));
		}
	}
}

/* The module goes: none of our tasklets may run any more. */
void krping_rxe_flush_end(void)
{
	int cpu;

	for_each_possible_cpu(cpu) tasklet_kill(&per_cpu_ptr(&krping_rxe_flush, cpu)->tasklet);
}
#endif
