/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_PROC_H
#define KRPING_PROC_H

int krping_proc_init(void);
void krping_proc_exit(void);

#endif /* KRPING_PROC_H */
