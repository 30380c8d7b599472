// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "reader.h"
#include "tool.h"

/*
 * The pings may want the CPU on which we read. So records wait until their run has ended,
 * or a line is printed, unless they fill that much of a ring, in per cent: a run of some
 * thousand pings ends before that.
 */
#define MUCH	  50
/* A ring of fewer bytes is soon full: it is read each time that we wake up. */
#define SMALL	  (1UL << 20)
/* A run that has ended may still be written to when we end; how long that may take. */
#define SETTLE_MS 1000

static void read_all(const struct krp_reader *r)
{
	krp_follow_read(r->follow);
	if (r->read)
		r->read();
}

/*
 * Takes the runs that have ended; over has room for all slots. Returns false if not
 * all could be taken yet.
 */
static bool take_ended(const struct krp_reader *r, uint32_t *over)
{
	const struct krp_run_info *info;
	uint32_t slot, nr = 0, i;
	bool all = true;

	for (slot = 0; slot < krp_watch_slots(r->watch); slot++) {
		if (krp_follow_ended(r->follow, slot))
			over[nr++] = slot;
	}
	if (!nr)
		return true;
	/* What these runs told was told before they had ended: now all of it is read that is still there. */
	krp_follow_read(r->follow);
	krp_runs_read(r->runs);
	if (r->ready)
		r->ready();
	for (i = 0; i < nr; i++) {
		/* Its device may be gone when the next line is printed. */
		info = krp_runs_find(r->runs, krp_watch_run(r->watch, over[i])->head.run);
		if (info && krp_shows(info->id, info) && !krp_setting_run(r->setting, info))
			krp_die("out of memory");
		if (r->take(over[i]) == KRP_TORN)
			all = false;
		else
			krp_follow_drop(r->follow, over[i]);
	}
	return all;
}

void krp_reader_run(const struct krp_reader *r)
{
	uint32_t *over = calloc(krp_watch_slots(r->watch), sizeof(*over));
	enum krp_wake wake;
	unsigned int n;

	if (!over)
		krp_die("out of memory");
	do {
		wake = krp_wait_fd(krp_watch_fd(r->watch), INFINITY);
		krp_watch_woken(r->watch);
		if (r->eager || wake == KRP_WAKE_TICK || r->watch->shared.ring < SMALL ||
		    krp_iters_behind(&r->follow->iters) >= MUCH)
			read_all(r);
		if (wake == KRP_WAKE_FD)
			continue;
		krp_watch_setting(r->watch, r->runs, r->setting);
		take_ended(r, over);
		if (r->look)
			r->look();
		if (wake == KRP_WAKE_TICK)
			r->print();
	} while (wake == KRP_WAKE_FD || (wake != KRP_WAKE_STOP && !r->done()));

	if (r->stop)
		r->stop();
	read_all(r);
	for (n = 0; !take_ended(r, over) && n < SETTLE_MS; n++)
		usleep(1000);
	free(over);
}
