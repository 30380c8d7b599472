/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events that are not in what is shown. */
#ifndef KRP_LIB_LOST_H
#define KRP_LIB_LOST_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct krp_lost {
	uint64_t missed;  /* programs that were running already */
	uint64_t failed;  /* maps that were full */
	uint64_t dropped; /* ring buffers that were full */
	bool unknown;	  /* one of them could not be read */
};

/* Of these programs, and of the map of their counters. */
struct krp_lost krp_lost_read(const int *prog_fds, unsigned int nr, int counters_fd);
/* Events that programs did not see, since they were running already on that CPU. */
uint64_t krp_recursion_misses(const int *prog_fds, unsigned int nr);

/* At least so many: all of them, unless some are unknown. */
static inline uint64_t krp_lost_sum(struct krp_lost l)
{
	return l.missed + l.failed + l.dropped;
}

/* The sum in digits, or "-" where it is unknown; until the next call. */
const char *krp_lost_text(struct krp_lost l);
/* The sum; null where it is unknown. */
void krp_json_lost_sum(json_object *o, const char *key, struct krp_lost l);
/* lost, and its parts as lost_missed, lost_failed, lost_dropped. */
void krp_json_lost(json_object *o, struct krp_lost l);

#endif /* KRP_LIB_LOST_H */
