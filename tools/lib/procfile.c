// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "out.h"
#include "procfile.h"

FILE *krp_procfile_open(const char *path, uint32_t *from)
{
	int fd = -1, err;
	FILE *f;

	if (*from)
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "from=%" PRIu32, *from) < 0)
		*from = 0;
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	f = fdopen(fd, "r");
	if (!f) {
		err = errno;
		close(fd);
		errno = err;
	}
	return f;
}

int krp_first_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	int err = f ? 0 : -errno;

	if (!f || !fgets(buf, size, f))
		*buf = '\0';
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return err;
}

int krp_procfile_lines(FILE *f, void (*take)(void *ctx, char *line), void *ctx)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&line, &room, f)) > 0 && line[len - 1] == '\n') {
		line[len - 1] = '\0';
		take(ctx, line);
	}
	free(line);
	return ferror(f) ? -EIO : 0;
}

/* The character that an escape of the kernel's seq_escape() stands for; s is behind its backslash. */
static char *escaped_char(char *s, char *c)
{
	static const char names[] = "n\nr\rt\tv\vf\fa\ae\033";
	const char *name;

	if (s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
	    s[2] <= '7') {
		*c = (s[0] - '0') << 6 | (s[1] - '0') << 3 | (s[2] - '0');
		return s + 3;
	}
	*c = *s;
	for (name = names; *name; name += 2) {
		if (*name == *s)
			*c = name[1];
	}
	return s + 1;
}

/*
 * Cuts the next key=value, in place, off the text at *p. A value in quotes may
 * hold anything, with the escapes of seq_escape(). false: no more, or not of this form.
 */
static bool next_pair(char **p, char **key, char **value)
{
	char *s = *p, *to;

	while (*s == ' ')
		s++;
	*key = s;
	s = strpbrk(s, "= ");
	if (!s || *s != '=')
		return false;
	*s++ = '\0';
	*value = s;
	if (*s != '"') {
		s += strcspn(s, " ");
		if (*s)
			*s++ = '\0';
		*p = s;
		return true;
	}
	*value = to = ++s;
	while (*s && *s != '"') {
		if (*s == '\\' && s[1])
			s = escaped_char(s + 1, to++);
		else
			*to++ = *s++;
	}
	if (*s != '"')
		return false;
	s++;
	*to = '\0';
	*p = s;
	return true;
}

static void set(void *to, const struct krp_field *f, const char *value)
{
	void *p = (char *)to + f->offset;

	switch (f->kind) {
	case KRP_U32:
		*(uint32_t *)p = strtoul(value, NULL, 0);
		break;
	case KRP_U64:
		*(uint64_t *)p = strtoull(value, NULL, 0);
		break;
	case KRP_INT:
		*(int *)p = strtol(value, NULL, 0);
		break;
	case KRP_BOOL:
		*(bool *)p = strtoul(value, NULL, 0) != 0;
		break;
	case KRP_TEXT:
		krp_escape(p, f->size, value, SIZE_MAX);
		break;
	}
}

void krp_fields_parse(void *to, const struct krp_field *fields, unsigned int nr, char *line)
{
	/* Where the next one will be: the module writes the keys of each line in the order of the fields. */
	unsigned int next = 0, i;
	char *key, *value;

	while (next_pair(&line, &key, &value)) {
		for (i = 0; i < nr && strcmp(fields[(next + i) % nr].key, key); i++)
			;
		if (i == nr)
			continue;
		next = (next + i) % nr;
		set(to, &fields[next++], value);
	}
}

void krp_fields_json(json_object *o, const void *from, const struct krp_field *fields,
		     unsigned int nr)
{
	const struct krp_field *f;
	const void *p;

	for (f = fields; f < fields + nr; f++) {
		p = (const char *)from + f->offset;
		switch (f->kind) {
		case KRP_U32:
			krp_json_u64(o, f->key, *(const uint32_t *)p);
			break;
		case KRP_U64:
			krp_json_u64(o, f->key, *(const uint64_t *)p);
			break;
		case KRP_INT:
			krp_json_s64(o, f->key, *(const int *)p);
			break;
		case KRP_BOOL:
			krp_json_bool(o, f->key, *(const bool *)p);
			break;
		case KRP_TEXT:
			krp_json_text(o, f->key, *(const char *)p ? p : "-");
			break;
		}
	}
}
