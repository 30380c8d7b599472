/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRP_LIB_DIE_H
#define KRP_LIB_DIE_H

/* A message, as krp_error() has it, and the end of the tool with KRP_EXIT_ENV. */
void krp_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif /* KRP_LIB_DIE_H */
