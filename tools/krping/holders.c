// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "holders.h"
#include "../lib/escape.h"
#include "../lib/procfile.h"

struct disk {
	char name[64], node[80];
	unsigned int major, minor;
};

/* A line of mountinfo(5): ID PARENT MAJOR:MINOR ROOT POINT OPTIONS... - TYPE SOURCE OPTIONS */
static void print_mounts(FILE *f, const struct disk *d, const char **sep)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *point, *source, *rest, *escaped;
	unsigned int major, minor;
	size_t room = 0;

	while (mounts && getline(&line, &room, mounts) > 0) {
		point = source = NULL;
		rest = strstr(line, " - ");
		/* btrfs has a number of its own, so that only the source names the disk. */
		if (rest && sscanf(line, "%*s %*s %u:%u %*s %ms", &major, &minor, &point) == 3 &&
		    sscanf(rest, " - %*s %ms", &source) == 1 &&
		    ((major == d->major && minor == d->minor) || !strcmp(source, d->node))) {
			escaped = krp_escape_dup(point);
			fprintf(f, "%smounted on %s", *sep, escaped);
			*sep = ", ";
			free(escaped);
		}
		free(point);
		free(source);
	}
	free(line);
	if (mounts)
		fclose(mounts);
}

static bool has_open(const char *pid, const struct disk *d)
{
	char path[NAME_MAX + 16];
	const struct dirent *e;
	bool found = false;
	struct statx st;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	while (fds && !found && (e = readdir(fds))) {
		/* Asks no file server, which may not answer. */
		found = !statx(dirfd(fds), e->d_name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
			S_ISBLK(st.stx_mode) && st.stx_rdev_major == d->major &&
			st.stx_rdev_minor == d->minor;
	}
	if (fds)
		closedir(fds);
	return found;
}

static void print_process(FILE *f, const char *pid, const char **sep)
{
	char path[NAME_MAX + 16], comm[64], escaped[KRP_ESCAPED(sizeof(comm))];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	krp_first_line(path, comm, sizeof(comm));
	fprintf(f, "%s%s[%s]", *sep, krp_escape(escaped, sizeof(escaped), comm, sizeof(comm)), pid);
	*sep = ", ";
}

/* What a disk is a part of: dm, md. */
static void print_devices(FILE *f, const struct disk *d, const char **sep)
{
	char path[128];
	const struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/block/%s/holders", d->name);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		fprintf(f, "%s/dev/%s", *sep, e->d_name);
		*sep = ", ";
	}
	if (dir)
		closedir(dir);
}

static bool find_disk(struct disk *d, const char *name)
{
	char path[128], line[32];

	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->node, sizeof(d->node), "/dev/%s", d->name);
	snprintf(path, sizeof(path), "/sys/class/block/%s/dev", d->name);
	krp_first_line(path, line, sizeof(line));
	return sscanf(line, "%u:%u", &d->major, &d->minor) == 2;
}

char *krp_holders(char *buf, size_t size, const char *disk)
{
	FILE *f = fmemopen(buf, size, "w");
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	const char *sep = "";
	struct disk d;

	*buf = '\0';
	if (f && find_disk(&d, disk)) {
		print_mounts(f, &d, &sep);
		while (proc && (e = readdir(proc))) {
			if (isdigit((unsigned char)*e->d_name) && has_open(e->d_name, &d))
				print_process(f, e->d_name, &sep);
		}
		print_devices(f, &d, &sep);
	}
	if (f)
		fclose(f);
	buf[size - 1] = '\0';
	if (proc)
		closedir(proc);
	if (!*sep)
		snprintf(buf, size, "by whom cannot be seen from here");
	return buf;
}
