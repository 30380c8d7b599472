// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The life of a run, from its first event to its result. */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <net/net_namespace.h>
#include "block.h"
#include "cause.h"
#include "cpu.h"
#include "dbg.h"
#include "deadline.h"
#include "krping_trace.h"
#include "life.h"
#include "link.h"
#include "registry.h"
#include "run.h"
#include "test.h"

static unsigned int krping_events_abi = KRPING_EVENTS_ABI;
module_param_named(events_abi, krping_events_abi, uint, 0444);
MODULE_PARM_DESC(events_abi, "version of the tracepoints' arguments (read only)");

static bool krping_classic;
module_param_named(classic_log, krping_classic, bool, 0644);
MODULE_PARM_DESC(classic_log, "print what wlat, rlat and bw have measured to the kernel log, as older versions (default 0)");

/*
 * Makes a run that has not begun to live: that of a client of the @parent, or without one that
 * of a command, which the current task has written. Returns the run, or -ENOMEM, or -EOVERFLOW:
 * there are no numbers left.
 */
struct krping_run *krping_run_create(struct krping_run *parent)
{
	struct net *net = parent ? parent->net : current->nsproxy->net_ns;
	struct krping_run *run = kvzalloc(sizeof(*run), GFP_KERNEL);
	struct krping_record *rec;

	if (!run)
		return ERR_PTR(-ENOMEM);
	krping_verdict_init(&run->verdict);
	get_task_comm(run->comm, current);
	krping_limits_init(run);
	rec = krping_record_create(&run->phases, &run->verdict, net->net_cookie,
				   parent ? parent->rec : NULL);
	if (IS_ERR(rec)) {
		kvfree(run);
		return ERR_CAST(rec);
	}
	run->rec = rec;
	run->parent = parent;
	run->net = get_net(net);
	run->phases.rec = rec;
	krping_conn_init(&run->conn, run, rec, &run->verdict, &run->phases, &run->params, run->net);
	spin_lock_init(&run->flood.lock);
	krping_srqs_init(&run->srqs, rec, &run->verdict);
	krping_cm_init(&run->listener.cm, rec, &run->verdict, &run->offer, run->net);
	return run;
}

/* The run is over, or has never lived. Its record has the result, and stays. */
void krping_run_free(struct krping_run *run)
{
	struct krping_record *rec = run->rec;

	if (run->disk)
		put_disk(run->disk);
	krping_window_free(run->window);
	put_net(run->net);
	kvfree(run);
	krping_record_freed(rec);
}

/* The peer left, or the queue pair was flushed, and nobody has reported another cause. */
static void krping_run_reset(struct krping_run *run)
{
	const char *what = "the queue pair failed";
	char more[KRPING_LOSS_TEXT];

	if (READ_ONCE(run->conn.cm.going)) {
		krping_cm_removed(&run->verdict, run->rec->dev);
		return;
	}
	if (run->conn.ep.peer_left)
		what = "the peer disconnected";
	if (run->conn.connected && !krping_conn_is_up(&run->conn))
		what = "the link went down";
	krping_ep_describe_loss(&run->conn.ep, more);
	if (run->params.count)
		krping_fail(&run->verdict, -ECONNRESET, "%s after %llu of %u iterations%s", what,
			    run->phases.iter, run->params.count, more);
	else
		krping_fail(&run->verdict, -ECONNRESET, "%s in iteration %llu%s", what,
			    run->phases.iter, more);
}

/*
 * A server is done when the peer has its last message, not when the server has posted it. A
 * client that leaves first may leave before the message has completed here. An endless run that
 * was asked to end gives up on the message when its second is over.
 */
static int krping_run_last_message(struct krping_run *run)
{
	bool endless = run->verdict.endless;
	int ret = krping_wait_sends(&run->conn.msgs);

	if (READ_ONCE(run->verdict.err))
		return ret;
	if (ret == -EINTR && endless)
		return 0;
	if (ret == -ECONNRESET && run->conn.ep.peer_left &&
	    (endless || !krping_leaves_first(&run->conn)))
		return 0;
	return ret;
}

