// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How a run ends, see verdict.h. */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "verdict.h"

#define KRPING_FINISH_MS 1000 /* for the iteration that is under way */

void krping_verdict_init(struct krping_verdict *verdict)
{
	rcuwait_init(&verdict->sleeper);
	spin_lock_init(&verdict->lock);
}

/*
 * Reports why a run cannot do what it was asked for, in any context. The first cause stays,
 * and is returned. A run that has done what it was asked for takes no cause any more, but has
 * to go, too: it may wait to leave its connection, for an event that will never come.
 */
int krping_fail(struct krping_verdict *verdict, int err, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&verdict->lock, flags);
	if (!verdict->err && !verdict->good) {
		va_start(args, fmt);
		vscnprintf(verdict->reason, sizeof(verdict->reason), fmt, args);
		va_end(args);
		WRITE_ONCE(verdict->err, err);
	}
	spin_unlock_irqrestore(&verdict->lock, flags);
	/* Pairs with krping_must_end(): a thread that sees the bit sees the cause. */
	smp_store_release(&verdict->must_end, true);
	krping_wake(verdict);
	return READ_ONCE(verdict->err) ?: err;
}

/* The run did what it was asked for. Its thread says so. */
void krping_set_good(struct krping_verdict *verdict)
{
	spin_lock_irq(&verdict->lock);
	verdict->err = 0;
	verdict->reason[0] = '\0';
	verdict->good = true;
	spin_unlock_irq(&verdict->lock);
}

/*
 * Asks a run to end, in any context. An endless run ends well, and a good one stops waiting
 * for its peer; any other run fails, and so does one that takes longer than a second. Who
 * asks first has given the reason.
 */
void krping_ask_to_end(struct krping_verdict *verdict, int err, const char *reason)
{
	unsigned long flags;
	bool well;

	spin_lock_irqsave(&verdict->lock, flags);
	if (!verdict->asked_err) {
		strscpy(verdict->asked_reason, reason, sizeof(verdict->asked_reason));
		verdict->asked_err = err;
	}
	well = READ_ONCE(verdict->endless) || verdict->good;
	spin_unlock_irqrestore(&verdict->lock, flags);
	if (well)
		/* Pairs with krping_sees_ask() and krping_server_end(): see the reason. */
		smp_store_release(&verdict->asked, true);
	else
		krping_fail_as_asked(verdict);
	krping_wake(verdict);
}

/* Fails for the reason that krping_ask_to_end() has left. */
void krping_fail_as_asked(struct krping_verdict *verdict)
{
	/* Who asked first has written both, and nobody writes them again. */
	krping_fail(verdict, verdict->asked_err, "%s", verdict->asked_reason);
}

/* Ends a run at once, in the middle of its iteration. */
void krping_kill(struct krping_verdict *verdict)
{
	WRITE_ONCE(verdict->killed, true);
	krping_fail(verdict, -EINTR, "interrupted");
}

/* Has the thread to go? Then every wait of it ends. */
bool krping_must_end(const struct krping_verdict *verdict)
{
	/* Pairs with krping_fail(). */
	return smp_load_acquire(&verdict->must_end);
}

/* The errno of a wait that ended because the run is stopping; a good run has no cause. */
int krping_end_errno(const struct krping_verdict *verdict)
{
	return READ_ONCE(verdict->err) ?: -ECANCELED;
}

/* Was the run asked to end? The first look that finds so starts the clock. */
static bool krping_sees_ask(struct krping_verdict *verdict)
{
	/* Pairs with krping_ask_to_end(). */
	if (!smp_load_acquire(&verdict->asked) || READ_ONCE(verdict->killed))
		return false;
	if (!verdict->finish_by)
		verdict->finish_by = (jiffies + msecs_to_jiffies(KRPING_FINISH_MS)) ?: 1;
	return true;
}

/*
 * Has somebody asked an endless run to end? It ends well between two iterations, so that both
 * ends have the same number of them.
 */
bool krping_is_asked_to_end(struct krping_verdict *verdict)
{
	return verdict->endless && krping_sees_ask(verdict);
}

/* For how many jiffies may a wait go on in an endless or good run that was asked to end? */
unsigned long krping_time_to_finish(struct krping_verdict *verdict)
{
	if ((!verdict->endless && !verdict->good) || !krping_sees_ask(verdict) ||
	    time_after_eq(jiffies, verdict->finish_by))
		return 0;
	return verdict->finish_by - jiffies;
}
