/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The receive queue.
 */
#ifndef KRPING_RQ_H
#define KRPING_RQ_H

#include "ep.h"

void krping_rq_init(struct krping_ep *ep);
int krping_post_recv(struct krping_ep *ep);

#endif /* KRPING_RQ_H */
