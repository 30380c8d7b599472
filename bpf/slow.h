/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What krping_slow.bpf.c and krping-stages share.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_SLOW_H
#define KRPING_SLOW_H

#include "../trace/krping_abi.h"

/* An iteration that took as long as the user asked for, or longer. */
struct stg_slow {
	__u32 run;
	__u32 tid; /* thread ID of the run's thread */
	__u32 cpu; /* the CPU where the iteration ended */
	__u32 nr;
	__u64 iter;
	__u64 t_begin;
	__u64 t_end;
	__u64 word[KRPING_WORDS_MAX];
};

#endif /* KRPING_SLOW_H */
