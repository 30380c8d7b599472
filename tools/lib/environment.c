// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "alloc.h"
#include "out.h"
#include "environment.h"
#include "procfile.h"

/* The first PID namespace, whose number never changes: PROC_PID_INIT_INO. */
#define FIRST_PID_NS "pid:[4026531836]"

/* The first line of a file, escaped; "" if there is none. */
static void read_line(char *buf, size_t size, const char *path)
{
	char line[64];

	krp_first_line(path, line, sizeof(line));
	krp_escape(buf, size, line, sizeof(line));
}

/* Where a link leads to; "": there is none. */
static void read_target(char *buf, size_t size, const char *path)
{
	ssize_t len = readlink(path, buf, size - 1);

	buf[len > 0 ? len : 0] = '\0';
}

void krp_cpus_text(const cpu_set_t *set, char *buf, size_t size)
{
	unsigned int cpu, last;
	char part[32];
	size_t n = 0;

	*buf = '\0';
	for (cpu = 0; cpu < KRP_ENVIRONMENT_CPUS; cpu = last + 1) {
		last = cpu;
		if (!CPU_ISSET_S(cpu, KRP_ENVIRONMENT_SET, set))
			continue;
		while (CPU_ISSET_S(last + 1, KRP_ENVIRONMENT_SET, set))
			last++;
		snprintf(part, sizeof(part), last > cpu ? "%s%u-%u" : "%s%u", n ? "," : "", cpu,
			 last);
		if (n + strlen(part) + 3 > size) {
			strcpy(buf + n, n ? ",~" : "~");
			return;
		}
		n = stpcpy(buf + n, part) - buf;
	}
}

int krp_cpu_ids_of(const char *list)
{
	size_t end = strspn(list, "0123456789,-"), n = end;

	/* The kernel prints numbers in their order: the last one is the highest. */
	while (n && list[n - 1] >= '0' && list[n - 1] <= '9')
		n--;
	return n < end ? atoi(list + n) + 1 : -EINVAL;
}

int krp_cpu_ids(void)
{
	char list[4096];
	int err = krp_first_line(KRP_CPUS_POSSIBLE, list, sizeof(list));

	return err ?: krp_cpu_ids_of(list);
}

void krp_environment_thread(struct krp_environment *s, uint32_t run, uint32_t tid)
{
	cpu_set_t set[KRP_ENVIRONMENT_CPUS / CPU_SETSIZE] = { 0 };

	s->done[run % KRP_ENVIRONMENT_DONE] = run;
	if (tid && s->has_tids && !sched_getaffinity(tid, sizeof(set), set))
		CPU_OR_S(sizeof(set), s->threads, s->threads, set);
}

bool krp_environment_has(const struct krp_environment *s, uint32_t run)
{
	return s->done[run % KRP_ENVIRONMENT_DONE] == run;
}

/*
 * A device of hardware has the link of its bus to its driver. The kernel has two devices of software,
 * and only one of them is of iWARP.
 */
static void read_driver(struct krp_environment *s, struct krp_environment_dev *d, const char *dev)
{
	char path[PATH_MAX], to[PATH_MAX], type[64], *name;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/driver", s->root, dev);
	read_target(to, sizeof(to), path);
	name = strrchr(to, '/');
	if (*to) {
		krp_escape(d->driver, sizeof(d->driver), name ? name + 1 : to, sizeof(to));
		return;
	}
	*strrchr(path, '/') = '\0';
	if (!access(path, F_OK))
		return;
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/node_type", s->root, dev);
	read_line(type, sizeof(type), path);
	if (strstr(type, "RNIC"))
		strcpy(d->driver, "siw");
	else if (strstr(type, "CA"))
		strcpy(d->driver, "rdma_rxe");
}

void krp_environment_run(struct krp_environment *s, const struct krp_run_info *info)
{
	char dev[KRPING_DEV_NAME_MAX];
	struct krp_environment_dev *d;
	unsigned int i;

	/* Device and port are known when the run is connected. */
	if (!*info->dev || !strcmp(info->dev, "-") || !info->port)
		return;
	for (i = 0; i < s->nr_devs; i++) {
		if (s->devs[i].port == info->port && !strcmp(s->devs[i].dev, info->dev))
			return;
	}
	/* The name becomes part of a path, so it must not lead elsewhere. */
	if (!krp_unescape(dev, sizeof(dev), info->dev) || strchr(dev, '/') || *dev == '.')
		return;
	s->devs = krp_resize(s->devs, s->nr_devs + 1, sizeof(*d));
	d = s->devs + s->nr_devs++;
	memset(d, 0, sizeof(*d));
	snprintf(d->dev, sizeof(d->dev), "%s", info->dev);
	d->port = info->port;
	read_driver(s, d, dev);
}

