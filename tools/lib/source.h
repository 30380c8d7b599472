/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The events of krping's runs, live, in the order in which they were raised: the programs of
 * bpf/krping_trace.bpf.c copy them into a ring buffer. A recording has the same, see recording.h.
 */
#ifndef KRP_LIB_SOURCE_H
#define KRP_LIB_SOURCE_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lost.h"
#include "probe.h"

struct krp_source {
	struct krping_trace_bpf *skel;
	struct krp_probe probe;
	struct ring_buffer *ring;
	int epoll_fd;
};

/*
 * Attaches to the events that event() wants (NULL: all), of this run or, with 0, of all; or dies with
 * the cause. ring_bytes is a power of two; when wake_bytes of them are full, or a run has connected or ended,
 * the descriptor becomes readable. The last eighth is for beginnings, connections and ends of runs. take()
 * gets each event (struct krp_event_head and what is behind it) whenever the source is read; it returns 0,
 * or a negative number to end that reading.
 */
void krp_source_open(struct krp_source *s, bool (*event)(const char *event), uint32_t run,
		     uint32_t ring_bytes, uint32_t wake_bytes,
		     int (*take)(void *ctx, void *data, size_t size), void *ctx);
/* The argument of --event; dies if one of its globs matches no event. */
const char *krp_source_globs(const char *arg);
/* From now on it also becomes readable when an iteration has taken so long (krping_iter_stages). */
void krp_source_slow(struct krp_source *s, uint64_t ns);
/* Becomes readable once for each such reason. */
static inline int krp_source_fd(const struct krp_source *s)
{
	return s->epoll_fd;
}

/* It also becomes readable when this one does. */
void krp_source_also(struct krp_source *s, int fd);
/* To be called when it was readable. */
void krp_source_woken(struct krp_source *s);
/* Hands over what is there; nothing after the end. */
void krp_source_read(struct krp_source *s);
/* No more events come: hands over the rest. What was lost can still be asked for. */
void krp_source_end(struct krp_source *s);
struct krp_lost krp_source_lost(const struct krp_source *s);
void krp_source_close(struct krp_source *s);

#endif /* KRP_LIB_SOURCE_H */
