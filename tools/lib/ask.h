/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Asks the module for what an event costs, where /proc tells the figures. */
#ifndef KRP_LIB_ASK_H
#define KRP_LIB_ASK_H

/*
 * Attaches to the event until what it returns is closed, also by the end of the tool. Dies
 * with the cause if it cannot.
 */
int krp_ask(const char *event);

#endif /* KRP_LIB_ASK_H */
