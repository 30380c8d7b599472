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

/* Posts on a connection, whose lock the caller holds; true: there is room for more. */
typedef bool krping_pump_t(struct krping_conn *conn);

int krping_flood(struct krping_run *run, krping_pump_t *pump);
bool krping_flood_may_post(const struct krping_conn *conn);
bool krping_flood_take(struct krping_conn *conn);
bool krping_flood_has_more(const struct krping_run *run);
void krping_flood_count(struct krping_conn *conn, const struct krping_wr *wr);
int krping_flood_wait(struct krping_run *run);

#endif /* KRPING_FLOOD_H */
