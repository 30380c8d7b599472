/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An id of rdma_cm, whose it is, and its device, which can be removed. */
#ifndef KRPING_CM_H
#define KRPING_CM_H

#include <linux/list.h>
#include <rdma/rdma_cm.h>

struct krping_address;
struct krping_params;
struct krping_record;
struct krping_verdict;
struct krping_writer;

/* A listener or a connection. */
struct krping_cm {
	/* Of the run, see krping_cm_init(). A listener has the options of the command. */
	struct krping_record *rec;
	struct krping_verdict *verdict;
	const struct krping_params *params;
	struct net *net;
	/* Makes calls that need the namespace of the command; NULL: the run has a parent. */
	struct krping_writer *writer;

	struct rdma_cm_id *id; /* NULL until it is made, and after it is gone */

	/* The user of a device, with a lock of cm.c. */
	struct list_head users;
	struct ib_device *dev; /* NULL: a listener on all devices */
	bool going;	       /* the device is being removed */
};

void krping_cm_init(struct krping_cm *cm, struct krping_record *rec, struct krping_verdict *verdict,
		    const struct krping_params *params, struct net *net);
int krping_cm_create_id(struct krping_cm *cm, rdma_cm_event_handler handler, void *context);
int krping_cm_device(struct krping_cm *cm);
void krping_cm_destroy(struct krping_cm *cm);
void krping_cm_interrupt(struct krping_cm *cm);
void krping_cm_trace(const struct krping_record *rec, const struct rdma_cm_event *event,
		     const char *whose);
int krping_cm_failed(struct krping_cm *cm, const char *what, int err);
int krping_cm_removed(struct krping_verdict *verdict, const char *dev);
int krping_cm_addr(struct krping_cm *cm, const char *option, const struct krping_address *address,
		   u32 port, struct sockaddr_storage *ss);
u32 krping_cm_size_max(const struct krping_params *params, const struct ib_device *dev);
int krping_cm_size(struct krping_cm *cm);
int krping_device_init(void);
void krping_device_exit(void);

#endif /* KRPING_CM_H */
