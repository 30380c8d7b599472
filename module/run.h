/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run: one command, from its text to its result; or one of the clients that a command serves.
 * Each context writes data of its own, so there is little locking:
 *
 * - The run's kernel thread owns the state, the phase, the queues' producer side and the memory
 *   regions. The task that wrote the command waits for the thread, see writer.c.
 * - The completion handlers, one at a time for each of the two CQs, or the thread itself,
 *   publish finished work requests to the thread by release stores. Of a test with requests in
 *   flight they also post, and write the phase: see flood.c.
 * - The CM handler (serialized by rdma_cm for each id) sets bits and wakes the thread.
 * - Anybody may report a cause of failure, by krping_fail().
 */
#ifndef KRPING_RUN_H
#define KRPING_RUN_H

#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "command.h"
#include "connect.h"
#include "listener.h"
#include "phase.h"
#include "split.h"
#include "srq.h"
#include "verdict.h"

struct gendisk;
struct krping_record;
struct krping_test;
struct krping_window;
struct net;

/* The limits of a run, see deadline.c; idle alone writes the members from heard on once it runs. */
struct krping_limits {
	struct hrtimer deadline;  /* of timeout= */
	struct delayed_work idle; /* looks for the client a few times in each idle= */
	unsigned long heard;	  /* jiffies when a look found a sign of the client */
	u32 received;		  /* RECVs that had completed by then */
	u32 sent;		  /* requests of the send queue that had */
	struct ib_cqe cqe;	  /* of the probe */
	bool probed;		  /* the probe was posted since */
	bool probing;		  /* the probe is in the send queue */
	bool answered;		  /* it has completed; set by its handler */
};

/* A connection of a run behind its first one. */
struct krping_more {
	struct krping_conn conn;
	struct krping_request request; /* server: the connection comes from there */
};

/*
 * While requests are in flight the lock guards, beside these members, the phases of the run and
 * what its record has of iterations: the handlers of several CQs may run at once.
 */
struct krping_flood {
	spinlock_t lock;
	u64 begun;    /* iterations, whose requests a connection has posted or is going to post */
	u64 limit;    /* how many there will be, U64_MAX: nobody knows yet */
	bool stopped; /* no connection may post */
};

/* A run while it lives. */
struct krping_run {
	struct krping_record *rec;
	struct krping_run *parent;	/* the server's, of which this is a client; or NULL */
	struct krping_request *request; /* the client, if there is a parent */
	struct krping_verdict verdict;
	struct krping_phases phases;
	struct krping_params params;	/* as asked for, and then as agreed */
	struct krping_params offer;	/* server: those of the command */
	const struct krping_test *test; /* NULL until the options are agreed */
	char comm[TASK_COMM_LEN];	/* of the task that made the run */
	struct net *net;		/* referenced */

	struct krping_limits limits;
	bool stalls; /* the tear-down takes long, and comes after the result */

	struct krping_srqs srqs;	 /* its own, or of all clients of a server */
	struct krping_listener listener; /* server */
	struct krping_conn conn;	 /* the first one, which has the messages */
	struct krping_more *more;
	unsigned int nr_more;
	struct krping_split split;
	struct krping_flood flood;

	struct krping_window *window; /* of a server of test=block, for all its clients */
	bool window_claimed;  /* of the run of a client of that: it is one of the window's users */
	bool window_ro;	      /* and does not write */
	struct gendisk *disk; /* of a client; NULL until it is there; stays as long as the run */
};

/* The connections of a run, from 0 on. */
static inline struct krping_conn *krping_run_conn(struct krping_run *run, unsigned int i)
{
	return i ? &run->more[i - 1].conn : &run->conn;
}

#define krping_for_each_conn(conn, run, i) \
	for ((i) = 0; (i) <= (run)->nr_more && ((conn) = krping_run_conn(run, i)); (i)++)

void krping_run_ask(struct krping_run *run, int err, const char *reason);
int krping_run_may_go_on(struct krping_run *run);
int krping_run_next(struct krping_run *run);
bool krping_run_is_held(const struct krping_run *run);
bool krping_run_peer_may_leave(const struct krping_run *run, int ret);

#endif /* KRPING_RUN_H */
