/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks every write to standard output. */
#ifndef KRP_LIB_CHECKED_H
#define KRP_LIB_CHECKED_H

#include <stddef.h>

/* Called with the errno of a write to stdout that failed. It may not return, nor call exit(), which would write again. */
typedef void krp_write_failed_fn(int err);

/*
 * From here on a write to stdout that fails, be it the last one at exit, calls FAILED. To be called once, before anything
 * is printed.
 *
 * SIGPIPE is ignored, so that a pipe which nobody reads any more is such an error, too (EPIPE), and ends each tool in the same way,
 * however many writes it makes.
 */
void krp_check_stdout(krp_write_failed_fn *failed);

/*
 * Prints SIZE bytes of TEXT, behind all that was printed before, with one call of write(2), so that no other process writes
 * into the middle of it. A failure is that of any print.
 */
void krp_write_whole(const char *text, size_t size);

#endif /* KRP_LIB_CHECKED_H */
