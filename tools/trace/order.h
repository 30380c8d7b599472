/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Puts events into the order of their times. A ring buffer has them in the
 * order in which they were raised; an event that ends a wait carries the time
 * at which the thread came back, and is raised after other events with later
 * times. So events are held until nothing older can come.
 */
#ifndef KRP_TRACE_ORDER_H
#define KRP_TRACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/events.h"

struct krp_order;

/* Room for so many events; memory is allocated once. */
struct krp_order *krp_order_new(uint32_t room);
void krp_order_free(struct krp_order *o);
/* True if it is full: then the caller takes events out before it puts another one. */
bool krp_order_full(const struct krp_order *o);
void krp_order_put(struct krp_order *o, const struct krp_event_rec *rec);
/*
 * The oldest event, if it is not younger than t; among events of the same time,
 * the one that came first. It stays valid until the next krp_order_put().
 */
const struct krp_event_rec *krp_order_take(struct krp_order *o, uint64_t t);
/* Events that came too late: a younger one had been taken already. */
uint64_t krp_order_late(const struct krp_order *o);

#endif /* KRP_TRACE_ORDER_H */
