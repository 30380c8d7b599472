/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trace events of krping.
 *
 * Rules, so that every reader can rely on them:
 *
 * - All arguments are scalars, but for the names (dev, comm, name), which are
 *   pointers to NUL-terminated kernel strings, and the words of iterations. So
 *   a raw tracepoint program needs no type information at all.
 * - The first argument is the id of the run.
 * - t is the monotonic clock in nanoseconds, read by the module once for each
 *   boundary; the same boundary has the same number in every event.
 * - A post event comes before its completion, always.
 * - Every event fires from one context only, as its comment says: "thread" is
 *   the run's kernel thread, "completion" where the run's CQs are polled
 *   (that thread, a softirq or a kernel thread: option poll_ctx), "provider"
 *   wherever the provider calls a CQ's handler, "CM" the handler of rdma_cm,
 *   "work" a kernel thread.
 * - cq.id, mr.id and qp are the numbers that "rdma resource show" has.
 * - cid is the number of a work request in its run, counted at each post to either
 *   queue.
 * - Append-only: see KRPING_EVENTS_ABI. docs/events.md is the reference.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM krping

#if !defined(KRPING_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KRPING_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#ifdef HAVE_TRACE_MISC_RDMA
#include <trace/misc/rdma.h>
#else
#include <trace/events/rdma.h>
#endif
#include "krping_abi.h"

/* See wants.c. */
int krping_want_phases(void);
void krping_unwant_phases(void);
int krping_want_iter(void);
void krping_unwant_iter(void);
int krping_want_iter_phases(void);
void krping_unwant_iter_phases(void);
int krping_want_iter_stages(void);
void krping_unwant_iter_stages(void);
int krping_want_iter_memory(void);
void krping_unwant_iter_memory(void);
int krping_want_stages(void);
void krping_unwant_stages(void);
int krping_want_request(void);
void krping_unwant_request(void);
int krping_want_posts(void);
void krping_unwant_posts(void);
int krping_want_completions(void);
void krping_unwant_completions(void);
int krping_want_regions(void);
void krping_unwant_regions(void);
int krping_want_costs(void);
void krping_unwant_costs(void);

/* clang-format off */

/**
 * krping_trace - raise an event
 * @event: its name without krping_
 *
 * On newer kernels (7.2) a tracepoint's probes can be preempted. If another
 * thread on that CPU raises the same event meanwhile, BPF takes this for a
 * recursion, and drops the event. With preemption off no event is lost, as on
 * older kernels. While the event is off its arguments are not even loaded.
 *
 * Context: that of the event, see its comment.
 */
