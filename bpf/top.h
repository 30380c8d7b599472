/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What krping_top.bpf.c and krping-top share. */
#ifndef KRPING_TOP_H
#define KRPING_TOP_H

#include "run.h"

#define KRP_TOP_HISTS	1

struct top_run {
	struct krp_head head;
	__u64 t_iter;		/* the iteration began; 0: not seen */
	__u64 commits;
	__u64 aborts;
	struct krp_sum iter;	/* the whole iterations among commits */
};

/* Written by the completion handler, so not in struct top_run. */
struct top_errs {
	__u64 wc_err;
	__u64 wc_flush;
};

#endif /* KRPING_TOP_H */
