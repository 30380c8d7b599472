// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "out.h"
#include "setting.h"

/* The first PID namespace, whose number never changes: PROC_PID_INIT_INO. */
#define FIRST_PID_NS "pid:[4026531836]"

/* --- files --- */

/* The first line of a file of /proc or /sys, escaped. false: there is none. */
static bool read_line(const struct krp_setting *s, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static bool read_line(const struct krp_setting *s, char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX], line[1024] = "";
	va_list ap;
	size_t len;
	FILE *f;

	*buf = '\0';
	len = snprintf(path, sizeof(path), "%s", s->root);
	va_start(ap, fmt);
	vsnprintf(path + len, sizeof(path) - len, fmt, ap);
	va_end(ap);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		*line = '\0';
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	krp_escape(buf, size, line, sizeof(line));
	return *buf;
}

/* --- CPUs --- */

static void add_cpu(struct krp_cpus *c, unsigned long cpu)
{
	uint64_t bit = 1ULL << cpu % 64;

	if (cpu >= KRP_SETTING_CPUS || c->word[cpu / 64] & bit)
		return;
	c->word[cpu / 64] |= bit;
	c->nr++;
}

void krp_cpus_parse(struct krp_cpus *c, const char *list)
{
	unsigned long first, last;
	char *end;

	for (;;) {
		first = strtoul(list, &end, 10);
		if (end == list)
			return;
		last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < KRP_SETTING_CPUS; first++)
			add_cpu(c, first);
		if (*end != ',')
			return;
		list = end + 1;
	}
}

static void add_cpus(struct krp_cpus *c, const struct krp_cpus *from)
{
	unsigned int i;

	c->nr = 0;
	for (i = 0; i < KRP_SETTING_CPUS / 64; i++) {
		c->word[i] |= from->word[i];
		c->nr += __builtin_popcountll(c->word[i]);
	}
}

static bool has_cpu(const struct krp_cpus *c, unsigned int cpu)
{
	return cpu < KRP_SETTING_CPUS && c->word[cpu / 64] >> cpu % 64 & 1;
}

void krp_cpus_text(const struct krp_cpus *c, char *buf, size_t size)
{
	unsigned int cpu, last, left = c->nr;
	char part[32];
	size_t n = 0, len;

	*buf = '\0';
	for (cpu = 0; left && cpu < KRP_SETTING_CPUS; cpu = last + 1) {
		last = cpu;
		if (!has_cpu(c, cpu))
			continue;
		while (has_cpu(c, last + 1))
			last++;
		left -= last - cpu + 1;
		if (last > cpu)
			len = snprintf(part, sizeof(part), "%s%u-%u", n ? "," : "", cpu, last);
		else
			len = snprintf(part, sizeof(part), "%s%u", n ? "," : "", cpu);
		if (n + len + 3 > size) {
			strcpy(buf + n, n ? ",~" : "~");
			return;
		}
		strcpy(buf + n, part);
		n += len;
	}
}

void krp_setting_thread(struct krp_setting *s, uint32_t run, uint32_t tid)
{
	cpu_set_t set[KRP_SETTING_CPUS / CPU_SETSIZE];
	unsigned int cpu;

	s->done[run % KRP_SETTING_DONE] = run;
	if (!tid || !s->has_tids || sched_getaffinity(tid, sizeof(set), set))
		return;
	for (cpu = 0; cpu < KRP_SETTING_CPUS; cpu++) {
		if (CPU_ISSET_S(cpu, sizeof(set), set))
			add_cpu(&s->threads, cpu);
	}
}

bool krp_setting_has(const struct krp_setting *s, uint32_t run)
{
	return s->done[run % KRP_SETTING_DONE] == run;
}

/* --- devices --- */

/*
 * A device of hardware has the link of its bus to its driver. The kernel has two devices of software,
 * and only one of them is of iWARP.
 */
