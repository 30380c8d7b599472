// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues. Who polls them is the option poll_ctx:
 *
 * - thread, the default: the provider's callback wakes the run's thread, which
 *   polls and arms the CQ by itself. One wake-up brings the completion to the
 *   place where it is needed.
 * - softirq, workqueue: the core polls there, and the completion handlers wake
 *   the thread, as most kernel users of verbs have it.
 * - busy: the thread polls all the time in its test, and sleeps only while the
 *   connection comes and goes.
 *
 * A CQ that the thread polls is one of ib_create_cq(), with a handler of ours. A drain
 * of the core, or of a device, does not poll such a CQ: so the thread goes on to poll
 * while a work drains, see drain.c.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "cq.h"
#include "dbg.h"
#include "krping_trace.h"
#include "verdict.h"
#include "wants.h"

static __always_inline void krping_cq_signal(struct ib_cq *cq,
					     struct krping_cq *kcq)
{
	if (kcq->core) {
		kcq->core(cq, kcq);
		return;
	}
	WRITE_ONCE(kcq->armed, false);
	krping_wake(kcq->verdict);
}

static noinline void krping_cq_event_timed(struct ib_cq *cq,
					   struct krping_cq *kcq)
{
	u64 t = ktime_get_ns();

	WRITE_ONCE(kcq->t_signal, t);
	/* Nobody else would use it up. */
	if (krping_wants(signals))
		WRITE_ONCE(kcq->t_sig, t);
	krping_trace(cq_event, kcq->run, t, kcq->id);
	krping_cq_signal(cq, kcq);
}

/*
 * The provider tells that the CQ has completions: the only place to learn when
 * that became known to this host. Called in any context, on rxe with the lock of
 * the CQ held, so this polls nothing.
 */
static void krping_cq_event(struct ib_cq *cq, void *context)
{
	struct krping_cq *kcq = context;

	if (krping_wants(signals) || unlikely(READ_ONCE(kcq->signals)))
		krping_cq_event_timed(cq, kcq);
	else
		krping_cq_signal(cq, kcq);
}

/* A CQ that the core polls, which has a handler of its own: ours calls that. */
static struct ib_cq *krping_cq_core(struct krping_cq *kcq,
				    struct ib_device *dev,
				    enum ib_poll_context ctx, int vector,
				    int nr_cqe)
{
	struct ib_cq *cq = vector < 0 ?
				   ib_alloc_cq_any(dev, kcq, nr_cqe, ctx) :
				   ib_alloc_cq(dev, kcq, nr_cqe, vector, ctx);

	if (IS_ERR(cq))
		return cq;
	kcq->core = cq->comp_handler;
	cq->comp_handler = krping_cq_event;
	return cq;
}

/* One that the thread polls. */
static struct ib_cq *krping_cq_own(struct krping_cq *kcq, struct ib_device *dev,
				   int vector, int nr_cqe)
{
	static atomic_t next = ATOMIC_INIT(-1);
	unsigned int vectors = clamp_t(unsigned int, dev->num_comp_vectors, 1,
				       num_online_cpus());
	struct ib_cq_init_attr attr = { .cqe = nr_cqe, .comp_vector = vector };

	/* Each in turn, as the core chooses. */
	if (vector < 0)
		attr.comp_vector =
			(unsigned int)atomic_inc_return(&next) % vectors;
	return ib_create_cq(dev, krping_cq_event, NULL, kcq, &attr);
}