#ifdef HAVE_SRCU_TRACEPOINTS
#define krping_trace(event, ...)					\
do {									\
	if (trace_krping_##event##_enabled()) {				\
		preempt_disable_notrace();				\
		trace_krping_##event(__VA_ARGS__);			\
		preempt_enable_notrace();				\
	}								\
} while (0)
#else
#define krping_trace(event, ...)					\
do {									\
	if (trace_krping_##event##_enabled())				\
		trace_krping_##event(__VA_ARGS__);			\
} while (0)
#endif

/* The time of an event, for its argument t; the clock is read only if it is on. */
#define krping_trace_now(event) \
	(trace_krping_##event##_enabled() ? ktime_get_ns() : 0)

/* Two expansions of each list: the enum's values, then the name table. */
#undef krping_def_role
#undef krping_def_test
#undef krping_def_state
#undef krping_def_phase
#undef krping_def_wr
#undef krping_def_mr
#undef krping_def_case
#undef krping_def_judge
#define krping_def_role(n, s)	TRACE_DEFINE_ENUM(KRPING_ROLE_##n);
#define krping_def_test(n, s)	TRACE_DEFINE_ENUM(KRPING_TEST_##n);
#define krping_def_state(n, s)	TRACE_DEFINE_ENUM(KRPING_STATE_##n);
#define krping_def_phase(n, s)	TRACE_DEFINE_ENUM(KRPING_PHASE_##n);
#define krping_def_wr(n, s)	TRACE_DEFINE_ENUM(KRPING_WR_##n);
#define krping_def_mr(n, s)	TRACE_DEFINE_ENUM(KRPING_MR_##n);
#define krping_def_case(n, s, v, w)	TRACE_DEFINE_ENUM(KRPING_CASE_##n);
#define krping_def_judge(n, s)	TRACE_DEFINE_ENUM(KRPING_JUDGE_##n);

KRPING_ROLES(krping_def_role)
KRPING_TESTS(krping_def_test)
KRPING_STATES(krping_def_state)
KRPING_PHASES(krping_def_phase)
KRPING_WRS(krping_def_wr)
KRPING_MR_STATES(krping_def_mr)
KRPING_CASES(krping_def_case)
KRPING_JUDGEMENTS(krping_def_judge)

TRACE_DEFINE_ENUM(IB_ACCESS_LOCAL_WRITE);
TRACE_DEFINE_ENUM(IB_ACCESS_REMOTE_WRITE);
TRACE_DEFINE_ENUM(IB_ACCESS_REMOTE_READ);

#define krping_sym_role(n, s)	{ KRPING_ROLE_##n, s },
#define krping_sym_test(n, s)	{ KRPING_TEST_##n, s },
#define krping_sym_state(n, s)	{ KRPING_STATE_##n, s },
#define krping_sym_phase(n, s)	{ KRPING_PHASE_##n, s },
#define krping_sym_wr(n, s)	{ KRPING_WR_##n, s },
#define krping_sym_mr(n, s)	{ KRPING_MR_##n, s },
#define krping_sym_case(n, s, v, w)	{ KRPING_CASE_##n, s },
#define krping_sym_judge(n, s)	{ KRPING_JUDGE_##n, s },
#define krping_sym_block(n, s)	{ KRPING_BLOCK_##n, s },

#define krping_show_role(v)	__print_symbolic(v, KRPING_ROLES(krping_sym_role) { 255, "?" })
#define krping_show_test(v)	__print_symbolic(v, KRPING_TESTS(krping_sym_test) { 255, "?" })
#define krping_show_state(v)	__print_symbolic(v, KRPING_STATES(krping_sym_state) { 255, "?" })
#define krping_show_phase(v)	__print_symbolic(v, KRPING_PHASES(krping_sym_phase) { 255, "?" })
#define krping_show_wr(v)	__print_symbolic(v, KRPING_WRS(krping_sym_wr) { 255, "?" })
#define krping_show_mr(v)	__print_symbolic(v, KRPING_MR_STATES(krping_sym_mr) { 255, "?" })

#define krping_show_case(v)	__print_symbolic(v, KRPING_CASES(krping_sym_case) { 255, "?" })
#define krping_show_judge(v)	__print_symbolic(v, KRPING_JUDGEMENTS(krping_sym_judge) { 255, "?" })
#define krping_show_block(v)	__print_symbolic(v, KRPING_BLOCKS(krping_sym_block) { 255, "?" })

#define krping_show_run_flags(v)				\
	__print_flags(v, "|",					\
		{ KRPING_RUN_F_VERBOSE,		"verbose" },	\
		{ KRPING_RUN_F_VALIDATE,	"validate" },	\
		{ KRPING_RUN_F_SERVER_INV,	"server_inv" },	\
		{ KRPING_RUN_F_CLASSIC,		"classic" },	\
		{ KRPING_RUN_F_CHAIN,		"chain" },	\
		{ KRPING_RUN_F_SPLIT,		"split" },	\
		{ KRPING_RUN_F_DUPLEX,		"duplex" },	\
		{ KRPING_RUN_F_READ_INV,	"read_inv" },	\
		{ KRPING_RUN_F_LOCAL_DMA_LKEY,	"local_dma_lkey" }, \
		{ KRPING_RUN_F_DMA,		"dma" },	\
		{ KRPING_RUN_F_RANDOM_SIZE,	"random_size" },	\
		{ KRPING_RUN_F_SRQ,		"srq" },	\
		{ KRPING_RUN_F_SOFTIRQ,		"softirq" },	\
		{ KRPING_RUN_F_WORKQUEUE,	"workqueue" },	\
		{ KRPING_RUN_F_BUSY,		"busy" })

#define krping_show_phase_flags(v)				\
	__print_flags(v, "|",					\
		{ KRPING_PHASE_F_COMMIT,	"commit" },	\
		{ KRPING_PHASE_F_ABORT,		"abort" },	\
		{ KRPING_PHASE_F_PART,		"part" },	\
		{ KRPING_ITER_F_MORE,		"more" })

#define krping_show_post_flags(v)				\
	__print_flags(v, "|",					\
		{ KRPING_POST_F_SIGNALED,	"signaled" },	\
		{ KRPING_POST_F_FENCE,		"fence" },	\
		{ KRPING_POST_F_INLINE,		"inline" })

/* A run begins. Thread. */
TRACE_EVENT(krping_run_start,
	TP_PROTO(u32 run, u64 t, u32 parent, u32 role, u32 test, u32 size,
		 u32 count, u32 flags, u32 pid, const char *comm,
		 const char *name, u64 t_real),
	TP_ARGS(run, t, parent, role, test, size, count, flags, pid, comm,
		name, t_real),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, t_real)
		__field(u32, run)
		__field(u32, parent)
		__field(u32, role)
		__field(u32, test)
		__field(u32, size)
		__field(u32, count)
		__field(u32, flags)
		__field(u32, pid)
		__array(char, comm, TASK_COMM_LEN)
		__array(char, name, KRPING_NAME_MAX)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->t_real = t_real;
		__entry->run = run;
		__entry->parent = parent;
		__entry->role = role;
		__entry->test = test;
		__entry->size = size;
		__entry->count = count;
		__entry->flags = flags;
		__entry->pid = pid;
		strscpy(__entry->comm, comm, TASK_COMM_LEN);
		strscpy(__entry->name, name, KRPING_NAME_MAX);
	),
	TP_printk("run=%u t=%llu parent=%u role=%s test=%s size=%u count=%u flags=%s pid=%u comm=%s name=%s t_real=%llu",
		__entry->run, __entry->t, __entry->parent,
		krping_show_role(__entry->role),
		krping_show_test(__entry->test), __entry->size, __entry->count,
		krping_show_run_flags(__entry->flags), __entry->pid,
		__entry->comm, __entry->name, __entry->t_real)
);

/*
 * A run has ended; err is 0 or the negative errno of its first cause. phase is the phase that ends
 * here; it began at t_phase, which is 0 if nobody wanted the times of phases then. Thread.
 */
TRACE_EVENT(krping_run_end,
	TP_PROTO(u32 run, u64 t, u64 iters, s32 err, u64 duration_ns,
		 u32 phase, u64 t_phase),
	TP_ARGS(run, t, iters, err, duration_ns, phase, t_phase),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iters)
		__field(u64, duration_ns)
		__field(u64, t_phase)
		__field(u32, run)
		__field(s32, err)
		__field(u32, phase)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iters = iters;
		__entry->duration_ns = duration_ns;
		__entry->t_phase = t_phase;
		__entry->run = run;
		__entry->err = err;
		__entry->phase = phase;
	),
	TP_printk("run=%u t=%llu iters=%llu err=%d duration_ns=%llu phase=%s t_phase=%llu",
		__entry->run, __entry->t, __entry->iters, __entry->err,
		__entry->duration_ns, krping_show_phase(__entry->phase),
		__entry->t_phase)
);

/*
 * The figures of a run, just before it ends: of its complete iterations, which
 * took sum_ns in all; the rates are those of that time. See docs/runs.md. Thread.
 */
