// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests with many requests in flight, see flood.h.
 *
 * A run has one time line, whatever the number of its connections: an iteration lasts from the
 * completion before it, on any of them, until its own. So the times of iterations add up to that of
 * the run, and the handler of the completion tells the phase that ends there.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include "cause.h"
#include "cq.h"
#include "flood.h"
#include "krping_trace.h"
#include "mr_trace.h"
#include "record.h"
#include "run.h"
#include "wait.h"

/* May a connection, whose lock the caller holds, post? */
bool krping_flood_may_post(const struct krping_conn *conn)
{
	return !READ_ONCE(conn->run->flood.stopped) && !krping_wait_must_end(&conn->ep);
}

bool krping_flood_has_more(const struct krping_run *run)
{
	return READ_ONCE(run->flood.begun) < READ_ONCE(run->flood.limit);
}

/*
 * May a connection, whose lock the caller holds, begin another iteration? The caller is going to
 * post all of its requests.
 */
bool krping_flood_take(struct krping_conn *conn)
{
	struct krping_flood *flood = &conn->run->flood;
	bool more;

	if (!krping_flood_has_more(conn->run))
		return false;
	spin_lock(&flood->lock);
	more = flood->begun < flood->limit;
	flood->begun += more;
	spin_unlock(&flood->lock);
	if (krping_wants(requests) && more)
		conn->ep.t_queued = ktime_get_ns();
	return more;
}

/* An iteration begins, which is over with the next completion. */
static void krping_flood_begin(struct krping_run *run)
{
	krping_iter_begin(&run->phases);
	krping_enter(&run->phases, KRPING_PHASE_RUNNING, run->params.size, 0);
}

/*
 * Tell of a request that is over now. One that was taken while nobody wanted requests is not told:
 * its t_queued is of another one, before somebody did.
 */
static noinline void krping_flood_tell(struct krping_conn *conn, const struct krping_flight *f)
{
	u32 flags = f->writes ? KRPING_REQUEST_F_WRITES : 0;
	struct krping_phases *at = &conn->run->phases;
	u64 now, t_sig, arrived, posted, wire, peer;

	if (at->muted || f->t_queued < READ_ONCE(krping_requests_since) || !f->t_post || !f->t_wc)
		return;
	/* The signal may be that of a completion before, or of one behind. */
	t_sig = f->t_sig >= f->t_post && f->t_sig <= f->t_wc ? f->t_sig : 0;
	arrived = t_sig ?: f->t_wc;
	posted = min(f->t_posted, arrived);
	wire = arrived - posted;
	/* A peer can tell anything. */
	peer = f->peer_ns <= wire ? f->peer_ns : 0;
	now = ktime_get_ns();
	krping_trace(request, at->rec->id, now, f->cid, f->kind, conn->queue, f->len, f->t_queued,
		     f->map_ns, f->t_post, f->t_posted, t_sig, f->t_wc);
	if (!trace_krping_iter_stages_enabled())
		return;
	krping_line_request(&at->line, KRPING_REQUEST_ALL, flags, now - f->t_queued);
	krping_line_request(&at->line, KRPING_REQUEST_QUEUED, flags,
			    f->t_post - f->t_queued - f->map_ns);
	if (f->map_ns)
		krping_line_request(&at->line, KRPING_REQUEST_MAP, flags, f->map_ns);
	krping_line_request(&at->line, KRPING_REQUEST_POST, flags, posted - f->t_post);
	if (peer)
		krping_line_request(&at->line, KRPING_REQUEST_PEER, flags, peer);
	krping_line_request(&at->line, KRPING_REQUEST_WIRE, flags, wire - peer);
	if (t_sig)
		krping_line_request(&at->line, KRPING_REQUEST_CQ, flags, f->t_wc - arrived);
	krping_line_request(&at->line, KRPING_REQUEST_DONE, flags, now - f->t_wc);
}

