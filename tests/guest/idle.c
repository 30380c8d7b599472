// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many clients of one server that connect, and say nothing until the process is killed:
 *
 *	idle N ADDRESS PORT
 *
 * Prints "N connected" when all are. They send no private data, so a krping
 * takes them for classic clients. Clients that ping would keep an emulated guest
 * so busy that others could not connect beside them.
 *
 * krping-link: -lrdmacm -libverbs
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "idle: %s: %m\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct rdma_cm_id *id;
	int nr, i;

	if (argc != 4) {
		fprintf(stderr, "usage: idle N ADDRESS PORT\n");
		return 2;
	}
	nr = atoi(argv[1]);
	check(rdma_getaddrinfo(argv[2], argv[3], &hints, &res), "the address");
	for (i = 0; i < nr; i++) {
		check(rdma_create_ep(&id, res, NULL, &attr), "making an endpoint");
		check(rdma_connect(id, &param), "connecting");
	}
	printf("%d connected\n", nr);
	fflush(stdout);
	for (;;)
		pause();
}
