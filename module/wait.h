/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The thread waits for completions. */
#ifndef KRPING_WAIT_H
#define KRPING_WAIT_H

#include "ep.h"

int krping_wait_seq(struct krping_ep *ep, u32 seq);
int krping_wait_sq_empty(struct krping_ep *ep);
void krping_wait_seq_briefly(struct krping_ep *ep, u32 seq);
int krping_wait_done(struct krping_ep *ep, const struct krping_wr *wr);
int krping_wait_recv(struct krping_ep *ep, struct krping_wr **wr);
bool krping_recv_is_done(struct krping_ep *ep);
bool krping_recv_is_there(struct krping_ep *ep);
int krping_wait_message(struct krping_ep *ep);
int krping_wait_outcome(struct krping_ep *ep, const struct krping_wr *wr, unsigned int ms);
void krping_wait_pause(struct krping_ep *ep, u64 ns);
int krping_spin(struct krping_ep *ep);

#endif /* KRPING_WAIT_H */
