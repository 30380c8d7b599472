/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_DISPATCH_H
#define KRPING_DISPATCH_H

#include <linux/types.h>

struct list_head;

int krping_dispatch(struct list_head *away, char *text, size_t len);
void krping_dispatch_gone(struct list_head *away);

#endif /* KRPING_DISPATCH_H */
