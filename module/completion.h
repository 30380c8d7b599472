/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the device tells an endpoint. */
#ifndef KRPING_COMPLETION_H
#define KRPING_COMPLETION_H

#include "ep.h"

void krping_send_done(struct ib_cq *cq, struct ib_wc *wc);
void krping_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void krping_wc_bad(struct krping_ep *ep, struct krping_wr *wr, struct ib_wc *wc);
void krping_received(struct krping_ep *ep, struct krping_wr *wr, const struct ib_wc *wc);
int krping_flushed(struct krping_ep *ep, int err);
void krping_qp_event(struct ib_event *event, void *context);

#endif /* KRPING_COMPLETION_H */
