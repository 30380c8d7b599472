// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../lib/alloc.h"
#include "../lib/environment.h"
#include "../lib/escape.h"
#include "../lib/hwcnt.h"
#include "../lib/tool.h"
#include "report.h"

#define LAST_RUNS 20
#define LAST_LOG  40

static struct {
	FILE *f;
	const char *root;
	bool plain;
	struct utsname host;
	char **names; /* what was replaced: the place of each is its new name */
	unsigned int nr_names;
} r;

/* Prints what stands for a name, the same each time: a to z, then aa. */
static void print_letters(unsigned int n)
{
	if (n >= 26)
		print_letters(n / 26 - 1);
	fputc('a' + n % 26, r.f);
}

static void print_other_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < r.nr_names && strcmp(r.names[i], name);)
		i++;
	if (i == r.nr_names) {
		r.names = krp_resize(r.names, ++r.nr_names, sizeof(*r.names));
		r.names[i] = krp_format("%s", name);
	}
	print_letters(i);
}

/*
 * Is that an address, of which text becomes the one form? Also one of Ethernet or IPoIB, and a GUID, which have more colons
 * than a time or a place on the PCI bus. That of nobody, :: and 0.0.0.0, is none.
 */
static bool is_address(const char *s, char *text, size_t size)
{
	static const struct in6_addr nobody;
	struct in6_addr a = { 0 };
	unsigned int colons = 0;
	const char *p;

	snprintf(text, size, "%s", s);
	if (inet_pton(AF_INET6, s, &a) == 1) {
		if (IN6_IS_ADDR_V4MAPPED(&a))
			inet_ntop(AF_INET, &a.s6_addr[12], text, size);
		else
			inet_ntop(AF_INET6, &a, text, size);
		return memcmp(&a, &nobody, sizeof(a));
	}
	if (inet_pton(AF_INET, s, &a) == 1)
		return memcmp(&a, &nobody, sizeof(a));
	for (p = s; (p = strchr(p, ':')); p++)
		colons++;
	return colons >= 3 && s[0] != ':' && !strchr(s, '.') && !strstr(s, "::");
}

static bool is_border(char c)
{
	return c == ':' || c == '.';
}

/*
 * Prints a piece that has only characters of addresses, perhaps with a word before one, and a port or a full stop behind it.
 * A piece that is longer than any address is left out: nobody knows what is in it.
 */
static void print_piece(const char *piece, size_t len)
{
	char s[64], text[64];
	size_t begin, end;

	for (begin = 0; begin < len && len < sizeof(s); begin++) {
		/* First all of it: the end of an IPv6 address looks like a port. */
		for (end = begin && !is_border(piece[begin - 1]) ? 0 : len; end > begin; end--) {
			if (end < len && !is_border(piece[end]))
				continue;
			snprintf(s, sizeof(s), "%.*s", (int)(end - begin), piece + begin);
			if (!is_address(s, text, sizeof(text)))
				continue;
			fwrite(piece, 1, begin, r.f);
			print_other_name(text);
			print_piece(piece + end, len - end);
			return;
		}
	}
	fprintf(r.f, "%.*s", len < sizeof(s) ? (int)len : 0, piece);
}

/* Is the name of this host here, with or without its domain, as a word? Returns its length. */
static size_t host_here(const char *text, const char *at)
{
	const char *name = r.host.nodename;
	size_t len = strlen(name);

	if (at > text && isalnum((unsigned char)at[-1]))
		return 0;
	if (strncmp(at, name, len))
		len = strcspn(name, ".");
	return strncmp(at, name, len) || isalnum((unsigned char)at[len]) ? 0 : len;
}

/* Prints a text from elsewhere: printable, and with other names for what is not everybody's. */
static void print_text(const char *raw)
{
	char *text = krp_clean_dup(raw), *p, label[256];
	size_t len;

	if (r.plain)
		fputs(text, r.f);
	for (p = r.plain ? "" : text; *p; p += len) {
		len = host_here(text, p);
		if (len) {
			fputs("host", r.f);
			continue;
		}
		if (!strncmp(p, "name=", 5) && p[5] != '-' && (p == text || p[-1] == ' ')) {
			len = strcspn(p, " ");
			snprintf(label, sizeof(label), "%.*s", (int)len, p);
			fputs("name=", r.f);
			print_other_name(label);
			continue;
		}
		len = strspn(p, "0123456789abcdefABCDEF.:");
		if (len && !isalnum((unsigned char)p[len])) {
			print_piece(p, len);
			continue;
		}
		/* The ea of eagle is no address. */
		while (isalnum((unsigned char)p[len]))
			len++;
		len += !len;
		fwrite(p, 1, len, r.f);
	}
	free(text);
}

