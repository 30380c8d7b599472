// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The line that old krpings have printed to the kernel log at the end of wlat,
 * rlat and bw. Scripts read its 4th, 7th, 9th and 11th word. Behind them, where
 * cycle counts of the old code were, stands the test: only that tells whether an
 * iteration is one way, or there and back.
 */
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/time64.h>
#include "classic.h"
#include "record.h"

static bool krping_classic;
module_param_named(classic_log, krping_classic, bool, 0644);
MODULE_PARM_DESC(classic_log, "print what wlat, rlat and bw have measured to the kernel log, as older versions (default 0)");

/* NULL: the test has no such line. */
static const char *krping_classic_test(u32 test)
{
	switch (test) {
	case KRPING_TEST_WLAT:
		return "wlat";
	case KRPING_TEST_RLAT:
		return "rlat";
	case KRPING_TEST_BW:
		return "bw";
	default:
		return NULL;
	}
}

/**
 * krping_classic_log - print what a run has measured, if classic_log=1
 * @rec: record of a run that has ended well
 *
 * An end that has made no iteration, as the server of rlat, prints nothing. The
 * time is that of the iterations, and of bw each WRITE is one, as it always was.
 *
 * Context: the run's thread, when its loop is over.
 */
void krping_classic_log(const struct krping_record *rec)
{
	const char *test = krping_classic_test(rec->params.test);
	u64 iters = rec->iters;
	u64 sec, us;
	u32 rest;

	if (!READ_ONCE(krping_classic) || !test || !rec->iters)
		return;
	if (rec->params.test == KRPING_TEST_BW)
		iters *= rec->moves;
	sec = div_u64_rem(rec->lat.sum_ns, NSEC_PER_SEC, &rest);
	us = rest / NSEC_PER_USEC;
	pr_info("delta sec %llu delta usec %llu iter %llu size %u test %s\n",
		sec, us, iters, rec->params.size, test);
}
