// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdbool.h>
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
	__u64 total = 0, rank, seen = 0, v;

	/* No bucket outside these bounds has a value, and most buckets are outside. */
	if (s && s->count) {
		first = krp_hist_index(s->min);
		last = krp_hist_index(s->max);
	}
	for (i = first; i <= last; i++)
		total += h->bucket[i];
	if (!total)
		return s && s->count ? KRP_NS_UNKNOWN : 0;
	/* The nearest rank, calculated in two parts, since 10000 * total could overflow. */
	rank = total / 10000 * p + (total % 10000 * p + 9999) / 10000;
	if (!rank)
		rank = 1;
	for (i = first; i < last; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	if (i == KRP_HIST_BUCKETS - 1 && (!s || !s->count || s->max >> KRP_HIST_BITS)) {
		if (s && s->count && (rank == total || s->min == s->max))
			return s->max;
		return s && s->count && first == i && rank == 1 ? s->min : KRP_NS_UNKNOWN;
	}
	v = krp_hist_middle(i);
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

void krp_sum_since(struct krp_sum *s, const struct krp_sum *before, const struct krp_hist *h)
{
	__u32 first = 0, last = KRP_HIST_BUCKETS - 1;
	bool new_min, new_max;

	if (!before->count)
		return;
	new_min = s->min < before->min;
	new_max = s->max > before->max;
	s->count -= before->count;
	s->sum -= before->sum;
	if (!s->count)
		return;
	/* The sum may be older than the histogram: see krping_hist. */
	if (s->count == 1 && (!h || h->bucket[krp_hist_index(s->sum)])) {
		s->min = s->sum;
		s->max = s->sum;
		return;
	}
	while (h && first < last && !h->bucket[first])
		first++;
	while (h && last > first && !h->bucket[last])
		last--;
	if (!new_min) {
		if (!h)
			s->min = KRP_NS_UNKNOWN;
		else if (krp_hist_low(first) > s->min)
			s->min = krp_hist_low(first);
	}
	if (!new_max) {
		if (!h || (last == KRP_HIST_BUCKETS - 1 && s->max >> KRP_HIST_BITS))
			s->max = KRP_NS_UNKNOWN;
		else if (krp_hist_low(last + 1) - 1 < s->max)
			s->max = krp_hist_low(last + 1) - 1;
	}
}
