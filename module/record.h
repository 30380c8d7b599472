/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The data of a run that /proc shows, and that stays when the run is over.
 */
#ifndef KRPING_RECORD_H
#define KRPING_RECORD_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/socket.h>
#include "command.h"
#include "krping_abi.h"
#include "lat.h"

struct krping_phases;
struct krping_protect;
struct krping_verdict;
struct pid;

/**
 * struct krping_stats - what /proc/krping counts: SENDs, WRITEs and READs that
 * were posted, and RECVs that completed
 *
 * The run's thread writes the counts of posts, the completion handler those of
 * RECVs; anybody reads them.
 */
struct krping_stats {
	u64 send_bytes, send_msgs;
	u64 recv_bytes, recv_msgs;
	u64 write_bytes, write_msgs;
	u64 read_bytes, read_msgs;
};

/**
 * struct krping_split_sum - whose time the iterations were that were split, see
 * split.h
 * @iters:	how many they are
 * @host_ns:	time of this host
 * @peer_ns:	time of the peer's host
 * @net_ns:	the rest: network and devices
 *
 * The client's thread writes this; others read it without a lock, a moment old,
 * and may find one of them an iteration ahead of another.
 */
struct krping_split_sum {
	u64 iters;
	u64 host_ns;
	u64 peer_ns;
	u64 net_ns;
};

/**
 * struct krping_record - data of a run that outlives it, and that /proc shows
 * @list:	entry in the registry's list, which is in the order of the ids
 * @over:	entry in its list of runs that are gone, and of which only the record is
 *		left, in the order in which they ended
 * @phases:	where the run's thread is; NULL when the run has its result
 * @verdict:	how the run is about to end; NULL when it has its result
 * @live:	the run has no result yet
 * @net_cookie:	network namespace of the writer
 * @has_cq:	the run has, or had, a CQ for RECVs; its number @cq may be 0
 * @scq:	number of the CQ of the send queue
 * @lat:	how long its iterations took
 * @split:	whose time it was
 * @served:	server of several clients: runs of clients that are over
 * @failed:	how many of them failed
 * @srq:	RECVs of its shared receive queue; 0: it has none
 * @srq_lost:	server of several clients: RECVs that were not in the queue at its end
 * @moves:	how often an iteration of its test moves its data; 0 until the run
 *		has a device
 * @moved:	bytes that its iterations have moved, of a test whose iterations may have
 *		several sizes; 0: they are what @moves and the size make
 * @protect:	what test=protect has found; NULL of another test. Its judgements are written
 *		under the registry's lock, and what they are of before that
 * @dev:	the device's name, of now while the run is live
 * @dev_was:	its first name, once it was renamed
 * @pid:	the writer, referenced: each PID namespace has its own number for it
 *
 * @phases, @verdict, @live, @params, @parsed, @dev, @dev_was, @src and @dst are
 * written under the registry's lock. While the run is live, its thread writes the rest, except
 * @stats (see there) and @rejects, which rdma_cm's handler counts. Others read
 * without a lock: each of these is a word of a 64-bit machine, and a line of
 * /proc may be a moment old. After that nobody writes.
 */
struct krping_record {
	struct list_head list;
	struct list_head over;
	const struct krping_phases *phases;
	struct krping_verdict *verdict;
	bool live;
	u64 net_cookie;
	u32 id;
	u32 parent;
	u32 peer_run;
	struct pid *pid;
	struct krping_params params;
	bool parsed;
	bool classic;
	char dev[KRPING_DEV_NAME_MAX];
	char dev_was[KRPING_DEV_NAME_MAX];
	u32 port;
	u32 qp;
	u32 cq;
	u32 scq;
	bool has_cq;
	u32 srq;
	u32 srq_lost;
	u32 moves;
	u64 moved;
	u32 served;
	u32 failed;
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	enum krping_state state;
	u64 iters;
	int err;
	u64 start_ns;
	u64 end_ns;
	struct krping_lat lat;
	struct krping_split_sum split;
	u64 fastreg;
	u64 localinv;
	u64 reminv;
	u64 readinv;
	atomic_t rejects;
	struct krping_protect *protect;
	struct krping_stats stats;
	char reason[KRPING_REASON_MAX];
};

#endif /* KRPING_RECORD_H */
