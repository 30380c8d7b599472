// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that takes part in one ping, and then neither leaves nor does anything
 * else until it is killed:
 *
 *	stay server|client ADDRESS PORT [RECVS]
 *
 * It sends the private data of a krping, so that the other end takes it for one
 * and, if the protocol says so, waits for it to leave. A client posts RECVS
 * receives (2) for the two messages that it gets: with 1, the other end's last
 * SEND finds none. It prints "stays" when it has done its part of the ping.
 *
 * krping-link: -lrdmacm -libverbs
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "priv.h"

#define SIZE 64 /* of the ping */

struct adv {
	uint64_t addr;
	uint32_t rkey, len;
};

static char data[SIZE];
static struct adv rx[2], tx[2];
static struct ibv_mr *rx_mr, *tx_mr, *data_mr;
static struct rdma_cm_id *id;

static void fatal(const char *what)
{
	fprintf(stderr, "stay: %s: %m\n", what);
	exit(1);
}

static void check(int err, const char *what)
{
	if (err)
		fatal(what);
}

static void sent(const char *what)
{
	struct ibv_wc wc;

	if (rdma_get_send_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		fatal(what);
}

static void say(int i, const void *addr)
{
	tx[i].addr = htobe64((uintptr_t)addr);
	tx[i].rkey = htonl(addr ? data_mr->rkey : 0);
	tx[i].len = htonl(addr ? SIZE : 0);
	check(rdma_post_send(id, NULL, &tx[i], sizeof(tx[i]), tx_mr, IBV_SEND_SIGNALED),
	      "posting a SEND");
	sent("a SEND");
}

static void hear(void)
{
	struct ibv_wc wc;

	if (rdma_get_recv_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		fatal("a RECV");
}

static void prepare(int recvs)
{
	int i;

	rx_mr = rdma_reg_msgs(id, rx, sizeof(rx));
	tx_mr = rdma_reg_msgs(id, tx, sizeof(tx));
	data_mr = ibv_reg_mr(id->pd, data, SIZE,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				     IBV_ACCESS_REMOTE_WRITE);
	if (!rx_mr || !tx_mr || !data_mr)
		fatal("registering memory");
	for (i = 0; i < recvs; i++)
		check(rdma_post_recv(id, NULL, &rx[i], sizeof(rx[i]), rx_mr), "posting a RECV");
}

static void client(struct rdma_conn_param *param)
{
	check(rdma_connect(id, param), "connecting");
	say(0, data);
	hear();
	say(1, data);
}

static void server(struct rdma_conn_param *param)
{
	int i;

	check(rdma_accept(id, param), "accepting");
	for (i = 0; i < 2; i++) {
		uint64_t addr;
		uint32_t rkey;

		hear();
		addr = be64toh(rx[i].addr);
		rkey = ntohl(rx[i].rkey);
		if (!i)
			check(rdma_post_read(id, NULL, data, SIZE, data_mr, IBV_SEND_SIGNALED, addr,
					     rkey),
			      "posting a READ");
		else
			check(rdma_post_write(id, NULL, data, SIZE, data_mr, IBV_SEND_SIGNALED,
					      addr, rkey),
			      "posting a WRITE");
		sent(i ? "a WRITE" : "a READ");
		say(i, NULL);
	}
}

int main(int argc, char **argv)
{
	struct priv hello = {
		.magic = htonl(PRIV_MAGIC),
		.version = PRIV_VERSION,
		.size = htonl(SIZE),
		.count = htonl(1),
		.nonce = htobe64(1),
		.run = htonl(1),
	};
	struct rdma_conn_param param = {
		.private_data = &hello,
		.private_data_len = sizeof(hello),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct rdma_cm_id *listener;
	int listens = argc > 1 && !strcmp(argv[1], "server");

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: stay server|client ADDRESS PORT [RECVS]\n");
		return 2;
	}
	if (listens)
		hints.ai_flags = RAI_PASSIVE;
	check(rdma_getaddrinfo(argv[2], argv[3], &hints, &res), "the address");
	check(rdma_create_ep(&id, res, NULL, &attr), "making an endpoint");
	if (listens) {
		listener = id;
		check(rdma_listen(listener, 1), "listening");
		puts("listens");
		fflush(stdout);
		check(rdma_get_request(listener, &id), "waiting for a client");
	}
	prepare(argc > 4 ? atoi(argv[4]) : 2);
	if (listens)
		server(&param);
	else
		client(&param);
	puts("stays");
	fflush(stdout);
	for (;;)
		pause();
}
