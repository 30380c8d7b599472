/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Log-linear histograms of nanoseconds: 32 buckets an octave, so that no value
 * is further than 1/32 from the bounds of its bucket. BPF programs fill them
 * and user space reads them with the same code. Count, sum, minimum and
 * maximum are kept separately and are exact.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_HIST_H
#define KRPING_HIST_H

#define KRP_HIST_SUB_BITS 5
#define KRP_HIST_SUB	  (1 << KRP_HIST_SUB_BITS)
/* Values from 2^40 ns (18 minutes) on share the last bucket. */
#define KRP_HIST_BITS	  40
#define KRP_HIST_BUCKETS  ((KRP_HIST_BITS - KRP_HIST_SUB_BITS + 1) * KRP_HIST_SUB)

struct krp_hist {
	__u64 bucket[KRP_HIST_BUCKETS];
};

/* min and max mean nothing while count is 0. */
struct krp_sum {
	__u64 count;
	__u64 sum;
	__u64 min;
	__u64 max;
};

/* The number of the highest bit that is set; 0 for 0. */
static inline __u32 krp_log2(__u64 v)
{
#ifdef __bpf__
	__u32 r, s;

	r = (v > 0xffffffffULL) << 5;
	v >>= r;
	s = (v > 0xffff) << 4;
	v >>= s;
	r |= s;
	s = (v > 0xff) << 3;
	v >>= s;
	r |= s;
	s = (v > 0xf) << 2;
	v >>= s;
	r |= s;
	s = (v > 0x3) << 1;
	v >>= s;
	r |= s;
	return r | (v >> 1);
#else
	return 63 - __builtin_clzll(v | 1);
#endif
}

static inline __u32 krp_hist_index(__u64 v)
{
	__u32 octave;

	if (v < KRP_HIST_SUB)
		return v;
	if (v >> KRP_HIST_BITS)
		return KRP_HIST_BUCKETS - 1;
	octave = krp_log2(v) - KRP_HIST_SUB_BITS;
	return octave * KRP_HIST_SUB + (__u32)(v >> octave);
}

/* The octave of a bucket; the first two rows have the same octave. */
static inline __u32 krp_hist_octave(__u32 index)
{
	return index < 2 * KRP_HIST_SUB ? 0 : index / KRP_HIST_SUB - 1;
}

/* The smallest value of a bucket. */
static inline __u64 krp_hist_low(__u32 index)
{
	__u32 octave = index / KRP_HIST_SUB;

	if (octave)
		octave--;
	return (__u64)(index - octave * KRP_HIST_SUB) << octave;
}

static inline void krp_sum_add(struct krp_sum *s, __u64 v)
{
	if (!s->count || v < s->min)
		s->min = v;
	if (v > s->max)
		s->max = v;
	s->count++;
	s->sum += v;
}

#endif /* KRPING_HIST_H */
