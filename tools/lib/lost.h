/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Lost events, which are missing from what is shown. */
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

#define KRP_NO_COUNTERS (-2)

/* Reads the losses of these programs, and the map of their counters, if they have one. */
struct krp_lost krp_lost_read(const int *prog_fds, unsigned int nr, int counters_fd);

/* The sum: all lost events, or at least so many if some are unknown. */
static inline uint64_t krp_lost_sum(struct krp_lost l)
{
	return l.missed + l.failed + l.dropped;
}

static inline struct krp_lost krp_lost_add(struct krp_lost a, struct krp_lost b)
{
	return (struct krp_lost){
		.missed = a.missed + b.missed,
		.failed = a.failed + b.failed,
		.dropped = a.dropped + b.dropped,
		.unknown = a.unknown || b.unknown,
	};
}

/* The sum in digits, or "-" if it is unknown; valid until the next call. */
const char *krp_lost_text(struct krp_lost l);
/* lost, the sum, and its parts as lost_missed, lost_failed, lost_dropped; null if they are unknown. */
void krp_json_lost(json_object *o, struct krp_lost l);

#endif /* KRP_LIB_LOST_H */
