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
			fprintf(f, "%smounted on %s", *sep, escaped ?: "?");
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

static bool has_open(int proc, const char *pid, const struct disk *d)
{
	char path[NAME_MAX + 4];
	const struct dirent *e;
	bool found = false;
	struct statx st;
	DIR *fds;
	int fd;

	snprintf(path, sizeof(path), "%s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fds = fd < 0 ? NULL : fdopendir(fd);
	if (!fds)
		return false;
	while (!found && (e = readdir(fds))) {
		/* Asks no file server, which may not answer. */
		found = !statx(fd, e->d_name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
			S_ISBLK(st.stx_mode) && st.stx_rdev_major == d->major &&
			st.stx_rdev_minor == d->minor;
	}
	closedir(fds);
	return found;
}

static void print_process(FILE *f, int proc, const char *pid, const char **sep)
{
	char path[NAME_MAX + 8], comm[64] = "", escaped[KRP_ESCAPED(sizeof(comm))];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (file) {
		if (fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(file);
	}
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
	char path[128];
	bool found;
	FILE *f;

	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->node, sizeof(d->node), "/dev/%s", d->name);
	snprintf(path, sizeof(path), "/sys/class/block/%s/dev", d->name);
	f = fopen(path, "re");
	if (!f)
		return false;
	found = fscanf(f, "%u:%u", &d->major, &d->minor) == 2;
	fclose(f);
	return found;
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
			if (isdigit((unsigned char)*e->d_name) &&
			    has_open(dirfd(proc), e->d_name, &d))
				print_process(f, dirfd(proc), e->d_name, &sep);
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
