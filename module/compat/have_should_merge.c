// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Before 6.14 a driver had to ask for merged requests. */
#include <linux/blk-mq.h>

int probe(void);

int probe(void)
{
	return BLK_MQ_F_SHOULD_MERGE;
}
