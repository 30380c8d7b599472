// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "classic.h"

static const char *const tests[] = { "wlat", "rlat", "bw" };
/* A command may name any test by a bare word. */
#define x(n, s) s,
static const char *const all_tests[] = { KRPING_TESTS(x) };
#undef x

static bool is_one(const char *const *names, size_t nr, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (strlen(names[i]) == len && !strncmp(name, names[i], len))
			return true;
	}
	return false;
}

static bool has_line(const char *test, size_t len)
{
	return is_one(tests, sizeof(tests) / sizeof(*tests), test, len);
}

bool krp_classic_fits(const char *command)
{
	bool client = false, named = false, is_test;
	const char *p;
	size_t len;

	for (p = command;; p += len + 1) {
		len = strcspn(p, ",");
		is_test = is_one(all_tests, sizeof(all_tests) / sizeof(*all_tests), p, len);
		if (is_test ? !has_line(p, len) :
			      !strncmp(p, "test=", 5) && !has_line(p + 5, len - 5))
			return false;
		named |= is_test || !strncmp(p, "test=", 5);
		client |= is_one((const char *[]){ "client" }, 1, p, len);
		if (!p[len])
			break;
	}
	/* A server without a test takes the client's; a client without one is rping. */
	return named || !client;
}

bool krp_classic_line(char *buf, size_t size, const struct krp_run_info *r)
{
	uint64_t iters = r->iters;

	if (!has_line(r->test, strlen(r->test))) {
		snprintf(buf, size, "test=%s has no classic line; wlat, rlat and bw have one",
			 r->test);
		return false;
	}
	if (!r->iters) {
		snprintf(buf, size, "no classic line: this end has measured nothing");
		return false;
	}
	/* Of bw each WRITE is one, as it was before signal=. */
	if (!strcmp(r->test, "bw"))
		iters *= r->moves;
	snprintf(buf, size,
		 "krping: delta sec %" PRIu64 " delta usec %" PRIu64 " iter %" PRIu64
		 " size %u test %s",
		 r->lat_sum_ns / 1000000000, r->lat_sum_ns % 1000000000 / 1000, iters, r->size,
		 r->test);
	return true;
}
