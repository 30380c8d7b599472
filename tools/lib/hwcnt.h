/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The counters that a device keeps of each of its ports, below KRP_RDMA_DEVICES. */
#ifndef KRP_LIB_HWCNT_H
#define KRP_LIB_HWCNT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../trace/krping_abi.h"
#include "escape.h"

#define KRP_HWCNT_NAME 64
/* So many readings are remembered. */
#define KRP_HWCNT_PAST 16

struct krp_hwcnt {
	char name[KRP_HWCNT_NAME];
	int fd;
	bool error; /* it counts what goes wrong: retries, RNR, sequence errors */
	uint64_t first, prev, now;
	uint64_t past[KRP_HWCNT_PAST]; /* at the times of the port's t_past */
};

struct krp_hwport {
	char dev[KRP_ESCAPED(KRPING_DEV_NAME_MAX)]; /* escaped, as /proc gives it to us */
	uint32_t port;
	bool used; /* asked for since the last krp_hwcnt_begin() */
	const char *root;
	uint64_t t_prev, t_now; /* ns; of the last two samples */
	struct krp_hwcnt *v;	/* errors first, then by name */
	unsigned int nr;
	uint64_t t_past[KRP_HWCNT_PAST]; /* a ring, of the last readings since it was opened */
	unsigned int nr_past;
};

struct krp_hwports {
	struct krp_hwport *v;
	unsigned int nr;
};

/*
 * The port of a device, whose name is escaped. It is opened when it is asked
 * for the first time, and its counters are read then, so that movements are
 * counted from there. A device without counters has nr 0.
 * The pointer is good until the next call; the port keeps its place in v.
 */
struct krp_hwport *krp_hwcnt_port(struct krp_hwports *all, const char *root, const char *dev,
				  uint32_t port);
/* A port that was opened, or NULL; this does not count as asking for it. */
struct krp_hwport *krp_hwcnt_find(const struct krp_hwports *all, const char *dev, uint32_t port);
/* Begins another round of asking for ports. */
void krp_hwcnt_begin(struct krp_hwports *all);
/*
 * Reads all counters of all ports, or of one, at now ns. A device that went
 * away and came back is opened again.
 */
void krp_hwcnt_read(struct krp_hwports *all, uint64_t now);
void krp_hwcnt_read_port(struct krp_hwport *p, uint64_t now);
void krp_hwcnt_free(struct krp_hwports *all);

/* The movement in the last interval, and the movement per second. */
uint64_t krp_hwcnt_delta(const struct krp_hwcnt *c);
double krp_hwcnt_rate(const struct krp_hwport *p, const struct krp_hwcnt *c);
/* Does a counter of this name count what goes wrong? */
bool krp_hwcnt_is_error(const char *name);

/*
 * The counters that moved between the last reading before t_begin and the first one after t_end, as an object of their
 * differences, and the time between these readings. NULL: there is no such reading any more, or none yet.
 */
json_object *krp_hwcnt_moved(const struct krp_hwport *p, uint64_t t_begin, uint64_t t_end,
			     uint64_t *ns);

#endif /* KRP_LIB_HWCNT_H */
