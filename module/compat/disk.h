/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Disks, whose limits are an argument since 6.11, and were set one by one before. */
#ifndef KRPING_COMPAT_DISK_H
#define KRPING_COMPAT_DISK_H

#include <linux/blk-mq.h>

#ifndef HAVE_SHOULD_MERGE
#define BLK_MQ_F_SHOULD_MERGE 0
#endif

#ifdef HAVE_INT_NUMA_NODE
#define krping_node int
#else
#define krping_node unsigned int
#endif

#ifdef HAVE_MAP_SG_OF_QUEUE
#define krping_map_sg(rq, sg) blk_rq_map_sg((rq)->q, rq, sg)
#else
#define krping_map_sg(rq, sg) blk_rq_map_sg(rq, sg)
#endif

/* @stable: a page must not change while it is written. */
#ifdef HAVE_QUEUE_LIMITS
static inline struct gendisk *krping_alloc_disk(struct blk_mq_tag_set *set,
						struct queue_limits *lim, bool stable)
{
	if (stable)
		lim->features |= BLK_FEAT_STABLE_WRITES;
	return blk_mq_alloc_disk(set, lim, NULL);
}
#else
static inline struct gendisk *krping_alloc_disk(struct blk_mq_tag_set *set,
						struct queue_limits *lim, bool stable)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, NULL);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, lim->logical_block_size);
	blk_queue_physical_block_size(q, lim->physical_block_size);
	blk_queue_max_hw_sectors(q, lim->max_hw_sectors);
	blk_queue_max_segments(q, lim->max_segments);
	blk_queue_virt_boundary(q, lim->virt_boundary_mask);
	blk_queue_chunk_sectors(q, lim->chunk_sectors);
	blk_queue_max_discard_sectors(q, lim->max_hw_discard_sectors);
	blk_queue_max_write_zeroes_sectors(q, lim->max_write_zeroes_sectors);
	q->limits.discard_granularity = lim->discard_granularity;
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	if (stable)
		blk_queue_flag_set(QUEUE_FLAG_STABLE_WRITES, q);
	return disk;
}
#endif

#endif /* KRPING_COMPAT_DISK_H */
