// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the tests have in common. */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/sched.h>
#include "mr_trace.h"
#include "run.h"
#include "sq.h"
#include "wait.h"

/* Asks a run to end, wherever it is, in any context; see krping_ask_to_end(). */
void krping_run_ask(struct krping_run *run, int err, const char *reason)
{
	krping_ask_to_end(&run->verdict, err, reason);
	if (krping_must_end(&run->verdict))
		krping_cm_interrupt(&run->conn.cm);
}

/* Has somebody the run's disk open? Then nobody ends the run without saying so twice. */
bool krping_run_is_held(const struct krping_run *run)
{
	/* Pairs with the disk's add. */
	struct gendisk *disk = smp_load_acquire(&run->disk);

	return disk && disk_openers(disk);
}

/* Have the two ends not agreed on when the peer leaves? A classic client just leaves. */
static bool krping_run_is_open_ended(const struct krping_run *run)
{
	return !run->params.count || (run->params.role == KRPING_ROLE_SERVER && run->conn.classic);
}

/* With interval= the client pauses between two iterations. */
static noinline void krping_run_pause(struct krping_run *run)
{
	if (!run->phases.turn)
		return;
	krping_enter(&run->phases, KRPING_PHASE_PAUSE, 0, 0);
	krping_wait_pause(&run->conn.ep, run->params.interval_ns);
	krping_phases_loop(&run->phases);
}

/*
 * Does nothing keep the run from another iteration? A run whose waits succeed at once must still
 * notice that it has to end. Returns 0, or a negative errno that is also the run's cause.
 */
int krping_run_may_go_on(struct krping_run *run)
{
	krping_memory_costs(&run->conn.ep);
	if (unlikely(run->params.interval_ns))
		krping_run_pause(run);
	if (krping_must_end(&run->verdict))
		return krping_end_errno(&run->verdict);
	cond_resched();
	return 0;
}

/*
 * Does the run make another iteration? 1; 0: all are made; or a negative errno that is also the
 * run's cause.
 */
int krping_run_next(struct krping_run *run)
{
	if (!krping_run_is_open_ended(run) &&
	    run->phases.turn >= (u64)run->params.warmup + run->params.count)
		return 0;
	return krping_run_may_go_on(run) ?: 1;
}

/* Has the peer left between two iterations, as it may? @ret: of the wait between them. */
bool krping_run_peer_may_leave(const struct krping_run *run, int ret)
{
	/* Where a device goes, the peer has left for that. */
	return ret == -ECONNRESET && krping_run_is_open_ended(run) &&
	       !READ_ONCE(run->verdict.err) && run->conn.ep.peer_left &&
	       krping_conn_is_up(&run->conn) && !READ_ONCE(run->conn.cm.going);
}
