/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of which the tools need little: without it a tool dies. */
#ifndef KRP_LIB_ALLOC_H
#define KRP_LIB_ALLOC_H

#include <stddef.h>

/* Zeroed. */
void *krp_new(size_t nr, size_t size);
/* Not zeroed; p may be NULL. */
void *krp_resize(void *p, size_t nr, size_t size);
/* Room for nr, where p, which may be NULL, had room for *room of them; what is new is zeroed. */
void *krp_grow(void *p, size_t *room, size_t nr, size_t size);

#endif /* KRP_LIB_ALLOC_H */
