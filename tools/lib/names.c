// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "names.h"

#define x(n, s) s,
static const char *const roles[] = { KRPING_ROLES(x) };
static const char *const tests[] = { KRPING_TESTS(x) };
static const char *const states[] = { KRPING_STATES(x) };
static const char *const phases[] = { KRPING_PHASES(x) };
static const char *const wrs[] = { KRPING_WRS(x) };
#undef x

/* enum rdma_cm_event_type */
static const char *const cm_events[] = {
	"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
	"CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
	"DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",
	"TIMEWAIT_EXIT",
};

/* enum ib_event_type */
static const char *const ib_events[] = {
	"CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "PATH_MIG",
	"PATH_MIG_ERR", "DEVICE_FATAL", "PORT_ACTIVE", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE",
	"SM_CHANGE", "SRQ_ERR", "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER",
	"GID_CHANGE", "WQ_FATAL",
};

/* enum ib_wc_status */
static const char *const wc_statuses[] = {
	"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
	"MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR",
	"REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR", "FATAL_ERR", "RESP_TIMEOUT_ERR",
	"GENERAL_ERR",
};

#define NAME_OF(table, v)	((v) < sizeof(table) / sizeof(*(table)) ? (table)[v] : "?")

const char *krp_role_name(uint32_t role)
{
	return NAME_OF(roles, role);
}

const char *krp_test_name(uint32_t test)
{
	return NAME_OF(tests, test);
}

const char *krp_state_name(uint32_t state)
{
	return NAME_OF(states, state);
}

const char *krp_phase_name(uint32_t phase)
{
	return NAME_OF(phases, phase);
}

const char *krp_wr_name(uint32_t kind)
{
	return NAME_OF(wrs, kind);
}

const char *krp_cm_event_name(uint32_t event)
{
	return NAME_OF(cm_events, event);
}

const char *krp_ib_event_name(uint32_t event)
{
	return NAME_OF(ib_events, event);
}

const char *krp_wc_status_name(uint32_t status)
{
	return NAME_OF(wc_statuses, status);
}
