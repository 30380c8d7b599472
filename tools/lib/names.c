// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "names.h"
#include "../../trace/krping_abi.h"

#define x(n, s) s,
static const char *const roles[] = { KRPING_ROLES(x) };
static const char *const tests[] = { KRPING_TESTS(x) };
static const char *const polls[] = { KRPING_POLLS(x) };
static const char *const states[] = { KRPING_STATES(x) };
static const char *const phases[] = { KRPING_PHASES(x) };
static const char *const stages[] = { KRPING_STAGES(x) };
static const char *const requests[] = { KRPING_REQUESTS(x) };
static const char *const wrs[] = { KRPING_WRS(x) };
static const char *const mr_states[] = { KRPING_MR_STATES(x) };
static const char *const judgements[] = { KRPING_JUDGEMENTS(x) };
static const char *const blocks[] = { KRPING_BLOCKS(x) };
#undef x
#define x(n, s, v, w) s,
static const char *const cases[] = { KRPING_CASES(x) };
#undef x

/* clang-format off */
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

#define NAMES(t)	{ t, sizeof(t) / sizeof(*(t)) }
/* clang-format on */
const struct krp_names krp_role_names = NAMES(roles);
const struct krp_names krp_test_names = NAMES(tests);
const struct krp_names krp_poll_names = NAMES(polls);
const struct krp_names krp_state_names = NAMES(states);
const struct krp_names krp_phase_names = NAMES(phases);
const struct krp_names krp_stage_names = NAMES(stages);
const struct krp_names krp_request_names = NAMES(requests);
const struct krp_names krp_wr_names = NAMES(wrs);
const struct krp_names krp_mr_state_names = NAMES(mr_states);
const struct krp_names krp_case_names = NAMES(cases);
const struct krp_names krp_judgement_names = NAMES(judgements);
const struct krp_names krp_block_names = NAMES(blocks);
const struct krp_names krp_cm_event_names = NAMES(cm_events);
const struct krp_names krp_ib_event_names = NAMES(ib_events);
const struct krp_names krp_wc_status_names = NAMES(wc_statuses);

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
