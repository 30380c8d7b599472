// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The NUMA node of a disk's request is an int, which may be NUMA_NO_NODE, in newer kernels. */
#include <linux/blk-mq.h>

void probe(struct blk_mq_ops *ops, int (*init)(struct blk_mq_tag_set *set, struct request *rq,
					       unsigned int queue, int node));

void probe(struct blk_mq_ops *ops, int (*init)(struct blk_mq_tag_set *set, struct request *rq,
					       unsigned int queue, int node))
{
	ops->init_request = init;
}
