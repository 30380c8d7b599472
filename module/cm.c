// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a listener and a connection both need of rdma_cm.
 */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "cm.h"
#include "command.h"
#include "compat/soft.h"
#include "device.h"
#include "registry.h"
#include "verdict.h"

/**
 * krping_cm_failed - a call of rdma_cm was interrupted, or failed
 * @verdict: of the run
 * @what: what the call was to do
 * @err: what it returned
 */
int krping_cm_failed(struct krping_verdict *verdict, const char *what, int err)
{
	if (err == -ERESTARTSYS || err == -EINTR)
		return krping_fail(verdict, -EINTR, "interrupted");
	if (err == -ECONNREFUSED)
		return krping_fail(verdict, err, "connection refused");
	return krping_fail(verdict, err, "%s: error %pe", what, ERR_PTR(err));
}

/* The device of a run is being removed, or gone. Any context. */
int krping_cm_removed(struct krping_verdict *verdict, const char *dev)
{
	return krping_fail(verdict, -ENODEV, "device %s was removed", dev);
}

/* The number of an interface, from its name or number; 0: there is none. */
static int krping_cm_scope(struct net *net, const char *scope)
{
	struct net_device *dev;
	int index;

	rcu_read_lock();
	dev = dev_get_by_name_rcu(net, scope);
	if (!dev && !kstrtoint(scope, 10, &index))
		dev = dev_get_by_index_rcu(net, index);
	index = dev ? dev->ifindex : 0;
	rcu_read_unlock();
	return index;
}

/**
 * krping_cm_addr - an address of a command, as rdma_cm takes it
 * @verdict: of the run
 * @net: the network namespace, in which the scope is looked up
 * @option: the option's name, for the reason
 * @address: the address; none is any of IPv4
 * @port: the port, host order
 * @ss: receives the address
 */
int krping_cm_addr(struct krping_verdict *verdict, struct net *net, const char *option,
		   const struct krping_address *address, u32 port, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (address->family != AF_INET6) {
		sin->sin_family = AF_INET;
		memcpy(&sin->sin_addr, address->bytes, sizeof(sin->sin_addr));
		sin->sin_port = cpu_to_be16(port);
		return 0;
	}
	sin6->sin6_family = AF_INET6;
	memcpy(&sin6->sin6_addr, address->bytes, sizeof(sin6->sin6_addr));
	sin6->sin6_port = cpu_to_be16(port);
	if (!address->scope[0])
		return 0;
	sin6->sin6_scope_id = krping_cm_scope(net, address->scope);
	if (!sin6->sin6_scope_id)
		return krping_fail(verdict, -ENODEV, "%s: there is no interface %s", option,
				   address->scope);
	return 0;
}

/**
 * krping_cm_device - a listener or connection has found its device
 * @rec: the run's record
 * @verdict: of the run
 * @params: the options that the device has to be able to do
 * @net: the run's network namespace
 * @user: the listener or connection, as a user of the device
 * @id: its id
 *
 * Return: 0, or the run's cause: -ENODEV: the device is being removed; -EOPNOTSUPP.
 */
int krping_cm_device(struct krping_record *rec, struct krping_verdict *verdict,
		     const struct krping_params *params, const struct net *net,
		     struct krping_device_user *user, const struct rdma_cm_id *id)
{
	struct ib_device *dev = id->device;
	bool there = krping_device_use(user, dev);

	krping_record_device(rec, dev_name(&dev->dev));
	if (!there)
		return krping_cm_removed(verdict, rec->dev);
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return krping_fail(verdict, -EOPNOTSUPP, "%s has no fast registration", rec->dev);
	if (!krping_works_in(dev, net))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "%s works only in the initial network namespace with this kernel",
				   rec->dev);
	if (krping_option_given(params, KRPING_OPT_TOS) && !krping_has_tos(dev))
		return krping_fail(verdict, -EOPNOTSUPP, "tos: %s does not set it", rec->dev);
	if (params->flags & KRPING_RUN_F_READ_INV && !rdma_cap_read_inv(dev, id->port_num))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "read_inv: the device has no READ_WITH_INV, which is of iWARP");
	return 0;
}

/*
 * The largest size that an end can have with its device: one registration, in which the
 * offset of the first byte takes room, or less if the options say so.
 */
u32 krping_cm_size_max(const struct krping_params *params, const struct ib_device *dev)
{
	u64 bytes = (u64)dev->attrs.max_fast_reg_page_list_len * PAGE_SIZE;
	u32 max = krping_params_size_max(params);

	if (params->mem_mode == KRPING_MEM_DMA)
		return max;
	return bytes > params->offset ? min_t(u64, max, bytes - params->offset) : 0;
}

/* Can an end have its size, with its device? */
int krping_cm_size(const struct krping_record *rec, struct krping_verdict *verdict,
		   const struct krping_params *params, const struct ib_device *dev)
{
	u32 max = krping_cm_size_max(params, dev);

	if (params->size <= max)
		return 0;
	if (max == krping_params_size_max(params))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "size=%u: contiguous memory is %u bytes at most", params->size,
				   max);
	return krping_fail(verdict, -EOPNOTSUPP,
			   "size=%u: one registration of %s takes %llu bytes less the offset",
			   params->size, rec->dev,
			   (u64)dev->attrs.max_fast_reg_page_list_len * PAGE_SIZE);
}
