/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which numbers CPUs can have. */
#ifndef KRP_LIB_CPUS_H
#define KRP_LIB_CPUS_H

#define KRP_CPUS_POSSIBLE "/sys/devices/system/cpu/possible"

/*
 * One more than the highest number in a list such as "0-3,8-11"; -EINVAL: it is no such list. An array that is indexed
 * by CPU needs this many elements: numbers may be missing, so that there can be fewer CPUs than that.
 */
int krp_cpu_ids_of(const char *list);
/* krp_cpu_ids_of() for the CPUs that this machine can have, or another negative errno. */
int krp_cpu_ids(void);

#endif /* KRP_LIB_CPUS_H */
