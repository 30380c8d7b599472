/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How two krpings agree, by the private data of the connection's set-up. "No private data" means
 * that our magic is missing, never that the data is short: RoCE pads it.
 */
#ifndef KRPING_AGREE_H
#define KRPING_AGREE_H

#include <linux/types.h>
#include <rdma/rdma_cm.h>
#include "command.h"

/* Room for the text of krping_differs(). */
#define KRPING_VALUES 64

enum krping_priv_type { KRPING_PRIV_HELLO, KRPING_PRIV_REJECT };

/* Numbers on the wire, since errnos differ between architectures. */
enum krping_priv_why { KRPING_WHY_BUSY = 1, KRPING_WHY_DIFFERS = 2 };

/*
 * What both ends must have alike. These bits are not those of the trace, which may
 * change while the wire does not.
 */
enum krping_priv_flags {
	KRPING_PRIV_F_SERVER_INV = 0x1,
	KRPING_PRIV_F_DUPLEX = 0x2,
	KRPING_PRIV_F_RANDOM_SIZE = 0x4,
	KRPING_PRIV_F_READ_INV = 0x8, /* of a client: the server is asked to */
	KRPING_PRIV_FLAGS = KRPING_PRIV_F_SERVER_INV | KRPING_PRIV_F_DUPLEX |
			    KRPING_PRIV_F_RANDOM_SIZE | KRPING_PRIV_F_READ_INV,
};

/* What an end can do, and which fields of it are set; an unknown bit is ignored. */
enum krping_priv_can {
	KRPING_PRIV_CAN_SPLIT = 0x1, /* KRPING_MSG_SPLIT, see msg.h */
	KRPING_PRIV_SIZE_MAX = 0x2,  /* of a REJECT: its size is the largest one here */
	KRPING_PRIV_HAS_TOS = 0x4,   /* tos= was given, and tos is its value */
};

/*
 * Private data, in all directions. At most 56 bytes fit everywhere (RoCE leaves that many of a
 * REQ). A REJECT has the reason and, if an option differs, its name; a HELLO has something else in
 * their place. Other versions find magic, version, type, why and option in the same place, so that
 * they can tell why they were refused.
 *
 * A client's run is known by @nonce and @run, and has @queues connections, of which this is number
 * @queue; 0, as in data that were cut, means 1. @depth is 1 but for test=block, see krping_peer.
 */
struct krping_priv {
	__be32 magic;
	u8 version;
	u8 type;
	u8 test;
	u8 can;
	__be32 size;
	__be32 count;
	__be64 nonce;
	__be32 run;
	union {
		struct {
			__be16 why;
			char option[16];
		} __packed;
		struct {
			__be16 queue;
			__be16 queues;
			__be16 depth;
			u8 spare[12];
		} __packed;
	};
	__be32 flags;
	__be32 warmup;
	u8 tos;
	u8 case_nr;
} __packed;

static_assert(sizeof(struct krping_priv) <= 56);

/* What a peer says of itself when a connection is made; of a classic peer all is 0. */
struct krping_peer {
	u64 nonce; /* of its load of the module */
	u32 run;
	u8 can;	   /* KRPING_PRIV_CAN_* */
	u16 depth; /* test=block: requests in flight on a connection */
	/* Of a client: READs that it makes, and answers, at a time. */
	u8 resources;
	u8 read_depth;
};

/* Tells this load of the module from all others, here and on other hosts. */
extern u64 krping_nonce;

void krping_priv_fill(struct krping_priv *priv, u32 id, const struct krping_params *params,
		      enum krping_priv_type type);
bool krping_priv_get(struct krping_priv *priv, const struct rdma_cm_event *event,
		     enum krping_priv_type type);
void krping_priv_peer(struct krping_peer *peer, const struct krping_priv *priv);
const char *krping_priv_agree(struct krping_params *agreed, const struct krping_priv *priv);
const char *krping_priv_same(const struct krping_params *mine, const struct krping_priv *priv);
void krping_differs(char *text, size_t size, const struct krping_params *params,
		    const struct krping_priv *priv, const char *option);

#endif /* KRPING_AGREE_H */
