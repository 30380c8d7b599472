/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RDMA devices come and go, and the users of a device have to know.
 */
#ifndef KRPING_DEVICE_H
#define KRPING_DEVICE_H

#include <linux/list.h>

struct ib_device;

/**
 * struct krping_device_user - a listener or connection
 * @list:	entry in the list of all users
 * @dev:	the device in use; NULL: none yet
 * @all:	a user without a device listens on all, and ends when the last one goes
 * @going:	@dev is being removed; set for all users before the first one is told
 * @removed:	tells the user to let go; may not wait for the user
 * @renamed:	the device has another name; may not wait for the user
 */
struct krping_device_user {
	struct list_head list;
	struct ib_device *dev;
	bool all;
	bool going;
	void (*removed)(struct krping_device_user *user, struct ib_device *dev);
	void (*renamed)(struct krping_device_user *user, struct ib_device *dev);
};

void krping_device_enter(struct krping_device_user *user);
bool krping_device_use(struct krping_device_user *user, struct ib_device *dev);
void krping_device_leave(struct krping_device_user *user);
bool krping_device_is_any(void);
int krping_device_init(void);
void krping_device_exit(void);

#endif /* KRPING_DEVICE_H */
