/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests wlat, rlat, bw and fast have in common: memory that one end
 * opens to the other one, work requests that read or write it, and how both ends
 * agree that it is over.
 */
#ifndef KRPING_BENCH_H
#define KRPING_BENCH_H

#include "mr.h"

struct krping_chain;
struct krping_run;
struct krping_wr;

/**
 * struct krping_bench - one end of a benchmark; the first member of a test's data
 * @kind:	what its requests are, KRPING_WR_RDMA_READ or KRPING_WR_RDMA_WRITE
 * @active:	this end posts them
 * @passive:	this end has memory for the peer's
 * @local:	active: the buffer on this side
 * @target:	passive: the buffer that the peer reads or writes
 * @local_mr, @target_mr: their memory regions, registered once
 * @local_key, @target_key: how to name them
 * @said_done:	this end has told the peer that it is over
 * @peer_addr:	active: address of the peer's target
 * @peer_rkey:	active: its key
 *
 * Only the run's thread uses this.
 */
struct krping_bench {
	enum krping_wr_kind kind;
	bool active;
	bool passive;
	bool said_done;
	struct krping_buf local;
	struct krping_buf target;
	struct krping_mr local_mr;
	struct krping_mr target_mr;
	struct krping_key local_key;
	struct krping_key target_key;
	u64 peer_addr;
	u32 peer_rkey;
};

/* Requests of the set-up in one chain: two REG_MR and the SEND behind them. */
#define KRPING_BENCH_REQUESTS 3

int krping_bench_alloc(struct krping_run *run, enum krping_wr_kind kind,
		       bool active, bool passive);
void krping_bench_free(struct krping_run *run);
int krping_bench_exchange(struct krping_run *run);
int krping_bench_next(struct krping_run *run);
struct krping_wr *krping_bench_add(struct krping_run *run,
				   struct krping_chain *chain);
struct krping_wr *krping_bench_post(struct krping_run *run);
int krping_bench_end(struct krping_run *run, int ret);

#endif /* KRPING_BENCH_H */
