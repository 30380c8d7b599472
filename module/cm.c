// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a listener and a connection both need of rdma_cm.
 */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>
#include "cm.h"
#include "command.h"
#include "device.h"
#include "registry.h"
#include "verdict.h"

/**
 * krping_cm_failed - a call of rdma_cm was interrupted, or failed
 * @verdict: of the run
 * @what: what the call was to do
 * @err: what it returned
 *
 * Context: the run's thread.
 * Return: the run's cause.
 */
int krping_cm_failed(struct krping_verdict *verdict, const char *what, int err)
{
	if (err == -ERESTARTSYS || err == -EINTR ||
	    krping_is_signalled(verdict))
		return krping_fail(verdict, -EINTR, "interrupted");
	if (err == -ECONNREFUSED)
		return krping_fail(verdict, err, "connection refused");
	return krping_fail(verdict, err, "%s: error %pe", what, ERR_PTR(err));
}

/**
 * krping_cm_removed - the device of a run is being removed, or gone
 * @verdict: of the run
 * @dev: the device's name
 *
 * Context: any.
 * Return: the run's cause.
 */
int krping_cm_removed(struct krping_verdict *verdict, const char *dev)
{
	return krping_fail(verdict, -ENODEV, "device %s was removed", dev);
}

/**
 * krping_cm_addr - the address that a command names
 * @params: the command's options
 * @ss: receives it
 *
 * Context: any.
 * Return: @ss, as rdma_cm takes it.
 */
struct sockaddr *krping_cm_addr(const struct krping_params *params,
				struct sockaddr_storage *ss)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = params->addr;
	sin->sin_port = cpu_to_be16(params->port);
	return (struct sockaddr *)ss;
}

/**
 * krping_cm_device - a listener or connection has found its device
 * @rec: the run's record
 * @verdict: of the run
 * @net: the run's network namespace
 * @user: the listener or connection, as a user of the device
 * @dev: the device
 *
 * Context: the run's thread; sleeps.
 * Return: 0, or the run's cause: -ENODEV, the device is being removed;
 * -EOPNOTSUPP, it has no fast registration, or does not work in the run's
 * network namespace.
 */
int krping_cm_device(struct krping_record *rec, struct krping_verdict *verdict,
		     const struct net *net, struct krping_device_user *user,
		     struct ib_device *dev)
{
	bool there = krping_device_use(user, dev);

	krping_record_device(rec, dev_name(&dev->dev));
	if (!there)
		return krping_cm_removed(verdict, rec->dev);
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "%s has no fast registration", rec->dev);
	if (!krping_device_works_in(dev, net))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "%s works only in the initial network namespace with this kernel",
				   rec->dev);
	return 0;
}
