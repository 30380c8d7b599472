/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Why an endpoint went down. */
#ifndef KRPING_CAUSE_H
#define KRPING_CAUSE_H

#include "ep.h"

/* Room for the text of krping_ep_describe_loss(). */
#define KRPING_LOSS_TEXT 96

int krping_fail_wr(struct krping_ep *ep, u32 kind, u32 status, u32 vendor_err);
int krping_fail_closed(struct krping_ep *ep);
/*
 * The errno of a wait, and of all that may wait: negative, and also the run's cause. But
 * -ECONNRESET and -EINTR may have no cause on record: the caller knows whether the peer may
 * leave, and whether the run may end.
 */
int krping_wait_errno(struct krping_ep *ep, int ret);
void krping_ep_disconnected(struct krping_ep *ep);
bool krping_wait_must_end(const struct krping_ep *ep);
void krping_ep_describe_loss(const struct krping_ep *ep, char *text);

#endif /* KRPING_CAUSE_H */
