// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the clock ends; see deadline.h.
 *
 * A server's thread sleeps until its client sends something, and no completion ever tells that a
 * client does not begin, or that its host has lost power. So a work looks now and then. A ping pays
 * nothing for that: the thread starts no timer, and the work reads counters that are there anyway.
 *
 * A client has to begin, which all tests do with a message. After that it may be silent for as long
 * as its test likes: rlat, bw and fr send no message for hours, and interval= pauses. So where
 * nothing has completed, a request that touches no memory asks the client's device whether it is
 * there; no software of the client answers.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include "compat/soft.h"
#include "deadline.h"
#include "run.h"

/*
 * The work looks four times within idle=, but each two seconds at least: a client is ended within
 * two looks after idle=.
 */
#define KRPING_IDLE_LOOKS   4
#define KRPING_IDLE_LOOK_MS 2000

/* A time in the largest unit in which it is whole. */
static const char *krping_time_text(u64 ns, char *text, size_t size)
{
	static const char *const units[] = { "us", "ms", "s" };
	u64 next, n = div_u64(ns, NSEC_PER_USEC);
	unsigned int i;
	u32 rest;

	for (i = 0; i < ARRAY_SIZE(units) - 1; i++) {
		next = div_u64_rem(n, 1000, &rest);
		if (rest)
			break;
		n = next;
	}
	snprintf(text, size, "%llu%s", n, units[i]);
	return text;
}

/* An endless run ends well on its deadline; any other run fails. */
static enum hrtimer_restart krping_run_deadline(struct hrtimer *timer)
{
	struct krping_run *run = container_of(timer, struct krping_run, limits.deadline);
	char reason[64], time[24];

	snprintf(reason, sizeof(reason), "not done within timeout=%s",
		 krping_time_text(run->params.timeout_ns, time, sizeof(time)));
	krping_run_ask(run, -ETIMEDOUT, reason);
	return HRTIMER_NORESTART;
}

static void krping_idle_look(struct krping_run *run)
{
	unsigned long idle = nsecs_to_jiffies(run->params.idle_ns);

	schedule_delayed_work(&run->limits.idle, min(idle / KRPING_IDLE_LOOKS + 1,
						     msecs_to_jiffies(KRPING_IDLE_LOOK_MS)));
}

static void krping_idle_fail(struct krping_run *run, const char *what)
{
	char time[24];

	krping_fail(&run->verdict, -ETIMEDOUT, "%s for idle=%s", what,
		    krping_time_text(run->params.idle_ns, time, sizeof(time)));
}

static void krping_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_run *run = container_of(wc->wr_cqe, struct krping_run, limits.cqe);

	if (wc->status == IB_WC_SUCCESS)
		WRITE_ONCE(run->limits.answered, true);
	else if (wc->status == IB_WC_RETRY_EXC_ERR)
		/* It may be that idle= has not passed yet. */
		krping_fail(&run->verdict, -ETIMEDOUT, "the client's device does not answer");
	/* Else the probe was flushed: another completion tells why. */
}

/*
 * InfiniBand and RoCE acknowledge a WRITE of no bytes. On iWARP only a READ has an answer; but siw
 * answers a READ of no bytes wrongly while it is sending (docs/upstream/siw-zero-read.md), and a
 * client may take no READ: these are asked by a WRITE, which TCP acknowledges.
 *
 * The send queue and its CQ have room for one request more than the test has.
 */