static void read_driver(struct krp_setting *s, struct krp_setting_dev *d, const char *dev)
{
	char path[PATH_MAX], to[PATH_MAX], type[64];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/driver", s->root, dev);
	len = readlink(path, to, sizeof(to) - 1);
	if (len > 0) {
		to[len] = '\0';
		krp_escape(d->driver, sizeof(d->driver),
			   strrchr(to, '/') ? strrchr(to, '/') + 1 : to, sizeof(to));
		return;
	}
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device", s->root, dev);
	if (!access(path, F_OK) ||
	    !read_line(s, type, sizeof(type), "/sys/class/infiniband/%s/node_type", dev))
		return;
	if (strstr(type, "RNIC"))
		strcpy(d->driver, "siw");
	else if (strstr(type, "CA"))
		strcpy(d->driver, "rdma_rxe");
}

/* The address in a text as 10.9.0.1:9999 or [fd09::1]:9999 or [fe80::1%eth0]:9999. */
static bool parse_address(const char *text, struct in6_addr *addr)
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	struct in_addr v4;
	size_t len;

	if (*text == '[') {
		text++;
		len = strcspn(text, "]%");
	} else {
		len = strcspn(text, ":");
	}
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET6, host, addr) == 1)
		return true;
	if (inet_pton(AF_INET, host, &v4) != 1)
		return false;
	memset(addr, 0, sizeof(*addr));
	addr->s6_addr[10] = addr->s6_addr[11] = 0xff;
	memcpy(&addr->s6_addr[12], &v4, 4);
	return true;
}

static bool is_address(const struct sockaddr *sa, const struct in6_addr *addr)
{
	const struct sockaddr_in6 *v6 = (const void *)sa;
	const struct sockaddr_in *v4 = (const void *)sa;

	if (sa && sa->sa_family == AF_INET6)
		return !memcmp(&v6->sin6_addr, addr, sizeof(*addr));
	return sa && sa->sa_family == AF_INET && IN6_IS_ADDR_V4MAPPED(addr) &&
	       !memcmp(&v4->sin_addr, &addr->s6_addr[12], 4);
}

/*
 * On Ethernet the MTU of the interface decides how large packets are; an InfiniBand port has one of
 * its own, which sysfs does not tell.
 */
static void read_mtu(struct krp_setting *s, struct krp_setting_dev *d, const char *dev,
		     const char *src)
{
	struct ifaddrs *all, *a;
	struct in6_addr addr;
	char text[32];

	if (!read_line(s, text, sizeof(text), "/sys/class/infiniband/%s/ports/%u/link_layer", dev,
		       d->port) ||
	    strcmp(text, "Ethernet") || !parse_address(src, &addr) || getifaddrs(&all))
		return;
	for (a = all; a; a = a->ifa_next) {
		if (is_address(a->ifa_addr, &addr) &&
		    read_line(s, text, sizeof(text), "/sys/class/net/%s/mtu", a->ifa_name)) {
			d->mtu = strtoul(text, NULL, 10);
			break;
		}
	}
	freeifaddrs(all);
}

/* Which interrupt is which completion vector, and which of them a run has, only the driver knows. */
static void read_irqs(struct krp_setting *s, struct krp_setting_dev *d, const char *dev)
{
	char path[PATH_MAX], list[1024];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/msi_irqs", s->root, dev);
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (*e->d_name >= '0' && *e->d_name <= '9' &&
		    read_line(s, list, sizeof(list), "/proc/irq/%s/effective_affinity_list",
			      e->d_name))
			krp_cpus_parse(&d->irqs, list);
	}
	closedir(dir);
}