/* The same, by its last work request, before which may be the registration of its memory. */
static void krping_flood_tell_wr(struct krping_conn *conn, const struct krping_wr *wr)
{
	const struct krping_wr *reg = krping_sq_slot(&conn->ep, wr->seq - 1);
	struct krping_flight f = {
		.cid = wr->cid,
		.kind = wr->kind,
		.len = wr->len,
		.t_queued = wr->t_queued,
		.t_post = wr->t_post,
		.t_posted = wr->t_posted,
		.t_sig = wr->t_sig,
		.t_wc = wr->t_wc,
	};

	if (reg->kind == KRPING_WR_REG_MR && reg->t_post == wr->t_post) {
		f.map_ns = reg->map_ns;
		f.len = f.len ?: reg->len;
	}
	krping_flood_tell(conn, &f);
}

/* An iteration is complete, and the next one begins. With the lock of the flood. */
static void krping_flood_next(struct krping_run *run)
{
	krping_iter_end(&run->phases);
	if (run->phases.turn < run->flood.limit)
		krping_flood_begin(run);
	else
		krping_wake(&run->verdict);
}

/*
 * The last request of an iteration has completed, on a connection whose lock the caller holds. In
 * any context that polls.
 */
void krping_flood_count(struct krping_conn *conn, const struct krping_wr *wr)
{
	struct krping_run *run = conn->run;
	struct krping_flood *flood = &run->flood;

	spin_lock(&flood->lock);
	krping_memory_costs(&conn->ep);
	if (krping_wants(requests))
		krping_flood_tell_wr(conn, wr);
	if (krping_wants(stages))
		krping_waited(&run->phases, wr, true, true, conn->ep.scq.t_poll);
	krping_flood_next(run);
	spin_unlock(&flood->lock);
}

/*
 * The same of a request that has several, is an iteration, and has moved so many bytes: the iteration
 * is as long as the request. Returns the iteration's number.
 */
u64 krping_flood_land(struct krping_conn *conn, const struct krping_flight *f, u32 moved)
{
	struct krping_run *run = conn->run;
	struct krping_flood *flood = &run->flood;
	u64 iter;

	spin_lock(&flood->lock);
	krping_memory_costs(&conn->ep);
	if (krping_wants(requests))
		krping_flood_tell(conn, f);
	iter = run->phases.iter;
	run->phases.t_iter = f->t_queued;
	run->phases.line.t_iter = f->t_queued;
	run->phases.t_next = ktime_get_ns();
	/* What krping-top has to know: the words of the phases tile the run, which requests do not. */
	if (trace_krping_iter_phases_enabled())
		krping_words_add(&run->phases.line.words[KRPING_LINE_PHASES],
				 KRPING_REQUEST(KRPING_REQUEST_ALL,
						f->writes ? KRPING_REQUEST_F_WRITES : 0,
						run->phases.t_next - f->t_queued));
	WRITE_ONCE(run->rec->moved, run->rec->moved + moved);
	/*
	 * This host has the request but for the time between the post and the answer's handler, which
	 * may begin on another CPU before the post has returned.
	 */
	if (f->peer_ns)
		krping_split_add(&run->phases, f->t_queued, run->phases.t_next,
				 run->phases.t_next - f->t_queued -
					 (max(f->t_in, f->t_out) - f->t_out),
				 f->peer_ns);
	krping_flood_next(run);
	spin_unlock(&flood->lock);
	return iter;
}

/* There will be no more iterations than those that have begun. */
static void krping_flood_end(struct krping_flood *flood)
{
	spin_lock_bh(&flood->lock);
	flood->limit = flood->begun;
	spin_unlock_bh(&flood->lock);
}

/* Nobody posts any more: the queue pairs may be drained, and the phases are the thread's again. */
void krping_flood_stop(struct krping_run *run)
{
	struct krping_conn *conn;
	unsigned int i;

	WRITE_ONCE(run->flood.stopped, true);
	krping_for_each_conn(conn, run, i) {
		/* Who holds the lock has not seen this yet. */
		spin_lock_bh(&conn->lock);
		spin_unlock_bh(&conn->lock);
	}
}

/* The connection that is lost; NULL: none. */
static struct krping_conn *krping_flood_lost(struct krping_run *run)
{
	struct krping_conn *conn;
	unsigned int i;

	krping_for_each_conn(conn, run, i)
		if (krping_wait_must_end(&conn->ep))
			return conn;
	return NULL;
}

static bool krping_flood_is_done(const struct krping_run *run)
{
	return READ_ONCE(run->phases.turn) >= READ_ONCE(run->flood.limit);
}

