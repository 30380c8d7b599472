/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the tests wlat, rlat, bw and fast have in common. */
#ifndef KRPING_BENCH_H
#define KRPING_BENCH_H

#include "mr.h"
#include "msg.h"
#include "sq.h"

struct krping_conn;
struct krping_run;

/* Memory that requests read or write, registered once. */
struct krping_bench_mem {
	struct krping_buf buf;
	int access;	     /* IB_ACCESS_* */
	struct krping_mr mr; /* none where the memory is not registered */
	struct krping_key key;
};

/* One end of a benchmark's connection; the first member of a test's private data. */
struct krping_bench {
	bool active;		       /* this end posts requests of the test's kind */
	bool passive;		       /* this end has memory for those of the peer */
	bool said_done;		       /* this end has told the peer that the test is over */
	struct krping_bench_mem local; /* active: on this side */
	/* passive: what the peer reads or writes */
	struct krping_bench_mem target;
	struct krping_msg peer; /* active: has named its target */
};

/* What is the same in each of these tests. In the set-up a chain has two REG_MR and a SEND. */
#define KRPING_BENCH_REQUESTS 3
#define KRPING_BENCH_TEST                                                                          \
	.requests = KRPING_BENCH_REQUESTS, .alloc = krping_bench_alloc, .free = krping_bench_free, \
	.exchange = krping_bench_exchange

/* Append a READ or WRITE of memory that the peer has advertised, whose length was checked. */
static inline struct krping_wr *krping_chain_move(struct krping_ep *ep, struct krping_chain *chain,
						  enum krping_wr_kind kind,
						  const struct krping_key *own,
						  const struct krping_msg *adv)
{
	struct krping_wr *wr = krping_chain_add(ep, chain, kind);

	wr->len = adv->len;
	wr->sge.addr = own->addr;
	wr->sge.length = adv->len;
	wr->sge.lkey = own->lkey;
	wr->rdma.wr.sg_list = &wr->sge;
	wr->rdma.wr.num_sge = 1;
	wr->rdma.remote_addr = adv->addr;
	wr->rdma.rkey = adv->rkey;
	return wr;
}

int krping_bench_alloc(struct krping_run *run, struct krping_conn *conn);
void krping_bench_free(struct krping_run *run, struct krping_conn *conn);
int krping_bench_exchange(struct krping_run *run);
int krping_bench_next(struct krping_run *run);
struct krping_wr *krping_bench_add(struct krping_conn *conn, struct krping_chain *chain);
int krping_bench_end(struct krping_run *run, int ret);

#endif /* KRPING_BENCH_H */
