// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "cmdtext.h"
#include "../lib/escape.h"

struct address {
	char host[INET6_ADDRSTRLEN + 32]; /* an address and a zone */
	char port[8];			  /* "": none was given */
	bool v6;
};

/*
 * An option is letters, perhaps with a value behind "=". A bare IPv6 address
 * may begin with a letter, too, but no option has a colon in its name.
 */
static bool looks_like_address(const char *word)
{
	size_t name = strcspn(word, "=,");

	return (*word && strchr("0123456789[:.", *word)) || memchr(word, ':', name);
}

/* Checks s without its zone, which inet_pton() does not know: fe80::1%eth0. */
static bool is_ipv6(const char *s)
{
	char addr[INET6_ADDRSTRLEN];
	struct in6_addr in6;
	size_t len = strcspn(s, "%");

	if (len >= sizeof(addr) || (s[len] && !s[len + 1]))
		return false;
	memcpy(addr, s, len);
	addr[len] = '\0';
	return inet_pton(AF_INET6, addr, &in6) == 1;
}

static bool is_ipv4(const char *s)
{
	struct in_addr in;

	return inet_pton(AF_INET, s, &in) == 1;
}

/* Checks for digits only; the module decides which numbers are a port. */
static bool is_port(const char *s)
{
	return *s && strlen(s) < sizeof(((struct address *)0)->port) && !s[strspn(s, "0123456789")];
}

/* Looks for the first address in the order of getaddrinfo(), which is that of the host's administrator. */
static int look_up(const char *name, int family, char *host, size_t size)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM }, *found;
	int err = getaddrinfo(name, NULL, &hints, &found);

	if (err)
		return err;
	err = getnameinfo(found->ai_addr, found->ai_addrlen, host, size, NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	return err;
}

/* Of which kind the address has to be that a name stands for: of that of bind=, if there is one. */
static int family_of(const char *bind)
{
	if (!bind)
		return AF_UNSPEC;
	return strchr(bind, ':') ? AF_INET6 : AF_INET;
}

/* Parses ADDR, ADDR:PORT, [IPV6]:PORT, or a name in place of ADDR, which is looked up. */
static bool parse_address(const char *word, int family, struct address *a, char *err,
			  size_t err_size)
{
	char buf[256], *host = buf, *port = NULL, *end = NULL;
	struct in_addr in;
	int ret;

	memset(a, 0, sizeof(*a));
	snprintf(buf, sizeof(buf), "%s", word);
	if (*buf == '[') {
		end = strchr(++host, ']');
		port = end && end[1] == ':' ? end + 2 : NULL;
	} else if (!is_ipv6(buf)) {
		end = strchr(host, ':');
		port = end ? end + 1 : NULL;
	}
	/* What is behind a bracket is a port, or nothing. */
	if (strlen(word) >= sizeof(buf) || strpbrk(word, ",= \t\r\n") || (port && !is_port(port)) ||
	    (*buf == '[' && (!end || (!port && end[1]))))
		goto none;
	if (end)
		*end = '\0';
	strcpy(a->port, port ?: "");
	a->v6 = is_ipv6(host);
	/* Brackets are for IPv6 alone. */
	if (!*host || strpbrk(host, "[]") || (*buf == '[' && !a->v6) ||
	    (a->v6 && strlen(host) >= sizeof(a->host)))
		goto none;
	if (a->v6 || is_ipv4(host)) {
		strcpy(a->host, host);
		return true;
	}
	/*
	 * An abbreviated address, such as "10.9" for "10.0.0.9", is more likely
	 * a mistake than intended.
	 */
	if (host[strspn(host, "0123456789.")] == '\0' || inet_aton(host, &in)) {
		snprintf(err, err_size, "%s: not an IPv4 address", host);
		return false;
	}
	ret = look_up(host, family, a->host, sizeof(a->host));
	if (ret)
		snprintf(err, err_size,
			 "%s: neither an address, nor a name that can be looked up: %s", host,
			 gai_strerror(ret));
	a->v6 = is_ipv6(a->host);
	return !ret;
none:
	snprintf(err, err_size,
		 "%s: not an address: ADDR, ADDR:PORT, [IPV6]:PORT, or a name with or without :PORT",
		 word);
	return false;
}

