/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The data of a run that /proc shows, and that stays when the run is over. */
#ifndef KRPING_RECORD_H
#define KRPING_RECORD_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include "command.h"
#include "krping_abi.h"
#include "lat.h"
#include "protect.h"

struct krping_phases;
struct krping_verdict;
struct pid;

/* All connections of a run count here, perhaps at once. */
struct krping_traffic {
	atomic64_t bytes;
	atomic64_t msgs;
};

/* SENDs, WRITEs and READs that were posted, and RECVs that have completed. */
struct krping_stats {
	struct krping_traffic send;
	struct krping_traffic recv;
	struct krping_traffic write;
	struct krping_traffic read;
};

static inline void krping_count(struct krping_traffic *traffic, u32 bytes)
{
	atomic64_add(bytes, &traffic->bytes);
	atomic64_inc(&traffic->msgs);
}

/* Of iterations that were split, see split.h; a reader may find a sum an iteration ahead. */
struct krping_split_sum {
	u64 iters;
	u64 host_ns;
	u64 peer_ns;
	u64 net_ns; /* the rest: network and devices */
};

struct krping_record {
	/* Set before anybody can find the record. */
	u32 id;
	u32 parent;	/* number of the run that it belongs to; 0: none */
	u64 net_cookie; /* network namespace of the writer */
	u64 start_ns;
	struct pid *pid; /* the writer, referenced: a number for each PID namespace */

	/* With the registry's lock. */
	struct list_head over;		    /* in the order in which runs ended */
	const struct krping_phases *phases; /* NULL when the run has its result */
	struct krping_verdict *verdict;	    /* NULL when the run has its result */
	struct krping_params params;	    /* nothing is given before the command is understood */
	char dev[KRPING_DEV_NAME_MAX];	    /* the device's name, while the run is live */
	char dev_was[KRPING_DEV_NAME_MAX];  /* its first name, once it was renamed */
	u32 disks;			    /* 1 + N of its /dev/krpingN; 0: it has none */
	struct sockaddr_in6 src;	    /* or sockaddr_in: of IPv4 */
	struct sockaddr_in6 dst;
	struct krping_protect protect; /* what test=protect has found */
	int err;
	char reason[KRPING_REASON_MAX];

	/*
	 * Of the run's thread. Others read without a lock: each is a word of a 64-bit machine,
	 * and a line of /proc may be a moment old.
	 */
	u32 peer_run;
	bool classic;
	bool has_cq; /* the run has, or had, a CQ for RECVs; its number may be 0 */
	u32 port;
	u32 qp;
	u32 cq;
	u32 scq;      /* the CQ of the send queue */
	u32 srq;      /* RECVs of its shared receive queue; 0: it has none */
	u32 srq_lost; /* RECVs that were not in the queue at its end */
	u32 served;   /* of several clients: their runs that are over */
	u32 failed;   /* how many of them failed */
	u32 moves;    /* how often an iteration moves its data; 0 without a device */
	u64 moved;    /* bytes, of iterations of several sizes; 0: moves and size say it */
	enum krping_state state;
	u64 iters;
	u64 end_ns;
	struct krping_lat lat; /* how long the iterations took */
	struct krping_split_sum split;
	u64 fastreg;
	u64 localinv;
	u64 reminv;
	u64 readinv;

	/* The completion handler and rdma_cm's count these, too. */
	struct krping_stats stats;
	atomic_t rejects;
};

/* An address of rdma_cm, of IPv4 or IPv6. */
static inline const struct sockaddr_in6 *krping_sockaddr(const struct sockaddr_storage *ss)
{
	return (const void *)ss;
}

/* Was a command understood, and has it to do with a test? Else it may still be refused. */
static inline bool krping_record_has_test(const struct krping_record *rec)
{
	return rec->params.given && rec->params.role != KRPING_ROLE_STOP;
}

#endif /* KRPING_RECORD_H */
