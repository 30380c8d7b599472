// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/procfile.h"
#include "runhist.h"

/* Parses "LOW:COUNT,LOW:COUNT,...". */
static int parse_buckets(struct krp_hist *h, const char *s)
{
	uint64_t low, n;
	char *end;

	for (;; s = end + 1) {
		low = strtoull(s, &end, 10);
		if (end == s || *end != ':')
			return -EPROTO;
		s = end + 1;
		n = strtoull(s, &end, 10);
		if (end == s)
			return -EPROTO;
		h->bucket[krp_hist_index(low)] += n;
		if (*end != ',')
			return *end == '\0' ? 0 : -EPROTO;
	}
}

/* clang-format off */
static const struct krp_field fields[] = {
#define F(key, member)	KRP_FIELD(key, U64, struct krp_runhist, member)
	F("elapsed_ns", elapsed_ns),
	F("lat_sum_ns", sum.sum),
	F("lat_min_ns", sum.min),
	F("lat_max_ns", sum.max),
#undef F
};
/* clang-format on */

struct reader {
	struct krp_runhist *rh;
	char id[24]; /* with which the line of the run begins */
	int err;
};

static void take_line(void *ctx, char *line)
{
	struct reader *r = ctx;
	char *buckets;

	if (r->err != -ENODATA || strncmp(line, r->id, strlen(r->id)))
		return;
	memset(r->rh, 0, sizeof(*r->rh));
	buckets = strstr(line, " buckets=");
	r->err = buckets ? parse_buckets(&r->rh->hist, strchr(buckets, '=') + 1) : -EPROTO;
	krp_fields_parse(r->rh, fields, sizeof(fields) / sizeof(*fields), line);
	/* The run goes on while it is printed: count what the buckets have. */
	r->rh->sum.count = krp_hist_total(&r->rh->hist);
}

int krp_runhist_parse(struct krp_runhist *rh, uint32_t id, FILE *f)
{
	struct reader r = { .rh = rh, .err = -ENODATA };
	int err;

	snprintf(r.id, sizeof(r.id), "id=%" PRIu32 " ", id);
	err = krp_procfile_lines(f, take_line, &r);
	return err ?: r.err;
}

int krp_runhist_read(struct krp_runhist *rh, uint32_t id)
{
	uint32_t from = id;
	FILE *f = krp_procfile_open(KRP_PROC_HIST, &from);
	int err;

	if (!f)
		return -errno;
	err = krp_runhist_parse(rh, id, f);
	fclose(f);
	return err;
}

void krp_runhist_since(struct krp_runhist *rh, const struct krp_runhist *before)
{
	rh->elapsed_ns -= before->elapsed_ns;
	krp_hist_sub(&rh->hist, &before->hist);
	krp_sum_since(&rh->sum, &before->sum, &rh->hist);
}
