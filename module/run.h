/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run: one command, from its text to its result; or one of the clients that a
 * command serves, from its request for a connection to the result.
 *
 * Each context below writes data of its own, so there is little locking:
 *
 * - The thread is a kernel thread. It alone owns the state, the phase, the queues'
 *   producer side and the memory regions. The task that wrote the command waits for
 *   it, and makes the calls that only this task can make, see writer.c.
 * - The completion handlers (one context at a time for each of the two CQs, or
 *   the thread itself) publish finished work requests to the thread by release
 *   stores and count them.
 * - The CM handler (serialized by rdma_cm for each id) sets bits and wakes the
 *   thread.
 * - Anybody may report a cause of failure, by krping_fail().
 */
#ifndef KRPING_RUN_H
#define KRPING_RUN_H

#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "command.h"
#include "connect.h"
#include "ep.h"
#include "listener.h"
#include "msg.h"
#include "phase.h"
#include "split.h"
#include "srq.h"
#include "verdict.h"

struct krping_record;
struct krping_test;
struct net;

/**
 * struct krping_limits - the limits in time of a run, see deadline.c
 * @deadline:	runs when timeout= has passed
 * @idle:	looks several times in each idle= whether the client is there
 * @heard:	jiffies when @idle last saw a sign of the client
 * @received:	how many RECVs had completed then
 * @sent:	how many requests of the send queue had
 * @cqe:	of the probe: a request that only the client's device answers
 * @probing:	the probe is in the send queue
 * @answered:	its completion came
 *
 * The run's thread sets @heard, @received, @sent and @probing before it starts @idle.
 * From then on only @idle writes them; @answered is set by the completion of the probe.
 */
struct krping_limits {
	struct hrtimer deadline;
	struct delayed_work idle;
	unsigned long heard;
	u32 received;
	u32 sent;
	struct ib_cqe cqe;
	bool probing;
	bool answered;
};

/**
 * struct krping_run - a run while it lives
 * @rec:	its record
 * @parent:	the run of the command that serves several clients, of which this run
 *		serves one; it lives longer. NULL: this is the run of a command
 * @request:	the client, if there is a @parent
 * @verdict:	how it ends
 * @phases:	where the run's thread is
 * @params:	the options that were asked for, and then those that were agreed
 * @offer:	server: the options of the command, unchanged while it listens
 * @test:	row of the test table; NULL until the options are agreed
 * @priv:	private data of the test
 * @comm:	name of the task that made it
 * @net:	network namespace, referenced
 * @limits:	what the clock may end the run for
 * @stalls:	to leave the connection takes long, and comes after the result
 * @srqs:	server of several clients: their shared receive queues
 * @listener:	server: where its client comes from
 * @conn:	the connection
 * @ep:		the endpoint that is connected
 * @msgs:	its messages
 * @split:	whose time the iteration is that is under way
 */
struct krping_run {
	struct krping_record *rec;
	struct krping_run *parent;
	struct krping_request *request;
	struct krping_verdict verdict;
	struct krping_phases phases;
	struct krping_params params;
	struct krping_params offer;
	const struct krping_test *test;
	void *priv;
	char comm[TASK_COMM_LEN];
	struct net *net;

	struct krping_limits limits;
	bool stalls;

	struct krping_srqs srqs;
	struct krping_listener listener;
	struct krping_conn conn;
	struct krping_ep ep;
	struct krping_msgs msgs;
	struct krping_split split;
};

void krping_run_ask(struct krping_run *run, int err, const char *reason);
bool krping_run_more(const struct krping_run *run);
int krping_run_may_go_on(struct krping_run *run);
bool krping_run_peer_may_leave(const struct krping_run *run, int ret);

#endif /* KRPING_RUN_H */
