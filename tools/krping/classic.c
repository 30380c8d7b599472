// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "classic.h"
#include "../lib/names.h"

static const char *const tests[] = { "wlat", "rlat", "bw" };

static bool has_line(const char *test)
{
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (!strcmp(tests[i], test))
			return true;
	}
	return false;
}

bool krp_classic_fits(const struct krp_cmdtext *cmd)
{
	bool named = false, is_test;
	const char *test;
	char option[32];
	unsigned int i;

	for (i = 0; i < krp_test_names.nr; i++) {
		test = krp_name(&krp_test_names, i);
		snprintf(option, sizeof(option), "test=%s", test);
		/* A command may name a test by a bare word. */
		is_test = krp_cmdtext_has(cmd, test) || krp_cmdtext_has(cmd, option);
		if (is_test && !has_line(test))
			return false;
		named |= is_test;
	}
	/* A server without a test takes the client's; a client without one is rping. */
	return named || strcmp(cmd->role, "client");
}

bool krp_classic_line(char *buf, size_t size, const struct krp_run_info *r)
{
	uint64_t iters = r->iters;

	if (!has_line(r->test)) {
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
