// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bends what rdma_krping relies on: the capabilities that a device reports, and how
 * it drains a queue pair, for as long as this is loaded, and a number in memory, for
 * good. For tests/guest/limits.t: rxe and siw have too many capabilities and no drain
 * of their own, as mlx5 and cxgb4 have, and nobody can make 4294967295 runs. And
 * holds up each call of a function, for the test to see what others see meanwhile.
 */
#include "plant.h"

#include <rdma/ib_verbs.h>

PLANT_PARAM(charp, device, "", 0444, "RDMA device to bend, by name");
PLANT_PARAM(bool, no_fastreg, false, 0444, "the device has no memory management extensions");
PLANT_PARAM(uint, pages, 0, 0444,
	    "pages that one fast registration of the device can take; 0: as it is");
PLANT_PARAM(ulong, at, 0, 0400, "address of an unsigned int, from /proc/kallsyms");
PLANT_PARAM(uint, number, 0, 0444, "what it is to be; it stays so");

PLANT_PARAM(bool, drains, false, 0444, "the device has a drain of its own");
PLANT_COUNTER(ticks, "how often such a drain had to look by itself");

PLANT_PARAM(charp, function, "", 0444, "name of a function of rdma_krping");
PLANT_PARAM(uint, ms, 100, 0444, "how long each call of the function is held up");
PLANT_COUNTER(calls, "calls that were held up");

static struct ib_device_attr bend_own;

struct bend_drain {
	struct ib_cqe cqe;
	struct completion done;
};

static void bend_drained(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct bend_drain, cqe)->done);
}

/* As the core does, and the devices, but these look after 100 ms: here the test is not to depend on the machine's speed. */
static void bend_drain_wait(struct ib_cq *cq, struct bend_drain *drain)
{
	if (cq->poll_ctx != IB_POLL_DIRECT)
		wait_for_completion(&drain->done);
	else
		while (!wait_for_completion_timeout(&drain->done, 10 * HZ)) {
			ticks++;
			ib_process_cq_direct(cq, -1);
		}
}

static void bend_drain_sq(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct bend_drain drain = { .cqe.done = bend_drained };
	struct ib_rdma_wr wr = { .wr = { .wr_cqe = &drain.cqe, .opcode = IB_WR_RDMA_WRITE } };

	init_completion(&drain.done);
	if (!ib_modify_qp(qp, &attr, IB_QP_STATE) && !ib_post_send(qp, &wr.wr, NULL))
		bend_drain_wait(qp->send_cq, &drain);
}

static void bend_drain_rq(struct ib_qp *qp)
{
	struct bend_drain drain = { .cqe.done = bend_drained };
	struct ib_recv_wr wr = { .wr_cqe = &drain.cqe };

	init_completion(&drain.done);
	if (!ib_post_recv(qp, &wr, NULL))
		bend_drain_wait(qp->recv_cq, &drain);
}

/* Changes only the device with that name; the others get no client data. */
static int bend_add(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), device))
		return -EOPNOTSUPP;
	bend_own = dev->attrs;
	if (no_fastreg)
		dev->attrs.device_cap_flags &= ~(u64)IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (pages)
		dev->attrs.max_fast_reg_page_list_len = pages;
	if (drains) {
		dev->ops.drain_sq = bend_drain_sq;
		dev->ops.drain_rq = bend_drain_rq;
	}
	return 0;
}

static void bend_remove(struct ib_device *dev, void *client_data)
{
	dev->attrs = bend_own;
	dev->ops.drain_sq = NULL;
	dev->ops.drain_rq = NULL;
}

PLANT_CLIENT(bend_client, bend_add, bend_remove);

static int bend_hold(struct kprobe *kp, struct pt_regs *regs)
{
	PLANT_SPIN(true, ms * NSEC_PER_MSEC);
	calls++;
	return 0;
}

static struct kprobe bend_probe = { .pre_handler = bend_hold };

static int __init bend_begin(void)
{
	bend_probe.symbol_name = function;
	if (at)
		WRITE_ONCE(*(unsigned int *)at, number);
	return *function ? register_kprobe(&bend_probe) : ib_register_client(&bend_client);
}

static void __exit bend_end(void)
{
	if (*function)
		unregister_kprobe(&bend_probe);
	else
		ib_unregister_client(&bend_client);
}

PLANT_MODULE(bend_begin, bend_end, "Devices that can less, and counters near their end, for tests");
