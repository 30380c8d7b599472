/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rows of columns: all of them with --csv, those that -o names, and with -o alone as
 * a table. A row is a flat JSON object; its keys are the columns, and the same in each
 * row of a tool.
 */
#ifndef KRP_LIB_COLUMNS_H
#define KRP_LIB_COLUMNS_H

#include <json-c/json.h>

/*
 * Dies unless all columns that -o names are keys of this row, which is like those to
 * come, and frees it. A tool asks before it begins, or a wrong name would be told with
 * the first row only.
 */
void krp_rows_check(json_object *row);
/* Prints the row, or puts it into the table, and frees it. */
void krp_rows_add(json_object *row);
/* A display is complete: prints its table, if it is one. */
void krp_rows_end(void);

#endif /* KRP_LIB_COLUMNS_H */
