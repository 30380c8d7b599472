// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "names.h"
#include "runinfo.h"

static uint32_t moves_of(uint32_t test)
{
	switch (test) {
	case KRPING_TEST_FR:
	case KRPING_TEST_PROTECT:
		return 0;
	case KRPING_TEST_RPING:
	case KRPING_TEST_WLAT:
		return 2;
	default:
		return 1;
	}
}

const struct krp_run_info *krp_run_info_of(const struct krp_head *head)
{
	static struct krp_run_info info;

	if (head->late)
		return NULL;
	info = (struct krp_run_info){ .id = head->run };
	snprintf(info.role, sizeof(info.role), "%s", krp_name(&krp_role_names, head->role));
	snprintf(info.test, sizeof(info.test), "%s", krp_name(&krp_test_names, head->test));
	/* The bits begin with that of the context 1. */
	snprintf(info.poll_ctx, sizeof(info.poll_ctx), "%s",
		 krp_name(&krp_poll_names, ffs(head->flags / KRPING_RUN_F_SOFTIRQ)));
	krp_escape(info.name, sizeof(info.name), head->name, sizeof(head->name));
	krp_escape(info.dev, sizeof(info.dev), head->dev, sizeof(head->dev));
	if (!*head->dev)
		strcpy(info.dev, "-");
	info.peer_run = head->peer_run;
	info.port = head->port;
	info.qp = head->qp;
	info.size = head->size;
	info.moves = moves_of(head->test);
	info.count = head->count;
	info.pid = head->pid;
	info.parent = head->parent;
	info.start_ns = head->t_first;
	return &info;
}
