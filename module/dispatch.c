// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A command: its text is read, and what it asks for is done. Each command has a
 * number, and a line in /proc/krping_runs; so has one that was refused, and one
 * that only ends another run.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include "dbg.h"
#include "dispatch.h"
#include "dma_key.h"
#include "life.h"
#include "registry.h"
#include "run.h"
#include "serve.h"

static void krping_stop_tell(struct krping_verdict *verdict, u32 by)
{
	struct krping_run *run =
		container_of(verdict, struct krping_run, verdict);
	char reason[32];

	snprintf(reason, sizeof(reason), "stopped by id=%u", by);
	krping_run_ask(run, -EINTR, reason);
}

/* The run is told, and nobody waits for its end. */
static int krping_stop(struct krping_run *run)
{
	if (krping_record_tell(run->params.id, krping_stop_tell, run->rec->id))
		return 0;
	return krping_fail(&run->verdict, -ENOENT, "id=%u: no such run goes on",
			   run->params.id);
}

/**
 * krping_dispatch - carry out a command
 * @text: its text, need not be NUL-terminated
 * @len: length in bytes
 *
 * Works in the caller's context and returns when the run has ended. The run's
 * record then has its result, or the reason for its failure.
 *
 * Context: process; sleeps, ends early on a signal.
 * Return: 0, or the negative errno of the first cause.
 */
int krping_dispatch(const char *text, size_t len)
{
	struct krping_run *run = krping_run_create(NULL);
	int ret;

	if (IS_ERR(run))
		return PTR_ERR(run);
	krping_dbg(run->rec->id, "proc write |%.*s|", (int)len, text);

	ret = krping_command_parse(text, len, &run->params, run->verdict.reason,
				   sizeof(run->verdict.reason));
	run->verdict.err = ret;
	if (!ret) {
		krping_record_parsed(run->rec, &run->params);
		if (run->params.mem_mode == KRPING_MEM_DMA)
			ret = krping_dma_key_check(&run->verdict);
	}
	if (!ret) {
		if (run->params.role != KRPING_ROLE_STOP)
			return krping_run_live(run, krping_serves_many(run) ?
							    krping_serve :
							    krping_run_test);
		ret = krping_stop(run);
	}
	krping_run_settle(run);
	krping_run_free(run);
	return ret;
}
