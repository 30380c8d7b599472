// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Features that the module needs and compat.h cannot provide: RDMA with its CM
 * configured, client removal callbacks with data, cookies of network
 * namespaces, and a way to interrupt a task in rdma_connect().
 */
#include <linux/kconfig.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#if !IS_ENABLED(CONFIG_INFINIBAND) || !IS_ENABLED(CONFIG_INFINIBAND_ADDR_TRANS)
#error "no RDMA"
#endif
#ifdef KRPING_UNSUPPORTED
#error "to see what is said then"
#endif

static int need_add(struct ib_device *dev)
{
	return 0;
}

static void need_remove(struct ib_device *dev, void *client_data)
{
}

static struct ib_client __maybe_unused need_client = {
	.add = need_add,
	.remove = need_remove,
};

static u64 __maybe_unused need(struct net *net, struct ib_device *dev, struct rdma_cm_id *id)
{
	u64 caps = dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;

	rdma_lock_handler(id);
	rdma_unlock_handler(id);
	set_tsk_thread_flag(current, TIF_NOTIFY_SIGNAL);
	return caps + net->net_cookie + get_random_u64();
}