TRACE_EVENT(krping_result,
	TP_PROTO(u32 run, u64 iters, u64 sum_ns, u64 min_ns, u64 p50_ns,
		 u64 p90_ns, u64 p99_ns, u64 p999_ns, u64 max_ns,
		 u64 bits_per_s, u64 msgs_per_s, u64 regs_per_s),
	TP_ARGS(run, iters, sum_ns, min_ns, p50_ns, p90_ns, p99_ns, p999_ns,
		max_ns, bits_per_s, msgs_per_s, regs_per_s),
	TP_STRUCT__entry(
		__field(u64, iters)
		__field(u64, sum_ns)
		__field(u64, min_ns)
		__field(u64, p50_ns)
		__field(u64, p90_ns)
		__field(u64, p99_ns)
		__field(u64, p999_ns)
		__field(u64, max_ns)
		__field(u64, bits_per_s)
		__field(u64, msgs_per_s)
		__field(u64, regs_per_s)
		__field(u32, run)
	),
	TP_fast_assign(
		__entry->iters = iters;
		__entry->sum_ns = sum_ns;
		__entry->min_ns = min_ns;
		__entry->p50_ns = p50_ns;
		__entry->p90_ns = p90_ns;
		__entry->p99_ns = p99_ns;
		__entry->p999_ns = p999_ns;
		__entry->max_ns = max_ns;
		__entry->bits_per_s = bits_per_s;
		__entry->msgs_per_s = msgs_per_s;
		__entry->regs_per_s = regs_per_s;
		__entry->run = run;
	),
	TP_printk("run=%u iters=%llu sum_ns=%llu min_ns=%llu p50_ns=%llu p90_ns=%llu p99_ns=%llu p999_ns=%llu max_ns=%llu bits_per_s=%llu msgs_per_s=%llu regs_per_s=%llu",
		__entry->run, __entry->iters, __entry->sum_ns, __entry->min_ns,
		__entry->p50_ns, __entry->p90_ns, __entry->p99_ns,
		__entry->p999_ns, __entry->max_ns, __entry->bits_per_s,
		__entry->msgs_per_s, __entry->regs_per_s)
);

/*
 * The run is connected. peer_run and peer_nonce are 0 for a classic peer; two
 * ends whose nonces are equal to the module's own are on one host. Thread.
 */
TRACE_EVENT(krping_conn,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 qp, const char *dev, u32 port,
		 u32 size, u32 flags, u32 peer_run, u64 peer_nonce, u32 test,
		 u64 t_real),
	TP_ARGS(run, t, cq_id, qp, dev, port, size, flags, peer_run,
		peer_nonce, test, t_real),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, t_real)
		__field(u64, peer_nonce)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, qp)
		__field(u32, port)
		__field(u32, size)
		__field(u32, flags)
		__field(u32, peer_run)
		__field(u32, test)
		__array(char, dev, KRPING_DEV_NAME_MAX)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->t_real = t_real;
		__entry->peer_nonce = peer_nonce;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->qp = qp;
		__entry->port = port;
		__entry->size = size;
		__entry->flags = flags;
		__entry->peer_run = peer_run;
		__entry->test = test;
		strscpy(__entry->dev, dev, KRPING_DEV_NAME_MAX);
	),
	TP_printk("run=%u t=%llu cq.id=%u qp=%u dev=%s/%u size=%u flags=%s peer_run=%u peer_nonce=0x%llx test=%s t_real=%llu",
		__entry->run, __entry->t, __entry->cq_id, __entry->qp,
		__entry->dev, __entry->port, __entry->size,
		krping_show_run_flags(__entry->flags), __entry->peer_run,
		__entry->peer_nonce, krping_show_test(__entry->test),
		__entry->t_real)
);

/*
 * The addresses of a connection, for which krping_conn has no room: network
 * order halves of the IPv6 or IPv4-mapped addresses, host order ports; and the
 * module's own nonce, by which a peer_nonce is one of this host. Thread.
 */
TRACE_EVENT(krping_addr,
	TP_PROTO(u32 run, u64 src_hi, u64 src_lo, u64 dst_hi, u64 dst_lo,
		 u32 src_port, u32 dst_port, u64 nonce),
	TP_ARGS(run, src_hi, src_lo, dst_hi, dst_lo, src_port, dst_port,
		nonce),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, src_port)
		__field(u32, dst_port)
		__array(u8, src, 16)
		__array(u8, dst, 16)
		__field(u64, nonce)
	),
	TP_fast_assign(
		__entry->run = run;
		__entry->src_port = src_port;
		__entry->dst_port = dst_port;
		memcpy(__entry->src, &src_hi, 8);
		memcpy(__entry->src + 8, &src_lo, 8);
		memcpy(__entry->dst, &dst_hi, 8);
		memcpy(__entry->dst + 8, &dst_lo, 8);
		__entry->nonce = nonce;
	),
	TP_printk("run=%u src=%pI6c port=%u dst=%pI6c port=%u nonce=0x%llx",
		__entry->run, __entry->src, __entry->src_port, __entry->dst,
		__entry->dst_port, __entry->nonce)
);

/* A state transition; cause is the negative errno for ERROR. Thread. */
TRACE_EVENT(krping_state,
	TP_PROTO(u32 run, u64 t, u32 old, u32 new, s32 cause),
	TP_ARGS(run, t, old, new, cause),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, old)
		__field(u32, new)
		__field(s32, cause)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->old = old;
		__entry->new = new;
		__entry->cause = cause;
	),
	TP_printk("run=%u t=%llu %s(%u) -> %s(%u) cause=%d", __entry->run,
		__entry->t,
		krping_show_state(__entry->old), __entry->old,
		krping_show_state(__entry->new), __entry->new, __entry->cause)
);

/*
 * The thread leaves phase prev, which it entered at t_prev, and enters phase, at t. So a reader has
 * the whole of prev in one event, and a lost event leaves a hole in the sum instead of hiding in
 * the phase before it. t_prev is 0 if the clock was not read, because nobody listened then. iter,
 * which counts from 0, len and rkey belong to phase, and flags (KRPING_PHASE_F_*) to prev. Thread.
 */
TRACE_EVENT_FN(krping_phase,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 phase, u32 prev, u64 t_prev,
		 u32 flags, u32 len, u32 rkey),
	TP_ARGS(run, t, iter, phase, prev, t_prev, flags, len, rkey),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iter)
		__field(u64, t_prev)
		__field(u32, run)
		__field(u32, phase)
		__field(u32, prev)
		__field(u32, flags)
		__field(u32, len)
		__field(u32, rkey)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iter = iter;
		__entry->t_prev = t_prev;
		__entry->run = run;
		__entry->phase = phase;
		__entry->prev = prev;
		__entry->flags = flags;
		__entry->len = len;
		__entry->rkey = rkey;
	),
	TP_printk("run=%u t=%llu iter=%llu phase=%s prev=%s t_prev=%llu flags=%s len=%u rkey=0x%x",
		__entry->run, __entry->t, __entry->iter,
		krping_show_phase(__entry->phase),
		krping_show_phase(__entry->prev), __entry->t_prev,
		krping_show_phase_flags(__entry->flags), __entry->len,
		__entry->rkey),
	krping_want_phases, krping_unwant_phases
);

