/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads /proc/krping_protect: what runs of test=protect have found; as a table and as JSON. */
#ifndef KRP_KRPING_PROTECT_H
#define KRP_KRPING_PROTECT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KRP_PROC_PROTECT "/proc/krping_protect"

/* Texts are printable ASCII. What an end saw is words with + between them, and _ for a blank. */
struct krp_case {
	char name[32], verb[24], wrong[24], verdict[16];
	char client[128], server[128];
	uint32_t client_moved, server_moved;
};

struct krp_protect {
	struct krp_case *v; /* in the order in which they were made */
	size_t nr;
	uint32_t seen; /* the cases of runs up to this one were added, or are not wanted */
};

/*
 * Adds the case of a run, or those of a server's clients, which the module may forget later. Keys that it does not know are
 * skipped: a newer module may have more. A last line without its end is dropped. 0 or -errno.
 */
int krp_protect_parse(struct krp_protect *p, FILE *f, uint32_t run);
/* Parses KRP_PROC_PROTECT. 0 or -errno. */
int krp_protect_read(struct krp_protect *p, uint32_t run);
/* Drops what was before the last first case: a client that began the list again. */
void krp_protect_last_list(struct krp_protect *p);
/* The last case of a list was made. */
bool krp_protect_list_is_over(const struct krp_protect *p);
/* How many cases are not as they have to be; *first is the first of them. */
size_t krp_protect_bad(const struct krp_protect *p, const struct krp_case **first);
void krp_protect_free(struct krp_protect *p);

/* Prints a row for each case, no wider than width if that is possible, and how many came to what. */
void krp_protect_table(FILE *f, const struct krp_protect *p, unsigned int width);
/* An array with an object for each case. */
json_object *krp_protect_json(const struct krp_protect *p);

#endif /* KRP_KRPING_PROTECT_H */
