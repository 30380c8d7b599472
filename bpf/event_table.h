/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The events of krping as data: one table for the BPF programs that copy them
 * and for everything that prints them. tests/unit/names.pl compares it
 * with trace/krping_trace.h and with docs/events.md.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_EVENT_TABLE_H
#define KRPING_EVENT_TABLE_H

#include "../trace/krping_abi.h"

/* clang-format off */

/*
 * One macro for each event: a(EVENT, ARGUMENT, TYPE, HOW) for each argument of
 * TP_PROTO, in its order. TYPE is the type in the prototype, or str, or words.
 * HOW says how the argument is printed:
 *
 *   num, hex	a number
 *   stamp	the time of the event: at most one for each event
 *   time	another time; 0 is unknown
 *   real	a time of the clock on the wall, in nanoseconds since 1970
 *   ns		a duration in nanoseconds
 *   text	a kernel string: at most one for each event
 *   label	the label of a run, a string, too: at most one, behind a text
 *   words	as many 64-bit words as the argument before it says
 *   hi, lo	halves of an address
 *   wait	phase, kind and slept of krping_wait
 *   err	0 or a negative errno
 *   others	a table of names, see tools/lib/events.c
 *
 * krping_wait has no t. Its time is the later one of t_wc and t_run, at which the
 * next phase begins; krping_trace.bpf.c takes that.
 */
#define KRP_EVENT_run_start(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, parent, u32, num) a(e, role, u32, role) \
	a(e, test, u32, test) a(e, size, u32, num) a(e, count, u32, num) a(e, flags, u32, run_flags) \
	a(e, pid, u32, num) a(e, comm, str, text) a(e, name, str, label) a(e, t_real, u64, real)
#define KRP_EVENT_run_end(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iters, u64, num) a(e, err, s32, err) \
	a(e, duration_ns, u64, ns) a(e, phase, u32, phase) a(e, t_phase, u64, time)
#define KRP_EVENT_result(a, e) \
	a(e, run, u32, num) a(e, iters, u64, num) a(e, sum_ns, u64, ns) a(e, min_ns, u64, ns) \
	a(e, p50_ns, u64, ns) a(e, p90_ns, u64, ns) a(e, p99_ns, u64, ns) a(e, p999_ns, u64, ns) \
	a(e, max_ns, u64, ns) a(e, bits_per_s, u64, num) a(e, msgs_per_s, u64, num) \
	a(e, regs_per_s, u64, num)
#define KRP_EVENT_conn(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, qp, u32, num) \
	a(e, dev, str, text) a(e, port, u32, num) a(e, size, u32, num) a(e, flags, u32, run_flags) \
	a(e, peer_run, u32, num) a(e, peer_nonce, u64, hex) a(e, test, u32, test) \
	a(e, t_real, u64, real)
#define KRP_EVENT_addr(a, e) \
	a(e, run, u32, num) a(e, src_hi, u64, hi) a(e, src_lo, u64, lo) a(e, dst_hi, u64, hi) \
	a(e, dst_lo, u64, lo) a(e, src_port, u32, num) a(e, dst_port, u32, num) \
	a(e, nonce, u64, hex)
#define KRP_EVENT_state(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, old, u32, state) a(e, new, u32, state) a(e, cause, s32, err)
#define KRP_EVENT_phase(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iter, u64, num) a(e, phase, u32, phase) \
	a(e, prev, u32, phase) a(e, t_prev, u64, time) a(e, flags, u32, phase_flags) \
	a(e, len, u32, num) a(e, rkey, u32, hex)
#define KRP_EVENT_iter(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iter, u64, num) \
	a(e, flags, u32, phase_flags) a(e, t_begin, u64, time) a(e, bytes, u64, num)
#define KRP_EVENT_iter_phases(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iter, u64, num) \
	a(e, flags, u32, phase_flags) a(e, t_begin, u64, time) a(e, nr, u32, num) \
	a(e, words, words, words) a(e, told, u64, num)