/* What ends a wait before its requests have completed; each includes those before it. */
enum krping_flood_ends {
	KRPING_FLOOD_LOST,    /* the run must end, or a connection is lost */
	KRPING_FLOOD_ASKED,   /* the run is asked to end */
	KRPING_FLOOD_MESSAGE, /* the peer says something */
};

static bool krping_flood_is_cut(struct krping_run *run, enum krping_flood_ends by)
{
	return krping_flood_lost(run) ||
	       (by >= KRPING_FLOOD_ASKED && READ_ONCE(run->verdict.asked)) ||
	       (by >= KRPING_FLOOD_MESSAGE && krping_recv_is_done(&run->conn.ep));
}

static bool krping_flood_is_over(struct krping_run *run, enum krping_flood_ends by)
{
	return krping_flood_is_done(run) || krping_flood_is_cut(run, by);
}

/* Poll the CQs, where the thread does. True: look again, since something may bring no signal. */
static bool krping_flood_poll(struct krping_run *run)
{
	struct krping_cq *rcq = &run->conn.ep.rcq;
	struct krping_conn *conn;
	bool again = rcq->busy;
	unsigned int i;

	/* No signal since a CQ was armed: nothing has completed there. */
	krping_for_each_conn(conn, run, i) {
		if (!READ_ONCE(conn->ep.scq.armed))
			krping_cq_poll(&conn->ep.scq);
		if (!rcq->busy)
			again |= krping_cq_arm(&conn->ep.scq);
	}
	if (!READ_ONCE(rcq->armed))
		krping_cq_poll(rcq);
	return again || krping_cq_arm(rcq);
}

static bool krping_flood_is_signalled(struct krping_run *run)
{
	const struct krping_cq *rcq = &run->conn.ep.rcq;
	bool signalled = rcq->polled && !READ_ONCE(rcq->armed);
	struct krping_conn *conn;
	unsigned int i;

	krping_for_each_conn(conn, run, i)
		signalled |= conn->ep.scq.polled && !READ_ONCE(conn->ep.scq.armed);
	return signalled;
}

/* Sleep, or poll on, for so many jiffies at most. */
static void krping_flood_sleep(struct krping_run *run, enum krping_flood_ends by,
			       unsigned long time)
{
	unsigned long until = jiffies + time;

	do {
		if (!krping_flood_poll(run))
			krping_sleep(&run->verdict, time,
				     krping_flood_is_signalled(run) ||
					     krping_flood_is_over(run, by));
		cond_resched();
	} while (!krping_flood_is_over(run, by) &&
		 (time == MAX_SCHEDULE_TIMEOUT || time_before(jiffies, until)));
}

/* Why the requests have not completed, as krping_wait_errno(). */
static int krping_flood_errno(struct krping_run *run)
{
	struct krping_conn *lost = krping_flood_lost(run);
	struct krping_ep *ep = &run->conn.ep;
	struct krping_wr *oldest;
	u32 seq, left;
	int ret;

	if (!lost)
		return krping_wait_errno(ep, -EINTR);
	/* For the reason, which names the oldest request if it is a READ or WRITE. */
	oldest = krping_sq_slot(ep, READ_ONCE(ep->sq_done));
	if (ep->sq_posted != READ_ONCE(ep->sq_done) && BIT(oldest->kind) & KRPING_OF_RDMA)
		ep->rdma = oldest;
	/* On iWARP a WRITE has completed before the peer refuses it: the last one was, perhaps. */
	left = ep->iwarp && !ep->rdma ? min(ep->sq_posted, ep->sq_mask + 1) : 0;
	for (seq = ep->sq_posted - 1; left; left--, seq--) {
		if (krping_sq_slot(ep, seq)->kind == KRPING_WR_RDMA_WRITE) {
			ep->rdma = krping_sq_slot(ep, seq);
			break;
		}
	}
	ret = krping_wait_errno(&lost->ep, 0);
	/* The run is judged by its first connection. */
	ep->peer_left = lost->ep.peer_left;
	return ret;
}