/*
 * An iteration that began at t_begin is over at t. flags (KRPING_PHASE_F_*) say whether
 * it is complete; set-up, pauses and tear-down, which are no iterations, have an event
 * each, with neither COMMIT nor ABORT. bytes are those that a complete iteration has
 * moved, as krping_result counts them. Thread.
 */
TRACE_EVENT_FN(krping_iter,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 flags, u64 t_begin, u64 bytes),
	TP_ARGS(run, t, iter, flags, t_begin, bytes),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iter)
		__field(u64, t_begin)
		__field(u64, bytes)
		__field(u32, run)
		__field(u32, flags)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iter = iter;
		__entry->t_begin = t_begin;
		__entry->bytes = bytes;
		__entry->run = run;
		__entry->flags = flags;
	),
	TP_printk("run=%u t=%llu iter=%llu flags=%s t_begin=%llu bytes=%llu",
		__entry->run, __entry->t, __entry->iter,
		krping_show_phase_flags(__entry->flags), __entry->t_begin,
		__entry->bytes),
	krping_want_iter, krping_unwant_iter
);

/*
 * The same iteration with nr words, see KRPING_WORD_KIND(). What they take is paid while
 * their event is on; an iteration that began before that has PART and no words. told is the number
 * of such events of the run so far, with this one: who has lost some knows how many.
 */
DECLARE_EVENT_CLASS(krping_words_class,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 flags, u64 t_begin, u32 nr,
		 const u64 *words, u64 told),
	TP_ARGS(run, t, iter, flags, t_begin, nr, words, told),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iter)
		__field(u64, t_begin)
		__field(u32, run)
		__field(u32, flags)
		__field(u32, nr)
		__dynamic_array(u64, words, nr)
		__field(u64, told)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iter = iter;
		__entry->t_begin = t_begin;
		__entry->run = run;
		__entry->flags = flags;
		__entry->nr = nr;
		memcpy(__get_dynamic_array(words), words, nr * sizeof(*words));
		__entry->told = told;
	),
	TP_printk("run=%u t=%llu iter=%llu flags=%s t_begin=%llu nr=%u words=%s told=%llu",
		__entry->run, __entry->t, __entry->iter,
		krping_show_phase_flags(__entry->flags), __entry->t_begin,
		__entry->nr,
		__print_array(__get_dynamic_array(words), __entry->nr, 8),
		__entry->told)
);

/* A word for each phase, without gaps: they add up to t - t_begin. Thread. */
DEFINE_EVENT_FN(krping_words_class, krping_iter_phases,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 flags, u64 t_begin, u32 nr,
		 const u64 *words, u64 told),
	TP_ARGS(run, t, iter, flags, t_begin, nr, words, told),
	krping_want_iter_phases, krping_unwant_iter_phases);

/*
 * The same, and the word of a phase that waited comes after the words of its stages, and
 * is their sum. A stage whose times are unknown has no word. Thread.
 */
DEFINE_EVENT_FN(krping_words_class, krping_iter_stages,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 flags, u64 t_begin, u32 nr,
		 const u64 *words, u64 told),
	TP_ARGS(run, t, iter, flags, t_begin, nr, words, told),
	krping_want_iter_stages, krping_unwant_iter_stages);

/*
 * What happens to the keys of memory regions, and what registrations and invalidations
 * have cost. MORE: of this iteration one more event follows. Thread.
 */
DEFINE_EVENT_FN(krping_words_class, krping_iter_memory,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 flags, u64 t_begin, u32 nr,
		 const u64 *words, u64 told),
	TP_ARGS(run, t, iter, flags, t_begin, nr, words, told),
	krping_want_iter_memory, krping_unwant_iter_memory);

/*
 * Whose time a complete iteration of a client was: this host had the ping for host_ns, the
 * peer's host for peer_ns, and the rest of t - t_begin is the network's and the devices'.
 * Both ends take these times while this event is on, or with the option split; there is
 * no event where they are not known. Thread.
 */
TRACE_EVENT(krping_iter_split,
	TP_PROTO(u32 run, u64 t, u64 iter, u64 t_begin, u64 host_ns,
		 u64 peer_ns),
	TP_ARGS(run, t, iter, t_begin, host_ns, peer_ns),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iter)
		__field(u64, t_begin)
		__field(u64, host_ns)
		__field(u64, peer_ns)
		__field(u32, run)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iter = iter;
		__entry->t_begin = t_begin;
		__entry->host_ns = host_ns;
		__entry->peer_ns = peer_ns;
		__entry->run = run;
	),
	TP_printk("run=%u t=%llu iter=%llu t_begin=%llu host_ns=%llu peer_ns=%llu",
		__entry->run, __entry->t, __entry->iter, __entry->t_begin,
		__entry->host_ns, __entry->peer_ns)
);

/* An event of rdma_cm is about to be handled. CM. */
TRACE_EVENT(krping_cm_event,
	TP_PROTO(u32 run, u64 t, u32 event, s32 status),
	TP_ARGS(run, t, event, status),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, event)
		__field(s32, status)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->event = event;
		__entry->status = status;
	),
	TP_printk("run=%u t=%llu event=%s (%u/%d)", __entry->run,
		__entry->t,
		rdma_show_cm_event(__entry->event), __entry->event,
		__entry->status)
);

/* A request for a connection was refused; err is the errno. CM. */
TRACE_EVENT(krping_reject,
	TP_PROTO(u32 run, u64 t, s32 err, u32 peer_run),
	TP_ARGS(run, t, err, peer_run),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(s32, err)
		__field(u32, peer_run)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->err = err;
		__entry->peer_run = peer_run;
	),
	TP_printk("run=%u t=%llu err=%d peer_run=%u", __entry->run, __entry->t,
		__entry->err, __entry->peer_run)
);

/*
 * The provider raised an asynchronous event of the QP, at t, in a context of its own choice. Work.
 */
