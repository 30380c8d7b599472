// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rxe has a socket in each network namespace that has a link of it. No header
 * shows that; but it needs to know when a link goes, for which links got this
 * function just then.
 */
#include <rdma/rdma_netlink.h>

static int ask(struct ib_device *dev)
{
	return 0;
}

static struct rdma_link_ops __maybe_unused asked = {
	.dellink = ask,
};
