// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* test=block: the row of the table of tests, see block.h. */
#include "block.h"
#include "run.h"
#include "test.h"

static int block_alloc(struct krping_run *run, struct krping_conn *conn)
{
	struct krping_block *b = krping_block(conn);
	int ret;

	INIT_LIST_HEAD(&b->waiting);
	b->depth = run->params.txdepth;
	if (conn->run->params.role == KRPING_ROLE_SERVER && conn->classic)
		return krping_fail(&run->verdict, -EPROTO,
				   "the test needs a peer that is krping, too");
	ret = krping_buf_alloc(&conn->ep, &b->tx,
			       (conn->ep.sq_mask + 1) * sizeof(struct krping_capsule),
			       DMA_TO_DEVICE);
	if (ret)
		return ret;
	return run->params.role == KRPING_ROLE_CLIENT ? krping_disk_alloc(run, conn) :
							krping_window_alloc(run, conn);
}

static void block_free(struct krping_run *run, struct krping_conn *conn)
{
	if (run->params.role == KRPING_ROLE_CLIENT)
		krping_disk_free(run, conn);
	else
		krping_window_unmap(run, conn);
	krping_buf_free(&conn->ep, &krping_block(conn)->tx);
}

const struct krping_test krping_test_block = {
	.requests = 16,
	.txdepth = KRPING_BLOCK_DEPTH,
	/* REG_MR and SEND, or READ and SEND, and LOCAL_INV; and those that are over, but not retired. */
	.sq_each = 4,
	.msg_size = sizeof(struct krping_capsule),
	.msg_data = KRPING_BLOCK_DATA,
	.moves = 1,
	.open = krping_window_open,
	.priv_size = sizeof(struct krping_block),
	.alloc = block_alloc,
	.free = block_free,
	.client = krping_disk_run,
	.server = krping_window_run,
};
