/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Host or network: whose time the iterations of a client's run were, as its line in /proc/krping_runs says.
 */
#ifndef KRP_LIB_SPLIT_H
#define KRP_LIB_SPLIT_H

#include <json-c/json.h>
#include <stddef.h>

#include "runs.h"

/* Room for the text of krp_split_text(). */
#define KRP_SPLIT_TEXT 96

/* The means of the iterations that were split, in words; empty if none was. */
void krp_split_text(char *buf, size_t size, const struct krp_split *split);
void krp_split_json(json_object *o, const struct krp_split *split);
/* What came between two looks at a run. */
struct krp_split krp_split_since(const struct krp_split *now, const struct krp_split *before);

#endif /* KRP_LIB_SPLIT_H */
