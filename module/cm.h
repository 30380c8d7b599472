/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a listener and a connection both need of rdma_cm.
 */
#ifndef KRPING_CM_H
#define KRPING_CM_H

#include <linux/socket.h>

struct ib_device;
struct krping_device_user;
struct krping_params;
struct krping_record;
struct krping_verdict;
struct net;

int krping_cm_failed(struct krping_verdict *verdict, const char *what, int err);
int krping_cm_removed(struct krping_verdict *verdict, const char *dev);
struct sockaddr *krping_cm_addr(const struct krping_params *params,
				struct sockaddr_storage *ss);
int krping_cm_device(struct krping_record *rec, struct krping_verdict *verdict,
		     const struct net *net, struct krping_device_user *user,
		     struct ib_device *dev);

#endif /* KRPING_CM_H */
