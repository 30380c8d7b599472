// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * krping-trace, kernel side: copies events, as they are, into a ring buffer. A
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

/*
 * User space reads the ring by itself, often. It is woken only when more than
 * an eighth of the ring is full, since a wakeup costs more than all the rest
 * here.
 */
static __always_inline __u64 wakeup(void)
{
	__u64 used = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE);

	return used > size / 8 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void copy_words(__u64 *to, __u64 nr, __u64 from)
{
	nr = (__u32)nr;
	barrier_var(nr);
	if (nr > KRP_WORDS_MAX)
		nr = KRP_WORDS_MAX;
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

#define PROGRAM(name)								\
SEC("raw_tp/krping_" #name)							\
int name(krp_args *ctx)								\
{										\
	enum {									\
		stamp = 0 KRP_EVENT_##name(STAMP_OF, name),			\
		text = 0 KRP_EVENT_##name(TEXT_OF, name),			\
		label = 0 KRP_EVENT_##name(LABEL_OF, name),			\
		words = 0 KRP_EVENT_##name(WORDS_OF, name),			\
		size = sizeof(struct krp_event_head) + KRP_NR_ARGS_##name * sizeof(__u64) + \
		       (text ? KRP_TEXT_MAX : 0) + (label ? KRPING_NAME_MAX : 0) + \
		       (words ? KRP_WORDS_MAX * sizeof(__u64) : 0), \
	};									\
	struct krp_event_head *h;						\
	__u64 *args;								\
										\
	if (!krp_watched(ctx->args[0]))						\
		return 0;							\
	h = bpf_ringbuf_reserve(&ring, size, 0);				\
	if (!h) {								\
		krp_count(KRP_CNT_DROPPED);					\
		return 0;							\
	}									\
	args = (__u64 *)(h + 1);						\
	/* 0: the module did not read the clock, as just before we attached. */	\
	h->t = stamp ? ctx->args[stamp] : 0;					\
	/* Where the thread polls, its wait ends with the later stamp. */	\
	if (KRP_EV_##name == KRP_EV_wait && ctx->args[KRP_ARG_wait_t_wc] > h->t) \
		h->t = ctx->args[KRP_ARG_wait_t_wc];				\
	if (!h->t)								\
		h->t = bpf_ktime_get_ns();					\
	h->run = ctx->args[0];							\
	h->event = KRP_EV_##name;						\
	KRP_EVENT_##name(COPY, name)						\
	if (text)								\
		bpf_probe_read_kernel_str(args + KRP_NR_ARGS_##name, KRP_TEXT_MAX, \
					  (const void *)ctx->args[text]);	\
	if (label)								\
		bpf_probe_read_kernel_str((char *)(args + KRP_NR_ARGS_##name) + KRP_TEXT_MAX, \
					  KRPING_NAME_MAX, (const void *)ctx->args[label]); \
	if (words)								\
		copy_words(args + KRP_NR_ARGS_##name, ctx->args[words - 1], ctx->args[words]); \
	bpf_ringbuf_submit(h, wakeup());					\
	return 0;								\
}

KRP_EVENTS(PROGRAM)
/* clang-format on */