TRACE_EVENT(krping_async_event,
	TP_PROTO(u32 run, u64 t, u32 event),
	TP_ARGS(run, t, event),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, event)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->event = event;
	),
	TP_printk("run=%u t=%llu event=%s (%u)", __entry->run, __entry->t,
		rdma_show_ib_event(__entry->event), __entry->event)
);

DECLARE_EVENT_CLASS(krping_adv_class,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 rkey, u32 len),
	TP_ARGS(run, t, iter, rkey, len),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iter)
		__field(u32, run)
		__field(u32, rkey)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iter = iter;
		__entry->run = run;
		__entry->rkey = rkey;
		__entry->len = len;
	),
	TP_printk("run=%u t=%llu iter=%llu rkey=0x%x len=%u", __entry->run,
		__entry->t, __entry->iter, __entry->rkey, __entry->len)
);

/* The 16-byte message is about to be sent. Thread. */
DEFINE_EVENT(krping_adv_class, krping_adv_send,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 rkey, u32 len),
	TP_ARGS(run, t, iter, rkey, len));

/*
 * The 16-byte message was received; a server's go-ahead carries zeroes, and
 * only its arrival means something. Thread.
 */
DEFINE_EVENT(krping_adv_class, krping_adv_recv,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 rkey, u32 len),
	TP_ARGS(run, t, iter, rkey, len));

/*
 * A work request is about to be posted to the send queue, one event for each
 * request of the chain. rkey is the remote key that it uses or, for REG_MR, the
 * key that it makes valid; inv_rkey is the key that it invalidates. Thread.
 */
TRACE_EVENT_FN(krping_post_send,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 qp, u32 kind, u32 len,
		 u32 flags, u32 rkey, u32 inv_rkey),
	TP_ARGS(run, t, cq_id, cid, qp, kind, len, flags, rkey, inv_rkey),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, qp)
		__field(u32, kind)
		__field(u32, len)
		__field(u32, flags)
		__field(u32, rkey)
		__field(u32, inv_rkey)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->qp = qp;
		__entry->kind = kind;
		__entry->len = len;
		__entry->flags = flags;
		__entry->rkey = rkey;
		__entry->inv_rkey = inv_rkey;
	),
	TP_printk("run=%u t=%llu cq.id=%u cid=%u qp=%u kind=%s len=%u flags=%s rkey=0x%x inv_rkey=0x%x",
		__entry->run, __entry->t, __entry->cq_id, __entry->cid,
		__entry->qp, krping_show_wr(__entry->kind), __entry->len,
		krping_show_post_flags(__entry->flags), __entry->rkey,
		__entry->inv_rkey),
	krping_want_posts, krping_unwant_posts
);

/* A RECV is about to be posted. Thread. */
TRACE_EVENT_FN(krping_post_recv,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 qp, u32 len),
	TP_ARGS(run, t, cq_id, cid, qp, len),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, qp)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->qp = qp;
		__entry->len = len;
	),
	TP_printk("run=%u t=%llu cq.id=%u cid=%u qp=%u kind=RECV len=%u",
		__entry->run, __entry->t, __entry->cq_id, __entry->cid,
		__entry->qp, __entry->len),
	krping_want_posts, krping_unwant_posts
);

DECLARE_EVENT_CLASS(krping_post_err_class,
	TP_PROTO(u32 run, u32 cq_id, u32 cid, u32 qp, u32 kind, s32 err),
	TP_ARGS(run, cq_id, cid, qp, kind, err),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, qp)
		__field(u32, kind)
		__field(s32, err)
	),
	TP_fast_assign(
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->qp = qp;
		__entry->kind = kind;
		__entry->err = err;
	),
	TP_printk("run=%u cq.id=%u cid=%u qp=%u kind=%s err=%d",
		__entry->run, __entry->cq_id, __entry->cid, __entry->qp,
		krping_show_wr(__entry->kind), __entry->err)
);

/* The verbs call refused this work request, or one before it. Thread. */
DEFINE_EVENT(krping_post_err_class, krping_post_send_err,
	TP_PROTO(u32 run, u32 cq_id, u32 cid, u32 qp, u32 kind, s32 err),
	TP_ARGS(run, cq_id, cid, qp, kind, err));

DEFINE_EVENT(krping_post_err_class, krping_post_recv_err,
	TP_PROTO(u32 run, u32 cq_id, u32 cid, u32 qp, u32 kind, s32 err),
	TP_ARGS(run, cq_id, cid, qp, kind, err));

/*
 * The verbs call returned; one event for each call, however many requests it
 * posted. A completion may have come before it. Thread.
 */
TRACE_EVENT_FN(krping_post_return,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 nr, s32 err),
	TP_ARGS(run, t, cq_id, cid, nr, err),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, nr)
		__field(s32, err)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->nr = nr;
		__entry->err = err;
	),
	TP_printk("run=%u t=%llu cq.id=%u cid=%u nr=%u err=%d", __entry->run,
		__entry->t, __entry->cq_id, __entry->cid, __entry->nr,
		__entry->err),
	krping_want_posts, krping_unwant_posts
);

/*
 * The provider called the completion queue's handler: it has completions. In
 * the provider's context, so that the stack is its own.
 */
TRACE_EVENT(krping_cq_event,
	TP_PROTO(u32 run, u64 t, u32 cq_id),
	TP_ARGS(run, t, cq_id),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, cq_id)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->cq_id = cq_id;
	),
	TP_printk("run=%u t=%llu cq.id=%u", __entry->run, __entry->t,
		__entry->cq_id)
);

/*
 * A work request completed; len is the byte_len of a RECV and the posted
 * length of everything else. Completion.
 */
TRACE_EVENT_FN(krping_wc,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 kind, u32 len),
	TP_ARGS(run, t, cq_id, cid, kind, len),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, kind)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->kind = kind;
		__entry->len = len;
	),
	TP_printk("run=%u t=%llu cq.id=%u cid=%u kind=%s len=%u", __entry->run,
		__entry->t, __entry->cq_id, __entry->cid,
		krping_show_wr(__entry->kind), __entry->len),
	krping_want_completions, krping_unwant_completions
);

