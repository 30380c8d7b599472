/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Host or network? A host has the ping from the provider's signal that something has arrived
 * until the call that passes it on. The server adds up these times for each half of a ping, and
 * its go-ahead has the sum; the client, whose clock knows nothing of the server's, subtracts both
 * hosts' times from its own time of the ping. The rest is the network's and the devices'.
 *
 * This costs both ends readings of the clock, so the client asks for it with its message, and
 * the server begins with the message behind the one that asks. All is the run's thread's.
 */
#ifndef KRPING_SPLIT_H
#define KRPING_SPLIT_H

#include <linux/compiler.h>
#include <linux/types.h>

struct krping_cq;
struct krping_ep;
struct krping_phases;

/* The iteration that is under way. */
struct krping_split {
	bool on; /* this end takes its times */
	/* Client: each go-ahead had the server's time. Server: the start of this half was noted. */
	bool known;
	u64 t_in;    /* when the host got the ping; host_ns has nothing since then */
	u64 t_out;   /* when the host has passed it on */
	u64 host_ns; /* for how long this host had the ping */
	u64 peer_ns; /* client: for how long the server's host had it */
};

/* The client begins an iteration, behind krping_iter_begin(). */
void krping_split_begin(struct krping_split *split, struct krping_ep *ep, bool on);
/* The server has received the message that begins half a ping. */
void krping_split_serve(struct krping_split *split, struct krping_ep *ep, bool on);
/* The client's iteration is complete, before krping_iter_end(). */
void krping_split_end(struct krping_split *split, struct krping_phases *at);
void krping_split_add(struct krping_phases *at, u64 from, u64 now, u64 host_ns, u64 peer_ns);
void __krping_split_out(struct krping_split *split);
void __krping_split_in(struct krping_split *split, const struct krping_ep *ep,
		       const struct krping_cq *kcq);

/* This host passes the ping on, and will wait for a CQ that is armed: its signal tells t_in. */
static inline void krping_split_out(struct krping_split *split)
{
	if (unlikely(split->on))
		__krping_split_out(split);
}

/* A wait is over, and this host has the ping again, by a completion of this CQ. */
static inline void krping_split_in(struct krping_split *split, const struct krping_ep *ep,
				   const struct krping_cq *kcq)
{
	if (unlikely(split->on))
		__krping_split_in(split, ep, kcq);
}

/* The server has told the client for how long it had this half; 0: it does not know. */
static inline void krping_split_peer(struct krping_split *split, u64 ns)
{
	if (!ns || ns > S64_MAX / 2)
		split->known = false;
	else
		split->peer_ns += ns;
}

#endif /* KRPING_SPLIT_H */
