/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Makes names from elsewhere safe to print. A task chooses its comm, an administrator the name of a device, a peer the
 * words of a refusal: these may contain control sequences for the terminal, or bytes that are no UTF-8. They are
 * escaped here when they come in, and are printable ASCII from then on: in columns, in JSON and in CSV alike.
 */
#ifndef KRP_LIB_ESCAPE_H
#define KRP_LIB_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the escaped text of a buffer of this size. */
#define KRP_ESCAPED(size) (((size)-1) * 4 + 1)

/*
 * Escapes a name of max bytes at most: a byte that is not printable ASCII becomes \x and two hexadecimal digits, a
 * backslash becomes two, so that different names stay different. An escape that does not fit is left out whole. Returns
 * buf.
 */
char *krp_escape(char *buf, size_t size, const char *name, size_t max);
/* Like krp_escape(), but in memory that the caller frees. */
char *krp_escape_dup(const char *name);
/* Restores the original name. false: it does not fit, or krp_escape() does not write such text. */
bool krp_unescape(char *buf, size_t size, const char *escaped);

/*
 * Escapes the same bytes, but keeps a backslash: for a text that has escaped names in it, and for text that was read
 * back from our own JSON. Doing it twice gives the same text as doing it once.
 */
char *krp_clean(char *buf, size_t size, const char *text);
char *krp_clean_dup(const char *text);
/* True if krp_clean() would change nothing. */
bool krp_is_clean(const char *text);

#endif /* KRP_LIB_ESCAPE_H */
