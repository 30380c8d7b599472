// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"
#include "source.h"
#include "tool.h"
#include "krping_trace.skel.h"

const char *krp_source_globs(const char *arg)
{
	char buf[64];
	const char *vain = krp_globs_check(arg, buf, sizeof(buf));

	if (vain)
		krp_die("--event: no event matches \"%s\" (see docs/events.md)", vain);
	return arg;
}

void krp_source_open(struct krp_source *s, bool (*event)(const char *event), uint32_t run,
		     uint32_t ring_bytes, uint32_t wake_bytes,
		     int (*take)(void *ctx, void *data, size_t size), void *ctx)
{
	uint32_t page = sysconf(_SC_PAGESIZE);
	struct krp_want want;

	krp_probe_init();
	s->skel = krping_trace_bpf__open();
	krp_probe_opened(s->skel);
	s->skel->rodata->wake_bytes = wake_bytes;
	s->skel->rodata->rare_bytes = ring_bytes / 8 * 7;
	bpf_map__set_max_entries(s->skel->maps.ring, ring_bytes > page ? ring_bytes : page);
	want = (struct krp_want){
		KRP_SKELETON(s->skel),
		.run = run,
		.event = event,
	};
	krp_probe_open(&s->probe, &want);
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.ring), take, ctx, NULL);
	if (!s->ring)
		krp_die("cannot map the ring buffer: %s", strerror(errno));
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	krp_source_also(s, bpf_map__fd(s->skel->maps.ring));
}

void krp_source_slow(struct krp_source *s, uint64_t ns)
{
	__atomic_store_n((uint64_t *)&s->skel->data->slow_ns, ns, __ATOMIC_RELAXED);
}

/* A ring buffer is readable while it has data. Each wakeup is to be told once. */
void krp_source_also(struct krp_source *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		krp_die("cannot wait for events: %s", strerror(errno));
}

void krp_source_woken(struct krp_source *s)
{
	struct epoll_event events[4];

	epoll_wait(s->epoll_fd, events, 4, 0);
}

void krp_source_read(struct krp_source *s)
{
	if (s->ring)
		ring_buffer__consume(s->ring);
}

/*
 * One program may still run, and have reserved an event: programs are RCU readers, and membarrier() returns after
 * a grace period. Kernels with nohz_full CPUs have no such command.
 */
void krp_source_end(struct krp_source *s)
{
	krp_probe_detach(&s->probe);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(10000);
	while (ring_buffer__consume(s->ring) == -EAGAIN)
		;
	ring_buffer__free(s->ring);
	s->ring = NULL;
}

struct krp_lost krp_source_lost(const struct krp_source *s)
{
	return krp_probe_lost(&s->probe);
}

void krp_source_close(struct krp_source *s)
{
	krp_probe_close(&s->probe);
	krping_trace_bpf__destroy(s->skel);
	close(s->epoll_fd);
}
