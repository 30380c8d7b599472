// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The unbound workqueue has its new name. */
#include <linux/workqueue.h>

static bool __maybe_unused ask(struct work_struct *work)
{
	return queue_work(system_dfl_wq, work);
}
