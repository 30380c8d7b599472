/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Asks the module for what krping_iter has only while somebody asks for it. */
#ifndef KRP_LIB_OBSERVE_H
#define KRP_LIB_OBSERVE_H

#define KRP_PROC_OBSERVE "/proc/krping_observe"

/*
 * Asks for the words of these names (KRPING_OBSERVES), separated by spaces, until what it
 * returns is closed, or this process ends. Dies if the module does not do that.
 */
int krp_observe(const char *names);

#endif /* KRP_LIB_OBSERVE_H */