#define KRP_EVENT_iter_stages(a, e)	KRP_EVENT_iter_phases(a, e)
#define KRP_EVENT_iter_memory(a, e)	KRP_EVENT_iter_phases(a, e)
#define KRP_EVENT_iter_split(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iter, u64, num) a(e, t_begin, u64, time) \
	a(e, host_ns, u64, ns) a(e, peer_ns, u64, ns)
#define KRP_EVENT_cm_event(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, event, u32, cm_event) a(e, status, s32, num)
#define KRP_EVENT_reject(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, err, s32, err) a(e, peer_run, u32, num)
#define KRP_EVENT_async_event(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, event, u32, ib_event)
#define KRP_EVENT_adv_send(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iter, u64, num) a(e, rkey, u32, hex) \
	a(e, len, u32, num)
#define KRP_EVENT_adv_recv(a, e)	KRP_EVENT_adv_send(a, e)
#define KRP_EVENT_post_send(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, cid, u32, num) \
	a(e, qp, u32, num) a(e, kind, u32, wr) a(e, len, u32, num) a(e, flags, u32, post_flags) \
	a(e, rkey, u32, hex) a(e, inv_rkey, u32, hex)
#define KRP_EVENT_post_recv(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, cid, u32, num) \
	a(e, qp, u32, num) a(e, len, u32, num)
#define KRP_EVENT_post_send_err(a, e) \
	a(e, run, u32, num) a(e, cq_id, u32, num) a(e, cid, u32, num) a(e, qp, u32, num) \
	a(e, kind, u32, wr) a(e, err, s32, err)
#define KRP_EVENT_post_recv_err(a, e)	KRP_EVENT_post_send_err(a, e)
#define KRP_EVENT_post_return(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, cid, u32, num) \
	a(e, nr, u32, num) a(e, err, s32, err)
#define KRP_EVENT_cq_event(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num)
#define KRP_EVENT_wc(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, cid, u32, num) \
	a(e, kind, u32, wr) a(e, len, u32, num)
#define KRP_EVENT_wc_flush(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, cid, u32, num) \
	a(e, kind, u32, wr) a(e, status, u32, wc_status) a(e, vendor_err, u32, hex)
#define KRP_EVENT_wc_err(a, e)		KRP_EVENT_wc_flush(a, e)
#define KRP_EVENT_mr_map(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, mr_id, u32, num) a(e, pages, u32, num) \
	a(e, len, u32, num) a(e, cost_ns, u64, ns) a(e, err, s32, err)
#define KRP_EVENT_mr_done(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cq_id, u32, num) a(e, cid, u32, num) \
	a(e, kind, u32, wr) a(e, pages, u32, num) a(e, t_post, u64, time) \
	a(e, t_posted, u64, time) a(e, err, s32, err) a(e, map_ns, u64, ns)
#define KRP_EVENT_mr_fastreg(a, e) \
	a(e, run, u32, num) a(e, mr_id, u32, num) a(e, cid, u32, num) a(e, old_key, u32, hex) \
	a(e, new_key, u32, hex) a(e, pages, u32, num) a(e, len, u32, num) a(e, access, u32, access) \
	a(e, valid_before, u32, num)
#define KRP_EVENT_mr_localinv(a, e) \
	a(e, run, u32, num) a(e, mr_id, u32, num) a(e, cid, u32, num) a(e, key, u32, hex) \
	a(e, valid_before, u32, num)
#define KRP_EVENT_mr_reminv(a, e)	KRP_EVENT_mr_localinv(a, e)
#define KRP_EVENT_mr_readinv(a, e)	KRP_EVENT_mr_localinv(a, e)
#define KRP_EVENT_mr_dereg(a, e) \
	a(e, run, u32, num) a(e, mr_id, u32, num) a(e, key, u32, hex) a(e, state, u32, mr_state)
#define KRP_EVENT_wait(a, e) \
	a(e, run, u32, num) a(e, iter, u64, num) a(e, what, u32, wait) a(e, cid, u32, num) \
	a(e, t_start, u64, time) a(e, t_post, u64, time) a(e, t_posted, u64, time) \
	a(e, t_sig, u64, time) a(e, t_wc, u64, time) a(e, t_run, u64, stamp)