/**
 * krping_cq_create - make a CQ
 * @kcq: the CQ, zeroed but for verdict and run
 * @dev: the device
 * @poll_ctx: who polls it
 * @vector: its completion vector; negative: the core chooses
 * @nr_cqe: how many completions it holds
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_cq_create(struct krping_cq *kcq, struct ib_device *dev,
		     enum krping_poll_ctx poll_ctx, int vector, int nr_cqe)
{
	struct ib_cq *cq;

	if (vector >= dev->num_comp_vectors)
		return krping_fail(kcq->verdict, -EINVAL,
				   "comp_vector: %d, but %s has %d of them",
				   vector, dev_name(&dev->dev),
				   dev->num_comp_vectors);
	if (nr_cqe > dev->attrs.max_cqe)
		return krping_fail(kcq->verdict, -EOPNOTSUPP,
				   "the test needs a CQ of %d, the device has %d",
				   nr_cqe, dev->attrs.max_cqe);
	if (poll_ctx == KRPING_POLL_SOFTIRQ)
		cq = krping_cq_core(kcq, dev, IB_POLL_SOFTIRQ, vector, nr_cqe);
	else if (poll_ctx == KRPING_POLL_WORKQUEUE)
		cq = krping_cq_core(kcq, dev, IB_POLL_WORKQUEUE, vector,
				    nr_cqe);
	else
		cq = krping_cq_own(kcq, dev, vector, nr_cqe);
	if (IS_ERR(cq))
		return krping_fail(kcq->verdict, PTR_ERR(cq),
				   "allocating a CQ of %d entries: error %pe",
				   nr_cqe, cq);
	kcq->id = cq->res.id;
	kcq->busy = poll_ctx == KRPING_POLL_BUSY;
	kcq->tells = dev->ops.driver_id == RDMA_DRIVER_RXE ||
		     dev->ops.driver_id == RDMA_DRIVER_SIW;
	kcq->recheck = dev->ops.driver_id == RDMA_DRIVER_SIW;
	kcq->cq = cq;
	krping_dbg(kcq->run, "created cq %u", kcq->id);
	return 0;
}

/*
 * ib_free_cq() waits only until the softirq has taken the CQ off its list of
 * CQs to poll, and the softirq arms the CQ after that: see ib_poll_handler().
 * The thread, which the last completion woke on another CPU, would free the CQ
 * while the softirq still uses it.
 */
static void krping_cq_quiesce_softirq(struct ib_cq *cq)
{
	/* From here on nothing schedules a poll, not even a missed event. */
	irq_poll_disable(&cq->iop);
	/*
	 * RCU also waits for softirqs, threaded ones as well. The call is the
	 * expedited one, since every run ends with it: an ordinary grace period
	 * is 10 ms or more.
	 */
	synchronize_rcu_expedited();
	/* ib_free_cq() disables it again; a second disable waits for ever. */
	irq_poll_enable(&cq->iop);
}

static void krping_cq_ignore(struct ib_cq *cq, void *context)
{
}

/**
 * krping_cq_abandon - the core handles no completion of a CQ any more
 * @kcq: the CQ, whose queue pair goes although it was not drained
 *
 * Where the thread polls, nobody does once it has stopped.
 *
 * Context: the run's thread; sleeps.
 */
void krping_cq_abandon(struct krping_cq *kcq)
{
	struct ib_cq *cq = kcq->cq;

	if (!kcq->core)
		return;
	/* What the device still tells starts no poll. */
	WRITE_ONCE(cq->comp_handler, krping_cq_ignore);
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		krping_cq_quiesce_softirq(cq);
		return;
	}
	/* A signal that was under way may yet have queued the work. */
	synchronize_rcu_expedited();
	cancel_work_sync(&cq->work);
}

struct krping_flush {
	struct work_struct work;
	struct tasklet_struct tasklet;
};

static DEFINE_PER_CPU(struct krping_flush, krping_flush);

static void krping_flush_tasklet(struct tasklet_struct *tasklet)
{
}

static void krping_flush_here(struct work_struct *work)
{
	struct krping_flush *flush =
		container_of(work, struct krping_flush, work);

	tasklet_schedule(&flush->tasklet);
	tasklet_kill(&flush->tasklet);
}

/**
 * krping_cqs_flush - wait until the provider has returned from its last calls
 * @dev: the device, whose queue pair is gone
 *
 * rxe of 6.1 calls the handler from a tasklet that is a part of the CQ, and frees
 * the CQ without killing it. The tasklets of a CPU run in the order in which
 * they were scheduled, so once one of ours has run on each CPU, so have those of
 * rxe. A tasklet that is running elsewhere is put behind ours, but only until
 * that other run of it ends: hence twice. siw and later versions of rxe call the
 * handler while they hold what the end of the queue pair waits for.
 *
 * Context: the run's thread; sleeps.
 */
void krping_cqs_flush(struct ib_device *dev)
{
	static DEFINE_MUTEX(lock);
	struct krping_flush *flush;
	int cpu, round;

	if (dev->ops.driver_id != RDMA_DRIVER_RXE)
		return;

	mutex_lock(&lock);
	cpus_read_lock();
	for (round = 0; round < 2; round++) {
		for_each_online_cpu(cpu) {
			flush = per_cpu_ptr(&krping_flush, cpu);
			INIT_WORK(&flush->work, krping_flush_here);
			tasklet_setup(&flush->tasklet, krping_flush_tasklet);
			queue_work_on(cpu, system_highpri_wq, &flush->work);
		}
		for_each_online_cpu(cpu)
			flush_work(&per_cpu_ptr(&krping_flush, cpu)->work);
	}
	cpus_read_unlock();
	mutex_unlock(&lock);
}

