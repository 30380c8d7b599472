/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * test=block: a disk of the client, whose contents are memory of the server, the window. What its
 * two ends, disk.c and window.c, have in common, is in block.c.
 *
 *	client				server
 *	REG_MR, SEND capsule	  --->
 *				  <---	READ, or WRITE
 *				  <---	SEND_WITH_INV answer
 *
 * The data of a small write are in the message of the capsule, behind it:
 *
 *	SEND capsule and data	  --->
 *				  <---	SEND answer
 */
#ifndef KRPING_BLOCK_H
#define KRPING_BLOCK_H

#include <linux/blk-mq.h>
#include <linux/list.h>
#include "connect.h"
#include "flood.h"
#include "mr.h"
#include "sq.h"

/* A request, as the client sends it. */
struct krping_capsule {
	__be64 at;   /* the first byte, in the window */
	__be64 addr; /* where the data are, under rkey, if they are not behind the capsule */
	__be32 rkey;
	__be32 len; /* bytes */
	__be16 tag; /* of the request, on its connection */
	u8 op;	    /* enum krping_block_op */
	u8 inv;	    /* the answer has to invalidate rkey */
	__be32 spare;
};

static_assert(sizeof(struct krping_capsule) == 32);

/* The answer. A classic message is as long, but a connection has either. */
struct krping_answer {
	__be64 host_ns; /* for how long the request was at the server, at least 1 */
	__be32 len;	/* of the request */
	__be16 tag;
	u8 op;
	u8 spare;
};

static_assert(sizeof(struct krping_answer) == KRPING_MSG_SIZE);

/* In the key of the first two messages; the client's address is 0, and the server's the window's size. */
#define KRPING_BLOCK_F_RO   0x1
#define KRPING_BLOCK_F_BUSY 0x2 /* server: others have the window */

struct krping_serving;
struct krping_window;
struct krping_chunk;
struct krping_disk;

/* A connection. Its lock guards what requests change. */
struct krping_block {
	struct krping_buf tx; /* the message of each request in the send queue has its place there */
	u32 signalled;	      /* the number behind the last one that asked for a completion */
	u32 depth;	      /* requests of the client in flight, at most */

	/* client */
	struct krping_disk *disk;
	struct request **in_flight; /* by tag */

	/* server */
	struct krping_chunk *chunks;	/* of the first connection */
	struct krping_serving *serving; /* by tag */
	struct list_head waiting;	/* those for which the send queue has no room */
};

static inline struct krping_block *krping_block(const struct krping_conn *conn)
{
	return conn->priv;
}

/*
 * Is there room for so many requests? The caller holds the lock. One place stays free, since the
 * handler of the newest request that has retired may still look at that one.
 */
static inline bool krping_block_has_room(const struct krping_ep *ep, u32 nr)
{
	return ep->sq_posted - READ_ONCE(ep->sq_done) + nr < ep->sq_depth;
}

struct krping_wr *krping_block_send(struct krping_conn *conn, struct krping_chain *chain,
				    const void *msg, u32 len, bool signalled,
				    void (*done)(struct krping_ep *ep, struct krping_wr *wr,
						 int err));

int krping_disk_alloc(struct krping_run *run, struct krping_conn *conn);
void krping_disk_free(struct krping_run *run, struct krping_conn *conn);
int krping_disk_run(struct krping_run *run);

int krping_window_open(struct krping_run *run);
void krping_window_free(struct krping_window *window);
int krping_window_alloc(struct krping_run *run, struct krping_conn *conn);
void krping_window_unmap(struct krping_run *run, struct krping_conn *conn);
int krping_window_run(struct krping_run *run);

#endif /* KRPING_BLOCK_H */
