// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes a device refuse a post, or raise an asynchronous event, which the providers of the virtual
 * machine do seldom or never. For tests/guest/errpaths.t, and block.t, whose server is mute.
 *
 * It also allows the kernel's fail_function to override its post calls, and the functions of the
 * core that a run calls and that can fail. For tests/guest/faults.t and srq.t. A module may allow
 * that for a function of another one. The kernel chooses what fails by task, and its count of
 * allocations is of a task, too: so both go from the writer to its run's thread, back for the calls
 * that the writer makes for the thread, and at last with the result.
 *
 * Its post calls replace each device's own, and call them. The queue pair is
 * chosen by its number, and posts to it come from one thread, so that "the next
 * post" needs no lock. This module is unloaded when there is no run.
 */
#include "plant.h"

#include <linux/error-injection.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

PLANT_PARAM(uint, qp, 0, 0644, "number of the queue pair that the others are about");
PLANT_PARAM(uint, send, 0, 0644, "errno with which its next chain of sends is refused, 0: none");
PLANT_PARAM(uint, op, UINT_MAX, 0644, "only a chain that ends with this opcode, UINT_MAX: any");
PLANT_PARAM(bool, mute, false, 0644, "its chains of sends are taken, and do not leave");
PLANT_PARAM(uint, recv, 0, 0644, "errno with which its next RECV is refused, 0: none");
PLANT_PARAM(uint, event, 0, 0644, "number of the event that its next post raises, 0: none");

/* One provider is loaded at a time. */
static struct ib_device_ops own;

static bool refuse_is_it(const struct ib_qp *ibqp)
{
	return ibqp->qp_num == READ_ONCE(qp);
}

static int refuse_once(unsigned int *what)
{
	int err = READ_ONCE(*what);

	WRITE_ONCE(*what, 0);
	return -err;
}

static noinline int refuse_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
				const struct ib_send_wr **bad)
{
	struct ib_event ev = { .device = ibqp->device, .element.qp = ibqp };
	const struct ib_send_wr *last = wr;

	if (!refuse_is_it(ibqp))
		return own.post_send(ibqp, wr, bad);
	if (READ_ONCE(event)) {
		ev.event = -refuse_once(&event);
		ibqp->event_handler(&ev, ibqp->qp_context);
	}
	while (last->next)
		last = last->next;
	if ((READ_ONCE(send) || READ_ONCE(mute)) && (op == UINT_MAX || op == last->opcode)) {
		*bad = wr;
		return refuse_once(&send);
	}
	return own.post_send(ibqp, wr, bad);
}

static noinline int refuse_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
				const struct ib_recv_wr **bad)
{
	if (!refuse_is_it(ibqp) || !READ_ONCE(recv))
		return own.post_recv(ibqp, wr, bad);
	*bad = wr;
	return refuse_once(&recv);
}

static noinline int refuse_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
				    const struct ib_recv_wr **bad)
{
	return own.post_srq_recv(ibsrq, wr, bad);
}

ALLOW_ERROR_INJECTION(refuse_send, ERRNO);
ALLOW_ERROR_INJECTION(refuse_recv, ERRNO);
ALLOW_ERROR_INJECTION(refuse_srq_recv, ERRNO);
ALLOW_ERROR_INJECTION(__ib_alloc_pd, ERRNO);
ALLOW_ERROR_INJECTION(__ib_alloc_cq, ERRNO);
ALLOW_ERROR_INJECTION(__ib_create_cq, ERRNO);
ALLOW_ERROR_INJECTION(ib_alloc_mr, ERRNO);
ALLOW_ERROR_INJECTION(ib_map_mr_sg, ERRNO);
ALLOW_ERROR_INJECTION(ib_create_srq_user, ERRNO);
ALLOW_ERROR_INJECTION(__rdma_create_kernel_id, ERRNO);
ALLOW_ERROR_INJECTION(rdma_create_qp, ERRNO);
ALLOW_ERROR_INJECTION(rdma_resolve_addr, ERRNO);
ALLOW_ERROR_INJECTION(rdma_resolve_route, ERRNO);
ALLOW_ERROR_INJECTION(rdma_connect, ERRNO);
ALLOW_ERROR_INJECTION(rdma_bind_addr, ERRNO);
ALLOW_ERROR_INJECTION(rdma_listen, ERRNO);
ALLOW_ERROR_INJECTION(rdma_accept, ERRNO);

