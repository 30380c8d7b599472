// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA devices come and go, and the users of a device have to know.
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include "device.h"

/*
 * Guards the list of users, their devices, and what ib_get_client_data()
 * returns: either a user sees that its device is gone, or the removal of the
 * device sees the user.
 */
static DEFINE_MUTEX(krping_device_lock);
static LIST_HEAD(krping_device_users);
static unsigned int krping_nr_devices;

/* krping_remove_device() waits here for users to leave. */
static DECLARE_WAIT_QUEUE_HEAD(krping_device_left);

static struct ib_client krping_client;

/* Add a user, with its functions filled in, that may be going to use a device. */
void krping_device_enter(struct krping_device_user *user)
{
	mutex_lock(&krping_device_lock);
	list_add_tail(&user->list, &krping_device_users);
	mutex_unlock(&krping_device_lock);
}

/*
 * A user has found its device: the device's removal waits until the user has left. False
 * if the device is being removed.
 */
bool krping_device_use(struct krping_device_user *user, struct ib_device *dev)
{
	bool there;

	mutex_lock(&krping_device_lock);
	there = ib_get_client_data(dev, &krping_client);
	user->dev = dev;
	mutex_unlock(&krping_device_lock);
	return there;
}

/* A user holds nothing of its device any more. */
void krping_device_leave(struct krping_device_user *user)
{
	mutex_lock(&krping_device_lock);
	list_del(&user->list);
	mutex_unlock(&krping_device_lock);
	wake_up_all(&krping_device_left);
}

bool krping_device_is_any(void)
{
	return READ_ONCE(krping_nr_devices);
}

static int krping_add_device(struct ib_device *dev)
{
	mutex_lock(&krping_device_lock);
	WRITE_ONCE(krping_nr_devices, krping_nr_devices + 1);
	ib_set_client_data(dev, &krping_client, &krping_client);
	mutex_unlock(&krping_device_lock);
	return 0;
}

static bool krping_device_has_users(const struct ib_device *dev)
{
	struct krping_device_user *user;
	bool has = false;

	mutex_lock(&krping_device_lock);
	list_for_each_entry(user, &krping_device_users, list)
		has |= user->dev == dev;
	mutex_unlock(&krping_device_lock);
	return has;
}

/*
 * The core tells its clients in the reverse order of their registration, so this function
 * is called before rdma_cm's event, and before a peer on the same device could look like
 * a peer that just left.
 *
 * Users that have found the device are waited for here. rdma_cm would wait for their ids,
 * but releases the device a moment before the GID that an id holds: cma_release_dev().
 */
static void krping_remove_device(struct ib_device *dev, void *client_data)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct krping_device_user *user;

	mutex_lock(&krping_device_lock);
	WRITE_ONCE(krping_nr_devices, krping_nr_devices - 1);
	ib_set_client_data(dev, &krping_client, NULL);
	/* A user that is told leaves at once, and its peer must know why. */
	list_for_each_entry(user, &krping_device_users, list)
		if (user->dev == dev)
			WRITE_ONCE(user->going, true);
	list_for_each_entry(user, &krping_device_users, list)
		if (user->dev == dev || (!user->dev && user->all && !krping_nr_devices))
			user->removed(user, dev);
	mutex_unlock(&krping_device_lock);

	add_wait_queue(&krping_device_left, &wait);
	while (krping_device_has_users(dev))
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&krping_device_left, &wait);
}

/* Whoever looks for the device looks for the name that it has now. */
static void krping_rename_device(struct ib_device *dev, void *client_data)
{
	struct krping_device_user *user;

	mutex_lock(&krping_device_lock);
	list_for_each_entry(user, &krping_device_users, list)
		if (user->dev == dev)
			user->renamed(user, dev);
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