static void read_clock(struct krp_environment *s)
{
	char path[PATH_MAX];

	if (s->recorded)
		return;
	snprintf(path, sizeof(path),
		 "%s/sys/devices/system/clocksource/clocksource0/current_clocksource", s->root);
	read_line(s->clock, sizeof(s->clock), path);
}

void krp_environment_open(struct krp_environment *s, const char *root)
{
	char path[PATH_MAX], ns[64];
	struct utsname u;

	memset(s, 0, sizeof(*s));
	s->root = root;
	if (!uname(&u))
		krp_escape(s->kernel, sizeof(s->kernel), u.release, sizeof(u.release));
	read_clock(s);
	s->online = sysconf(_SC_NPROCESSORS_ONLN);
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	read_target(ns, sizeof(ns), path);
	s->has_tids = !strcmp(ns, FIRST_PID_NS);
}

void krp_environment_close(struct krp_environment *s)
{
	free(s->devs);
	free(s->said_text);
	free(s->said_json);
	memset(s, 0, sizeof(*s));
}

static void json_text_or_null(json_object *o, const char *key, const char *text)
{
	if (*text)
		krp_json_text(o, key, text);
	else
		json_object_object_add(o, key, NULL);
}

json_object *krp_environment_json(const struct krp_environment *s)
{
	json_object *o, *a, *d;
	char cpus[KRP_ENVIRONMENT_LIST];
	unsigned int i;

	if (s->recorded)
		return json_object_get(s->recorded);
	o = json_object_new_object();
	a = json_object_new_array();
	json_text_or_null(o, "kernel", s->kernel);
	json_text_or_null(o, "clock_source", s->clock);
	krp_json_u64(o, "cpus_online", s->online);
	krp_cpus_text(s->threads, cpus, sizeof(cpus));
	json_text_or_null(o, "thread_cpus", cpus);
	for (i = 0; i < s->nr_devs; i++) {
		d = json_object_new_object();
		krp_json_text(d, "dev", s->devs[i].dev);
		krp_json_u64(d, "port", s->devs[i].port);
		json_text_or_null(d, "driver", s->devs[i].driver);
		json_object_array_add(a, d);
	}
	json_object_object_add(o, "devices", a);
	return o;
}

/* A member, a number, too, as a text; "": there is none. */
static const char *text_of(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) && v ? json_object_get_string(v) : "";
}

void krp_environment_text(const struct krp_environment *s, char *buf, size_t size,
			  unsigned int width)
{
	json_object *o = krp_environment_json(s), *a, *d;
	size_t len, i, nr = 0;
	char *text;
	FILE *f = krp_text_open(&text, &len);

	if (json_object_object_get_ex(o, "devices", &a) && json_object_is_type(a, json_type_array))
		nr = json_object_array_length(a);
	fputc('#', f);
	for (i = 0; i < nr; i++) {
		d = json_object_array_get_idx(a, i);
		fprintf(f, "%s %s/%s%s%s", i ? "," : "", text_of(d, "dev"), text_of(d, "port"),
			*text_of(d, "driver") ? " " : "", text_of(d, "driver"));
	}
	fprintf(f, "%s%s", i ? "  " : " ", text_of(o, "kernel"));
	if (*text_of(o, "clock_source"))
		fprintf(f, "  clock %s", text_of(o, "clock_source"));
	if (*text_of(o, "thread_cpus"))
		fprintf(f, "  threads %s of %s", text_of(o, "thread_cpus"),
			text_of(o, "cpus_online"));
	if (*text_of(o, "host"))
		fprintf(f, "  on %s", text_of(o, "host"));
	if (*text_of(o, "recorder"))
		fprintf(f, "recorded by %s", text_of(o, "recorder"));
	/* A recording may have anything in its texts. */
	krp_text_close(f);
	krp_clean(buf, size, text);
	free(text);
	if (width && strlen(buf) > width)
		strcpy(buf + width - 1, "~");
	json_object_put(o);
}

/* Keeps a copy of what is printed. false: it is what was printed last. */
static bool is_new(char **said, const char *text)
{
	if (*said && !strcmp(*said, text))
		return false;
	free(*said);
	*said = krp_format("%s", text);
	return true;
}

void krp_environment_head(struct krp_environment *s, FILE *f, unsigned int width)
{
	char text[KRP_ENVIRONMENT_TEXT];

	read_clock(s);
	krp_environment_text(s, text, sizeof(text), width);
	if (is_new(&s->said_text, text))
		fprintf(f, "%s\n", text);
}

void krp_environment_add(struct krp_environment *s, json_object *o, bool final)
{
	json_object *setting;

	read_clock(s);
	setting = krp_environment_json(s);
	if (is_new(&s->said_json,
		   json_object_to_json_string_ext(setting, JSON_C_TO_STRING_PLAIN)) ||
	    final)
		json_object_object_add(o, "setting", setting);
	else
		json_object_put(setting);
}
