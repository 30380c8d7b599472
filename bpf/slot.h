/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run, as tools know it, and as a BPF program that keeps something of a run shares it with them; and
 * the counters of what was lost.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_SLOT_H
#define KRPING_SLOT_H

#include "../trace/krping_abi.h"

/* clang-format off */

#define KRP_COMM_LEN	16

enum krp_slot_state {
	KRP_SLOT_FREE,
	KRP_SLOT_RUNNING,
	KRP_SLOT_ENDED,
};

struct krp_head {
	/*
	 * Of krping_mr.bpf.c: odd while the run's thread writes. User space reads again if
	 * it was odd or has changed.
	 */
	__u32 seq;
	__u32 state;		/* enum krp_slot_state */
	__u32 run;
	__u32 late;		/* run_start was not seen */
	__u32 role;		/* from here to parent, and comm: 0 if late */
	__u32 test;		/* test and size: krping_conn's once it was seen, also if late */
	__u32 size;
	__u32 count;
	__u32 flags;
	__u32 pid;
	__u32 parent;
	__s32 err;
	__u32 tid;		/* of the run's thread; 0: it has told nothing yet */
	__u32 peer_run;		/* from here to qp, and dev: krping_conn's; 0 until it was seen */
	__u32 port;
	__u32 qp;
	__u64 t_first;		/* when our account begins; run_start's t unless late */
	__u64 t_last;		/* when our account ends, so far */
	__u64 duration_ns;	/* run_end's */
	char comm[KRP_COMM_LEN];
	char name[KRPING_NAME_MAX];	/* "" if it has none, or late */
	char dev[KRPING_DEV_NAME_MAX];
};

/* Global counters, in the per-CPU map "counters". */
enum krp_counter {
	KRP_CNT_FAILED,		/* a map was full: the event is lost */
	KRP_CNT_DROPPED,	/* a ring buffer was full: the record, or event, is lost */
	KRP_NR_COUNTERS,
};

/* clang-format on */

#endif /* KRPING_SLOT_H */
