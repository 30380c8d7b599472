// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who may open all memory of this host to a peer: mem_mode=dma.
 *
 * The key of that mode (IB_PD_UNSAFE_GLOBAL_RKEY) lets whoever knows it read and
 * write at every address that the device can reach, and providers in software do
 * not check the address at all. So the administrator has to allow it by a parameter
 * of the module, whoever writes the command needs the capability that stands for
 * access to all memory, and a kernel that is locked down refuses it to everybody.
 */
#include <linux/capability.h>
#include <linux/moduleparam.h>
#include <linux/security.h>
#include "dma_key.h"
#include "verdict.h"

static bool krping_dma_key;
module_param_named(allow_dma_key, krping_dma_key, bool, 0644);
MODULE_PARM_DESC(allow_dma_key, "allow mem_mode=dma, which opens all memory of this host to the peer (default 0)");

/**
 * krping_dma_key_check - may the caller have a key for all memory?
 * @verdict: of the run
 *
 * Context: the task that wrote the command; may sleep.
 * Return: 0, or -EPERM, which is also the run's cause.
 */
int krping_dma_key_check(struct krping_verdict *verdict)
{
	if (!READ_ONCE(krping_dma_key))
		return krping_fail(
			verdict, -EPERM,
			"mem_mode=dma: the module parameter allow_dma_key is not set");
	if (!capable(CAP_SYS_RAWIO))
		return krping_fail(verdict, -EPERM,
				   "mem_mode=dma: needs CAP_SYS_RAWIO");
	if (security_locked_down(LOCKDOWN_DEV_MEM))
		return krping_fail(verdict, -EPERM,
				   "mem_mode=dma: the kernel is locked down");
	return 0;
}