#define KRP_EVENT_request(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, cid, u32, num) a(e, kind, u32, wr) \
	a(e, queue, u32, num) a(e, len, u32, num) a(e, t_queued, u64, time) a(e, map_ns, u64, ns) \
	a(e, t_post, u64, time) a(e, t_posted, u64, time) a(e, t_sig, u64, time) a(e, t_wc, u64, time)
#define KRP_EVENT_block_issue(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, queue, u32, num) a(e, tag, u32, num) \
	a(e, op, u32, block_op) a(e, at, u64, num) a(e, len, u32, num) a(e, pages, u32, num) \
	a(e, cid, u32, num)
#define KRP_EVENT_block_done(a, e) \
	a(e, run, u32, num) a(e, t, u64, stamp) a(e, iter, u64, num) a(e, queue, u32, num) \
	a(e, tag, u32, num) a(e, op, u32, block_op) a(e, at, u64, num) a(e, len, u32, num) \
	a(e, cid, u32, num) a(e, t_begin, u64, time) a(e, peer_ns, u64, ns)
#define KRP_EVENT_validate(a, e) \
	a(e, run, u32, num) a(e, iter, u64, num) a(e, len, u32, num) a(e, offset, s64, num)
#define KRP_EVENT_protect(a, e) \
	a(e, run, u32, num) a(e, which, u32, protect_case) a(e, saw, u32, protect_saw) \
	a(e, status, u32, wc_status) a(e, events, u32, hex) a(e, moved, u32, num) \
	a(e, peer_saw, u32, protect_saw) a(e, peer_status, u32, wc_status) \
	a(e, peer_events, u32, hex) a(e, peer_moved, u32, num) a(e, judgement, u32, judgement)

/*
 * All events, without the prefix krping_. Programs are attached in this order,
 * krping_run_start last, so that an event that ends something is attached
 * before the event that begins it.
 */
#define KRP_EVENTS(x)							\
	x(run_end) x(result) x(conn) x(addr) x(state) x(phase) x(iter)		\
	x(iter_phases) x(iter_stages) x(iter_memory) x(iter_split)		\
	x(cm_event)	\
	x(reject) x(async_event) x(adv_send) x(adv_recv)	\
	x(cq_event) x(wc)		\
	x(wc_flush) x(wc_err) x(mr_done) x(request) x(block_done) x(block_issue) x(wait) x(post_return) x(post_send_err)	\
	x(post_recv_err) x(post_send) x(post_recv) x(mr_map)	\
	x(mr_fastreg) x(mr_localinv) x(mr_reminv) x(mr_readinv)		\
	x(mr_dereg) x(validate) x(protect) x(run_start)

#define KRP_EVENT_ENUM(name)	KRP_EV_##name,
enum krp_event {
	KRP_EVENTS(KRP_EVENT_ENUM)
	KRP_NR_EVENTS
};
#undef KRP_EVENT_ENUM

/* The index of each argument: KRP_ARG_post_send_cid, and KRP_NR_ARGS_post_send. */
#define KRP_ARG_ENUM(e, name, type, how)	KRP_ARG_##e##_##name,
#define KRP_EVENT_ARGS(name) \
	enum { KRP_EVENT_##name(KRP_ARG_ENUM, name) KRP_NR_ARGS_##name };
KRP_EVENTS(KRP_EVENT_ARGS)
#undef KRP_EVENT_ARGS
#undef KRP_ARG_ENUM

/* The largest number of arguments that an event can have: BPF's limit. */
#define KRP_MAX_ARGS	12
#define KRP_TEXT_MAX	64	/* KRPING_DEV_NAME_MAX; comm is shorter */
#define KRP_WORDS_MAX	KRPING_WORDS_MAX

/*
 * An event as the programs copy it into a ring buffer: this head, then the
 * arguments, then the text or the words, if the event has any, and behind a text
 * the label. The argument whose value they are is 0.
 */
struct krp_event_head {
	__u64 t;	/* its stamp or, if it has none, the program's clock */
	__u32 run;
	__u32 event;	/* enum krp_event */
	__u32 tid;	/* of the task that the event was raised in, or interrupts */
	__u32 cpu;
};

/* clang-format on */

#endif /* KRPING_EVENT_TABLE_H */