bool krp_setting_run(struct krp_setting *s, const struct krp_run_info *info)
{
	char dev[KRPING_DEV_NAME_MAX];
	struct krp_setting_dev *d;
	unsigned int i;

	/* The port, and the address there, are known when the run is connected. */
	if (!*info->dev || !strcmp(info->dev, "-") || !info->port)
		return true;
	for (i = 0; i < s->nr_devs; i++) {
		if (s->devs[i].port == info->port && !strcmp(s->devs[i].dev, info->dev))
			return true;
	}
	/* The name becomes part of a path, so it must not lead elsewhere. */
	if (!krp_unescape(dev, sizeof(dev), info->dev) || strchr(dev, '/') || *dev == '.')
		return true;
	d = realloc(s->devs, (s->nr_devs + 1) * sizeof(*d));
	if (!d)
		return false;
	s->devs = d;
	d += s->nr_devs++;
	memset(d, 0, sizeof(*d));
	snprintf(d->dev, sizeof(d->dev), "%s", info->dev);
	d->port = info->port;
	read_driver(s, d, dev);
	read_mtu(s, d, dev, info->src);
	read_irqs(s, d, dev);
	return true;
}

/* --- the machine --- */

void krp_accelerator(char *buf, size_t size, const char *signature, bool flag, bool real,
		     const char *type, const char *product)
{
	static const struct {
		const char *text, *name;
	} signatures[] = {
		{ "KVMKVMKVM", "kvm" },	     { "TCGTCGTCGTCG", "tcg" },	  { "Microsoft Hv", "hyperv" },
		{ "VMwareVMware", "vmware" }, { "XenVMMXenVMM", "xen" }, { "bhyve bhyve ", "bhyve" },
	}, products[] = {
		{ "KVM", "kvm" },	     { "VMware", "vmware" },	  { "VirtualBox", "virtualbox" },
		{ "QEMU", "qemu" },	     { "Standard PC", "qemu" },
	};
	const char *name = real ? "none" : flag ? "unknown" : "";
	unsigned int i;

	if (*signature)
		name = signature;
	for (i = 0; *signature && i < sizeof(signatures) / sizeof(*signatures); i++) {
		if (!strcmp(signature, signatures[i].text))
			name = signatures[i].name;
	}
	if (!*signature && *type)
		name = type;
	for (i = 0; !*signature && !*type && !real && i < sizeof(products) / sizeof(*products);
	     i++) {
		if (strstr(product, products[i].text)) {
			name = products[i].name;
			break;
		}
	}
	krp_clean(buf, size, name);
}

/* The signature of the hypervisor, of twelve characters; "": the CPU has none. */
static void read_signature(char sig[13])
{
	memset(sig, 0, 13);
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d, leaf[] = { 0x40000000, 0x40000100 }, i;

	__cpuid(1, a, b, c, d);
	if (!(c & 1U << 31))
		return;
	/* A KVM that also plays Hyper-V has its own signature behind the other one. */
	for (i = 0; i < 2; i++) {
		__cpuid(leaf[i], a, b, c, d);
		if (i && memcmp(&b, "KVMK", 4))
			return;
		memcpy(sig, &b, 4);
		memcpy(sig + 4, &c, 4);
		memcpy(sig + 8, &d, 4);
		if (strcmp(sig, "Microsoft Hv"))
			return;
	}
#endif
}

/* The flag "hypervisor" of /proc/cpuinfo. real: it has flags of an x86, and that is not among them. */
static void read_flag(struct krp_setting *s, bool *flag, bool *real)
{
	char path[PATH_MAX], *line = NULL, *word;
	size_t room = 0;
	FILE *f;

	*flag = *real = false;
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", s->root);
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&line, &room, f) > 0) {
		if (strncmp(line, "flags", 5))
			continue;
		word = strstr(line, " hypervisor");
		*flag = word && (word[11] == ' ' || word[11] == '\n');
		*real = !*flag;
		break;
	}
	free(line);
	fclose(f);
}

