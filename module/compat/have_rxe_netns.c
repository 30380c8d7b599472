// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does rxe have a socket in each network namespace that has an rxe link? No
 * header shows that. But rxe then has to know when a link is deleted, and the
 * link operations got this function at the same time.
 */
#include <rdma/rdma_netlink.h>

static int ask(struct ib_device *dev)
{
	return 0;
}

static struct rdma_link_ops __maybe_unused asked = {
	.dellink = ask,
};