/* What most runs do: connect, and carry out a test. */
void krping_run_test(struct krping_run *run)
{
	int ret = krping_link_up(run);

	if (!ret) {
		WRITE_ONCE(run->verdict.endless, !run->params.count);
		ret = run->params.role == KRPING_ROLE_CLIENT ? run->test->client(run) :
							       run->test->server(run);
	}
	krping_iter_abort(&run->phases);
	krping_enter(&run->phases, KRPING_PHASE_DISCONNECT, 0, 0);
	if (!ret && run->params.role == KRPING_ROLE_SERVER)
		ret = krping_run_last_message(run);
	krping_idle_stop(run);
	/* A server that loses its device may ask its clients' runs to end before rdma_cm does. */
	if (!ret && run->verdict.endless && READ_ONCE(run->conn.cm.going))
		ret = krping_cm_removed(&run->verdict, run->rec->dev);
	if (!ret)
		ret = krping_cpu_check_kept(run);
	if (!ret)
		krping_set_good(&run->verdict);
	else if (ret == -EINTR)
		krping_fail_as_asked(&run->verdict);
	else if (!READ_ONCE(run->verdict.err))
		krping_run_reset(run);
}

static void krping_trace_result(const struct krping_record *rec)
{
	struct krping_figures f;

	krping_record_figures(rec, &f);
	krping_trace(result, rec->id, rec->iters, rec->lat.sum_ns, rec->lat.min_ns, f.p_ns[0],
		     f.p_ns[1], f.p_ns[2], f.p_ns[3], rec->lat.max_ns, f.bits_per_s, f.msgs_per_s,
		     f.regs_per_s);
}

/*
 * The line that older versions print at the end of wlat, rlat and bw. Scripts read its 4th, 7th,
 * 9th and 11th word. Of bw each WRITE counts.
 */
static void krping_classic_log(const struct krping_run *run)
{
	const struct krping_record *rec = run->rec;
	u64 iters = rec->iters, sec;
	u32 rest;

	if (!READ_ONCE(krping_classic) || !iters || !run->test->classic)
		return;
	if (rec->params.test == KRPING_TEST_BW)
		iters *= rec->moves;
	sec = div_u64_rem(rec->lat.sum_ns, NSEC_PER_SEC, &rest);
	pr_info("delta sec %llu delta usec %lu iter %llu size %u test %s\n", sec,
		rest / NSEC_PER_USEC, iters, rec->params.size, run->test->classic);
}

/*
 * The life of a run, whose result @work sets. The run's record has the options. Afterwards the
 * run is freed by its parent, or by the command's thread. Returns 0, or the errno of the cause.
 */
int krping_run_live(struct krping_run *run, void (*work)(struct krping_run *))
{
	struct krping_record *rec = run->rec;
	int ret;

	krping_deadline_start(run);

	krping_trace(run_start, rec->id, rec->start_ns, rec->parent, run->params.role,
		     run->params.test, run->params.size, run->params.count,
		     run->params.flags | KRPING_RUN_F_POLL(run->params.poll_ctx), pid_nr(rec->pid),
		     run->comm, run->params.name,
		     trace_krping_run_start_enabled() ?
			     ktime_to_ns(ktime_mono_to_real(rec->start_ns)) :
			     0);
	/* The first phase begins with the run. */
	run->phases.t_next = rec->start_ns;
	krping_enter(&run->phases,
		     run->params.role == KRPING_ROLE_CLIENT ? KRPING_PHASE_RESOLVE_ADDR :
							      KRPING_PHASE_LISTEN,
		     0, 0);
	krping_set_state(rec, KRPING_STATE_IDLE);

	work(run);
	/* The tear-down takes seconds at most, and the peer may need it whole. */
	krping_deadline_stop(run);
	/*
	 * On iWARP a connection that is being made can be neither left nor destroyed before the
	 * peer has answered or the provider has timed out (10 s on siw), so the run has its
	 * result before that. Nothing was posted but RECVs, which have memory of their own: the
	 * test's memory goes now, since the events of its regions come before the run's end.
	 */
	run->stalls = krping_link_may_stall(run);
	if (!run->stalls)
		krping_link_down(run, true);
	else
		krping_link_free_test(run);

	ret = run->verdict.err;
	/* The record has that state together with the rest of the result. */
	krping_trace(state, rec->id, krping_trace_now(state), rec->state,
		     ret ? KRPING_STATE_ERROR : KRPING_STATE_DONE, ret);
	/* This event has no time of its own, and readers sort: before the run's end. */
	if (trace_krping_result_enabled())
		krping_trace_result(rec);
	if (!ret)
		krping_classic_log(run);
	WRITE_ONCE(rec->end_ns, ktime_get_ns());
	krping_phases_end(&run->phases, rec->end_ns);
	krping_trace(run_end, rec->id, rec->end_ns, run->phases.iter, ret,
		     rec->end_ns - rec->start_ns, run->phases.phase, run->phases.t_phase);
	krping_record_result(rec);
	return ret;
}
