// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "hwcnt.h"
#include "out.h"

/* Names differ between drivers, but the beginnings of their words hardly do. */
bool krp_hwcnt_is_error(const char *name)
{
	/* clang-format off */
	static const char *const words[] = {
		"err", "retr", "rnr", "seq", "nak", "dup", "drop", "discard", "timeout", "exceeded",
		"out", "down", "fail", "fatal", "cnp", "congestion", "ecn", "bad", "invalid", "icrc",
	};
	/* clang-format on */
	unsigned int i;

	for (; name; name = strchr(name, '_')) {
		name += *name == '_';
		for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
			if (!strncmp(name, words[i], strlen(words[i])))
				return true;
		}
	}
	return false;
}

/* sysfs gives a fresh value for each read from the beginning. */
static bool read_value(int fd, uint64_t *v)
{
	char text[32];
	ssize_t n;

	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (*text < '0' || *text > '9')
		return false;
	*v = strtoull(text, NULL, 10);
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct krp_hwcnt *l = a, *r = b;

	if (l->error != r->error)
		return l->error ? -1 : 1;
	return strcmp(l->name, r->name);
}

static void open_counters(struct krp_hwport *p)
{
	struct krp_hwcnt *c;
	struct dirent *e;
	char dev[KRPING_DEV_NAME_MAX], path[512];
	uint64_t value;
	DIR *d;
	int fd;

	/* The name becomes part of a path, so it must not lead elsewhere. */
	if (!krp_unescape(dev, sizeof(dev), p->dev) || !*dev || strchr(dev, '/') || *dev == '.')
		return;
	snprintf(path, sizeof(path), "%s/%s/ports/%u/hw_counters", p->root, dev, p->port);
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d))) {
		/*
		 * lifespan is not a counter: it tells how long values are kept
		 * before the device is asked again.
		 */
		if (*e->d_name == '.' || !strcmp(e->d_name, "lifespan") ||
		    strlen(e->d_name) >= KRP_HWCNT_NAME || !krp_is_clean(e->d_name))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!read_value(fd, &value)) {
			close(fd);
			continue;
		}
		p->v = krp_resize(p->v, p->nr + 1, sizeof(*c));
		c = &p->v[p->nr++];
		memset(c, 0, sizeof(*c));
		strcpy(c->name, e->d_name);
		c->fd = fd;
		c->error = krp_hwcnt_is_error(c->name);
		c->first = c->prev = c->now = value;
	}
	closedir(d);
	if (p->nr)
		qsort(p->v, p->nr, sizeof(*p->v), by_name);
}

static void close_counters(struct krp_hwport *p)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		close(p->v[i].fd);
	free(p->v);
	p->v = NULL;
	p->nr = 0;
}

struct krp_hwport *krp_hwcnt_find(const struct krp_hwports *all, const char *dev, uint32_t port)
{
	struct krp_hwport *p;

	for (p = all->v; p < all->v + all->nr; p++) {
		if (p->port == port && !strcmp(p->dev, dev))
			return p;
	}
	return NULL;
}

struct krp_hwport *krp_hwcnt_port(struct krp_hwports *all, const char *root, const char *dev,
				  uint32_t port)
{
	struct krp_hwport *p = krp_hwcnt_find(all, dev, port);

	if (p) {
		p->used = true;
		return p;
	}
	all->v = krp_resize(all->v, all->nr + 1, sizeof(*p));
	p = all->v + all->nr++;
	memset(p, 0, sizeof(*p));
	snprintf(p->dev, sizeof(p->dev), "%s", dev);
	p->port = port;
	p->used = true;
	p->root = root;
	open_counters(p);
	return p;
}

void krp_hwcnt_begin(struct krp_hwports *all)
{
	unsigned int i;

	for (i = 0; i < all->nr; i++)
		all->v[i].used = false;
}

static void reopen(struct krp_hwport *p)
{
	close_counters(p);
	open_counters(p);
	p->t_prev = 0;
	p->nr_past = 0;
}

void krp_hwcnt_read_port(struct krp_hwport *p, uint64_t now)
{
	struct krp_hwcnt *c;
	uint64_t value;

	p->t_prev = p->t_now;
	p->t_now = now;
	/* The device was gone at the last reading, or has no counters. */
	if (!p->nr) {
		reopen(p);
		return;
	}
	for (c = p->v; c < p->v + p->nr; c++) {
		if (!read_value(c->fd, &value)) {
			reopen(p);
			return;
		}
		c->prev = c->now;
		c->now = c->past[p->nr_past % KRP_HWCNT_PAST] = value;
	}
	p->t_past[p->nr_past++ % KRP_HWCNT_PAST] = now;
}

void krp_hwcnt_read(struct krp_hwports *all, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < all->nr; i++)
		krp_hwcnt_read_port(&all->v[i], now);
}

void krp_hwcnt_free(struct krp_hwports *all)
{
	unsigned int i;

	for (i = 0; i < all->nr; i++)
		close_counters(&all->v[i]);
	free(all->v);
	memset(all, 0, sizeof(*all));
}

uint64_t krp_hwcnt_delta(const struct krp_hwcnt *c)
{
	/* A counter that was reset has moved from 0 to its value. */
	return c->now >= c->prev ? c->now - c->prev : c->now;
}

double krp_hwcnt_rate(const struct krp_hwport *p, const struct krp_hwcnt *c)
{
	if (!p->t_prev || p->t_now <= p->t_prev)
		return 0;
	return krp_hwcnt_delta(c) * 1e9 / (p->t_now - p->t_prev);
}

json_object *krp_hwcnt_moved(const struct krp_hwport *p, uint64_t t_begin, uint64_t t_end,
			     uint64_t *ns)
{
	unsigned int i, n, before = KRP_HWCNT_PAST, after = KRP_HWCNT_PAST;
	json_object *o;

	for (i = 0; i < p->nr_past && i < KRP_HWCNT_PAST && before == KRP_HWCNT_PAST; i++) {
		n = (p->nr_past - 1 - i) % KRP_HWCNT_PAST;
		if (p->t_past[n] >= t_end)
			after = n;
		if (p->t_past[n] <= t_begin)
			before = n;
	}
	if (before == KRP_HWCNT_PAST || after == KRP_HWCNT_PAST)
		return NULL;
	*ns = p->t_past[after] - p->t_past[before];
	o = json_object_new_object();
	for (i = 0; i < p->nr; i++) {
		if (p->v[i].past[after] > p->v[i].past[before])
			krp_json_u64(o, p->v[i].name, p->v[i].past[after] - p->v[i].past[before]);
	}
	return o;
}
