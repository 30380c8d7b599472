// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Whose time an iteration is; see split.h. */
#include <linux/ktime.h>
#include "ep.h"
#include "krping_stages.h"
#include "krping_trace.h"
#include "phase.h"
#include "record.h"
#include "split.h"

static void krping_split_set(struct krping_split *split, struct krping_ep *ep, bool on)
{
	split->on = on;
	split->host_ns = 0;
	WRITE_ONCE(ep->scq.signals, on);
	WRITE_ONCE(ep->rcq.signals, on);
}

void krping_split_begin(struct krping_split *split, struct krping_ep *ep, bool on)
{
	if (likely(!on && !split->on))
		return;
	krping_split_set(split, ep, on);
	split->known = true;
	split->peer_ns = 0;
	split->t_in = ep->phases->t_iter;
}

void krping_split_serve(struct krping_split *split, struct krping_ep *ep, bool on)
{
	if (likely(!on && !split->on))
		return;
	/* Signals were not timed before this request: when this half began is not known. */
	split->known = split->on;
	krping_split_set(split, ep, on);
	if (split->known)
		__krping_split_in(split, ep, &ep->rcq);
	else
		split->t_in = ktime_get_ns();
}

noinline void __krping_split_out(struct krping_split *split)
{
	split->t_out = ktime_get_ns();
	if (split->t_out > split->t_in)
		split->host_ns += split->t_out - split->t_in;
}

/*
 * A signal from before the ping was passed on is left over, and with poll_ctx=busy there is none:
 * then the host has the ping from now on. A wait for a message may end with the request of a
 * region that was signalled before the message: the later signal brought the ping.
 */
noinline void __krping_split_in(struct krping_split *split, const struct krping_ep *ep,
				const struct krping_cq *kcq)
{
	u64 t = krping_later(READ_ONCE(ep->waited->t_signal), READ_ONCE(kcq->t_signal));

	if (t <= split->t_out)
		t = ep->phases->t_next ?: ktime_get_ns();
	split->t_in = t;
}

/* An iteration that began at @from ends now: for so long either host had it. */
void krping_split_add(struct krping_phases *at, u64 from, u64 now, u64 host_ns, u64 peer_ns)
{
	struct krping_split_sum *sum = &at->rec->split;
	u64 all = now - from;

	/* A peer can tell anything. */
	if (host_ns > all || peer_ns > all - host_ns)
		return;
	WRITE_ONCE(sum->host_ns, sum->host_ns + host_ns);
	WRITE_ONCE(sum->peer_ns, sum->peer_ns + peer_ns);
	WRITE_ONCE(sum->net_ns, sum->net_ns + all - host_ns - peer_ns);
	WRITE_ONCE(sum->iters, sum->iters + 1);
	krping_trace(iter_split, at->rec->id, now, at->iter, from, host_ns, peer_ns);
}

void krping_split_end(struct krping_split *split, struct krping_phases *at)
{
	u64 now;

	if (likely(!split->on) || !split->known || at->muted)
		return;
	now = at->t_next ?: ktime_get_ns();
	/* The iteration ends at that time, too. */
	at->t_next = now;
	if (now > split->t_in)
		split->host_ns += now - split->t_in;
	krping_split_add(at, at->t_iter, now, split->host_ns, split->peer_ns);
}
