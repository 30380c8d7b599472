/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names from elsewhere, made safe to print. A task chooses its comm, an administrator the name of a device, a peer the
 * words of a refusal: in them may be control sequences for the terminal, or bytes that are no UTF-8. They are escaped
 * here when they come in, and are printable ASCII from then on: in columns, in JSON and in CSV alike.
 */
#ifndef KRP_LIB_ESCAPE_H
#define KRP_LIB_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for what a buffer of this size may become. */
#define KRP_ESCAPED(size) (((size)-1) * 4 + 1)

/*
 * A name, of max bytes at most: a byte that is not printable ASCII becomes \x and two hexadecimal digits, a backslash
 * becomes two, so that different names stay different. An escape that does not fit is left out whole. Returns buf.
 */
char *krp_escape(char *buf, size_t size, const char *name, size_t max);
/* The same, in memory that the caller frees; NULL: there is none. */
char *krp_escape_dup(const char *name);
/* The name that it was. false: it does not fit, or krp_escape() does not write such. */
bool krp_unescape(char *buf, size_t size, const char *escaped);

/*
 * The same bytes are escaped, but a backslash stays: for a text that has escaped names in it, and for what was read back
 * from our own JSON. Done twice it is the same as once.
 */
char *krp_clean(char *buf, size_t size, const char *text);
char *krp_clean_dup(const char *text);
/* krp_clean() would change nothing. */
bool krp_is_clean(const char *text);

#endif /* KRP_LIB_ESCAPE_H */
