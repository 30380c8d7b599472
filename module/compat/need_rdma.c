// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA with its CM, and the newest function of all that the module needs and compat.h cannot
 * provide: a kernel that has kthread_complete_and_exit() has the rest.
 */
#include <linux/kconfig.h>
#include <linux/kthread.h>

#if !IS_ENABLED(CONFIG_INFINIBAND) || !IS_ENABLED(CONFIG_INFINIBAND_ADDR_TRANS)
#error "no RDMA"
#endif

static void __maybe_unused need(struct completion *done)
{
	kthread_complete_and_exit(done, 0);
}
