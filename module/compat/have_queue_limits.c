// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Since 6.11 the features of a disk's queue are among its limits, which are given when it is made. */
#include <linux/blk-mq.h>

struct gendisk *probe(struct blk_mq_tag_set *set);

struct gendisk *probe(struct blk_mq_tag_set *set)
{
	struct queue_limits lim = { .features = BLK_FEAT_STABLE_WRITES };

	return blk_mq_alloc_disk(set, &lim, NULL);
}
