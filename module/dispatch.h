/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A command: its text is read, and what it asks for is done.
 */
#ifndef KRPING_DISPATCH_H
#define KRPING_DISPATCH_H

#include <linux/types.h>

int krping_dispatch(const char *text, size_t len);

#endif /* KRPING_DISPATCH_H */
