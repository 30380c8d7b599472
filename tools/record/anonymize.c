// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "../lib/events.h"
#include "../lib/tool.h"
#include "anonymize.h"

/* What was replaced: the kind, and the text. */
struct alias {
	unsigned int nr;
	char real[];
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct alias *)a)->real, ((const struct alias *)b)->real);
}

/* The texts of a kind, which is a letter, have numbers as they come. */
static unsigned int number_of(char kind, const char *text)
{
	static unsigned int nr[128];
	static void *root;
	struct alias *a = krp_new(1, sizeof(*a) + strlen(text) + 2), **found;

	a->real[0] = kind;
	strcpy(a->real + 1, text);
	found = tsearch(a, &root, compare);
	if (!found)
		krp_die("out of memory");
	if (*found == a)
		a->nr = ++nr[(int)kind];
	else
		free(a);
	return (*found)->nr;
}

static unsigned int pid_of(unsigned int pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", pid);
	return pid ? number_of('p', text) : 0;
}

/* By 10.0.0.1 and so on, whichever family it is of. */
static void replace_addr(struct in6_addr *a)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t v4;

	inet_ntop(AF_INET6, a, text, sizeof(text));
	v4 = htonl(10 << 24 | number_of('a', text));
	*a = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&a->s6_addr[12], &v4, sizeof(v4));
}

/* The text of an event; what is behind its NUL is of other events. */
static void replace_text(char *text, size_t size, const char *what)
{
	char old[KRP_TEXT_MAX];

	snprintf(old, sizeof(old), "%.*s", (int)size - 1, text);
	memset(text, 0, size);
	if (what && *old)
		snprintf(text, size, "%s-%u", what, number_of(*what, old));
	else
		strcpy(text, old);
}

void anonymize_event(struct krp_event_head *h)
{
	const struct krp_event_info *e = &krp_events[h->event];
	bool start = h->event == KRP_EV_run_start;
	__u64 *args = (__u64 *)(h + 1);
	char *text = (char *)(args + e->nr_args);

	h->tid = pid_of(h->tid);
	if (start)
		args[KRP_ARG_run_start_pid] = pid_of(args[KRP_ARG_run_start_pid]);
	if (h->event == KRP_EV_addr) {
		replace_addr((struct in6_addr *)&args[KRP_ARG_addr_src_hi]);
		replace_addr((struct in6_addr *)&args[KRP_ARG_addr_dst_hi]);
	}
	/* Other texts are names of devices. */
	if (e->text >= 0)
		replace_text(text, KRP_TEXT_MAX, start ? "comm" : NULL);
	if (e->label >= 0)
		replace_text(text + KRP_TEXT_MAX, KRPING_NAME_MAX, "name");
}

/* A.B.C.D:PORT or [A:B::]:PORT */
static void print_addr(FILE *f, char *value)
{
	struct in6_addr a = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	char *port = strrchr(value, ':'), text[INET_ADDRSTRLEN];
	bool v6 = *value == '[';

	value[strcspn(value, v6 ? "]" : ":")] = '\0';
	if (!port || inet_pton(v6 ? AF_INET6 : AF_INET, value + v6, &a.s6_addr[v6 ? 0 : 12]) != 1) {
		fputc('-', f);
		return;
	}
	replace_addr(&a);
	fprintf(f, "%s:%s", inet_ntop(AF_INET, &a.s6_addr[12], text, sizeof(text)), port + 1);
}

char *anonymize_runs(char *word)
{
	char *text, *end, between;
	size_t size;
	FILE *f = krp_text_open(&text, &size);

	/* The reason, in quotes, is the last word of its line. A last line without its end is none. */
	for (; *word; word = end + 1) {
		end = word + strcspn(word, strncmp(word, "reason=", 7) ? " \n" : "\n");
		if (!*end)
			break;
		between = *end;
		*end = '\0';
		fprintf(f, "%.*s", (int)strcspn(word, "=") + 1, word);
		if (!strncmp(word, "src=", 4) || !strncmp(word, "dst=", 4))
			print_addr(f, word + 4);
		else if (!strncmp(word, "pid=", 4))
			fprintf(f, "%u", pid_of(strtoul(word + 4, NULL, 10)));
		else if (!strncmp(word, "name=", 5) && strcmp(word, "name=-"))
			fprintf(f, "name-%u", number_of('n', word + 5));
		else if (!strncmp(word, "reason=", 7))
			fputs("\"\"", f);
		else if (strchr(word, '='))
			fputs(strchr(word, '=') + 1, f);
		fputc(between, f);
	}
	krp_text_close(f);
	return text;
}
