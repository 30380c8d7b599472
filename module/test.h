/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The tests: what a run does once it is connected.
 */
#ifndef KRPING_TEST_H
#define KRPING_TEST_H

#include <linux/types.h>

struct krping_run;

/**
 * struct krping_test - one test; a row of the test table
 * @moves:	how often an iteration moves its data
 * @requests:	how many requests of the send queue are in flight at most
 * @txdepth:	its send queue, where the command does not say; 0: @requests
 * @priv_size:	bytes of krping_run.priv, which is the test's own, zeroed
 * @priv_kept:	how many of them, the first ones, krping_link_renew() leaves alone
 * @exchange:	what the ends tell each other before the loop; NULL: nothing
 * @alloc:	makes buffers and memory regions, may sleep; 0 or negative errno
 * @free:	undoes @alloc, also if @alloc failed halfway
 * @client, @server: the loop; 0 for a good end, else a negative errno
 */
struct krping_test {
	u32 moves;
	u32 requests;
	u32 txdepth;
	size_t priv_size;
	size_t priv_kept;
	int (*alloc)(struct krping_run *run);
	void (*free)(struct krping_run *run);
	int (*exchange)(struct krping_run *run);
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

#endif /* KRPING_TEST_H */
