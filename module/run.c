// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a test asks its run between two iterations.
 */
#include <linux/sched.h>
#include "memory.h"
#include "run.h"
#include "wait.h"

/**
 * krping_run_ask - ask a run to end, wherever it is
 * @run: the run
 * @err: negative errno of a run that cannot end well, or does not do so in time
 * @reason: the reason, in words
 *
 * Context: any.
 */
void krping_run_ask(struct krping_run *run, int err, const char *reason)
{
	krping_ask(&run->verdict, err, "%s", reason);
	if (krping_is_stopping(&run->verdict))
		krping_conn_interrupt(&run->conn);
}

/**
 * krping_run_more - does the run have another iteration to make?
 * @run: the run
 *
 * Context: the run's thread, between two iterations.
 */
bool krping_run_more(const struct krping_run *run)
{
	/* Only a classic client knows the count: it leaves at the end. */
	if (run->params.role == KRPING_ROLE_SERVER && run->conn.classic)
		return true;
	return !run->params.count ||
	       run->phases.turn < (u64)run->params.warmup + run->params.count;
}

/* With interval= the client pauses between two iterations. */
static noinline void krping_run_pause(struct krping_run *run)
{
	if (!run->phases.turn || !krping_run_more(run))
		return;
	krping_enter(&run->phases, KRPING_PHASE_PAUSE, 0, 0);
	krping_wait_pause(&run->ep, run->params.interval_ns);
	krping_phases_loop(&run->phases);
}

/**
 * krping_run_may_go_on - may the next iteration begin?
 * @run: the run
 *
 * A run whose waits succeed at once must still notice that it has to end. With
 * interval= this is where it pauses. What memory regions have cost in the iteration that
 * has ended is told here, before the next one begins.
 *
 * Context: the run's thread, between two iterations; may sleep.
 * Return: 0, or a negative errno that is also the run's cause.
 */
int krping_run_may_go_on(struct krping_run *run)
{
	krping_memory_costs(&run->ep);
	if (unlikely(run->params.interval_ns))
		krping_run_pause(run);
	if (krping_is_stopping(&run->verdict))
		return krping_stopped(&run->verdict);
	cond_resched();
	return 0;
}

/**
 * krping_run_peer_may_leave - has the peer left between two iterations, as it may?
 * @run: the run
 * @ret: what the wait between them returned
 *
 * In an endless run, or with a classic client, the two ends have not agreed on
 * when the peer leaves.
 *
 * Context: the run's thread.
 */
bool krping_run_peer_may_leave(const struct krping_run *run, int ret)
{
	bool endless =
		!run->params.count ||
		(run->params.role == KRPING_ROLE_SERVER && run->conn.classic);

	/* Where a device goes, the peer has left for that. */
	return endless && ret == -ECONNRESET && !READ_ONCE(run->verdict.err) &&
	       run->ep.peer_left && krping_conn_is_up(&run->conn) &&
	       !READ_ONCE(run->conn.device.going);
}