/* Requests are in flight until the limit is reached, or something ends that. */
static void krping_flood_round(struct krping_run *run, krping_pump_t *pump,
			       enum krping_flood_ends by)
{
	unsigned int i, rounds = run->conn.ep.sq_depth;
	struct krping_conn *conn;
	bool room = true;

	krping_flood_begin(run);
	/* A deep queue takes long to fill; and where completions post, too, there may always be room. */
	for (; room && rounds; rounds--) {
		room = false;
		krping_for_each_conn(conn, run, i) {
			spin_lock_bh(&conn->lock);
			room |= pump(conn);
			spin_unlock_bh(&conn->lock);
		}
		cond_resched();
	}
	krping_flood_sleep(run, by, MAX_SCHEDULE_TIMEOUT);
}

/*
 * A test with requests in flight, until it has made all of its iterations; without a count, until
 * the run is asked to end, or the peer says something. With interval= each connection makes an
 * iteration between two pauses. Returns 0, or as krping_wait_errno().
 */
int krping_flood(struct krping_run *run, krping_pump_t *pump)
{
	enum krping_flood_ends by = run->params.count ? KRPING_FLOOD_ASKED : KRPING_FLOOD_MESSAGE;
	struct krping_flood *flood = &run->flood;
	struct krping_conn *conn;
	u64 all = U64_MAX;
	unsigned int i;
	int ret = 0;

	/*
	 * From the set-up; from here on the send queue has the room that the test has asked for. What
	 * those requests have cost is told now: the test uses their places again.
	 */
	krping_for_each_conn(conn, run, i) {
		ret = ret ?: krping_wait_sq_empty(&conn->ep);
		krping_memory_costs(&conn->ep);
	}
	if (ret)
		return ret;
	if (run->params.count)
		all = (u64)run->params.warmup + run->params.count;
	do {
		flood->limit = all;
		if (run->params.interval_ns)
			flood->limit = min(all, flood->begun + 1 + run->nr_more);
		krping_flood_round(run, pump, by);
	} while (flood->begun < all && !krping_flood_is_cut(run, by) &&
		 !krping_run_may_go_on(run) && !krping_flood_is_cut(run, by));
	/* A peer that is lost in a pause, when no request is in flight, has not let all be made. */
	if (krping_flood_lost(run))
		flood->limit = all;
	if (!krping_flood_is_over(run, KRPING_FLOOD_LOST)) {
		krping_flood_end(flood);
		krping_flood_sleep(run, KRPING_FLOOD_ASKED, MAX_SCHEDULE_TIMEOUT);
	}
	if (!krping_flood_is_over(run, KRPING_FLOOD_LOST))
		krping_flood_sleep(run, KRPING_FLOOD_LOST, krping_time_to_finish(&run->verdict));
	krping_flood_stop(run);
	return krping_flood_is_done(run) ? 0 : krping_flood_errno(run);
}

/* An end that does not post waits for its peer, or until it is asked to end. Returns as above. */
int krping_flood_wait(struct krping_run *run)
{
	run->flood.limit = U64_MAX;
	krping_flood_sleep(run, KRPING_FLOOD_MESSAGE, MAX_SCHEDULE_TIMEOUT);
	if (krping_recv_is_done(&run->conn.ep) || krping_is_asked_to_end(&run->verdict))
		return 0;
	return krping_flood_errno(run);
}

/* Requests come from elsewhere, from now on. */
void krping_flood_open(struct krping_run *run)
{
	run->flood.limit = U64_MAX;
	krping_phases_loop(&run->phases);
	krping_flood_begin(run);
}

/*
 * Requests come from elsewhere, until the run is asked to end and nobody holds it, or it has to
 * end. They may still be in flight then: krping_flood_stop() is the caller's. Returns as above.
 */
int krping_flood_hold(struct krping_run *run)
{
	krping_flood_sleep(run, KRPING_FLOOD_ASKED, MAX_SCHEDULE_TIMEOUT);
	while (!krping_flood_is_over(run, KRPING_FLOOD_LOST) && krping_run_is_held(run) &&
	       run->verdict.asked_err == -EINTR)
		krping_flood_sleep(run, KRPING_FLOOD_LOST, HZ / 10);
	/* From now on the end may take a second. */
	run->verdict.finish_by = 0;
	return krping_flood_lost(run) ? krping_flood_errno(run) : 0;
}