/* The value of the last option of this name among the words, or NULL; freed by the caller. */
static char *find_option(const char *name, char *const *words, unsigned int nr)
{
	size_t len = strlen(name);
	char *found = NULL;
	const char *p;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		for (p = words[i]; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
			if (strncmp(p, name, len) || p[len] != '=')
				continue;
			free(found);
			found = krp_format("%.*s", (int)strcspn(p + len + 1, ","), p + len + 1);
		}
	}
	return found;
}

static void write_word(FILE *f, const char *word)
{
	size_t len;

	for (;; word += len + 1) {
		len = strcspn(word, ",");
		fprintf(f, ",%s%.*s",
			len == strlen("protect") && !strncmp(word, "protect", len) ? "test=" : "",
			(int)len, word);
		if (!word[len])
			break;
	}
}

static char *write_text(const char *role, const struct address *a, bool any, const char *port,
			char *const *words, unsigned int nr)
{
	unsigned int i;
	size_t size;
	char *text;
	FILE *f = krp_text_open(&text, &size);

	fputs(role, f);
	if (!any)
		fprintf(f, ",%s=%s", a->v6 ? "addr6" : "addr", a->host);
	if (port)
		fprintf(f, ",port=%s", port);
	for (i = 0; i < nr; i++) {
		if (*words[i])
			write_word(f, words[i]);
	}
	krp_text_close(f);
	return text;
}

bool krp_cmdtext_has(const struct krp_cmdtext *cmd, const char *option)
{
	size_t len = strlen(option);
	const char *p;

	for (p = strchr(cmd->text, ','); p; p = strchr(p + 1, ',')) {
		if (!strncmp(p + 1, option, len) &&
		    (option[len - 1] == '=' || !p[1 + len] || p[1 + len] == ','))
			return true;
	}
	return false;
}

int krp_cmdtext_build(struct krp_cmdtext *cmd, const char *role, char *const *words,
		      unsigned int nr, char *err, size_t err_size)
{
	char *own_host, *own_port, *bind;
	const char *port = NULL;
	struct address a = { 0 };
	bool given;

	memset(cmd, 0, sizeof(*cmd));
	cmd->role = role;
	own_host = find_option("addr", words, nr) ?: find_option("addr6", words, nr);
	/* A client needs an address, so its first word is one, or a name for one. */
	given = nr && (looks_like_address(words[0]) ||
		       (!strcmp(role, "client") && !own_host && !strpbrk(words[0], "=,")));
	bind = find_option("bind", words, nr);
	if (given && !parse_address(words[0], family_of(bind), &a, err, err_size)) {
		free(own_host);
		free(bind);
		return -1;
	}
	free(bind);
	words += given;
	nr -= given;
	own_port = find_option("port", words, nr);
	if (!given && !own_host && !strcmp(role, "client")) {
		snprintf(err, err_size,
			 "a client needs the server's address: \"krping client 10.9.0.1\"");
		free(own_port);
		return -1;
	}
	/* If both are given, both are passed on, so that the module reports the conflict. */
	if (*a.port)
		port = a.port;
	else if (!own_port)
		port = KRP_PORT_DEFAULT;
	cmd->text = write_text(role, &a, !given, port, words, nr);
	cmd->list = krp_cmdtext_has(cmd, "test=protect") && !krp_cmdtext_has(cmd, "case=");
	cmd->host = krp_escape_dup(given ? a.host : own_host ?: "");
	cmd->port = krp_escape_dup(port ?: own_port);
	cmd->target = krp_format(strchr(cmd->host, ':') ? "[%s]:%s" : "%s:%s",
				 *cmd->host ? cmd->host : "*", cmd->port);
	free(own_host);
	free(own_port);
	return 0;
}

bool krp_cmdtext_is_loopback(const struct krp_cmdtext *cmd)
{
	struct in6_addr in6;

	return (is_ipv4(cmd->host) && !strncmp(cmd->host, "127.", 4)) ||
	       (inet_pton(AF_INET6, cmd->host, &in6) == 1 && IN6_IS_ADDR_LOOPBACK(&in6));
}

void krp_cmdtext_free(struct krp_cmdtext *cmd)
{
	free(cmd->text);
	free(cmd->host);
	free(cmd->port);
	free(cmd->target);
	memset(cmd, 0, sizeof(*cmd));
}
