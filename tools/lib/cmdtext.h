/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The text of a command for /proc/krping, from the words of a command line. */
#ifndef KRP_LIB_CMDTEXT_H
#define KRP_LIB_CMDTEXT_H

#include <stddef.h>

#define KRP_PORT_DEFAULT "9999"

struct krp_cmdtext {
	const char *role; /* as it was given */
	char *text;	  /* what is to be written */
	/* To be shown, and escaped. */
	char *host; /* the address, without brackets; "" for any */
	char *port;
	char *target; /* for people: 10.9.0.1:9999, [fd09::1]:9999, *:9999 */
};

/*
 * Builds the command "role,addr=...,port=...,WORDS". The first word is the
 * address if it looks like one: ADDR, ADDR:PORT, an IPv6 address, [ADDR] or
 * [ADDR]:PORT. All others, which may be several between commas each, are
 * options of the module and are passed on as they are: what they may be is for
 * the module alone to say. addr= and port= among them are taken for the target.
 *
 * 0, or -1 and in err what is wrong.
 */
int krp_cmdtext_build(struct krp_cmdtext *cmd, const char *role, char *const *words,
		      unsigned int nr, char *err, size_t err_size);
void krp_cmdtext_free(struct krp_cmdtext *cmd);

#endif /* KRP_LIB_CMDTEXT_H */
