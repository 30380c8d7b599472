/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a listener and a connection both need of rdma_cm.
 */
#ifndef KRPING_CM_H
#define KRPING_CM_H

#include <linux/socket.h>
#include <linux/types.h>

struct ib_device;
struct krping_address;
struct krping_device_user;
struct krping_params;
struct krping_record;
struct krping_verdict;
struct net;
struct rdma_cm_id;

int krping_cm_failed(struct krping_verdict *verdict, const char *what, int err);
int krping_cm_removed(struct krping_verdict *verdict, const char *dev);
int krping_cm_addr(struct krping_verdict *verdict, struct net *net, const char *option,
		   const struct krping_address *address, u32 port, struct sockaddr_storage *ss);
int krping_cm_device(struct krping_record *rec, struct krping_verdict *verdict,
		     const struct krping_params *params, const struct net *net,
		     struct krping_device_user *user, const struct rdma_cm_id *id);
u32 krping_cm_size_max(const struct krping_params *params, const struct ib_device *dev);
int krping_cm_size(const struct krping_record *rec, struct krping_verdict *verdict,
		   const struct krping_params *params, const struct ib_device *dev);

#endif /* KRPING_CM_H */
