// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues. Who polls them is the option poll_ctx:
 *
 * - thread, the default: the provider's callback wakes the run's thread, which polls and arms
 *   the CQ. One wake-up brings the completion to the place where it is needed.
 * - busy: the thread polls all the time in its test, and sleeps only while the connection
 *   comes and goes.
 * - softirq, workqueue: the core polls there, and the completion handlers wake the thread.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_poll.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "cq.h"
#include "dbg.h"
#include "krping_trace.h"
#include "verdict.h"
#include "wants.h"

static noinline void krping_cq_event_timed(struct krping_cq *kcq)
{
	u64 t = ktime_get_ns();

	WRITE_ONCE(kcq->t_signal, t);
	/* Only stages take the time from t_sig: without them an old time would stay there. */
	if (krping_wants(stages))
		WRITE_ONCE(kcq->t_sig, t);
	krping_trace(cq_event, kcq->run, t, kcq->id);
}

/*
 * The provider tells that the CQ has completions: the only place to learn when this host got
 * to know. rxe holds the lock of the CQ, so this must not poll.
 */
static void krping_cq_event(struct ib_cq *cq, void *context)
{
	struct krping_cq *kcq = context;

	if (krping_wants(stages) || trace_krping_cq_event_enabled() ||
	    unlikely(READ_ONCE(kcq->signals)))
		krping_cq_event_timed(kcq);
	WRITE_ONCE(kcq->armed, false);
	krping_wake(kcq->verdict);
}

/* A CQ that the thread polls. */
static struct ib_cq *krping_cq_own(struct krping_cq *kcq, struct ib_device *dev, int vector,
				   int nr_cqe)
{
	static atomic_t next = ATOMIC_INIT(-1);
	unsigned int vectors = clamp_t(unsigned int, dev->num_comp_vectors, 1, num_online_cpus());
	struct ib_cq_init_attr attr = { .cqe = nr_cqe, .comp_vector = vector };

	/* Each in turn, as the core chooses. */
	if (vector < 0)
		attr.comp_vector = (unsigned int)atomic_inc_return(&next) % vectors;
	return ib_create_cq(dev, krping_cq_event, NULL, kcq, &attr);
}

/*
 * Make a CQ, which is zeroed but for verdict and run. @vector: its completion vector; negative:
 * the core chooses. Returns 0, or a negative errno that is also the run's cause.
 */
int krping_cq_create(struct krping_cq *kcq, struct ib_device *dev, enum krping_poll_ctx poll_ctx,
		     int vector, int nr_cqe)
{
	enum ib_poll_context core = poll_ctx == KRPING_POLL_SOFTIRQ ? IB_POLL_SOFTIRQ :
								      IB_POLL_WORKQUEUE;
	bool polled = poll_ctx == KRPING_POLL_THREAD || poll_ctx == KRPING_POLL_BUSY;
	struct ib_cq *cq;

	if (vector >= dev->num_comp_vectors)
		return krping_fail(kcq->verdict, -EINVAL, "comp_vector: %d, but %s has %d of them",
				   vector, dev_name(&dev->dev), dev->num_comp_vectors);
	if (nr_cqe > dev->attrs.max_cqe)
		return krping_fail(kcq->verdict, -EOPNOTSUPP,
				   "the test needs a CQ of %d, the device has %d", nr_cqe,
				   dev->attrs.max_cqe);
	if (polled)
		cq = krping_cq_own(kcq, dev, vector, nr_cqe);
	else if (vector < 0)
		cq = ib_alloc_cq_any(dev, kcq, nr_cqe, core);
	else
		cq = ib_alloc_cq(dev, kcq, nr_cqe, vector, core);
	if (IS_ERR(cq))
		return krping_fail(kcq->verdict, PTR_ERR(cq),
				   "allocating a CQ of %d entries: error %pe", nr_cqe, cq);
	kcq->id = cq->res.id;
	kcq->nr_cqe = nr_cqe;
	kcq->polled = polled;
	kcq->busy = poll_ctx == KRPING_POLL_BUSY;
	kcq->cq = cq;
	krping_dbg(kcq->run, "created cq %u", kcq->id);
	return 0;
}

/*
 * RCU waits for softirqs that are running, and the bit tells of one that has yet to begin: a
 * poll clears the bit before it arms the CQ, and sets it again if something came meanwhile.
 */
