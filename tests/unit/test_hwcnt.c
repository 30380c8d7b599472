// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The counters of devices, read from a folder that looks like sysfs. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/lib/hwcnt.h"

static char root[64];

static void put(const char *dev, const char *name, const char *value)
{
	char path[256], *p;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/ports/1/hw_counters/%s", root, dev, name);
	for (p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(value, f);
	fclose(f);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "%s/krping-hwcnt.XXXXXX", P_tmpdir);
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_deltas(void **state)
{
	struct krp_hwports all = { 0 };
	struct krp_hwport *p;

	(void)state;
	put("rxe0", "sent_pkts", "100\n");
	put("rxe0", "rcvd_seq_err", "5\n");
	put("rxe0", "completer_retry_err", "18446744073709551000\n");
	put("rxe0", "lifespan", "10\n");
	put("rxe0", "odd", "not a number\n");
	p = krp_hwcnt_port(&all, root, "rxe0", 1);
	assert_non_null(p);
	assert_int_equal(p->nr, 3);
	/* Errors first, then by name. */
	assert_string_equal(p->v[0].name, "completer_retry_err");
	assert_string_equal(p->v[1].name, "rcvd_seq_err");
	assert_string_equal(p->v[2].name, "sent_pkts");
	assert_true(p->v[0].error && p->v[1].error && !p->v[2].error);

	krp_hwcnt_read(&all, 1000000000);
	assert_int_equal(krp_hwcnt_delta(&p->v[2]), 0);
	assert_true(krp_hwcnt_rate(p, &p->v[2]) == 0);
	put("rxe0", "sent_pkts", "350\n");
	put("rxe0", "completer_retry_err", "18446744073709551615\n");
	krp_hwcnt_read(&all, 3000000000);
	assert_int_equal(krp_hwcnt_delta(&p->v[2]), 250);
	assert_true(krp_hwcnt_rate(p, &p->v[2]) == 125);
	assert_int_equal(krp_hwcnt_delta(&p->v[0]), 615);
	assert_int_equal(krp_hwcnt_delta(&p->v[1]), 0);
	/* One that was reset has no negative part. */
	put("rxe0", "sent_pkts", "7\n");
	krp_hwcnt_read(&all, 4000000000);
	assert_int_equal(krp_hwcnt_delta(&p->v[2]), 7);
	assert_int_equal(p->v[2].first, 100);

	/* The same port is opened once. */
	assert_ptr_equal(krp_hwcnt_port(&all, root, "rxe0", 1), p);
	assert_int_equal(all.nr, 1);
	krp_hwcnt_begin(&all);
	assert_false(all.v[0].used);
	krp_hwcnt_port(&all, root, "rxe0", 1);
	assert_true(all.v[0].used);
	krp_hwcnt_free(&all);
}

static void test_absent(void **state)
{
	struct krp_hwports all = { 0 };
	struct krp_hwport *p;

	(void)state;
	/* siw has none; a name is no way out of the folder. */
	p = krp_hwcnt_port(&all, root, "siw0", 1);
	assert_int_equal(p->nr, 0);
	put("rxe0", "sent_pkts", "1\n");
	assert_int_equal(krp_hwcnt_port(&all, root, "../x/rxe0", 1)->nr, 0);
	assert_int_equal(krp_hwcnt_port(&all, root, "rxe0", 2)->nr, 0);
	assert_int_equal(krp_hwcnt_port(&all, root, "", 1)->nr, 0);
	krp_hwcnt_read(&all, 1);
	krp_hwcnt_free(&all);
}

/* A device that goes and comes: counted from there on. */
static void test_replaced(void **state)
{
	struct krp_hwports all = { 0 };
	struct krp_hwport *p;
	char path[128];

	(void)state;
	put("rxe0", "sent_pkts", "1000\n");
	p = krp_hwcnt_port(&all, root, "rxe0", 1);
	krp_hwcnt_read(&all, 1000000000);
	/* What is read of a file that has gone is nothing, as of one that is empty. */
	put("rxe0", "sent_pkts", "");
	snprintf(path, sizeof(path), "%s/rxe0/ports/1/hw_counters/sent_pkts", root);
	unlink(path);
	put("rxe0", "sent_pkts", "3\n");
	krp_hwcnt_read(&all, 2000000000);
	assert_int_equal(p->nr, 1);
	assert_int_equal(krp_hwcnt_delta(&p->v[0]), 0);
	put("rxe0", "sent_pkts", "5\n");
	krp_hwcnt_read(&all, 3000000000);
	krp_hwcnt_read(&all, 4000000000);
	assert_int_equal(p->v[0].now, 5);
	krp_hwcnt_free(&all);
}

static void test_names(void **state)
{
	static const char *const bad[] = {
		"rcvd_rnr_err", "send_rnr_err", "out_of_seq_request", "retry_exceeded_err", "duplicate_request",
		"packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "rx_icrc_encapsulated_err",
		"np_cnp_sent", "link_downed", "out_of_buffer", "implied_nak_seq_err",
	};
	static const char *const fine[] = {
		"sent_pkts", "rcvd_pkts", "ack_deferred", "rdma_sends", "rdma_recvs", "rx_write_requests",
		"rx_read_requests", "rx_atomic_requests",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (!krp_hwcnt_is_error(bad[i]))
			fail_msg("%s", bad[i]);
	}
	for (i = 0; i < sizeof(fine) / sizeof(*fine); i++) {
		if (krp_hwcnt_is_error(fine[i]))
			fail_msg("%s", fine[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_deltas, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("hwcnt", tests, NULL, NULL) ? 1 : 0;
}
