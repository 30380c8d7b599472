/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The signals that stop a tool: the first one, after which it says what it has to say, and the next one. */
#ifndef KRP_LIB_STOP_H
#define KRP_LIB_STOP_H

#include <signal.h>

/* Blocks INT, TERM and HUP, and returns them; without HUP where that is ignored, as under nohup. */
void krp_stop_signals(sigset_t *stop);

/*
 * A first signal to stop came, one of these, which the calling thread blocks. The next one kills, unless it comes within half
 * a second: then it belongs to the first. Two Ctrl-C are always two.
 */
void krp_next_signal_kills(const sigset_t *stop, const siginfo_t *first);

#endif /* KRP_LIB_STOP_H */
