/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_top.bpf.c and krping-top share. */
#ifndef KRPING_TOP_H
#define KRPING_TOP_H

#include "../trace/krping_abi.h"

/* clang-format off */

/* Events that are kept of each run, and transitions of the opened run. Powers of two. */
#define TOP_LOG		16
#define TOP_STEPS	8

/* Failed requests beyond these are counted only: they must not push all else out of the log. */
#define TOP_LOGGED_ERRS	4

struct top_step {
	__u64 t;
	__u32 from;		/* enum krping_state */
	__u32 to;
};

/* Written by the completion handler. */
struct top_errs {
	__u64 wc_err;
	__u64 wc_flush;
};

enum top_log_kind {
	TOP_LOG_NONE,
	TOP_LOG_STATE,		/* new, 1 if the run had iterations before, 0 */
	TOP_LOG_CM,		/* event, 0, status */
	TOP_LOG_REJECT,		/* peer's run, 0, errno */
	TOP_LOG_ASYNC,		/* event, 0, 0 */
	TOP_LOG_WC_ERR,		/* kind, vendor's error, status */
	TOP_LOG_POST_ERR,	/* kind, 0, errno */
};

struct top_entry {
	__u64 nr;		/* from 1 on; written last */
	__u64 t;
	__u32 kind;
	__u32 a;
	__u32 b;
	__s32 err;
};

/* Written from any context: each writer takes the next entry for itself. */
struct top_log {
	__u64 nr;		/* the number of all entries; the last TOP_LOG are here */
	struct top_entry entry[TOP_LOG];
};

/*
 * What happened to a run beside its iterations. Each member is written from one
 * context, or by writers that take an entry for themselves.
 */
struct top_rare {
	/* The run's thread. */
	__u64 post_err;		/* requests that the verbs call refused */
	__u64 nr_steps;		/* the number of all steps; the last TOP_STEPS are here */
	struct top_step steps[TOP_STEPS];
	struct top_errs errs;
	struct top_log log;
};

/* clang-format on */

#endif /* KRPING_TOP_H */
