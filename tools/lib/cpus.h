/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which numbers CPUs can have. */
#ifndef KRP_LIB_CPUS_H
#define KRP_LIB_CPUS_H

#define KRP_CPUS_POSSIBLE "/sys/devices/system/cpu/possible"

/*
 * One more than the highest number in a list as "0-3,8-11"; -EINVAL: it is no such list. What is indexed by CPU needs
 * so many: numbers may be left out, so that there are fewer CPUs than that.
 */
int krp_cpu_ids_of(const char *list);
/* Of the CPUs that this machine can have: as krp_cpu_ids_of(), or another negative errno. */
int krp_cpu_ids(void);

#endif /* KRP_LIB_CPUS_H */