DECLARE_EVENT_CLASS(krping_wc_err_class,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 kind, u32 status,
		 u32 vendor_err),
	TP_ARGS(run, t, cq_id, cid, kind, status, vendor_err),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, kind)
		__field(u32, status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->kind = kind;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
	),
	TP_printk("run=%u t=%llu cq.id=%u cid=%u kind=%s status=%s (%u/0x%x)",
		__entry->run, __entry->t, __entry->cq_id, __entry->cid,
		krping_show_wr(__entry->kind),
		rdma_show_wc_status(__entry->status), __entry->status,
		__entry->vendor_err)
);

/*
 * A work request was flushed, or failed. kind is the kind that was posted: of an error completion
 * only identity, status and vendor error mean something. Completion.
 */
DEFINE_EVENT(krping_wc_err_class, krping_wc_flush,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 kind, u32 status,
		 u32 vendor_err),
	TP_ARGS(run, t, cq_id, cid, kind, status, vendor_err));

DEFINE_EVENT(krping_wc_err_class, krping_wc_err,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 kind, u32 status,
		 u32 vendor_err),
	TP_ARGS(run, t, cq_id, cid, kind, status, vendor_err));

/*
 * A buffer was mapped onto a memory region: t is when ib_map_mr_sg() was
 * called, cost_ns how long the call took. Thread.
 */
TRACE_EVENT_FN(krping_mr_map,
	TP_PROTO(u32 run, u64 t, u32 mr_id, u32 pages, u32 len, u64 cost_ns,
		 s32 err),
	TP_ARGS(run, t, mr_id, pages, len, cost_ns, err),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, cost_ns)
		__field(u32, run)
		__field(u32, mr_id)
		__field(u32, pages)
		__field(u32, len)
		__field(s32, err)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->cost_ns = cost_ns;
		__entry->run = run;
		__entry->mr_id = mr_id;
		__entry->pages = pages;
		__entry->len = len;
		__entry->err = err;
	),
	TP_printk("run=%u t=%llu mr.id=%u pages=%u len=%u cost_ns=%llu err=%d",
		__entry->run, __entry->t, __entry->mr_id, __entry->pages,
		__entry->len, __entry->cost_ns, __entry->err),
	krping_want_regions, krping_unwant_regions
);

/*
 * The cost of a registration or invalidation: a completion of the send queue at t says that the
 * request with this cid (REG_MR, LOCAL_INV, SEND_WITH_INV or READ_WITH_INV), which was posted by a
 * call from t_post to t_posted, is done. t_posted is 0 if the call has not returned yet; both times
 * are 0 if nobody listened then. err is -ECANCELED if the request may not have been executed. pages
 * are those of a REG_MR; map_ns is how long mapping them took, 0 if nobody listened. Completion.
 */
TRACE_EVENT_FN(krping_mr_done,
	TP_PROTO(u32 run, u64 t, u32 cq_id, u32 cid, u32 kind, u32 pages,
		 u64 t_post, u64 t_posted, s32 err, u64 map_ns),
	TP_ARGS(run, t, cq_id, cid, kind, pages, t_post, t_posted, err,
		map_ns),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, t_post)
		__field(u64, t_posted)
		__field(u64, map_ns)
		__field(u32, run)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, kind)
		__field(u32, pages)
		__field(s32, err)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->t_post = t_post;
		__entry->t_posted = t_posted;
		__entry->run = run;
		__entry->cq_id = cq_id;
		__entry->cid = cid;
		__entry->kind = kind;
		__entry->pages = pages;
		__entry->err = err;
		__entry->map_ns = map_ns;
	),
	TP_printk("run=%u t=%llu cq.id=%u cid=%u kind=%s pages=%u t_post=%llu t_posted=%llu err=%d map_ns=%llu",
		__entry->run, __entry->t, __entry->cq_id, __entry->cid,
		krping_show_wr(__entry->kind), __entry->pages,
		__entry->t_post, __entry->t_posted, __entry->err,
		__entry->map_ns),
	krping_want_costs, krping_unwant_costs
);

/*
 * A REG_MR with this cid is about to be posted: it replaces old_key by new_key.
 * valid_before tells whether old_key is valid at this point, behind a LOCAL_INV
 * in the same chain: only a defect makes it 1. Thread.
 */
TRACE_EVENT_FN(krping_mr_fastreg,
	TP_PROTO(u32 run, u32 mr_id, u32 cid, u32 old_key, u32 new_key,
		 u32 pages, u32 len, u32 access, u32 valid_before),
	TP_ARGS(run, mr_id, cid, old_key, new_key, pages, len, access,
		valid_before),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, mr_id)
		__field(u32, cid)
		__field(u32, old_key)
		__field(u32, new_key)
		__field(u32, pages)
		__field(u32, len)
		__field(u32, access)
		__field(u32, valid_before)
	),
	TP_fast_assign(
		__entry->run = run;
		__entry->mr_id = mr_id;
		__entry->cid = cid;
		__entry->old_key = old_key;
		__entry->new_key = new_key;
		__entry->pages = pages;
		__entry->len = len;
		__entry->access = access;
		__entry->valid_before = valid_before;
	),
	TP_printk("run=%u mr.id=%u cid=%u old_key=0x%x new_key=0x%x pages=%u len=%u access=%s valid_before=%u",
		__entry->run, __entry->mr_id, __entry->cid, __entry->old_key,
		__entry->new_key, __entry->pages, __entry->len,
		__print_flags(__entry->access, "|",
			{ IB_ACCESS_LOCAL_WRITE, "LOCAL_WRITE" },
			{ IB_ACCESS_REMOTE_WRITE, "REMOTE_WRITE" },
			{ IB_ACCESS_REMOTE_READ, "REMOTE_READ" }),
		__entry->valid_before),
	krping_want_regions, krping_unwant_regions
);

DECLARE_EVENT_CLASS(krping_mr_inv_class,
	TP_PROTO(u32 run, u32 mr_id, u32 cid, u32 key, u32 valid_before),
	TP_ARGS(run, mr_id, cid, key, valid_before),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, mr_id)
		__field(u32, cid)
		__field(u32, key)
		__field(u32, valid_before)
	),
	TP_fast_assign(
		__entry->run = run;
		__entry->mr_id = mr_id;
		__entry->cid = cid;
		__entry->key = key;
		__entry->valid_before = valid_before;
	),
	TP_printk("run=%u mr.id=%u cid=%u key=0x%x valid_before=%u",
		__entry->run, __entry->mr_id, __entry->cid, __entry->key,
		__entry->valid_before)
);

