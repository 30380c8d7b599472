// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Before 6.16 blk_rq_map_sg() had the queue as an argument, too. */
#include <linux/blk-mq.h>

int probe(struct request *rq, struct scatterlist *sg);

int probe(struct request *rq, struct scatterlist *sg)
{
	return blk_rq_map_sg(rq->q, rq, sg);
}
