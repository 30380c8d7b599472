/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What observers ask krping_iter for.
 */
#ifndef KRPING_OBSERVE_H
#define KRPING_OBSERVE_H

struct proc_dir_entry;

struct proc_dir_entry *krping_observe_create(void);

#endif /* KRPING_OBSERVE_H */
