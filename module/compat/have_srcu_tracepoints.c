// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tracepoints are guarded by SRCU, and their probes can be preempted. */
#include <linux/tracepoint.h>

static void __maybe_unused ask(struct rcu_head *rcu, rcu_callback_t func)
{
	call_tracepoint_unregister_atomic(rcu, func);
}
