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

static int parse_line(struct krp_runhist *rh, char *line)
{
	char *word, *save, *value;
	int err = -EPROTO;

	memset(rh, 0, sizeof(*rh));
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			return -EPROTO;
		*value++ = '\0';
		if (!strcmp(word, "elapsed_ns"))
			rh->elapsed_ns = strtoull(value, NULL, 10);
		else if (!strcmp(word, "lat_sum_ns"))
			rh->sum.sum = strtoull(value, NULL, 10);
		else if (!strcmp(word, "lat_min_ns"))
			rh->sum.min = strtoull(value, NULL, 10);
		else if (!strcmp(word, "lat_max_ns"))
			rh->sum.max = strtoull(value, NULL, 10);
		else if (!strcmp(word, "buckets"))
			err = parse_buckets(&rh->hist, value);
	}
	/* The run goes on while it is printed: count what the buckets have. */
	rh->sum.count = krp_hist_total(&rh->hist);
	return err;
}

int krp_runhist_parse(struct krp_runhist *rh, uint32_t id, FILE *f)
{
	char *line = NULL, key[24];
	int err = -ENODATA;
	size_t room = 0;
	ssize_t len;

	snprintf(key, sizeof(key), "id=%" PRIu32 " ", id);
	while (err == -ENODATA && (len = getline(&line, &room, f)) > 0) {
		if (line[len - 1] != '\n')
			break;
		line[len - 1] = '\0';
		if (!strncmp(line, key, strlen(key)))
			err = parse_line(rh, line);
	}
	if (ferror(f))
		err = -EIO;
	free(line);
	return err;
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