static void read_clock(struct krp_setting *s)
{
	read_line(s, s->clock, sizeof(s->clock),
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

void krp_setting_open(struct krp_setting *s, const char *root)
{
	char signature[13] = "", type[32], product[64], list[1024], path[PATH_MAX], ns[64];
	struct krp_cpus online = { 0 };
	struct utsname u;
	bool flag, real;
	ssize_t len;

	memset(s, 0, sizeof(*s));
	s->root = root;
	if (!uname(&u))
		krp_escape(s->kernel, sizeof(s->kernel), u.release, sizeof(u.release));
	read_clock(s);
	if (!*root)
		read_signature(signature);
	read_flag(s, &flag, &real);
	read_line(s, type, sizeof(type), "/sys/hypervisor/type");
	read_line(s, product, sizeof(product), "/sys/class/dmi/id/product_name");
	krp_accelerator(s->accelerator, sizeof(s->accelerator), signature, flag, real, type,
			product);
	if (read_line(s, list, sizeof(list), "/sys/devices/system/cpu/online"))
		krp_cpus_parse(&online, list);
	s->online = online.nr;
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	len = readlink(path, ns, sizeof(ns) - 1);
	ns[len > 0 ? len : 0] = '\0';
	s->has_tids = !strcmp(ns, FIRST_PID_NS);
}

void krp_setting_close(struct krp_setting *s)
{
	free(s->devs);
	free(s->said_text);
	free(s->said_json);
	memset(s, 0, sizeof(*s));
}

/* --- output --- */

/* The parts of the line, from left to right. */
enum part {
	PART_DEVS,
	PART_KERNEL,
	PART_CLOCK,
	PART_ACCELERATOR,
	PART_THREADS,
	PART_IRQS,
	NR_PARTS
};

static size_t dev_text(const struct krp_setting_dev *d, char *buf, size_t size)
{
	size_t n;

	n = snprintf(buf, size, "%s/%u", d->dev, d->port);
	if (*d->driver)
		n += snprintf(buf + n, size - n, " %s", d->driver);
	if (d->mtu)
		n += snprintf(buf + n, size - n, " mtu %u", d->mtu);
	return n;
}

static void devs_text(const struct krp_setting *s, unsigned int nr, char *buf, size_t size)
{
	char one[512];
	unsigned int i;
	size_t n = 0;

	*buf = '\0';
	for (i = 0; i < nr && i < s->nr_devs; i++) {
		if (n + dev_text(&s->devs[i], one, sizeof(one)) + 16 > size)
			break;
		n += snprintf(buf + n, size - n, "%s%s", n ? ", " : "", one);
	}
	if (i < s->nr_devs)
		snprintf(buf + n, size - n, "%s%u more", n ? ", " : "", s->nr_devs - i);
}

static void cpus_part(char *buf, size_t size, const char *what, const struct krp_cpus *c,
		      unsigned int online)
{
	char list[KRP_SETTING_LIST];

	*buf = '\0';
	if (!c->nr)
		return;
	krp_cpus_text(c, list, sizeof(list));
	snprintf(buf, size, "%s %s of %u", what, list, online);
}

/* Joins the parts whose bits are set. Returns the length of the whole. */
static size_t join(char *buf, size_t size, char (*part)[512], unsigned int set)
{
	unsigned int i;
	size_t n;

	n = snprintf(buf, size, "#");
	for (i = 0; i < NR_PARTS; i++) {
		if (set & 1U << i && *part[i])
			n += snprintf(buf + (n < size ? n : size - 1), n < size ? size - n : 1,
				      "%s%s", n > 1 ? "  " : " ", part[i]);
	}
	return n;
}

void krp_setting_text(const struct krp_setting *s, char *buf, size_t size, unsigned int width)
{
	/* What is left out first: where CPUs are many, their lists are what is long. */
	static const enum part order[] = { PART_IRQS,  PART_THREADS,	 PART_KERNEL,
					   PART_CLOCK, PART_ACCELERATOR, PART_DEVS };
	unsigned int set = (1U << NR_PARTS) - 1, i, devs = s->nr_devs, room = width;
	struct krp_cpus irqs = { 0 };
	char part[NR_PARTS][512] = { 0 };

	for (i = 0; i < s->nr_devs; i++)
		add_cpus(&irqs, &s->devs[i].irqs);
	snprintf(part[PART_KERNEL], sizeof(*part), "%s", s->kernel);
	if (*s->clock)
		snprintf(part[PART_CLOCK], sizeof(*part), "clock %s", s->clock);
	if (*s->accelerator)
		snprintf(part[PART_ACCELERATOR], sizeof(*part), "accel %s", s->accelerator);
	cpus_part(part[PART_THREADS], sizeof(*part), "threads", &s->threads, s->online);
	cpus_part(part[PART_IRQS], sizeof(*part), "irqs", &irqs, s->online);
	devs_text(s, devs, part[PART_DEVS], sizeof(*part));
	i = 0;
	while (join(buf, size, part, set) > room) {
		/* One device of many stands for the others before anything else is left out. */
		if (devs > 1) {
			devs_text(s, --devs, part[PART_DEVS], sizeof(*part));
			continue;
		}
		if (i == sizeof(order) / sizeof(*order))
			return;
		set &= ~(1U << order[i++]);
		/* The mark needs room, too. */
		room = width > 2 ? width - 2 : 0;
	}
	if (i)
		strncat(buf, " ~", size - strlen(buf) - 1);
}

static void json_text_or_null(json_object *o, const char *key, const char *text)
{
	if (*text)
		krp_json_text(o, key, text);
	else
		json_object_object_add(o, key, NULL);
}

static void json_cpus(json_object *o, const char *key, const struct krp_cpus *c)
{
	char list[KRP_SETTING_LIST];

	krp_cpus_text(c, list, sizeof(list));
	json_text_or_null(o, key, list);
}

static void json_number_or_null(json_object *o, const char *key, uint64_t v)
{
	if (v)
		krp_json_u64(o, key, v);
	else
		json_object_object_add(o, key, NULL);
}

json_object *krp_setting_json(const struct krp_setting *s)
{
	json_object *o = json_object_new_object(), *a = json_object_new_array(), *d;
	unsigned int i;

	json_text_or_null(o, "kernel", s->kernel);
	json_text_or_null(o, "clock_source", s->clock);
	json_text_or_null(o, "accelerator", s->accelerator);
	json_number_or_null(o, "cpus_online", s->online);
	json_cpus(o, "thread_cpus", &s->threads);
	for (i = 0; i < s->nr_devs; i++) {
		d = json_object_new_object();
		krp_json_text(d, "dev", s->devs[i].dev);
		krp_json_u64(d, "port", s->devs[i].port);
		json_text_or_null(d, "driver", s->devs[i].driver);
		json_number_or_null(d, "mtu", s->devs[i].mtu);
		json_cpus(d, "irq_cpus", &s->devs[i].irqs);
		json_object_array_add(a, d);
	}
	json_object_object_add(o, "devices", a);
	return o;
}

/* Keeps a copy of what is printed. false: it is what was printed last. */
static bool is_new(char **said, const char *text)
{
	if (*said && !strcmp(*said, text))
		return false;
	free(*said);
	*said = strdup(text);
	return true;
}

void krp_setting_head(struct krp_setting *s, FILE *f, unsigned int width)
{
	char text[KRP_SETTING_TEXT];

	read_clock(s);
	krp_setting_text(s, text, sizeof(text), width);
	if (is_new(&s->said_text, text))
		fprintf(f, "%s\n", text);
}

void krp_setting_add(struct krp_setting *s, json_object *o, bool final)
{
	json_object *setting;

	read_clock(s);
	setting = krp_setting_json(s);
	if (is_new(&s->said_json,
		   json_object_to_json_string_ext(setting, JSON_C_TO_STRING_PLAIN)) ||
	    final)
		json_object_object_add(o, "setting", setting);
	else
		json_object_put(setting);
}
