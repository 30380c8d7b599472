/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of which the tools need little: without it a tool dies. */
#ifndef KRP_LIB_ALLOC_H
#define KRP_LIB_ALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Zeroed. */
void *krp_new(size_t nr, size_t size);
/* Not zeroed; p may be NULL. */
void *krp_resize(void *p, size_t nr, size_t size);
/* Room for nr, where p, which may be NULL, had room for *room of them; what is new is zeroed. */
void *krp_grow(void *p, size_t *room, size_t nr, size_t size);
/* As asprintf(), and vasprintf(). */
char *krp_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *krp_vformat(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* As open_memstream(), and fclose(), behind which the text is whole. */
FILE *krp_text_open(char **text, size_t *size);
void krp_text_close(FILE *f);

#endif /* KRP_LIB_ALLOC_H */
