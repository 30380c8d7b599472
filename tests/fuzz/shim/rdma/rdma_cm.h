/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The members of an event of rdma_cm that module/agree.c reads, with the kernel's types. */
#ifndef KRP_FUZZ_SHIM_RDMA_CM_H
#define KRP_FUZZ_SHIM_RDMA_CM_H

#include <linux/kernel.h>

struct rdma_conn_param {
	const void *private_data;
	u8 private_data_len;
};

struct rdma_cm_event {
	union {
		struct rdma_conn_param conn;
	} param;
};

#endif /* KRP_FUZZ_SHIM_RDMA_CM_H */
