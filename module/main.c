// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_krping: RDMA ping/pong between two kernels, or within one. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/random.h>
#include "agree.h"
#include "cm.h"
#include "compat/rxe_cq.h"
#include "proc.h"
#include "registry.h"

static int __init krping_init(void)
{
	int ret;

	do {
		krping_nonce = get_random_u64();
	} while (!krping_nonce); /* 0 is "no krping" */

	ret = krping_device_init();
	if (ret)
		return ret;
	ret = krping_proc_init();
	if (ret)
		krping_device_exit();
	return ret;
}

static void __exit krping_exit(void)
{
	krping_proc_exit();
	krping_device_exit();
	krping_registry_exit();
	krping_rxe_flush_end();
}

module_init(krping_init);
module_exit(krping_exit);

MODULE_AUTHOR("The krping developers");
MODULE_DESCRIPTION("RDMA ping/pong and benchmarks that can be watched");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION("0.1.0");
/* The name that krping has in another branch of its family, whose scripts load it so. */
MODULE_ALIAS("rdma_krperf");
