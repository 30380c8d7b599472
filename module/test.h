/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The tests: what a run does once it is connected. */
#ifndef KRPING_TEST_H
#define KRPING_TEST_H

#include <linux/bits.h>
#include <linux/types.h>
#include "krping_abi.h"

struct krping_conn;
struct krping_run;

/* What posts has where both ends post requests of the test's kind. */
#define KRPING_BOTH_POST (BIT(KRPING_ROLE_CLIENT) | BIT(KRPING_ROLE_SERVER))

/* One test; a row of the test table. Functions return 0, or a negative errno. */
struct krping_test {
	const char *classic;	  /* its name in the line of classic_log=1, if it has one */
	enum krping_wr_kind kind; /* benchmarks: what they measure */
	u32 posts;		  /* benchmarks: bits of the roles that post it */
	u32 moves;		  /* how often an iteration moves its data */
	u32 requests;		  /* of the send queue are in flight at most */
	u32 txdepth;		  /* the send queue without txdepth=; 0: as requests */
	u32 sq_each;		  /* requests of the send queue for each of txdepth=; 0: one */
	/*
	 * Requests travel by messages of so many bytes at most: each of txdepth= has a RECV, and all
	 * connections have one PD.
	 */
	u32 msg_size;
	u32 msg_data; /* so many bytes of data may be behind such a message to the server */
	/* of a server's command, before it listens; what this makes is freed with the run */
	int (*open)(struct krping_run *run);
	size_t priv_size; /* of krping_conn.priv, which is the test's own, zeroed */
	/* makes buffers and memory regions for each connection, may sleep */
	int (*alloc)(struct krping_run *run, struct krping_conn *conn);
	/* undoes alloc, also if that failed halfway, and if it was called before */
	void (*free)(struct krping_run *run, struct krping_conn *conn);
	/* what the ends tell each other before the loop; NULL: nothing */
	int (*exchange)(struct krping_run *run);
	/* the loops; 0 for a good end */
	int (*client)(struct krping_run *run);
	int (*server)(struct krping_run *run);
};

extern const struct krping_test krping_test_rping;
extern const struct krping_test krping_test_fr;
extern const struct krping_test krping_test_wlat;
extern const struct krping_test krping_test_rlat;
extern const struct krping_test krping_test_bw;
extern const struct krping_test krping_test_fast;
extern const struct krping_test krping_test_protect;
extern const struct krping_test krping_test_block;

const struct krping_test *krping_test_find(enum krping_test_id id);

#endif /* KRPING_TEST_H */