static void krping_probe(struct krping_run *run)
{
	struct ib_sge none = { .lkey = run->conn.ep.pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &run->limits.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (run->conn.ep.iwarp) {
		if (run->conn.peer.read_depth && !krping_is_siw(run->conn.ep.dev))
			wr.wr.opcode = IB_WR_RDMA_READ;
		/* iWARP has one SGE in each READ. */
		wr.wr.sg_list = &none;
		wr.wr.num_sge = 1;
	}
	run->limits.cqe.done = krping_probe_done;
	run->limits.answered = false;
	run->limits.probing = !ib_post_send(run->conn.ep.qp, &wr.wr, NULL);
	run->limits.probed = run->limits.probing;
	/* Where the thread polls, it has to look for the answer. */
	WRITE_ONCE(run->conn.ep.polls_both, run->conn.ep.srq || run->limits.probing);
}

/*
 * Has anything come from the client since the last look? The thread polls the send CQ late: while
 * the probe is in the queue, sq_done may advance by requests that completed long ago, so it is no
 * sign of the client.
 */
static bool krping_idle_hears(struct krping_run *run)
{
	struct krping_limits *limits = &run->limits;
	/* The endpoint may not be made yet. */
	bool siw = krping_is_siw(run->conn.cm.id->device);
	u32 received = READ_ONCE(run->conn.ep.rq_done);
	u32 sent = READ_ONCE(run->conn.ep.sq_done);
	bool heard = received != limits->received ||
		     (sent != limits->sent && !limits->probing && !siw);

	limits->received = received;
	limits->sent = sent;
	if (limits->probing && READ_ONCE(limits->answered)) {
		limits->probing = false;
		WRITE_ONCE(run->conn.ep.polls_both, run->conn.ep.srq);
		heard |= !siw;
	}
	/* A client that does not begin has a host that answers, too. */
	if (siw && received)
		heard |= time_after(jiffies - krping_siw_silence(run->net, run->conn.cm.id),
				    limits->heard);
	return heard;
}

static void krping_idle_work(struct work_struct *work)
{
	struct krping_run *run =
		container_of(to_delayed_work(work), struct krping_run, limits.idle);
	unsigned long silent, idle = nsecs_to_jiffies(run->params.idle_ns);
	struct krping_limits *limits = &run->limits;
	bool begun = READ_ONCE(run->conn.ep.rq_done);

	if (krping_must_end(&run->verdict))
		return;
	if (krping_idle_hears(run)) {
		limits->heard = jiffies;
		limits->probed = false;
	}
	silent = jiffies - limits->heard;
	if (silent >= idle && (!begun || limits->probed)) {
		krping_idle_fail(run, begun ? "nothing came from the client" :
					      "the client did not begin");
		return;
	}
	if (limits->probing)
		krping_wake(&run->verdict);
	else if (begun && silent >= idle / KRPING_IDLE_LOOKS)
		krping_probe(run);
	krping_idle_look(run);
}

/* Make ready for limits; none is in force yet. */
void krping_limits_init(struct krping_run *run)
{
	hrtimer_setup(&run->limits.deadline, krping_run_deadline, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	INIT_DELAYED_WORK(&run->limits.idle, krping_idle_work);
}

/* The limit of timeout= begins, if the run has it. */
void krping_deadline_start(struct krping_run *run)
{
	if (run->params.timeout_ns)
		hrtimer_start(&run->limits.deadline, ns_to_ktime(run->params.timeout_ns),
			      HRTIMER_MODE_REL);
}

/* The run has its result: timeout= is over. Waits for the timer's function. */
void krping_deadline_stop(struct krping_run *run)
{
	hrtimer_cancel(&run->limits.deadline);
}

/*
 * A client was let in: idle= begins, if the server's run has it. A classic client knows nothing of
 * idle=, and may be silent by its nature: it is watched only if the command names idle=.
 */
void krping_idle_start(struct krping_run *run)
{
	struct krping_limits *limits = &run->limits;

	if (!run->params.idle_ns ||
	    (run->conn.classic && !krping_option_given(&run->params, KRPING_OPT_IDLE)))
		return;
	limits->heard = jiffies;
	limits->received = 0;
	limits->sent = 0;
	limits->probed = false;
	limits->probing = false;
	krping_idle_look(run);
}

/* The test is over, and so is idle=. The queue pair is still there, with a probe perhaps. */
void krping_idle_stop(struct krping_run *run)
{
	cancel_delayed_work_sync(&run->limits.idle);
}
