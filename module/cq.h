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
 * @verdict:	of the run, whose thread is woken
 * @run:	number of the run
 * @id:		restrack number of the CQ
 * @polled:	the run's thread polls, and not the core
 * @busy:	the run's thread polls all the time while its test runs
 * @armed:	@polled: the next completion brings a signal; set by the thread,
 *		cleared by the signal, or by the thread if it came too late to ask
 * @signals:	the thread wants the time of each signal, in @t_signal
 * @t_signal:	when the provider signalled last, if somebody wants to know
 * @t_sig:	the same; 0 once a completion has this time
 * @t_poll:	thread: when it last began to poll, if somebody wants stages
 *
 * The core's handler has no time: a CQ that the core polls has none of the last three.
 */
struct krping_cq {
	struct ib_cq *cq;
	struct krping_verdict *verdict;
	u32 run;
	u32 id;
	bool polled;
	bool busy;
	bool armed;
	bool signals;
	u64 t_signal;
	u64 t_sig;
	u64 t_poll;
};

int krping_cq_create(struct krping_cq *kcq, struct ib_device *dev, enum krping_poll_ctx poll_ctx,
		     int vector, int nr_cqe);
void krping_cq_settle(struct krping_cq *kcq);
void krping_cq_destroy(struct krping_cq *kcq);
int krping_cq_poll(struct krping_cq *kcq);
bool krping_cq_arm(struct krping_cq *kcq);
void krping_cq_arm_early(struct krping_cq *kcq);

/* clang-format off */
/**
 * krping_cq_is_ready - poll until a condition is true, or the thread can sleep for it
 * @kcq: the CQ
 * @cond: the condition, which a completion of the CQ makes true
 *
 * It is looked at behind the poll: what ends a wait without a completion may come when
 * the completion is there. If this is false, the next completion wakes the thread.
 */
#define krping_cq_is_ready(kcq, cond)					\
({									\
	bool __ready;							\
									\
	do {								\
		/* No signal since the CQ was armed: nothing has completed. */ \
		if (!READ_ONCE((kcq)->armed))				\
			krping_cq_poll(kcq);				\
		__ready = (cond);					\
	} while (!__ready && krping_cq_arm(kcq));			\
	__ready;							\
})
/* clang-format on */

#endif /* KRPING_CQ_H */
