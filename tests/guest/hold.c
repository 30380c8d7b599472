// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds RDMA resources of a link until it is killed: a planted leak, for tests
 * that look for leaks.
 *
 *	hold DEVICE ADDRESS KIND...
 *
 * KIND is ctx, pd, cq, mr, qp, srq or cm_id; each comes with the resources that
 * it needs itself. Prints "holds" when it has all of them.
 *
 * krping-link: -lrdmacm -libverbs
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char buffer[4096];

/* Nothing here is freed: the kernel does that when the process ends. */
static void *have(const char *what, void *p)
{
	if (!p) {
		fprintf(stderr, "hold: %s: %m\n", what);
		exit(1);
	}
	return p;
}

static struct ibv_context *have_ctx(const char *name)
{
	struct ibv_device **list = have("devices", ibv_get_device_list(NULL));

	if (ctx)
		return ctx;
	while (*list && strcmp(ibv_get_device_name(*list), name))
		list++;
	ctx = have(name, *list ? ibv_open_device(*list) : NULL);
	return ctx;
}

static struct ibv_pd *have_pd(void)
{
	if (!pd)
		pd = have("pd", ibv_alloc_pd(ctx));
	return pd;
}

static struct ibv_cq *have_cq(void)
{
	if (!cq)
		cq = have("cq", ibv_create_cq(ctx, 4, NULL, NULL, 0));
	return cq;
}

static void have_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = have_cq(),
		.recv_cq = have_cq(),
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};

	have("qp", ibv_create_qp(have_pd(), &attr));
}

static void have_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };

	have("srq", ibv_create_srq(have_pd(), &attr));
}

/* A cm_id belongs to a link as soon as it is bound to one of the link's addresses. */
static void have_cm_id(const char *address)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	if (inet_pton(AF_INET, address, &sin.sin_addr) != 1 ||
	    rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&sin))
		have("cm_id", NULL);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: hold DEVICE ADDRESS KIND...\n");
		return 2;
	}
	for (i = 3; i < argc; i++) {
		const char *kind = argv[i];

		if (!strcmp(kind, "cm_id")) {
			have_cm_id(argv[2]);
			continue;
		}
		have_ctx(argv[1]);
		if (!strcmp(kind, "pd"))
			have_pd();
		else if (!strcmp(kind, "cq"))
			have_cq();
		else if (!strcmp(kind, "mr"))
			have("mr",
			     ibv_reg_mr(have_pd(), buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE));
		else if (!strcmp(kind, "qp"))
			have_qp();
		else if (!strcmp(kind, "srq"))
			have_srq();
		else if (strcmp(kind, "ctx"))
			return 2;
	}
	puts("holds");
	fflush(stdout);
	while (1)
		pause();
}
