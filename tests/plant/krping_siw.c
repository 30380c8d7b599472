// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes siw say that no completion was missed by whoever asks for a signal, although one
 * was, as siw does when a store is late (docs/upstream/siw-notify-barrier.md). For
 * tests/guest/siw.t, which sees whether krping finds the completion all the same.
 *
 * The probes are on functions that are called through a table or by another file of siw, so
 * that no compiler inlines them.
 */
#include "plant.h"

PLANT_PARAM(uint, provoked, 0, 0444, "1: a completion was overlooked");

static atomic_t completions;

static int on_complete_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&completions);
	return 0;
}

/*
 * Mostly the thread is faster than the completion, so the thread is held up: until it was
 * once, for as long as an emulated CPU may have to wait for its turn, and then briefly.
 */
static int on_notify(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	int before = atomic_read(&completions);

	PLANT_SPIN(atomic_read(&completions) == before,
		   READ_ONCE(provoked) ? 2 * NSEC_PER_MSEC : NSEC_PER_SEC);
	return 0;
}

/* siw_req_notify_cq() returns how many completions there are. */
static int on_notify_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if ((int)regs_return_value(regs) > 0) {
		regs_set_return_value(regs, 0);
		WRITE_ONCE(provoked, 1);
	}
	return 0;
}

PLANT_RETPROBE(sqe, "siw_sqe_complete", NULL, on_complete_return);
PLANT_RETPROBE(rqe, "siw_rqe_complete", NULL, on_complete_return);
PLANT_RETPROBE(notify, "siw_req_notify_cq", on_notify, on_notify_return);
static struct kretprobe *probes[] = { &sqe, &rqe, &notify };
PLANT_PROBES(kretprobe, probes, ARRAY_SIZE(probes), "A siw that overlooks completions, for tests");