/**
 * krping_cq_destroy - destroy a CQ, if there is one
 * @kcq: the CQ; the queue pair is gone, all completions were reaped, and
 *	krping_cqs_flush() was called, since a late call of the provider would
 *	schedule the softirq again
 *
 * After this neither a completion handler nor the provider's callback runs.
 *
 * Context: the run's thread; sleeps.
 */
void krping_cq_destroy(struct krping_cq *kcq)
{
	struct ib_cq *cq = kcq->cq;

	if (!cq)
		return;
	/* Only a CQ of this context has an iop: others have a work in its place. */
	if (kcq->core && cq->poll_ctx == IB_POLL_SOFTIRQ)
		krping_cq_quiesce_softirq(cq);
	if (kcq->core)
		ib_free_cq(cq);
	else
		ib_destroy_cq(cq);
	kcq->cq = NULL;
}

static noinline int krping_cq_process_timed(struct krping_cq *kcq)
{
	kcq->t_reap = ktime_get_ns();
	return ib_process_cq_direct(kcq->cq, -1);
}

/* Calls the handlers of what has completed, and returns how many. */
static __always_inline int krping_cq_process(struct krping_cq *kcq)
{
	return krping_wants(stages) ? krping_cq_process_timed(kcq) :
				      ib_process_cq_direct(kcq->cq, -1);
}

/**
 * krping_cq_poll - call the handlers of what has completed, with a signal or without
 * @kcq: the CQ, of poll_ctx thread or busy
 *
 * For a wait that must not depend on the provider's signal.
 *
 * Context: the run's thread; does not sleep.
 */
void krping_cq_poll(struct krping_cq *kcq)
{
	ib_process_cq_direct(kcq->cq, -1);
}

/* Does the thread poll the CQ, and may there be something? */
static __always_inline bool krping_cq_may_have(const struct krping_cq *kcq)
{
	/* No signal since it was armed: there is nothing. */
	return kcq->cq && !kcq->core && !READ_ONCE(kcq->armed);
}

/**
 * krping_cq_retire - as krping_cq_reap(), for what no phase waits for
 * @kcq: the CQ
 *
 * Stages do not need to know when this polled, so it reads no clock.
 *
 * Context: the run's thread; does not sleep.
 */
void krping_cq_retire(struct krping_cq *kcq)
{
	if (krping_cq_may_have(kcq))
		ib_process_cq_direct(kcq->cq, -1);
}

/**
 * krping_cq_reap - call the handlers of what has completed, if the thread polls
 * @kcq: the CQ
 *
 * Context: the run's thread; does not sleep.
 */
void krping_cq_reap(struct krping_cq *kcq)
{
	if (krping_cq_may_have(kcq))
		krping_cq_process(kcq);
}

/**
 * krping_cq_arm - ask for a wake-up on the next completion, if the thread polls
 * @kcq: the CQ
 *
 * siw counts a completion, and then looks whether a signal was asked for, without a
 * barrier in between. It may miss what was asked for at that moment, and then also
 * says here that there is nothing (docs/upstream/siw-notify-barrier.md). It does both
 * under the lock of the CQ, which a poll takes, too: so one more poll finds the
 * completion, or was before it, and then the signal comes.
 *
 * Context: the run's thread; does not sleep.
 * Return: true if a completion may have come before that: reap again.
 */
bool krping_cq_arm(struct krping_cq *kcq)
{
	bool missed;

	if (!kcq->cq || kcq->core || READ_ONCE(kcq->armed))
		return false;
	WRITE_ONCE(kcq->armed, true);
	/* The signal, which clears it, may come at once on another CPU. */
	smp_wmb();
	missed = ib_req_notify_cq(kcq->cq, IB_CQ_NEXT_COMP |
						   IB_CQ_REPORT_MISSED_EVENTS) >
		 0;
	if (missed)
		WRITE_ONCE(kcq->armed, false);
	else if (kcq->recheck)
		return krping_cq_process(kcq) > 0;
	return missed;
}

/**
 * krping_cq_look - call the handlers of what has completed, and ask for a wake-up if
 * nothing has
 * @kcq: the CQ
 *
 * As krping_cq_reap(), for a wait in which mostly nothing has completed yet. That wait
 * asks for a wake-up anyway, and some providers then tell whether there is something to
 * poll. Others may only promise a signal (see ib_req_notify_cq()): there it polls.
 *
 * Context: the run's thread; does not sleep.
 */
void krping_cq_look(struct krping_cq *kcq)
{
	if (kcq->busy || !kcq->tells || krping_cq_arm(kcq))
		krping_cq_reap(kcq);
}