static void print_line(const char *line)
{
	fputs("  ", r.f);
	print_text(line);
	fputc('\n', r.f);
}

static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* The first line of a file; "": there is none, or it says why it cannot be read. */
static void read_line(char *line, size_t size, const char *path)
{
	FILE *f = open_file(path);
	char raw[256] = "";

	if (!f && (errno == EACCES || errno == EPERM))
		strcpy(raw, "(may not be read)");
	/* Of os-release it is the line with name and version. */
	while (f && fgets(raw, sizeof(raw), f) && strstr(path, "os-release") &&
	       strncmp(raw, "PRETTY_NAME=", 12))
		*raw = '\0';
	if (f)
		fclose(f);
	raw[strcspn(raw, "\n")] = '\0';
	krp_clean(line, size, raw);
}

/* The kernel's active MTU of RoCE: the largest of InfiniBand that fits, with at most 96 bytes of headers. */
static unsigned int roce_mtu(unsigned int mtu)
{
	unsigned int path = 4096;

	while (path > 256 && path + 96 > mtu)
		path /= 2;
	return path;
}

/* The name of a network device, and what depends on it. */
static void print_netdev(const char *name)
{
	char path[PATH_MAX], mtu[64] = "";

	fputs(name, r.f);
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/mtu", r.root, name);
	if (!strchr(name, '/') && *name != '.')
		read_line(mtu, sizeof(mtu), path);
	if (*mtu)
		fprintf(r.f, ", MTU %s, active MTU of RoCE %u", mtu,
			roce_mtu(strtoul(mtu, NULL, 10)));
}

/* Prints a line for each file that a pattern below a folder finds, but for counters that are 0 and places without a GID. */
static void print_files(const char *at, const char *pattern)
{
	char path[PATH_MAX], line[512], text[64];
	const char *name;
	glob_t found;
	size_t i;

	snprintf(path, sizeof(path), "%s%s%s", r.root, at, pattern);
	if (glob(path, 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++) {
		name = found.gl_pathv[i] + strlen(r.root) + strlen(at);
		read_line(line, sizeof(line), found.gl_pathv[i]);
		if (!*line || !strcmp(strrchr(name, '/') ?: "", "/lifespan") ||
		    (strstr(name, "counters/") && !strcmp(line, "0")) || !krp_is_clean(name) ||
		    (strstr(name, "/gids/") && !is_address(line, text, sizeof(text))))
			continue;
		fprintf(r.f, "  %s: ", name);
		if (strstr(name, "/gids/"))
			print_text(line);
		else if (strstr(name, "/ndevs/"))
			print_netdev(line);
		else
			fputs(line, r.f);
		fputs(strstr(name, "counters/") && krp_hwcnt_is_error(strrchr(name, '/') + 1) ?
			      " !\n" :
			      "\n",
		      r.f);
	}
	globfree(&found);
}

static void print_drivers(void)
{
	static struct krp_environment env;
	struct krp_run_info info = { .port = 1 };
	char path[PATH_MAX];
	glob_t found = { 0 };
	size_t i;

	krp_environment_open(&env, r.root);
	snprintf(path, sizeof(path), "%s%s/*", r.root, KRP_RDMA_DEVICES);
	if (glob(path, 0, NULL, &found))
		fputs("  none\n", r.f);
	for (i = 0; i < found.gl_pathc; i++) {
		krp_escape(info.dev, sizeof(info.dev), strrchr(found.gl_pathv[i], '/') + 1, 64);
		krp_environment_run(&env, &info);
	}
	globfree(&found);
	for (i = 0; i < env.nr_devs; i++)
		fprintf(r.f, "  %s: driver %s\n", env.devs[i].dev,
			*env.devs[i].driver ? env.devs[i].driver : "not known");
	krp_environment_close(&env);
}

/* A record of the kernel's log, "LEVEL,NUMBER,MICROSECONDS,...;TEXT", is wanted if it is about RDMA. */
static bool of_log(const char *line)
{
	const char *text = strchr(line, ';');

	return text && (strcasestr(text, "krping") || strcasestr(text, "rdma") ||
			strcasestr(text, "infiniband"));
}

/* Prints the lines of a file that begin with '#', and the last ones of the others, of /dev/kmsg those about RDMA. */
static void print_last(const char *file, unsigned int most)
{
	char path[PATH_MAX], *last[LAST_LOG] = { NULL }, *line = NULL;
	bool log = !strcmp(file, "/dev/kmsg");
	unsigned int nr = 0, i;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", r.root, file);
	f = open_file(path);
	fprintf(r.f, "\n%s, the last lines%s\n", file, log ? " about RDMA" : "");
	if (!f)
		fprintf(r.f, "  (cannot be read: %s)\n", strerror(errno));
	/* Each read gives one record of the log, for which there has to be room. */
	if (f)
		setvbuf(f, NULL, _IOFBF, 16384);
	while (f && (errno = 0, getline(&line, &room, f) > 0 || errno == EPIPE)) {
		/* EPIPE: a record was overwritten before it was read. */
		if (errno == EPIPE) {
			clearerr(f);
			continue;
		}
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#') {
			print_line(line);
		} else if (!log || of_log(line)) {
			free(last[nr % most]);
			last[nr++ % most] = krp_format("%s", line);
		}
	}
	if (f)
		fclose(f);
	if (f && !nr)
		fputs("  none\n", r.f);
	if (nr > most)
		fprintf(r.f, "  (%u before these)\n", nr - most);
	for (i = nr > most ? nr - most : 0; i < nr; i++)
		print_line(last[i % most]);
	for (i = 0; i < most; i++)
		free(last[i]);
	free(line);
}

