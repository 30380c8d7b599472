/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What is known of a run: what /proc shows, and what stays when it is over.
 */
#ifndef KRPING_RECORD_H
#define KRPING_RECORD_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/socket.h>
#include "command.h"
#include "krping_abi.h"

struct krping_phases;
struct krping_verdict;
struct pid;

/**
 * struct krping_stats - what /proc/krping counts: successful completions
 *
 * Written by the completion handler alone, read by anybody.
 */
struct krping_stats {
	u64 send_bytes, send_msgs;
	u64 recv_bytes, recv_msgs;
	u64 write_bytes, write_msgs;
	u64 read_bytes, read_msgs;
};

/**
 * struct krping_record - what outlives a run, and what /proc shows of it
 * @list:	in the registry, by id
 * @phases:	where the run's thread is; NULL when the run has its result
 * @verdict:	how the run is about to end; NULL when it has its result
 * @live:	the run has no result yet
 * @freed:	the run is gone, and only the record is left
 * @net_cookie:	network namespace of the writer
 * @has_cq:	the run has, or had, a CQ; its number @cq may be 0
 * @pid:	the writer, referenced: each PID namespace has its own number for it
 *
 * @phases, @verdict, @live, @freed, @params, @dev, @src and @dst are written under the
 * registry's lock. While the run is live its thread writes the rest, except
 * @stats (see there), and others read without a lock: each is a word of a 64-bit
 * machine, and a line of /proc may be a moment old. After that nobody writes.
 */
struct krping_record {
	struct list_head list;
	const struct krping_phases *phases;
	const struct krping_verdict *verdict;
	bool live;
	bool freed;
	u64 net_cookie;
	u32 id;
	u32 parent;
	u32 peer_run;
	struct pid *pid;
	struct krping_params params;
	bool parsed;
	bool classic;
	char dev[KRPING_DEV_NAME_MAX];
	u32 port;
	u32 qp;
	u32 cq;
	bool has_cq;
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	enum krping_state state;
	u64 iters;
	int err;
	u64 start_ns;
	u64 end_ns;
	u64 lat_min_ns;
	u64 lat_max_ns;
	u64 lat_sum_ns;
	u64 fastreg;
	u64 localinv;
	u64 reminv;
	atomic_t rejects;
	struct krping_stats stats;
	char reason[KRPING_REASON_MAX];
};

/* Tells this load of the module from every other, here and on other hosts. */
extern u64 krping_nonce;

#endif /* KRPING_RECORD_H */
