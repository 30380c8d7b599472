/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Waiting until everything that was posted has completed. */
#ifndef KRPING_DRAIN_H
#define KRPING_DRAIN_H

struct krping_ep;

void krping_ep_drain(struct krping_ep *ep);

#endif /* KRPING_DRAIN_H */
