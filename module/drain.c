// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waiting until everything that was posted has completed.
 */
#include "drain.h"
#include "ep.h"

/**
 * krping_ep_drain - wait until every posted work request has completed
 * @ep: the endpoint
 *
 * This is needed even if there never was a connection: rdma_cm may have moved
 * the queue pair to the error state, and its RECVs flush while the CQ is freed.
 *
 * Context: the run's thread, or its work; sleeps, not interruptible: the queue
 * pair is in the error state, in which requests only flush.
 */
void krping_ep_drain(struct krping_ep *ep)
{
	if (ep->qp)
		ib_drain_qp(ep->qp);
}
