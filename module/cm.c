// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* An id of rdma_cm, whose it is, and its device, which can be removed. */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "cm.h"
#include "command.h"
#include "compat/soft.h"
#include "dbg.h"
#include "krping_trace.h"
#include "registry.h"
#include "verdict.h"
#include "writer.h"

/*
 * Guards the list of users, their devices, and what ib_get_client_data() returns: either
 * a user sees that its device is gone, or the removal of the device sees the user.
 */
static DEFINE_MUTEX(krping_device_lock);
static LIST_HEAD(krping_device_users);
static unsigned int krping_nr_devices;

/* krping_remove_device() waits here for users to leave. */
static DECLARE_WAIT_QUEUE_HEAD(krping_device_left);

static struct ib_client krping_client;

void krping_cm_init(struct krping_cm *cm, struct krping_record *rec, struct krping_verdict *verdict,
		    const struct krping_params *params, struct net *net)
{
	cm->rec = rec;
	cm->verdict = verdict;
	cm->params = params;
	cm->net = net;
	INIT_LIST_HEAD(&cm->users);
}

int krping_cm_create_id(struct krping_cm *cm, rdma_cm_event_handler handler, void *context)
{
	struct rdma_cm_id *id = rdma_create_id(cm->net, handler, context, RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id))
		return krping_fail(cm->verdict, PTR_ERR(id), "creating a cm_id: error %pe", id);
	cm->id = id;
	krping_dbg(cm->rec->id, "created cm_id");
	return 0;
}

/*
 * The id has found its device, whose removal waits from now on for krping_cm_destroy(); or
 * it listens on all devices, and ends when the last device goes. 0, or the run's cause.
 */
int krping_cm_device(struct krping_cm *cm)
{
	const struct krping_params *params = cm->params;
	struct krping_verdict *verdict = cm->verdict;
	struct ib_device *dev = cm->id->device;
	struct krping_record *rec = cm->rec;
	bool there;

	mutex_lock(&krping_device_lock);
	there = dev ? ib_get_client_data(dev, &krping_client) != NULL : krping_nr_devices;
	cm->dev = dev;
	list_add_tail(&cm->users, &krping_device_users);
	mutex_unlock(&krping_device_lock);
	if (!dev)
		return there ? 0 : krping_fail(verdict, -ENODEV, "there is no RDMA device");
	krping_record_device(rec, dev_name(&dev->dev));
	if (!there)
		return krping_cm_removed(verdict, rec->dev);
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return krping_fail(verdict, -EOPNOTSUPP, "%s has no fast registration", rec->dev);
	if (!krping_works_in(dev, cm->net))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "%s works only in the initial network namespace with this kernel",
				   rec->dev);
	if (krping_option_given(params, KRPING_OPT_TOS) && !krping_has_tos(dev))
		return krping_fail(verdict, -EOPNOTSUPP, "tos: %s does not set it", rec->dev);
	if (params->flags & KRPING_RUN_F_READ_INV && !rdma_cap_read_inv(dev, cm->id->port_num))
		return krping_fail(verdict, -EOPNOTSUPP,
				   "read_inv: the device has no READ_WITH_INV, which is of iWARP");
	return 0;
}

/* Also of an id that was not made. After this no CM event arrives. */
void krping_cm_destroy(struct krping_cm *cm)
{
	if (cm->id)
		rdma_destroy_id(cm->id);
	cm->id = NULL;
	mutex_lock(&krping_device_lock);
	list_del_init(&cm->users);
	mutex_unlock(&krping_device_lock);
	wake_up_all(&krping_device_left);
}

/*
 * Get the thread out of a call of its writer: of a connect that nobody answers, or for a
 * writer that is away. krping_fail() has told the run to stop. Any context.
 */
void krping_cm_interrupt(struct krping_cm *cm)
{
	/* Pairs with krping_call_connect(). */
	smp_mb();
	if (cm->writer && READ_ONCE(cm->writer->connecting))
		krping_writer_interrupt(cm->writer);
	else if (cm->writer)
		krping_writer_withdraw(cm->writer);
}

/* An event has come. The words of the log are those of the older module. */
void krping_cm_trace(const struct krping_record *rec, const struct rdma_cm_event *event,
		     const char *whose)
{
	krping_dbg(rec->id, "cma_event type %d cma_id %s", event->event, whose);
	krping_trace(cm_event, rec->id, krping_trace_now(cm_event), event->event, event->status);
}

