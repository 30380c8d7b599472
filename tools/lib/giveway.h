/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Lets the pings go first as long as there is time to read what they tell. */
#ifndef KRP_LIB_GIVEWAY_H
#define KRP_LIB_GIVEWAY_H

/* From here on we take our priority back. */
#define KRP_FAR_BEHIND 50

/*
 * Lets us have a CPU only where nobody else wants it, or nearly so (SCHED_IDLE): if there are
 * more runs than CPUs, our evaluation waits, and the rings hold the records for a while. To be
 * called with how much of a ring was not read yet, in per cent: the priority is as before when
 * that is much. A priority that the user has chosen is kept.
 */
void krp_give_way(unsigned int behind);

#endif /* KRP_LIB_GIVEWAY_H */