/*
 * Only runs post to RC queue pairs in the kernel; the connection managers have others.
 * Without a chain siw reads from its queue what user space has posted.
 */
static int refuse_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			    const struct ib_send_wr **bad)
{
	if (!wr || ibqp->qp_type != IB_QPT_RC)
		return own.post_send(ibqp, wr, bad);
	return refuse_send(ibqp, wr, bad);
}

static int refuse_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad)
{
	if (ibqp->qp_type != IB_QPT_RC)
		return own.post_recv(ibqp, wr, bad);
	return refuse_recv(ibqp, wr, bad);
}

static int refuse_add(struct ib_device *dev)
{
	own = dev->ops;
	dev->ops.post_send = refuse_post_send;
	dev->ops.post_recv = refuse_post_recv;
	dev->ops.post_srq_recv = refuse_srq_recv;
	return 0;
}

static void refuse_remove(struct ib_device *dev, void *client_data)
{
	dev->ops.post_send = own.post_send;
	dev->ops.post_recv = own.post_recv;
	dev->ops.post_srq_recv = own.post_srq_recv;
	/* This waits for posts of the core's own queue pairs, which do not sleep. */
	synchronize_rcu();
}

PLANT_CLIENT(refuse_client, refuse_add, refuse_remove);

#ifdef CONFIG_FAULT_INJECTION
/* One run at a time is made to fail. */
static struct task_struct *refuse_writer, *refuse_thread;

static void refuse_pass(struct task_struct *from, struct task_struct *to)
{
	to->fail_nth = from->fail_nth;
	from->fail_nth = 0;
}

static int refuse_thread_made(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_return_value(regs);

	if (IS_ERR(task) || (!current->make_it_fail && !current->fail_nth))
		return 0;
	refuse_writer = current;
	WRITE_ONCE(refuse_thread, task);
	task->make_it_fail = current->make_it_fail;
	refuse_pass(current, task);
	return 0;
}

static int refuse_serve(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (current != refuse_writer || !READ_ONCE(refuse_thread))
		return 1;
	refuse_pass(refuse_thread, current);
	return 0;
}

static int refuse_served(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	refuse_pass(current, refuse_thread);
	return 0;
}

static int refuse_result(struct kprobe *p, struct pt_regs *regs)
{
	if (current == READ_ONCE(refuse_thread)) {
		refuse_pass(current, refuse_writer);
		WRITE_ONCE(refuse_thread, NULL);
	}
	return 0;
}

PLANT_RETPROBE(refuse_made, "kthread_create_on_node", NULL, refuse_thread_made);
PLANT_RETPROBE(refuse_listen, "krping_listen", refuse_serve, refuse_served);
PLANT_RETPROBE(refuse_connect, "krping_call_connect", refuse_serve, refuse_served);
static struct kretprobe *refuse_probes[] = { &refuse_made, &refuse_listen, &refuse_connect };
static struct kprobe refuse_end_of_run = { .symbol_name = "krping_record_result",
					   .pre_handler = refuse_result };

static void refuse_unprobe(void)
{
	unregister_kretprobes(refuse_probes, ARRAY_SIZE(refuse_probes));
	unregister_kprobe(&refuse_end_of_run);
}

static int refuse_probe(void)
{
	int ret = register_kprobe(&refuse_end_of_run);

	if (ret)
		return ret;
	ret = register_kretprobes(refuse_probes, ARRAY_SIZE(refuse_probes));
	if (ret)
		unregister_kprobe(&refuse_end_of_run);
	return ret;
}
#else
static inline int refuse_probe(void)
{
	return 0;
}

static inline void refuse_unprobe(void)
{
}
#endif

static int __init refuse_begin(void)
{
	int ret = refuse_probe();

	if (ret)
		return ret;
	ret = ib_register_client(&refuse_client);
	if (ret)
		refuse_unprobe();
	return ret;
}

static void __exit refuse_end(void)
{
	ib_unregister_client(&refuse_client);
	refuse_unprobe();
}

PLANT_MODULE(refuse_begin, refuse_end, "Posts and calls that fail, for tests");
