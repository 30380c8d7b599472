// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What "krping -i" reads of /proc/krping_hist, and what it prints of two such texts, the second of which is later. */
#include <errno.h>

#include "fuzz.h"
#include "tools/krping/result.h"
#include "tools/krping/runhist.h"

/* Unknown ones stand in between, and say nothing. */
static void check_percentiles(const struct krp_hist *h, const struct krp_sum *s)
{
	static const unsigned int which[] = { 0, 1, KRP_P50, KRP_P90, KRP_P99, KRP_P999, 10000 };
	uint64_t v, last = 0;
	size_t i;

	/* Text that contradicts itself has no percentiles that anybody could read. */
	if (s && s->min > s->max)
		s = NULL;
	for (i = 0; i < ARRAY_LEN(which); i++) {
		v = krp_hist_percentile(h, s, which[i]);
		if (v == KRP_NS_UNKNOWN)
			continue;
		CHECK(v >= last);
		last = v;
		if (v && s && s->count)
			CHECK(v >= s->min && v <= s->max);
	}
}

static void print(const struct krp_runhist *rh)
{
	static const struct krp_run_info run = { .id = 1, .size = 64, .moves = 2 };
	json_object *o = json_object_new_object();

	CHECK_PRINTED(f, krp_result_interval(f, rh, rh->elapsed_ns, true));
	CHECK_PRINTED(f, krp_hist_print(f, "title", &rh->hist));
	krp_result_interval_json(o, &run, rh, rh->elapsed_ns);
	json_object_object_add(o, "hist", krp_hist_json(&rh->hist));
	CHECK_JSON(o);
}

static bool one(struct krp_runhist *rh, const char *text, size_t len)
{
	FILE *f;
	int err;

	if (!len)
		return false;
	f = fuzz_file(text, len);
	/* A run that has no line leaves it as it is, so nothing of it may be read then. */
	memset(rh, 0x55, sizeof(*rh));
	err = krp_runhist_parse(rh, 1, f);
	fclose(f);
	CHECK(err == 0 || err == -ENODATA || err == -EPROTO);
	if (err)
		return false;
	CHECK(rh->sum.count == krp_hist_total(&rh->hist));
	check_percentiles(&rh->hist, &rh->sum);
	check_percentiles(&rh->hist, NULL);
	print(rh);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *half = memchr(text, '@', size);
	size_t len = half ? (size_t)(half - text) : size;
	static struct krp_runhist before, rh;

	if (!one(&before, text, len) || !half || !one(&rh, half + 1, size - len - 1))
		return 0;
	krp_runhist_since(&rh, &before);
	check_percentiles(&rh.hist, NULL);
	print(&rh);
	return 0;
}
