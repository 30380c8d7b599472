// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stddef.h>

#include "hist.h"

__u64 krp_hist_total(const struct krp_hist *h)
{
	__u64 n = 0;
	__u32 i;

	for (i = 0; i < KRP_HIST_BUCKETS; i++)
		n += h->bucket[i];
	return n;
}

__u64 krp_hist_percentile(const struct krp_hist *h, const struct krp_sum *s, unsigned int p)
{
	__u32 first = 0, last = KRP_HIST_BUCKETS - 1, i;
	__u64 total = 0, rank, seen = 0, low, v;

	/* Nothing is outside, and that is most of them. */
	if (s && s->count) {
		first = krp_hist_index(s->min);
		last = krp_hist_index(s->max);
	}
	for (i = first; i <= last; i++)
		total += h->bucket[i];
	if (!total)
		return 0;
	/* Nearest rank. Split, or 10000 * total could overflow. */
	rank = total / 10000 * p + (total % 10000 * p + 9999) / 10000;
	if (!rank)
		rank = 1;
	for (i = first; i < last; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	low = krp_hist_low(i);
	/* The last bucket has no upper bound but the maximum. */
	if (i == KRP_HIST_BUCKETS - 1)
		v = s ? s->max : low;
	else
		v = low + (krp_hist_low(i + 1) - 1 - low) / 2;
	if (s && s->count) {
		if (v < s->min)
			v = s->min;
		if (v > s->max)
			v = s->max;
	}
	return v;
}

void krp_hist_add(struct krp_hist *to, const struct krp_hist *from)
{
	__u32 i;

	for (i = 0; i < KRP_HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

void krp_hist_sub(struct krp_hist *to, const struct krp_hist *from)
{
	__u32 i;

	for (i = 0; i < KRP_HIST_BUCKETS; i++)
		to->bucket[i] -= from->bucket[i];
}

void krp_sum_merge(struct krp_sum *to, const struct krp_sum *from)
{
	if (!from->count)
		return;
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
}
