// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdint.h>
#include <stdio.h>

#include "out.h"
#include "split.h"

void krp_split_text(char *buf, size_t size, const struct krp_split *split)
{
	uint64_t all = split->own_host_ns + split->peer_host_ns + split->network_ns;
	double percent = all ? 100.0 / all : 0;

	buf[0] = '\0';
	if (!split->iters)
		return;
	snprintf(buf, size,
		 "own host %s %.0f %%, peer's host %s %.0f %%, network and devices %s %.0f %%",
		 krp_ns(split->own_host_ns / split->iters).s, split->own_host_ns * percent,
		 krp_ns(split->peer_host_ns / split->iters).s, split->peer_host_ns * percent,
		 krp_ns(split->network_ns / split->iters).s, split->network_ns * percent);
}

void krp_split_json(json_object *o, const struct krp_split *split)
{
	krp_json_u64(o, "split_iters", split->iters);
	krp_json_u64(o, "own_host_ns", split->own_host_ns);
	krp_json_u64(o, "peer_host_ns", split->peer_host_ns);
	krp_json_u64(o, "network_ns", split->network_ns);
}

struct krp_split krp_split_since(const struct krp_split *now, const struct krp_split *before)
{
	return (struct krp_split){
		.iters = now->iters - before->iters,
		.own_host_ns = now->own_host_ns - before->own_host_ns,
		.peer_host_ns = now->peer_host_ns - before->peer_host_ns,
		.network_ns = now->network_ns - before->network_ns,
	};
}
