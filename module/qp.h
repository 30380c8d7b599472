/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PD, CQ and QP of an endpoint. */
#ifndef KRPING_QP_H
#define KRPING_QP_H

#include "ep.h"

struct krping_params;

void krping_ep_init(struct krping_ep *ep, struct krping_record *rec, struct krping_verdict *verdict,
		    struct krping_phases *phases);
int krping_ep_create(struct krping_ep *ep, struct rdma_cm_id *id,
		     const struct krping_params *params, int vector, u32 requests,
		     struct krping_srqs *srqs);
void krping_ep_destroy_qp(struct krping_ep *ep);
void krping_ep_destroy_pd(struct krping_ep *ep);

#endif /* KRPING_QP_H */
