/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tests with many requests in flight, on all connections of a run: whoever handles a completion
 * posts the next request, and the run's thread sleeps until that is over.
 */
#ifndef KRPING_FLOOD_H
#define KRPING_FLOOD_H

#include <linux/types.h>

struct krping_conn;
struct krping_run;
struct krping_wr;

/* The times of a request in flight. Each is 0 if nobody wants it, unless something else is said. */
struct krping_flight {
	u32 cid;      /* of the work request that events name */
	u32 kind;     /* enum krping_wr_kind of that */
	u32 len;      /* bytes of the request */
	bool writes;  /* test=block: the request does not read */
	u64 t_queued; /* the only one that a request of krping_flood_land() has always */
	u64 t_out;    /* with peer_ns: the request has left this host */
	u64 t_in;     /* with peer_ns: its answer is there */
	u64 peer_ns;  /* so long the peer's host had it; 0: nobody knows */
	u64 map_ns;
	u64 t_post;
	u64 t_posted;
	u64 t_sig;
	u64 t_wc;
};

/* Posts on a connection, whose lock the caller holds; true: there is room for more. */
typedef bool krping_pump_t(struct krping_conn *conn);

int krping_flood(struct krping_run *run, krping_pump_t *pump);
bool krping_flood_may_post(const struct krping_conn *conn);
bool krping_flood_take(struct krping_conn *conn);
bool krping_flood_has_more(const struct krping_run *run);
void krping_flood_count(struct krping_conn *conn, const struct krping_wr *wr);
u64 krping_flood_land(struct krping_conn *conn, const struct krping_flight *f, u32 moved);
int krping_flood_wait(struct krping_run *run);
void krping_flood_open(struct krping_run *run);
int krping_flood_hold(struct krping_run *run);
void krping_flood_stop(struct krping_run *run);

#endif /* KRPING_FLOOD_H */
