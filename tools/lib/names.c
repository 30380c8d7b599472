// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "names.h"
#include "../../trace/krping_abi.h"

/* clang-format off */
#define NAMES(name, ...) \
	static const char *const name##_names[] = { __VA_ARGS__ }; \
	const struct krp_names krp_##name##_names = { name##_names, sizeof(name##_names) / sizeof(*name##_names) };

#define x(n, s) s,
NAMES(role, KRPING_ROLES(x))
NAMES(test, KRPING_TESTS(x))
NAMES(poll, KRPING_POLLS(x))
NAMES(state, KRPING_STATES(x))
NAMES(phase, KRPING_PHASES(x))
NAMES(stage, KRPING_STAGES(x))
NAMES(request, KRPING_REQUESTS(x))
NAMES(wr, KRPING_WRS(x))
NAMES(mr_state, KRPING_MR_STATES(x))
NAMES(judgement, KRPING_JUDGEMENTS(x))
NAMES(block_op, KRPING_BLOCKS(x))
#undef x
#define x(n, s, v, w) s,
NAMES(protect_case, KRPING_CASES(x))
#undef x

/* enum rdma_cm_event_type */
NAMES(cm_event,
	"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
	"CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
	"DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",
	"TIMEWAIT_EXIT")

/* enum ib_event_type */
NAMES(ib_event,
	"CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "PATH_MIG",
	"PATH_MIG_ERR", "DEVICE_FATAL", "PORT_ACTIVE", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE",
	"SM_CHANGE", "SRQ_ERR", "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER",
	"GID_CHANGE", "WQ_FATAL")

/* enum ib_wc_status */
NAMES(wc_status,
	"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
	"MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR",
	"REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR", "FATAL_ERR", "RESP_TIMEOUT_ERR",
	"GENERAL_ERR")

/* clang-format on */

const char *krp_name(const struct krp_names *names, uint64_t number)
{
	return number < names->nr ? names->v[number] : "?";
}

int krp_name_find(const struct krp_names *names, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < names->nr; i++) {
		if (strlen(names->v[i]) == len && !strncmp(name, names->v[i], len))
			return i;
	}
	return -1;
}
