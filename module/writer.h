/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_WRITER_H
#define KRPING_WRITER_H

#include <linux/wait.h>

struct krping_call;
struct krping_verdict;
struct task_struct;

/* The task that wrote a command. */
struct krping_writer {
	struct task_struct *task; /* referenced */
	wait_queue_head_t wait;	  /* for a call, or the end of the run */
	struct krping_call *call; /* to be made; NULL: none */
	bool connecting;	  /* the writer is in rdma_connect() */
};

int krping_writer_call(struct krping_writer *writer, const struct krping_verdict *verdict,
		       int (*fn)(void *data), void *data);
void krping_writer_serve(struct krping_writer *writer);
void krping_writer_withdraw(struct krping_writer *writer);
void krping_writer_interrupt(struct krping_writer *writer);

#endif /* KRPING_WRITER_H */
