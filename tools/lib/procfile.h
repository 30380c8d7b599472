/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads the files of /proc that have something of each run: a line of key=value for each. */
#ifndef KRP_LIB_PROCFILE_H
#define KRP_LIB_PROCFILE_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Opens such a file from the run *from on; 0: from the first one. A module that
 * cannot do this, or from which we may only read, gives all runs: then *from becomes 0.
 * NULL: it cannot be opened, and errno says why.
 */
FILE *krp_procfile_open(const char *path, uint32_t *from);

/* The first line of any file, without its end; "" where there is none. 0, or -errno if it cannot be opened. */
int krp_first_line(const char *path, char *buf, size_t size);

/* Hands over each line of f, without its end; not a last line that has none. 0 or -EIO. */
int krp_procfile_lines(FILE *f, void (*take)(void *ctx, char *line), void *ctx);

/* What a key of a line is, and where its value is kept. */
struct krp_field {
	const char *key;
	enum { KRP_U32, KRP_U64, KRP_INT, KRP_BOOL, KRP_TEXT } kind;
	size_t offset, size;
};

#define KRP_FIELD(key, kind, type, member)                                           \
	{                                                                            \
		key, KRP_##kind, offsetof(type, member), sizeof(((type *)0)->member) \
	}

/*
 * Sets the fields that a line names, and destroys the line. Keys that are not among the fields are skipped: a newer
 * module may have more. Texts are escaped, and cut to the room that they have.
 */
void krp_fields_parse(void *to, const struct krp_field *fields, unsigned int nr, char *line);
/* Adds a member for each field, by its key; of a text that has nothing "-". */
void krp_fields_json(json_object *o, const void *from, const struct krp_field *fields,
		     unsigned int nr);

#endif /* KRP_LIB_PROCFILE_H */
