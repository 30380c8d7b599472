/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names of the numbers in krping's events. An unknown number, such as one of a
 * newer module, is "?".
 */
#ifndef KRP_LIB_NAMES_H
#define KRP_LIB_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct krp_names {
	const char *const *v;
	unsigned int nr;
};

extern const struct krp_names krp_role_names, krp_test_names, krp_poll_names, krp_state_names,
	krp_phase_names, krp_stage_names, krp_request_names, krp_wr_names, krp_mr_state_names,
	krp_protect_case_names, krp_judgement_names, krp_block_op_names;
/* Names of the kernel, without their prefixes RDMA_CM_EVENT_, IB_EVENT_ and IB_WC_. */
extern const struct krp_names krp_cm_event_names, krp_ib_event_names, krp_wc_status_names;

const char *krp_name(const struct krp_names *names, uint64_t number);
/* The number of a name, of which len bytes count; -1: there is none. */
int krp_name_find(const struct krp_names *names, const char *name, size_t len);

#endif /* KRP_LIB_NAMES_H */
