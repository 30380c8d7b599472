/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A completion queue, and who polls it.
 */
#ifndef KRPING_CQ_H
#define KRPING_CQ_H

#include <rdma/ib_verbs.h>
#include "krping_abi.h"

struct krping_verdict;

/**
 * struct krping_cq - one of the two completion queues of an endpoint
 * @cq:		the verbs object; NULL until it is made, and after it is gone
 * @verdict:	of the run, whose thread it wakes
 * @run:	number of the run
 * @core:	the core's completion handler, which ours calls; NULL if the run's
 *		thread polls
 * @id:		its restrack number
 * @busy:	the run's thread polls all the time
 * @tells:	where the thread asks for a signal, the provider tells whether there is a
 *		completion already; others may raise a signal for it instead
 * @recheck:	what the provider tells may be wrong, see krping_cq_arm()
 * @armed:	the thread polls, and the next completion brings a signal; set by the
 *		thread, cleared by the signal, or by the thread if it came too late to ask
 * @timed:	the thread waits, and wants the time of each completion
 * @signals:	the thread wants the time of each signal, in @t_signal
 * @t_signal:	last time the provider signalled it, if somebody wants that
 * @t_sig:	last time the provider signalled it, 0 once that time is used
 * @t_reap:	thread: when it last began to poll it, if somebody wants stages
 */
struct krping_cq {
	struct ib_cq *cq;
	struct krping_verdict *verdict;
	u32 run;
	ib_comp_handler core;
	u32 id;
	bool busy;
	bool tells;
	bool recheck;
	bool armed;
	bool timed;
	bool signals;
	u64 t_signal;
	u64 t_sig;
	u64 t_reap;
};

/* clang-format off */
/**
 * krping_cq_is_ready - for the condition of a wait: poll, and else ask for a wake-up
 * @kcq: the CQ
 * @cond: what is waited for, which a completion of the CQ makes true
 *
 * If it is false the next completion wakes the thread.
 */
#define krping_cq_is_ready(kcq, cond)					\
({									\
	bool __ready;							\
									\
	do {								\
		krping_cq_reap(kcq);					\
		__ready = (cond);					\
	} while (!__ready && krping_cq_arm(kcq));			\
	__ready;							\
})
/* clang-format on */

int krping_cq_create(struct krping_cq *kcq, struct ib_device *dev,
		     enum krping_poll_ctx poll_ctx, int vector, int nr_cqe);
void krping_cqs_flush(struct ib_device *dev);
void krping_cq_abandon(struct krping_cq *kcq);
void krping_cq_destroy(struct krping_cq *kcq);
void krping_cq_poll(struct krping_cq *kcq);
void krping_cq_retire(struct krping_cq *kcq);
void krping_cq_reap(struct krping_cq *kcq);
bool krping_cq_arm(struct krping_cq *kcq);
void krping_cq_look(struct krping_cq *kcq);

/**
 * krping_cq_arm_early - ask for a signal before the post that brings it
 * @kcq: the CQ that the thread will wait for next
 *
 * A provider in software may complete a request before the wait for it begins, and
 * a completion that comes before the CQ was armed has no signal, and so no time.
 * This is done whether somebody watches or not, so that both runs are the same.
 *
 * Context: the run's thread; does not sleep.
 */
static inline void krping_cq_arm_early(struct krping_cq *kcq)
{
	if (kcq->busy)
		return;
	/* The signal is to be of the completion that is waited for. */
	while (krping_cq_arm(kcq))
		krping_cq_reap(kcq);
}

#endif /* KRPING_CQ_H */
