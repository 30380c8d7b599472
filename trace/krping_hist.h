/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The buckets of log-linear histograms of nanoseconds: 32 an octave, so that no value is further
 * than 1/32 from the bounds of its bucket. The module, its BPF programs and its tools share this.
 *
 * Include <linux/types.h> before this file.
 */
#ifndef KRPING_HIST_BUCKETS_H
#define KRPING_HIST_BUCKETS_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#endif

#define KRP_HIST_SUB_BITS 5
#define KRP_HIST_SUB	  (1 << KRP_HIST_SUB_BITS)
/* Values from 2^36 ns (68 s) on share the last bucket: all of them fit into 8 KiB. */
#define KRP_HIST_BITS	  36
#define KRP_HIST_BUCKETS  ((KRP_HIST_BITS - KRP_HIST_SUB_BITS + 1) * KRP_HIST_SUB)

/**
 * krp_log2 - the number of the highest bit that is set
 * @v: a number
 *
 * Return: 0 to 63; 0 also for 0.
 */
static inline __u32 krp_log2(__u64 v)
{
#if defined(__bpf__)
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
#elif defined(__KERNEL__)
	return fls64(v | 1) - 1;
#else
	return 63 - __builtin_clzll(v | 1);
#endif
}

/**
 * krp_hist_index - the bucket of a value
 * @v: nanoseconds
 *
 * Return: its number, below KRP_HIST_BUCKETS.
 */
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

/**
 * krp_hist_octave - the octave of a bucket
 * @index: its number
 *
 * Return: the octave, from 0; the first two rows of buckets have the same one.
 */
static inline __u32 krp_hist_octave(__u32 index)
{
	return index < 2 * KRP_HIST_SUB ? 0 : index / KRP_HIST_SUB - 1;
}

/**
 * krp_hist_low - the smallest value of a bucket
 * @index: its number; that of the last one plus 1 is allowed
 *
 * Return: nanoseconds.
 */
static inline __u64 krp_hist_low(__u32 index)
{
	__u32 octave = index / KRP_HIST_SUB;

	if (octave)
		octave--;
	return (__u64)(index - octave * KRP_HIST_SUB) << octave;
}

/**
 * krp_hist_middle - the value that stands for all of a bucket
 * @index: its number
 *
 * Return: nanoseconds.
 */
static inline __u64 krp_hist_middle(__u32 index)
{
	__u64 low = krp_hist_low(index);

	return low + (krp_hist_low(index + 1) - 1 - low) / 2;
}

#endif /* KRPING_HIST_BUCKETS_H */
