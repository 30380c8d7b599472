/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A completion queue, and who polls it. */
#ifndef KRPING_CQ_H
#define KRPING_CQ_H

#include <rdma/ib_verbs.h>
#include "krping_abi.h"

struct krping_verdict;

/* One of the two completion queues of an endpoint. */
struct krping_cq {
	struct ib_cq *cq; /* NULL until it is made, and after it is gone */
	struct krping_verdict *verdict;
	u32 run;     /* number of the run */
	u32 id;	     /* restrack number of the CQ */
	int nr_cqe;  /* how many completions it was asked to hold */
	bool polled; /* the run's thread polls, and not the core */
	bool busy;   /* the run's thread polls all the time while its test runs */
	/* The next completion brings a signal, which clears this. */
	bool armed;
	/* The core's handler has no time: a CQ that the core polls has none of these. */
	bool signals; /* the thread wants the time of each signal, in t_signal */
	u64 t_signal; /* the last signal, if split.c or stages want it; never cleared */
	u64 t_sig;    /* the same; the first completion that takes it for stages clears it */
	u64 t_poll;   /* thread: when a poll for a phase last began, if somebody wants stages */
};

int krping_cq_create(struct krping_cq *kcq, struct ib_device *dev, enum krping_poll_ctx poll_ctx,
		     int vector, int nr_cqe);
void krping_cq_settle(struct krping_cq *kcq);
void krping_cq_destroy(struct krping_cq *kcq);
bool krping_cq_poll_begin(struct krping_cq *kcq);
bool krping_cq_poll_one(struct krping_cq *kcq);
int krping_cq_poll(struct krping_cq *kcq);
bool krping_cq_arm(struct krping_cq *kcq);
void krping_cq_ask(struct krping_cq *kcq);
void krping_cq_arm_early(struct krping_cq *kcq);

/* clang-format off */
/*
 * Poll until a condition is true, or the next completion wakes the thread. The condition comes
 * behind the poll: what ends a wait without a completion may come together with one.
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