void krp_report(FILE *f, const char *root, bool plain)
{
	/* clang-format off */
	static const struct {
		const char *head, *at, *files[16]; /* the last one is NULL */
	} parts[] = {
		{ "host", "/", { "proc/sys/kernel/tainted", "sys/devices/system/cpu/online", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
			"sys/devices/system/cpu/cpu0/cpuidle/*/name", "sys/devices/system/cpu/cpu0/cpuidle/*/latency",
			"sys/devices/system/clocksource/clocksource0/current_clocksource" } },
		{ "module", "/sys/module/rdma_krping/", { "version", "srcversion", "taint", "parameters/*" } },
		{ "RDMA devices; ! counts errors", KRP_RDMA_DEVICES "/", { "*/node_type", "*/fw_ver", "*/board_id", "*/device/numa_node",
			"*/ports/*/*state", "*/ports/*/rate", "*/ports/*/link_layer", "*/ports/*/gids/*", "*/ports/*/gid_attrs/types/*",
			"*/ports/*/gid_attrs/ndevs/*", "*/ports/*/counters/*", "*/hw_counters/*", "*/ports/*/hw_counters/*" } },
	};
	/* clang-format on */
	char now[64], path[PATH_MAX];
	size_t i, k;

	memset(&r, 0, sizeof(r));
	r.f = f;
	r.root = root;
	r.plain = plain;
	uname(&r.host);
	krp_time_rfc3339(now, sizeof(now), krp_time_real());
	fprintf(f, "krping bug-report, %s\n\n", now);
	krp_fold(f,
		 "It has versions, the host's CPUs, the module's parameters, RDMA devices with their ports, GIDs and counters, "
		 "the last runs with their causes, and what the kernel's log says of RDMA.",
		 0, 79);
	krp_fold(f,
		 plain ? "Addresses and names are as they are (--plain)." :
			 "Addresses and labels of runs are replaced by a, b, c..., each by the same everywhere, and this host's "
			 "name by host; names of devices stay.",
		 0, 79);
	krp_fold(f, "It was sent to nobody. Read it before you do.", 0, 79);
	fprintf(f, "\nversions\n  krping %s, libbpf %u.%u, events ABI %u\n  %s %s %s %s %s\n",
		KRP_VERSION, libbpf_major_version(), libbpf_minor_version(), KRPING_EVENTS_ABI,
		r.host.sysname, plain ? r.host.nodename : "host", r.host.release, r.host.version,
		r.host.machine);
	print_files("/etc/", "os-release");
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		fprintf(f, "\n%s\n", parts[i].head);
		snprintf(path, sizeof(path), "%s%s", root, parts[i].at);
		if (access(path, F_OK))
			fprintf(f, "  (%s is not there%s)\n", parts[i].at,
				i == 1 ? ": the module is not loaded" : "");
		else if (i == 2)
			print_drivers();
		for (k = 0; parts[i].files[k]; k++)
			print_files(parts[i].at, parts[i].files[k]);
	}
	print_last(KRP_PROC_RUNS, LAST_RUNS);
	print_last("/dev/kmsg", LAST_LOG);
	while (r.nr_names)
		free(r.names[--r.nr_names]);
	free(r.names);
}
