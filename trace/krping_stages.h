/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Computes the stages of a wait from its times: for the module, which puts them
 * into krping_iter_stages, and for tools that read krping_wait.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_TRACE_STAGES_H
#define KRPING_TRACE_STAGES_H

#include "krping_abi.h"

/* The value of a stage whose times are unknown. */
#define KRPING_STAGE_UNKNOWN (~0ULL)

/**
 * krping_later - the later one of two times
 * @a: one time
 * @b: the other time
 *
 * Return: the larger one.
 */
static inline __u64 krping_later(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/**
 * krping_stage_in_order - the stages in the order of time
 * @polls: the run's thread polls for its completions
 * @i: KRPING_STAGE_POST to KRPING_STAGE_WAKE, the order of the ABI
 *
 * A thread that polls is woken before its completion is handled.
 *
 * Context: any.
 * Return: the stage that is at the i-th place.
 */
static inline unsigned int krping_stage_in_order(int polls, unsigned int i)
{
	if (!polls || i < KRPING_STAGE_CQ)
		return i;
	return i == KRPING_STAGE_CQ ? KRPING_STAGE_WAKE : KRPING_STAGE_CQ;
}

/**
 * krping_each_stage - split a wait into its stages
 * @put: called for each stage whose time is known, in the order of time, with @arg,
 *	the stage (enum krping_stage, but not NONE), and its duration; OWN is the time
 *	that the thread spent before the verbs call
 * @arg: for @put
 * @t_start: when the phase began
 * @t_post: when the verbs call was made; 0: posted long ago
 * @t_posted: when the verbs call returned; 0: not yet
 * @t_sig: when the provider signalled the CQ; 0: not known
 * @t_wc: when the completion handler ran
 * @t_run: when the thread ran again; before @t_wc if the thread polls
 *
 * All times are in nanoseconds of one clock. Each stage ends where the next one
 * begins, and none begins before the phase does: a completion that came early
 * has cost this phase nothing. The stages that are known add up to the
 * phase until @t_run or @t_wc, the later one. WAKE comes before CQ if the thread
 * polls, and after it if it does not.
 *
 * This is inlined, and so is @put where it is a constant: each ping comes here.
 *
 * Context: any.
 */
static inline __attribute__((__always_inline__)) void krping_each_stage(
	void (*put)(void *arg, unsigned int stage, __u64 ns), void *arg, __u64 t_start,
	__u64 t_post, __u64 t_posted, __u64 t_sig, __u64 t_wc, __u64 t_run)
{
	__u64 first = t_run < t_wc ? t_run : t_wc, t = t_start, next;
	__u64 arrived = t_sig && t_sig < first ? t_sig : first;

	if (t_post) {
		next = krping_later(t_post, t);
		put(arg, KRPING_STAGE_OWN, next - t);
		t = next;
		/* The completion may come before the call returns. */
		next = t_posted && t_posted < arrived ? t_posted : arrived;
		next = krping_later(next, t);
		put(arg, KRPING_STAGE_POST, next - t);
		t = next;
	}
	next = krping_later(arrived, t);
	put(arg, KRPING_STAGE_WIRE, next - t);
	t = next;
	if (t_run < t_wc) {
		/* A thread that has not slept was not woken. */
		if (t_sig) {
			next = krping_later(t_run, t);
			put(arg, KRPING_STAGE_WAKE, next - t);
			t = next;
		}
		put(arg, KRPING_STAGE_CQ, krping_later(t_wc, t) - t);
		return;
	}
	if (t_sig) {
		next = krping_later(t_wc, t);
		put(arg, KRPING_STAGE_CQ, next - t);
		t = next;
	}
	put(arg, KRPING_STAGE_WAKE, krping_later(t_run, t) - t);
}

#endif /* KRPING_TRACE_STAGES_H */
