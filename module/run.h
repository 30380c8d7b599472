/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run: one command, from its text to its result.
 *
 * Who writes what, which is why there is so little locking:
 *
 * - The thread is the task that wrote the command. It alone owns the state,
 *   the phase, the queues' producer side and the memory region.
 * - The completion handler (one context at a time: it is one CQ) publishes
 *   finished work requests to the thread by release stores and counts them.
 * - The CM handler (serialized by rdma_cm for each id) sets bits and wakes.
 * - Anybody may report a cause of failure, by krping_fail(); the first one
 *   stays. The verdict (err, good, reason) says what the run's result is; the
 *   bit "stopping" says that its thread is to go. Waits look at the bit alone:
 *   a run that has a good result may still have to go at once.
 */
#ifndef KRPING_RUN_H
#define KRPING_RUN_H

#include <linux/completion.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "command.h"
#include "connect.h"
#include "krping_trace.h"
#include "mr.h"
#include "phase.h"
#include "verbs.h"
#include "wants.h"

struct net;
struct pid;
struct seq_file;

/**
 * struct krping_record - what outlives a run, and what /proc shows of it
 * @list:	in the registry, by id
 * @run:	the run until it is freed, then NULL; under krping_registry_lock
 * @live:	the run has no result yet; under krping_registry_lock
 * @net_cookie:	network namespace of the writer
 * @pid:	the writer, referenced: each PID namespace has its own number for it
 *
 * While the run is live its thread writes, except @stats (see there), and
 * others read without a lock: each member is a word of a 64-bit machine, and a
 * line of /proc may be a moment old. After that nobody writes.
 */
struct krping_record {
	struct list_head list;
	struct krping_run *run;
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
	u32 port;
	u32 qp;
	u32 cq;
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

/**
 * struct krping_run - a run while it lives
 * @rec:	its record
 * @params:	what was asked for, and then what was agreed
 * @test:	row of the test table
 * @net:	network namespace, referenced
 * @task:	the thread
 * @wq:		where the thread sleeps, and the only one who does
 * @fail_lock:	guards @err and @reason against each other
 * @stopping:	no wait may last any longer; set by krping_fail(), never cleared
 * @err:	first cause, negative errno; 0: none so far
 * @good:	it has done what was asked; no cause any more
 * @reason:	the same in words
 * @asked:	a signal has asked it to end; see krping_is_asked()
 * @asked_kills: it has not ended the process, so that another one can
 * @asked_until: jiffies; what is under way is given up then
 * @phase:	where the thread is; /proc reads it, too
 * @t_phase:	since when; 0 where no one listened
 * @t_next:	a clock reading that the next phase begins with; 0: none
 * @phase_flags: KRPING_PHASE_F_* for the next boundary
 * @line:	the time line of the iteration, where krping_iter is on
 * @iter:	number of the iteration, from 0
 * @in_iter:	between krping_iter_begin() and krping_iter_end()
 * @t_iter:	when the iteration began
 * @down:	tears the run down where that can stall
 * @is_down:	it has
 * @left:	bit 0: one of thread and @down has left, the other one frees
 */
struct krping_run {
	struct krping_record *rec;
	struct krping_params params;
	const struct krping_test *test;
	struct net *net;
	struct task_struct *task;

	wait_queue_head_t wq;
	spinlock_t fail_lock;
	bool stopping;
	int err;
	bool good;
	char reason[KRPING_REASON_MAX];
	bool asked;
	bool asked_kills;
	unsigned long asked_until;

	enum krping_phase phase;
	u64 t_phase;
	u64 t_next;
	u32 phase_flags;
	struct krping_line line;
	u64 iter;
	bool in_iter;
	u64 t_iter;

	struct work_struct down;
	struct completion is_down;
	unsigned long left;

	struct krping_cm cm;
	struct krping_ep ep;

	/* The test's; start is the source of a client's ping. */
	struct krping_buf start;
	struct krping_buf rdma;
	struct krping_mr mr;
};

/**
 * struct krping_test - one test; a row of the test table
 * @name:	as in test=
 * @alloc:	buffers and memory regions; may sleep, 0 or a negative errno
 * @free:	the reverse, from every half-built point
 * @client, @server: the loop; 0 for a good end, else a negative errno
 */
struct krping_test {
	const char *name;
	int (*alloc)(struct krping_run *run);
	void (*free)(struct krping_run *run);
	int (*client)(struct krping_run *run);
	int (*server)(struct krping_run *run);
};

extern const struct krping_test krping_test_rping;

DECLARE_STATIC_KEY_FALSE(krping_debug_key);

/* clang-format off */
/* The running commentary of debug=1, for those who ask for it. */
#define krping_dbg(run, fmt, ...)					\
do {									\
	if (static_branch_unlikely(&krping_debug_key))			\
		pr_info("%u: " fmt "\n", (run)->rec->id, ##__VA_ARGS__);	\
} while (0)
/* clang-format on */

extern u64 krping_nonce;

int krping_run_command(const char *text, size_t len);
__printf(3, 4)
int krping_fail(struct krping_run *run, int err, const char *fmt, ...);
bool krping_is_stopping(const struct krping_run *run);
int krping_stopped(const struct krping_run *run);
bool krping_must_stop(const struct krping_run *run);
bool krping_is_asked(struct krping_run *run);
unsigned long krping_asked_left(struct krping_run *run);
void krping_set_state(struct krping_run *run, enum krping_state state);
int krping_run_device(struct krping_run *run, struct ib_device *dev);
void krping_device_removed(struct ib_device *dev, bool last);

extern const struct seq_operations krping_stats_seq_ops;
extern const struct seq_operations krping_runs_seq_ops;
int krping_registry_init(void);
void krping_registry_exit(void);

/**
 * krping_enter - the thread leaves its phase and enters another
 * @run: the run
 * @phase: the phase it enters
 * @len: bytes, where the phase has such, else 0
 * @rkey: remote key, where the phase has one, else 0
 *
 * Without a listener this is a few plain stores.
 *
 * Context: the run's thread.
 */
static inline void krping_enter(struct krping_run *run, enum krping_phase phase,
				u32 len, u32 rkey)
{
	if (krping_wants(phases)) {
		__krping_enter(run, phase, len, rkey);
	} else {
		WRITE_ONCE(run->phase, phase);
		WRITE_ONCE(run->t_phase, 0);
		run->line.t_phase = 0;
		run->t_next = 0;
		run->phase_flags = 0;
	}
}

#endif /* KRPING_RUN_H */
