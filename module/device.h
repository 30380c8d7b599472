/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RDMA devices come and go, and the users of a device have to know.
 */
#ifndef KRPING_DEVICE_H
#define KRPING_DEVICE_H

#include <linux/list.h>

struct ib_device;
struct net;

/**
 * struct krping_device_user - a user, which lets go of a device that is removed
 * @list:	entry in the list of all users
 * @dev:	the device that the user uses; NULL: none or, if @all, any
 * @all:	while it has no device, the user may listen on all of them, and ends
 *		when the last one goes
 * @going:	the device that the user uses is being removed; set for all users before
 *		the first of them is told
 * @removed:	tells the user to let go; called once for each device it is on
 * @renamed:	the device that the user uses has another name
 *
 * Context of @removed and @renamed: process, under a lock that krping_device_use()
 * takes, so they must not wait for the user.
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
bool krping_device_has_tos(const struct ib_device *dev);
bool krping_device_works_in(const struct ib_device *dev, const struct net *net);
int krping_device_init(void);
void krping_device_exit(void);

#endif /* KRPING_DEVICE_H */
