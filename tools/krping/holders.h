/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Who has a disk open, as far as this process can see them in /proc. */
#ifndef KRP_KRPING_HOLDERS_H
#define KRP_KRPING_HOLDERS_H

#include <stddef.h>

/* Names mounts and processes, on one line without a newline; disk is the name in /sys/class/block. Returns buf. */
char *krp_holders(char *buf, size_t size, const char *disk);

#endif /* KRP_KRPING_HOLDERS_H */