/* A call of rdma_cm was interrupted, or failed. Returns the run's cause. */
int krping_cm_failed(struct krping_cm *cm, const char *what, int err)
{
	if (err == -ERESTARTSYS || err == -EINTR)
		return krping_fail(cm->verdict, -EINTR, "interrupted");
	if (err == -ECONNREFUSED)
		return krping_fail(cm->verdict, err, "connection refused");
	return krping_fail(cm->verdict, err, "%s: error %pe", what, ERR_PTR(err));
}

/* The device of a run is being removed, or gone. Any context. Tests hold this call up. */
noinline int krping_cm_removed(struct krping_verdict *verdict, const char *dev)
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

/* The address of an option, as rdma_cm takes addresses; none is any of IPv4. */
int krping_cm_addr(struct krping_cm *cm, const char *option, const struct krping_address *address,
		   u32 port, struct sockaddr_storage *ss)
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
	sin6->sin6_scope_id = krping_cm_scope(cm->net, address->scope);
	if (!sin6->sin6_scope_id)
		return krping_fail(cm->verdict, -ENODEV, "%s: there is no interface %s", option,
				   address->scope);
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
int krping_cm_size(struct krping_cm *cm)
{
	const struct ib_device *dev = cm->id->device;
	u32 max = krping_cm_size_max(cm->params, dev), size = cm->params->size;

	if (size <= max)
		return 0;
	if (max == krping_params_size_max(cm->params))
		return krping_fail(cm->verdict, -EOPNOTSUPP,
				   "size=%u: contiguous memory is %u bytes at most", size, max);
	return krping_fail(cm->verdict, -EOPNOTSUPP,
			   "size=%u: one registration of %s takes %llu bytes less the offset", size,
			   cm->rec->dev, (u64)dev->attrs.max_fast_reg_page_list_len * PAGE_SIZE);
}

/* Devices come and go */

static int krping_add_device(struct ib_device *dev)
{
	mutex_lock(&krping_device_lock);
	krping_nr_devices++;
	ib_set_client_data(dev, &krping_client, &krping_client);
	mutex_unlock(&krping_device_lock);
	return 0;
}

static bool krping_device_is_used(const struct ib_device *dev)
{
	const struct krping_cm *cm;

	list_for_each_entry(cm, &krping_device_users, users)
		if (cm->dev == dev)
			return true;
	return false;
}

/*
 * The core tells its clients in the reverse order of their registration, so this function
 * is called before rdma_cm's event, and before a peer on the same device could look like
 * a peer that just left. A good run keeps its result, but waits no longer.
 *
 * Users that have found the device are waited for here. rdma_cm would wait for their ids,
 * but releases the device a moment before the GID that an id holds: cma_release_dev().
 */
static void krping_remove_device(struct ib_device *dev, void *client_data)
{
	struct krping_cm *cm;

	mutex_lock(&krping_device_lock);
	krping_nr_devices--;
	ib_set_client_data(dev, &krping_client, NULL);
	/* A user that is told leaves at once, and its peer must know why. */
	list_for_each_entry(cm, &krping_device_users, users)
		if (cm->dev == dev)
			WRITE_ONCE(cm->going, true);
	list_for_each_entry(cm, &krping_device_users, users) {
		if (cm->dev == dev || (!cm->dev && !krping_nr_devices)) {
			krping_cm_removed(cm->verdict, dev_name(&dev->dev));
			krping_cm_interrupt(cm);
		}
	}
	wait_event_cmd(krping_device_left, !krping_device_is_used(dev),
		       mutex_unlock(&krping_device_lock), mutex_lock(&krping_device_lock));
	mutex_unlock(&krping_device_lock);
}

/* Whoever looks for the device looks for the name that it has now. */
static void krping_rename_device(struct ib_device *dev, void *client_data)
{
	struct krping_cm *cm;

	mutex_lock(&krping_device_lock);
	list_for_each_entry(cm, &krping_device_users, users)
		if (cm->dev == dev)
			krping_record_device(cm->rec, dev_name(&dev->dev));
	mutex_unlock(&krping_device_lock);
}

static struct ib_client krping_client = {
	.name = "krping",
	.add = krping_add_device,
	.remove = krping_remove_device,
	.rename = krping_rename_device,
};

int krping_device_init(void)
{
	return ib_register_client(&krping_client);
}

void krping_device_exit(void)
{
	ib_unregister_client(&krping_client);
}
