/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks every write to standard output. */
#ifndef KRP_LIB_CHECKED_H
#define KRP_LIB_CHECKED_H

/*
 * From here on a write to stdout that fails, be it the last one at exit, ends the tool: one line on stderr with the
 * errno's name, and KRP_EXIT_ENV. To be called once, before anything is printed; krp_tool.name is known.
 *
 * The action of SIGPIPE stays as it is: by default it ends us without a message, like every tool in front of head(1).
 * If it is ignored, a closed pipe is such an error, too.
 */
void krp_check_stdout(void);

#endif /* KRP_LIB_CHECKED_H */
