// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel side of all tools: copies events, as they are, into a ring buffer. A
 * program whose event is not wanted is not attached. Each event has a program
 * of its own, so that no program serves two contexts, and all programs are made
 * from the table in event_table.h.
 */
#include <linux/types.h>

#include "base.bpf.h"
#include "event_table.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The size is set by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/* Set by user space: where the ring is fuller than this it is woken; and where only rare events find room. */
const volatile __u64 wake_bytes = 0;
const volatile __u64 rare_bytes = ~0ULL;

/* Set by user space, and raised: an iteration that takes so many nanoseconds wakes it at once. */
volatile __u64 slow_ns = ~0ULL;

/* Without these nobody would know which runs there were. */
#define IS_RARE(e) ((e) == KRP_EV_run_start || (e) == KRP_EV_conn || (e) == KRP_EV_run_end)

/*
 * User space reads the ring by itself, when it has a reason. It is woken when the ring fills, and when a run is connected
 * or has ended, since a wakeup costs more than all the rest here.
 */
static __always_inline __u64 wakeup(__u32 event, __u64 used, int slow)
{
	if (event == KRP_EV_run_end || event == KRP_EV_conn || used > wake_bytes || slow)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * Where requests are in flight the first word is of the request that ends the iteration, and is how long that took. args are those of
 * krping_iter_stages, behind which is room for words.
 */
static __always_inline int is_slow(const __u64 *args)
{
	__u64 ns = args[KRP_ARG_iter_stages_t] - args[KRP_ARG_iter_stages_t_begin];
	__u64 first = args[KRP_NR_ARGS_iter_stages];

	if ((__u32)args[KRP_ARG_iter_stages_nr] && KRPING_WORD_KIND(first) == KRPING_WORD_REQUEST)
		ns = KRPING_SEG_NS(first);
	return ns >= slow_ns &&
	       (args[KRP_ARG_iter_stages_flags] & (KRPING_PHASE_F_COMMIT | KRPING_PHASE_F_PART)) ==
		       KRPING_PHASE_F_COMMIT;
}

static __always_inline void copy_words(__u64 *to, __u64 nr, __u64 from, const __u64 room)
{
	nr = (__u32)nr;
	barrier_var(nr);
	if (nr > room)
		nr = room;
	if (bpf_probe_read_kernel(to, nr * sizeof(*to), (const void *)from))
		krp_count(KRP_CNT_FAILED);
}

/* clang-format off */
#define IS(how, what)	(!__builtin_strcmp(#how, #what))
#define COPY(e, name, type, how)						\
	args[KRP_ARG_##e##_##name] = IS(how, text) || IS(how, label) || IS(how, words) ? 0 : ctx->args[KRP_ARG_##e##_##name];
/* The index of the argument, or 0 if there is none: argument 0 is always the run. */
#define STAMP_OF(e, name, type, how)	+ IS(how, stamp) * KRP_ARG_##e##_##name
#define TEXT_OF(e, name, type, how)	+ IS(how, text) * KRP_ARG_##e##_##name
#define LABEL_OF(e, name, type, how)	+ IS(how, label) * KRP_ARG_##e##_##name
#define WORDS_OF(e, name, type, how)	+ IS(how, words) * KRP_ARG_##e##_##name

/* A copy of the event into the ring, with room for so many words, which is a constant. */
#define PROGRAM(name)								\
enum {										\
	name##_stamp = 0 KRP_EVENT_##name(STAMP_OF, name),			\
	name##_text = 0 KRP_EVENT_##name(TEXT_OF, name),			\
	name##_label = 0 KRP_EVENT_##name(LABEL_OF, name),			\
	name##_words = 0 KRP_EVENT_##name(WORDS_OF, name),			\
};										\
static __always_inline int name##_copy(krp_args *ctx, const __u64 room)	\
{										\
	const __u64 size = sizeof(struct krp_event_head) + KRP_NR_ARGS_##name * sizeof(__u64) + \
			   (name##_text ? KRP_TEXT_MAX : 0) +			\
			   (name##_label ? KRPING_NAME_MAX : 0) + room * sizeof(__u64); \
	__u64 used = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);		\
	struct krp_event_head *h = 0;						\
	__u64 *args;								\
										\
	if (used <= rare_bytes || IS_RARE(KRP_EV_##name))			\
		h = bpf_ringbuf_reserve(&ring, size, 0);			\
	if (!h) {								\
		krp_count(KRP_CNT_DROPPED);					\
		return 0;							\
	}									\
	args = (__u64 *)(h + 1);						\
	/* 0: the module did not read the clock, as just before we attached. */	\
	h->t = name##_stamp ? ctx->args[name##_stamp] : 0;			\
	/* Where the thread polls, its wait ends with the later stamp. */	\
	if (KRP_EV_##name == KRP_EV_wait && ctx->args[KRP_ARG_wait_t_wc] > h->t) \
		h->t = ctx->args[KRP_ARG_wait_t_wc];				\
	if (!h->t)								\
		h->t = bpf_ktime_get_ns();					\
	h->run = ctx->args[0];							\
	h->event = KRP_EV_##name;						\
	h->tid = bpf_get_current_pid_tgid();					\
	h->cpu = bpf_get_smp_processor_id();					\
	KRP_EVENT_##name(COPY, name)						\
	if (name##_text)							\
		bpf_probe_read_kernel_str(args + KRP_NR_ARGS_##name, KRP_TEXT_MAX, \
					  (const void *)ctx->args[name##_text]); \
	if (name##_label)							\
		bpf_probe_read_kernel_str((char *)(args + KRP_NR_ARGS_##name) + KRP_TEXT_MAX, \
					  KRPING_NAME_MAX, (const void *)ctx->args[name##_label]); \
	if (name##_words)							\
		copy_words(args + KRP_NR_ARGS_##name, ctx->args[name##_words - 1], \
			   ctx->args[name##_words], room);			\
	bpf_ringbuf_submit(h, wakeup(KRP_EV_##name, used,			\
				     KRP_EV_##name == KRP_EV_iter_stages && is_slow(args))); \
	return 0;								\
}										\
SEC("raw_tp/krping_" #name)							\
int name(krp_args *ctx)								\
{										\
	__u32 nr = name##_words ? ctx->args[name##_words - 1] : 0;		\
										\
	if (!krp_watched(ctx->args[0]))					\
		return 0;							\
	if (!name##_words)							\
		return name##_copy(ctx, 0);					\
	/* Mostly an iteration has few words. */				\
	if (nr <= 16)								\
		return name##_copy(ctx, 16);					\
	if (nr <= 32)								\
		return name##_copy(ctx, 32);					\
	return name##_copy(ctx, KRP_WORDS_MAX);				\
}

KRP_EVENTS(PROGRAM)
/* clang-format on */
