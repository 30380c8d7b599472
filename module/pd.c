// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, and who may have one with a key for all memory: mem_mode=dma.
 *
 * Whoever knows that key (IB_PD_UNSAFE_GLOBAL_RKEY) reads and writes at every address that the
 * device can reach, and providers in software do not check the address at all. So the administrator
 * has to allow the key by a parameter of the module, and the command's writer needs the capability
 * that stands for access to all memory; a kernel that is locked down refuses the key to everybody.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/moduleparam.h>
#include <linux/security.h>
#include <rdma/ib_verbs.h>
#include "pd.h"
#include "verdict.h"

static bool krping_dma_key;
module_param_named(allow_dma_key, krping_dma_key, bool, 0644);
MODULE_PARM_DESC(allow_dma_key, "allow mem_mode=dma, which opens all memory of this host to the peer (default 0)");

/* May the current task, which wrote the command, have the key? 0, or the run's cause. */
int krping_dma_key_check(struct krping_verdict *verdict)
{
	if (!READ_ONCE(krping_dma_key))
		return krping_fail(verdict, -EPERM,
				   "mem_mode=dma: the module parameter allow_dma_key is not set");
	if (!capable(CAP_SYS_RAWIO))
		return krping_fail(verdict, -EPERM, "mem_mode=dma: needs CAP_SYS_RAWIO");
	if (security_locked_down(LOCKDOWN_DEV_MEM))
		return krping_fail(verdict, -EPERM, "mem_mode=dma: the kernel is locked down");
	return 0;
}

/* Allocate a PD. NULL: there is none, and the run has a cause. */
struct ib_pd *krping_pd_create(struct krping_verdict *verdict, struct ib_device *dev, bool dma_key)
{
	struct ib_pd *pd = ib_alloc_pd(dev, dma_key ? IB_PD_UNSAFE_GLOBAL_RKEY : 0);

	if (!IS_ERR(pd))
		return pd;
	krping_fail(verdict, PTR_ERR(pd), "%sallocating a PD%s: error %pe",
		    dma_key ? "mem_mode=dma: " : "", dma_key ? " with a key for all memory" : "",
		    pd);
	return NULL;
}
