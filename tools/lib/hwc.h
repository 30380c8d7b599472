/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The counters that an RDMA device keeps of a port: "rdma statistic show". */
#ifndef KRP_LIB_HWC_H
#define KRP_LIB_HWC_H

#include <stddef.h>
#include <stdint.h>

#define KRP_HWC_ROOT	"/sys/class/infiniband"
#define KRP_HWC_NAME	64

struct krp_hwc {
	char name[KRP_HWC_NAME];
	uint64_t value;
};

/* By name. */
struct krp_hwcs {
	struct krp_hwc *v;
	size_t nr;
};

/* 0 or -errno; -ENOENT where the device has none. root is KRP_HWC_ROOT but in tests. */
int krp_hwc_read(struct krp_hwcs *to, const char *root, const char *dev, unsigned int port);
/*
 * What moved, as differences; a counter that is in one of them only, or went
 * back, is left out.
 */
void krp_hwc_diff(struct krp_hwcs *to, const struct krp_hwcs *from, const struct krp_hwcs *now);
void krp_hwc_free(struct krp_hwcs *c);

#endif /* KRP_LIB_HWC_H */
