/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of the numbers in krping's events. Of one that is unknown, as of a newer module: "?". */
#ifndef KRP_LIB_NAMES_H
#define KRP_LIB_NAMES_H

#include <stdint.h>

#include "../../trace/krping_abi.h"

const char *krp_role_name(uint32_t role);
const char *krp_test_name(uint32_t test);
const char *krp_state_name(uint32_t state);
const char *krp_phase_name(uint32_t phase);
const char *krp_wr_name(uint32_t kind);
/* Those of the kernel, without their prefixes RDMA_CM_EVENT_, IB_EVENT_ and IB_WC_. */
const char *krp_cm_event_name(uint32_t event);
const char *krp_ib_event_name(uint32_t event);
const char *krp_wc_status_name(uint32_t status);

#endif /* KRP_LIB_NAMES_H */