/* A LOCAL_INV is about to be posted, with this cid. Thread. */
DEFINE_EVENT_FN(krping_mr_inv_class, krping_mr_localinv,
	TP_PROTO(u32 run, u32 mr_id, u32 cid, u32 key, u32 valid_before),
	TP_ARGS(run, mr_id, cid, key, valid_before),
	krping_want_regions, krping_unwant_regions);

/* The peer's SEND_WITH_INV arrived, in the RECV with this cid. Thread. */
DEFINE_EVENT_FN(krping_mr_inv_class, krping_mr_reminv,
	TP_PROTO(u32 run, u32 mr_id, u32 cid, u32 key, u32 valid_before),
	TP_ARGS(run, mr_id, cid, key, valid_before),
	krping_want_regions, krping_unwant_regions);

/* A READ_WITH_INV is about to be posted, with this cid. Thread. */
DEFINE_EVENT_FN(krping_mr_inv_class, krping_mr_readinv,
	TP_PROTO(u32 run, u32 mr_id, u32 cid, u32 key, u32 valid_before),
	TP_ARGS(run, mr_id, cid, key, valid_before),
	krping_want_regions, krping_unwant_regions);

/*
 * A memory region is freed; state (enum krping_mr_state) is its last state: free, still valid, or
 * flushed, if its last REG_MR was never executed. Thread.
 */
TRACE_EVENT(krping_mr_dereg,
	TP_PROTO(u32 run, u32 mr_id, u32 key, u32 state),
	TP_ARGS(run, mr_id, key, state),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, mr_id)
		__field(u32, key)
		__field(u32, state)
	),
	TP_fast_assign(
		__entry->run = run;
		__entry->mr_id = mr_id;
		__entry->key = key;
		__entry->state = state;
	),
	TP_printk("run=%u mr.id=%u key=0x%x state=%s", __entry->run,
		__entry->mr_id, __entry->key, krping_show_mr(__entry->state))
);

/*
 * A waiting phase ends, with all the stamps that stages are made of; 0 is
 * "unknown". cid and kind are those of the completion that ended it.
 *
 *   t_start   the phase began
 *   t_post    the verbs call was made (0 for a RECV, which was posted long ago)
 *   t_posted  the verbs call returned
 *   t_sig     the provider signalled the CQ
 *   t_wc      the completion handler ran
 *   t_run     the waiting thread ran; where it polls: it began the poll that found
 *             the completion, which is before t_wc, unless that was before the
 *             phase: then the wait ended
 *
 * slept is 0 if the completion was there before the thread waited. The argument what
 * has phase, kind and slept, see KRPING_WAIT(). Thread.
 */
TRACE_EVENT_FN(krping_wait,
	TP_PROTO(u32 run, u64 iter, u32 what, u32 cid, u64 t_start, u64 t_post,
		 u64 t_posted, u64 t_sig, u64 t_wc, u64 t_run),
	TP_ARGS(run, iter, what, cid, t_start, t_post, t_posted, t_sig, t_wc,
		t_run),
	TP_STRUCT__entry(
		__field(u64, iter)
		__field(u64, t_start)
		__field(u64, t_post)
		__field(u64, t_posted)
		__field(u64, t_sig)
		__field(u64, t_wc)
		__field(u64, t_run)
		__field(u32, run)
		__field(u32, phase)
		__field(u32, cid)
		__field(u32, kind)
		__field(u32, slept)
	),
	TP_fast_assign(
		__entry->iter = iter;
		__entry->t_start = t_start;
		__entry->t_post = t_post;
		__entry->t_posted = t_posted;
		__entry->t_sig = t_sig;
		__entry->t_wc = t_wc;
		__entry->t_run = t_run;
		__entry->run = run;
		__entry->phase = KRPING_WAIT_PHASE(what);
		__entry->cid = cid;
		__entry->kind = KRPING_WAIT_KIND(what);
		__entry->slept = KRPING_WAIT_SLEPT(what);
	),
	TP_printk("run=%u iter=%llu phase=%s cid=%u kind=%s t_start=%llu t_post=%llu t_posted=%llu t_sig=%llu t_wc=%llu t_run=%llu slept=%u",
		__entry->run, __entry->iter, krping_show_phase(__entry->phase),
		__entry->cid, krping_show_wr(__entry->kind), __entry->t_start,
		__entry->t_post, __entry->t_posted, __entry->t_sig,
		__entry->t_wc, __entry->t_run, __entry->slept),
	krping_want_stages, krping_unwant_stages
);

/*
 * A request of a test that has several in flight is over: it is counted, and the next one is not
 * posted yet. It is named by the work request whose completion tells that, the last one of an
 * iteration. Not for the warm-up, nor for what failed, or was taken before somebody listened. t_sig
 * is 0 where the signal is not known.
 *
 *   t_queued  it was taken
 *   map_ns    for how long ib_map_mr_sg() mapped its region; 0: it has none
 *   t_post    the verbs call was made
 *   t_posted  the verbs call returned, perhaps behind the completion
 *   t_sig     the provider signalled the CQ
 *   t_wc      the completion handler ran
 *
 * Completion.
 */
TRACE_EVENT_FN(krping_request,
	TP_PROTO(u32 run, u64 t, u32 cid, u32 kind, u32 queue, u32 len,
		 u64 t_queued, u64 map_ns, u64 t_post, u64 t_posted, u64 t_sig,
		 u64 t_wc),
	TP_ARGS(run, t, cid, kind, queue, len, t_queued, map_ns, t_post,
		t_posted, t_sig, t_wc),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, t_queued)
		__field(u64, map_ns)
		__field(u64, t_post)
		__field(u64, t_posted)
		__field(u64, t_sig)
		__field(u64, t_wc)
		__field(u32, run)
		__field(u32, cid)
		__field(u32, kind)
		__field(u32, queue)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->t_queued = t_queued;
		__entry->map_ns = map_ns;
		__entry->t_post = t_post;
		__entry->t_posted = t_posted;
		__entry->t_sig = t_sig;
		__entry->t_wc = t_wc;
		__entry->run = run;
		__entry->cid = cid;
		__entry->kind = kind;
		__entry->queue = queue;
		__entry->len = len;
	),
	TP_printk("run=%u t=%llu cid=%u kind=%s queue=%u len=%u t_queued=%llu map_ns=%llu t_post=%llu t_posted=%llu t_sig=%llu t_wc=%llu",
		__entry->run, __entry->t, __entry->cid,
		krping_show_wr(__entry->kind), __entry->queue, __entry->len,
		__entry->t_queued, __entry->map_ns, __entry->t_post,
		__entry->t_posted, __entry->t_sig, __entry->t_wc),
	krping_want_request, krping_unwant_request
);

