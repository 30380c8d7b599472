// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include "columns.h"
#include "tool.h"

/* The table of a display; NULL: it has no row yet. */
static struct libscols_table *table;

static void no_memory(void)
{
	krp_die("out of memory");
}

static void no_column(const char *name, size_t len, json_object *row)
{
	char list[1024];
	size_t n = 0;

	list[0] = '\0';
	json_object_object_foreach(row, key, value) {
		(void)value;
		if (n < sizeof(list))
			n += snprintf(list + n, sizeof(list) - n, " %s", key);
	}
	krp_die("-o: no column %.*s; there are:%s", (int)len, name, list);
}

/* A row with the columns that -o names, in its order; row is freed. */
static json_object *chosen(json_object *row)
{
	const char *name = krp_tool.opts.columns;
	json_object *o, *v;
	size_t len;
	char key[64];

	if (!name)
		return row;
	o = json_object_new_object();
	for (;; name += len + 1) {
		len = strcspn(name, ",");
		snprintf(key, sizeof(key), "%.*s", (int)len, name);
		if (!json_object_object_get_ex(row, key, &v))
			no_column(name, len, row);
		json_object_object_add(o, key, json_object_get(v));
		if (!name[len])
			break;
	}
	json_object_put(row);
	return o;
}

static bool is_number(json_object *v)
{
	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

/*
 * The columns of the first row. A value that is not known yet may be a number later:
 * only text is aligned to the left.
 */
static void begin_table(json_object *row)
{
	int flags;

	table = scols_new_table();
	if (!table)
		no_memory();
	json_object_object_foreach(row, key, value) {
		flags = !value || is_number(value) ? SCOLS_FL_RIGHT : 0;
		if (!scols_table_new_column(table, key, 0, flags))
			no_memory();
	}
}

static void add_line(json_object *row)
{
	struct libscols_line *line;
	unsigned int n = 0;

	if (!table)
		begin_table(row);
	line = scols_table_new_line(table, NULL);
	if (!line)
		no_memory();
	json_object_object_foreach(row, key, value) {
		(void)key;
		if (scols_line_set_data(line, n++, value ? json_object_get_string(value) : "-"))
			no_memory();
	}
}

void krp_rows_check(json_object *row)
{
	json_object_put(chosen(row));
}

void krp_rows_add(json_object *row)
{
	row = chosen(row);
	if (!krp_tool.opts.table) {
		krp_csv_emit(stdout, row, &krp_tool.csv_head_done);
		return;
	}
	add_line(row);
	json_object_put(row);
}

void krp_rows_end(void)
{
	if (!table)
		return;
	if (scols_print_table(table))
		no_memory();
	fputc('\n', stdout);
	fflush(stdout);
	scols_unref_table(table);
	table = NULL;
}
