/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A trace.dat, as "trace-cmd record -e krping" writes it. libtracecmd reads the file, and libtraceevent finds the fields of an event
 * by their names, so that another version of krping may have written them. What a field says is not believed: it has to be in its event.
 */
#ifndef KRP_LIB_TRACEDAT_H
#define KRP_LIB_TRACEDAT_H

#include <stddef.h>

#include "events.h"
#include "lost.h"

/* With these bytes it begins. */
#define KRP_TRACEDAT_MAGIC "\x17\x08\x44tracing"

struct krp_tracedat;

/* The file stays the caller's. NULL: why says what is wrong with it. */
struct krp_tracedat *krp_tracedat_open(int fd, const char **why);
/*
 * The next event of all CPUs, by the events' own times, since the CPUs may have clocks of their own. It is as a program copies it into a
 * ring buffer, and valid until the next call. An event that has no time has that of the event before it on its CPU: which clock the
 * file has is not known. NULL: there is none, or why says why it cannot be read.
 */
const struct krp_event_head *krp_tracedat_next(struct krp_tracedat *d, size_t *size,
					       const char **why);
/* Events that are not in the file, of which the kernel says how many, or only that there were some. */
struct krp_lost krp_tracedat_lost(const struct krp_tracedat *d);
void krp_tracedat_close(struct krp_tracedat *d);

#endif /* KRP_LIB_TRACEDAT_H */
