/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run: one command, from its text to its result.
 *
 * Each context below writes data of its own, so there is little locking:
 *
 * - The thread is the task that wrote the command. It alone owns the state,
 *   the phase, the queues' producer side and the memory regions.
 * - The completion handler (one context at a time: it is one CQ) publishes
 *   finished work requests to the thread by release stores and counts them.
 * - The CM handler (serialized by rdma_cm for each id) sets bits and wakes the
 *   thread.
 * - Anybody may report a cause of failure, by krping_fail().
 */
#ifndef KRPING_RUN_H
#define KRPING_RUN_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/workqueue.h>
#include "command.h"
#include "connect.h"
#include "ep.h"
#include "msg.h"
#include "phase.h"
#include "verdict.h"

struct krping_record;
struct krping_test;
struct net;

/**
 * struct krping_run - a run while it lives
 * @rec:	its record
 * @verdict:	how it ends
 * @phases:	where the run's thread is
 * @params:	the options that were asked for, and then those that were agreed
 * @test:	row of the test table; NULL until the options are agreed
 * @priv:	private data of the test
 * @net:	network namespace, referenced
 * @deadline:	work that runs when timeout= has passed
 * @down:	work that tears the run down if that can stall
 * @is_down:	@down has torn the run down
 * @left:	bit 0: thread or @down has left, and the other one frees the run
 * @conn:	the connection
 * @ep:		the endpoint that is connected
 * @msgs:	its messages
 */
struct krping_run {
	struct krping_record *rec;
	struct krping_verdict verdict;
	struct krping_phases phases;
	struct krping_params params;
	const struct krping_test *test;
	void *priv;
	struct net *net;

	struct hrtimer deadline;
	struct work_struct down;
	struct completion is_down;
	unsigned long left;

	struct krping_conn conn;
	struct krping_ep ep;
	struct krping_msgs msgs;
};

int krping_run_command(const char *text, size_t len);
int krping_runs_init(void);
void krping_runs_exit(void);

#endif /* KRPING_RUN_H */
