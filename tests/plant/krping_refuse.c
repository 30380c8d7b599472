// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes a device refuse a post, or raise an asynchronous event, which the
 * providers of the virtual machine do seldom or never. For
 * tests/guest/errpaths.t.
 *
 * Its post calls replace each device's own, and call them. The queue pair is
 * chosen by its number, and posts to it come from one thread, so that "the next
 * post" needs no lock. This module is unloaded when there is no run.
 */
#include "plant.h"

#include <rdma/ib_verbs.h>

PLANT_PARAM(uint, qp, 0, 0644, "number of the queue pair that the others are about");
PLANT_PARAM(uint, send, 0, 0644, "errno with which its next chain of sends is refused, 0: none");
PLANT_PARAM(uint, op, UINT_MAX, 0644, "only a chain that ends with this opcode, UINT_MAX: any");
PLANT_PARAM(uint, recv, 0, 0644, "errno with which its next RECV is refused, 0: none");
PLANT_PARAM(uint, event, 0, 0644, "number of the event that its next post raises, 0: none");

/* One provider is loaded at a time. */
static struct ib_device_ops own;

static bool refuse_is_it(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == IB_QPT_RC && ibqp->qp_num == READ_ONCE(qp);
}

static int refuse_once(unsigned int *what)
{
	int err = READ_ONCE(*what);

	WRITE_ONCE(*what, 0);
	return -err;
}

static int refuse_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			    const struct ib_send_wr **bad)
{
	struct ib_event ev = { .device = ibqp->device, .element.qp = ibqp };
	const struct ib_send_wr *last = wr;

	/* Without a chain siw reads from its queue what user space has posted. */
	if (!wr || !refuse_is_it(ibqp))
		return own.post_send(ibqp, wr, bad);
	if (READ_ONCE(event)) {
		ev.event = -refuse_once(&event);
		ibqp->event_handler(&ev, ibqp->qp_context);
	}
	while (last->next)
		last = last->next;
	if (READ_ONCE(send) && (op == UINT_MAX || op == last->opcode)) {
		*bad = wr;
		return refuse_once(&send);
	}
	return own.post_send(ibqp, wr, bad);
}

static int refuse_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad)
{
	if (!refuse_is_it(ibqp) || !READ_ONCE(recv))
		return own.post_recv(ibqp, wr, bad);
	*bad = wr;
	return refuse_once(&recv);
}

static int refuse_add(struct ib_device *dev)
{
	own = dev->ops;
	dev->ops.post_send = refuse_post_send;
	dev->ops.post_recv = refuse_post_recv;
	return 0;
}

static void refuse_remove(struct ib_device *dev, void *client_data)
{
	dev->ops.post_send = own.post_send;
	dev->ops.post_recv = own.post_recv;
	/* This waits for posts of the core's own queue pairs, which do not sleep. */
	synchronize_rcu();
}

static struct ib_client refuse_client = {
	.name = KBUILD_MODNAME,
	.add = refuse_add,
	.remove = refuse_remove,
};

static int __init refuse_begin(void)
{
	return ib_register_client(&refuse_client);
}

static void __exit refuse_end(void)
{
	ib_unregister_client(&refuse_client);
}

PLANT_MODULE(refuse_begin, refuse_end, "Posts that are refused, for tests");
