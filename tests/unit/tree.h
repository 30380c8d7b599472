/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A folder of files for tests of code that reads /proc or /sys, and takes the folder that these
 * are in as an argument. Include this behind unit.h.
 */
#ifndef KRPING_TEST_TREE_H
#define KRPING_TEST_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder, which tree_setup() makes. */
static char root[64];

/* The path of a file in it; its folders are made. */
static inline void tree_path(char *path, size_t size, const char *name)
{
	char *p;

	snprintf(path, size, "%s/%s", root, name);
	for (p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

static inline void tree_put(const char *name, const char *value)
{
	char path[512];
	FILE *f;

	tree_path(path, sizeof(path), name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(value, f);
	fclose(f);
}

static inline void tree_setup(void)
{
	/* The X are mkdtemp()'s. */
	snprintf(root, sizeof(root), "%s/krping-test.XXXXXX", P_tmpdir);
	assert_non_null(mkdtemp(root));
}

static inline int tree_drop(const char *path, UNUSED const struct stat *st, UNUSED int type,
			    UNUSED struct FTW *ftw)
{
	return remove(path);
}

static inline void tree_teardown(void)
{
	assert_int_equal(nftw(root, tree_drop, 16, FTW_DEPTH | FTW_PHYS), 0);
}

#endif /* KRPING_TEST_TREE_H */