/*
 * test=block: a request begins at this end. Of the client blk-mq has given it, and it is going to be
 * posted; of the server its capsule was polled. @cid names the client's capsule, and the server's
 * RECV. @at is the first byte; a request without data has no pages. Any context.
 */
TRACE_EVENT(krping_block_issue,
	TP_PROTO(u32 run, u64 t, u32 queue, u32 tag, u32 op, u64 at, u32 len,
		 u32 pages, u32 cid),
	TP_ARGS(run, t, queue, tag, op, at, len, pages, cid),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, at)
		__field(u32, run)
		__field(u32, queue)
		__field(u32, tag)
		__field(u32, op)
		__field(u32, len)
		__field(u32, pages)
		__field(u32, cid)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->at = at;
		__entry->run = run;
		__entry->queue = queue;
		__entry->tag = tag;
		__entry->op = op;
		__entry->len = len;
		__entry->pages = pages;
		__entry->cid = cid;
	),
	TP_printk("run=%u t=%llu queue=%u tag=%u op=%s at=%llu len=%u pages=%u cid=%u",
		__entry->run, __entry->t, __entry->queue, __entry->tag,
		krping_show_block(__entry->op), __entry->at, __entry->len,
		__entry->pages, __entry->cid)
);

/*
 * test=block: a request is over at this end. Of the client its answer is there, and its key is
 * invalid; of the server its answer was posted. @cid names the client's capsule, and the server's
 * answer; @t_begin is the time of krping_block_issue; @peer_ns is how long it was at the server, as
 * the client was told. Completion.
 */
TRACE_EVENT(krping_block_done,
	TP_PROTO(u32 run, u64 t, u64 iter, u32 queue, u32 tag, u32 op, u64 at,
		 u32 len, u32 cid, u64 t_begin, u64 peer_ns),
	TP_ARGS(run, t, iter, queue, tag, op, at, len, cid, t_begin, peer_ns),
	TP_STRUCT__entry(
		__field(u64, t)
		__field(u64, iter)
		__field(u64, at)
		__field(u64, t_begin)
		__field(u64, peer_ns)
		__field(u32, run)
		__field(u32, queue)
		__field(u32, tag)
		__field(u32, op)
		__field(u32, len)
		__field(u32, cid)
	),
	TP_fast_assign(
		__entry->t = t;
		__entry->iter = iter;
		__entry->at = at;
		__entry->t_begin = t_begin;
		__entry->peer_ns = peer_ns;
		__entry->run = run;
		__entry->queue = queue;
		__entry->tag = tag;
		__entry->op = op;
		__entry->len = len;
		__entry->cid = cid;
	),
	TP_printk("run=%u t=%llu iter=%llu queue=%u tag=%u op=%s at=%llu len=%u cid=%u t_begin=%llu peer_ns=%llu",
		__entry->run, __entry->t, __entry->iter, __entry->queue,
		__entry->tag, krping_show_block(__entry->op), __entry->at,
		__entry->len, __entry->cid, __entry->t_begin,
		__entry->peer_ns)
);

/* Data was compared; offset: the first difference, or -1: none. Thread. */
TRACE_EVENT(krping_validate,
	TP_PROTO(u32 run, u64 iter, u32 len, s64 offset),
	TP_ARGS(run, iter, len, offset),
	TP_STRUCT__entry(
		__field(u64, iter)
		__field(s64, offset)
		__field(u32, run)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->iter = iter;
		__entry->offset = offset;
		__entry->run = run;
		__entry->len = len;
	),
	TP_printk("run=%u iter=%llu len=%u offset=%lld", __entry->run,
		__entry->iter, __entry->len, __entry->offset)
);

/*
 * A case of test=protect is over, and both ends know what the other one saw: bits of KRPING_SAW_*,
 * the status of a completion with an error, bits of the events of the queue pair, and bytes that
 * are not what they were. The numbers with peer_ are what the peer said. Thread.
 */
TRACE_EVENT(krping_protect,
	TP_PROTO(u32 run, u32 which, u32 saw, u32 status, u32 events,
		 u32 moved, u32 peer_saw, u32 peer_status, u32 peer_events,
		 u32 peer_moved, u32 judgement),
	TP_ARGS(run, which, saw, status, events, moved, peer_saw, peer_status,
		peer_events, peer_moved, judgement),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, which)
		__field(u32, saw)
		__field(u32, status)
		__field(u32, events)
		__field(u32, moved)
		__field(u32, peer_saw)
		__field(u32, peer_status)
		__field(u32, peer_events)
		__field(u32, peer_moved)
		__field(u32, judgement)
	),
	TP_fast_assign(
		__entry->run = run;
		__entry->which = which;
		__entry->saw = saw;
		__entry->status = status;
		__entry->events = events;
		__entry->moved = moved;
		__entry->peer_saw = peer_saw;
		__entry->peer_status = peer_status;
		__entry->peer_events = peer_events;
		__entry->peer_moved = peer_moved;
		__entry->judgement = judgement;
	),
	TP_printk("run=%u case=%s saw=0x%x status=%s (%u) events=0x%x moved=%u peer_saw=0x%x peer_status=%s (%u) peer_events=0x%x peer_moved=%u verdict=%s",
		__entry->run, krping_show_case(__entry->which), __entry->saw,
		rdma_show_wc_status(__entry->status), __entry->status,
		__entry->events, __entry->moved, __entry->peer_saw,
		rdma_show_wc_status(__entry->peer_status),
		__entry->peer_status, __entry->peer_events,
		__entry->peer_moved, krping_show_judge(__entry->judgement))
);

/* clang-format on */

#endif /* KRPING_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE krping_trace
#include <trace/define_trace.h>
