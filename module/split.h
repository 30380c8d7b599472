/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Host or network? Whose time an iteration of ping/pong is: this end's host, the
 * peer's host, or that of what is between them.
 *
 * A host has the ping from the provider's signal that something has arrived until
 * the call that passes it on. The server adds up these times for each half of a
 * ping, and its go-ahead has the sum; so the client, whose clock knows nothing of
 * the server's, subtracts both hosts' times from its own time of the ping. What is
 * left is the network's and the devices', software like rxe and siw included.
 *
 * This costs both ends some readings of the clock, so the client asks for it with
 * its message, and the server begins with the message behind the one that asks.
 */
#ifndef KRPING_SPLIT_H
#define KRPING_SPLIT_H

#include <linux/compiler.h>
#include <linux/types.h>

struct krping_cq;
struct krping_ep;
struct krping_phases;

/**
 * struct krping_split - whose time the iteration is that is under way
 * @on:		this end takes its times
 * @known:	client: each of the iteration's go-aheads had the server's time;
 *		server: it noted when the message was signalled that began this half
 * @t_in:	when the host got the ping, of which @host_ns has nothing since then
 * @t_out:	when the host has passed it on
 * @host_ns:	time that this host had the ping
 * @peer_ns:	client: time that the server's host had it
 *
 * Only the run's thread uses this.
 */
struct krping_split {
	bool on;
	bool known;
	u64 t_in;
	u64 t_out;
	u64 host_ns;
	u64 peer_ns;
};

void krping_split_begin(struct krping_split *split, struct krping_ep *ep,
			bool on);
void krping_split_serve(struct krping_split *split, struct krping_ep *ep,
			bool asked);
void krping_split_end(struct krping_split *split, struct krping_phases *at);
void __krping_split_out(struct krping_split *split, struct krping_cq *kcq);
void __krping_split_in(struct krping_split *split, const struct krping_ep *ep,
		       const struct krping_cq *kcq);

/**
 * krping_split_out - this host is about to pass the ping on
 * @split: of the run
 * @kcq: the CQ that the thread will wait for next: its signal must not be missed
 *
 * Context: the run's thread, before it posts.
 */
static inline void krping_split_out(struct krping_split *split,
				    struct krping_cq *kcq)
{
	if (unlikely(split->on))
		__krping_split_out(split, kcq);
}

/**
 * krping_split_in - this host has the ping again
 * @split: of the run
 * @ep: its endpoint
 * @kcq: the CQ whose completion brought it
 *
 * Context: the run's thread, after a wait.
 */
static inline void krping_split_in(struct krping_split *split,
				   const struct krping_ep *ep,
				   const struct krping_cq *kcq)
{
	if (unlikely(split->on))
		__krping_split_in(split, ep, kcq);
}

/**
 * krping_split_peer - the server has told for how long it had this half
 * @split: of the run
 * @ns: nanoseconds; 0: it does not know
 *
 * Context: the client's thread.
 */
static inline void krping_split_peer(struct krping_split *split, u64 ns)
{
	if (!ns || ns > S64_MAX / 2)
		split->known = false;
	else
		split->peer_ns += ns;
}

#endif /* KRPING_SPLIT_H */