static void krping_cq_settle_softirq(const struct irq_poll *iop)
{
	do {
		while (test_bit(IRQ_POLL_F_SCHED, &iop->state))
			usleep_range(1000, 2000);
		/* Expedited, since every run ends with this: a grace period takes 10 ms or more. */
		synchronize_rcu_expedited();
	} while (test_bit(IRQ_POLL_F_SCHED, &iop->state));
}

/* Poll, or wait until the core has no poll under way or ahead. */
void krping_cq_settle(struct krping_cq *kcq)
{
	if (kcq->polled) {
		krping_cq_poll(kcq);
	} else if (kcq->cq->poll_ctx == IB_POLL_SOFTIRQ) {
		krping_cq_settle_softirq(&kcq->cq->iop);
	} else {
		/* The provider's call that is under way may be about to queue the work. */
		synchronize_rcu_expedited();
		/* The work queues itself again if something came while it armed the CQ. */
		while (flush_work(&kcq->cq->work))
			;
	}
}

/* Destroy a CQ, if there is one, whose queue pair is gone; no handler of it runs after this. */
void krping_cq_destroy(struct krping_cq *kcq)
{
	if (!kcq->cq)
		return;
	if (kcq->polled) {
		ib_destroy_cq(kcq->cq);
	} else {
		/*
		 * ib_free_cq() frees the CQ under a softirq that is about to arm it again, and
		 * cancels a work that has not begun (docs/upstream/ib-core-free-cq.md).
		 */
		krping_cq_settle(kcq);
		ib_free_cq(kcq->cq);
	}
	kcq->cq = NULL;
	kcq->polled = false;
}

/* The thread begins to poll. False: the core does. */
bool krping_cq_poll_begin(struct krping_cq *kcq)
{
	if (kcq->polled && krping_wants(stages))
		kcq->t_poll = ktime_get_ns();
	return kcq->polled;
}

/*
 * Call the handler of what has completed next. False: nothing has. The core's poll takes a batch,
 * clears the memory of one, and asks once more; but mostly there is a single completion.
 */
bool krping_cq_poll_one(struct krping_cq *kcq)
{
	struct ib_wc wc;

	if (ib_poll_cq(kcq->cq, 1, &wc) <= 0)
		return false;
	wc.wr_cqe->done(kcq->cq, &wc);
	return true;
}

/* Call the handlers of what has completed, if the thread polls. Returns how many have. */
int krping_cq_poll(struct krping_cq *kcq)
{
	int nr = 0;

	if (!krping_cq_poll_begin(kcq))
		return 0;
	/* Not without end: a peer may fill a shared receive queue as fast as it is emptied. */
	while (nr < kcq->nr_cqe && krping_cq_poll_one(kcq))
		nr++;
	return nr;
}

/* Ask for a signal; true if something may have completed meanwhile, so that none comes. */
static bool krping_cq_request(struct krping_cq *kcq)
{
	if (!kcq->polled)
		return false;
	WRITE_ONCE(kcq->armed, true);
	/* The signal, which clears it, may come at once on another CPU. */
	smp_wmb();
	if (likely(ib_req_notify_cq(kcq->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) <= 0))
		return false;
	WRITE_ONCE(kcq->armed, false);
	return true;
}

/*
 * Ask for a wake-up on the next completion. True: something may have completed, so look again.
 *
 * siw may miss that it is asked while it adds a completion, and says that there is none
 * (docs/upstream/siw-notify-barrier.md). A poll takes siw's lock, so one more finds that one.
 */
bool krping_cq_arm(struct krping_cq *kcq)
{
	if (READ_ONCE(kcq->armed))
		return false;
	return krping_cq_request(kcq) || krping_cq_poll(kcq) > 0;
}

/* Ask for a signal before a post, where nothing else is in flight that could be missed. */
void krping_cq_ask(struct krping_cq *kcq)
{
	if (!kcq->busy && !READ_ONCE(kcq->armed))
		krping_cq_request(kcq);
}

/*
 * Ask for a signal before the post that brings it, as that of a request or of a peer's answer:
 * what is not there yet cannot be missed, so no poll has to follow. And a provider in software may
 * complete a request before the wait for it begins, and without a signal a completion has no time.
 * This is done whether somebody watches or not, so that both runs are the same.
 */
void krping_cq_arm_early(struct krping_cq *kcq)
{
	if (!kcq->busy)
		while (!READ_ONCE(kcq->armed) && krping_cq_request(kcq))
			krping_cq_poll(kcq);
}
