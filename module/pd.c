// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The protection domain of an endpoint, or of several that share a receive queue.
 */
#include <linux/err.h>
#include <rdma/ib_verbs.h>
#include "pd.h"
#include "verdict.h"

/**
 * krping_pd_create - allocate a PD
 * @verdict: of the run that wants it
 * @dev: the device
 * @dma_key: with a key that opens all memory to the peer
 *
 * Context: the run's thread; sleeps.
 * Return: the PD; NULL: there is none, and the run has a cause.
 */
struct ib_pd *krping_pd_create(struct krping_verdict *verdict,
			       struct ib_device *dev, bool dma_key)
{
	struct ib_pd *pd =
		ib_alloc_pd(dev, dma_key ? IB_PD_UNSAFE_GLOBAL_RKEY : 0);

	if (!IS_ERR(pd))
		return pd;
	krping_fail(verdict, PTR_ERR(pd), "%sallocating a PD%s: error %pe",
		    dma_key ? "mem_mode=dma: " : "",
		    dma_key ? " with a key for all memory" : "", pd);
	return NULL;
}
