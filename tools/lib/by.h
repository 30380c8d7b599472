/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * --by: runs are summed by what they have in common. A run is one end of a connection: where both ends
 * are on this host each is a run, and a ping of theirs is an iteration of both. So what a group counts
 * is ends and iterations of ends, and names say so: "ends", "end_iters".
 */
#ifndef KRP_LIB_BY_H
#define KRP_LIB_BY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "hist.h"
#include "runs.h"

enum krp_by {
	KRP_BY_RUN, /* without --by: each run for itself */
	KRP_BY_DEV,
	KRP_BY_PEER,
	KRP_BY_ROLE,
	KRP_BY_TEST,
	KRP_BY_SIZE,
	KRP_NR_BYS,
};

/* Room for the key of a group: the longest is the escaped name of a device. */
#define KRP_BY_KEY KRP_ESCAPED(KRPING_DEV_NAME_MAX)

struct krp_group {
	char key[KRP_BY_KEY];	    /* what its runs have in common; "-": that is not known */
	unsigned int ends, running; /* runs, and those of them that go on */
};

/*
 * Groups keep their places in v, also while they have no runs: what the tool has of a group is at the
 * same place of an array of its own.
 */
struct krp_groups {
	enum krp_by by;
	struct krp_group *v;
	unsigned int nr;
};

/* The word of --by; NULL for KRP_BY_RUN. */
const char *krp_by_word(enum krp_by by);
/* The way that a word names; -1: none. */
int krp_by_find(const char *word);
/* The key of a run: "-" where it is not known. */
void krp_by_key(enum krp_by by, const struct krp_run_info *info, char *buf, size_t size);

/* Begins to count anew: no group has a run. */
void krp_groups_begin(struct krp_groups *g);
/* Counts a run in its group, which is made if there is none. Returns the place of the group. */
int krp_groups_add(struct krp_groups *g, const struct krp_run_info *info, bool running);
/*
 * The order in which groups are shown: sizes by their value, all else by the alphabet, and what is not
 * known last.
 */
int krp_groups_compare(const struct krp_groups *g, unsigned int a, unsigned int b);
void krp_groups_free(struct krp_groups *g);

/* Of no group: a row that is made only for its columns. */
#define KRP_NO_GROUP UINT32_MAX

/* by, group, ends and running: what each row of a group begins with. */
void krp_group_json(json_object *o, const struct krp_groups *g, unsigned int place);
/* As krp_sum_merge(); a minimum or maximum of a part that is not known is not known of the whole. */
void krp_by_sum(struct krp_sum *to, const struct krp_sum *from);

#endif /* KRP_LIB_BY_H */
