/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The text of a command for /proc/krping, from the words of a command line. */
#ifndef KRP_KRPING_CMDTEXT_H
#define KRP_KRPING_CMDTEXT_H

#include <stdbool.h>
#include <stddef.h>

#define KRP_PORT_DEFAULT "9999"

struct krp_cmdtext {
	const char *role; /* as it was given */
	char *text;	  /* the text to be written */
	/* For display, and escaped. */
	char *host; /* the address, without brackets; "" for any */
	char *port;
	char *target; /* for people: 10.9.0.1:9999, [fd09::1]:9999, *:9999 */
	bool list;    /* test=protect without a case: all of them are meant */
};

/*
 * Builds the command "role,addr=...,port=...,WORDS". The first word is the
 * address if it looks like one: ADDR, ADDR:PORT, an IPv6 address, [ADDR] or
 * [ADDR]:PORT. All other words are options of the module, or several options
 * between commas, and are passed on unchanged: only the module decides which
 * are valid. addr= and port= among them give the target, too. A client's first
 * word may also be a name, or NAME:PORT: of its addresses it is the first one,
 * with bind= the first one of that kind. The option "protect" is test=protect.
 *
 * Returns 0, or -1 with the error in err.
 */
int krp_cmdtext_build(struct krp_cmdtext *cmd, const char *role, char *const *words,
		      unsigned int nr, char *err, size_t err_size);
/* An address of the host itself, which no RDMA device has: 127.0.0.1, ::1. */
bool krp_cmdtext_is_loopback(const struct krp_cmdtext *cmd);
/* Has the command this option? One with a value ends in "=". */
bool krp_cmdtext_has(const struct krp_cmdtext *cmd, const char *option);
void krp_cmdtext_free(struct krp_cmdtext *cmd);

#endif /* KRP_KRPING_CMDTEXT_H */
