/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PD, CQ and QP of an endpoint.
 */
#ifndef KRPING_QP_H
#define KRPING_QP_H

#include "ep.h"

int krping_ep_create(struct krping_ep *ep, struct rdma_cm_id *id,
		     const struct krping_ep_needs *needs);
void krping_ep_destroy_qp(struct krping_ep *ep);
void krping_ep_destroy_pd(struct krping_ep *ep);

#endif /* KRPING_QP_H */
