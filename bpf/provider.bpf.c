// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The steps of a software provider, by fentry and fexit of its functions. User space chooses the function of each
 * program among the names that its versions have, and loads no program whose function is not there. The types are
 * those of the provider's BTF: only the members that are named here need to be the same.
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "provider.h"
#include "recorder.bpf.h"
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* clang-format off */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ib_qp { __u32 qp_num; };
struct rxe_qp { struct ib_qp ibqp; };
struct rxe_pkt_info { struct rxe_qp *qp; __u8 opcode; };
struct ib_wc { struct ib_qp *qp; };
struct siw_iwarp_tx { int state; };
struct siw_qp { struct ib_qp base_qp; struct siw_iwarp_tx tx_ctx; };
typedef struct { union { void *data; } arg; } read_descriptor_t;
#pragma clang attribute pop
/* clang-format on */

/* Wakes user space when a quarter of a CPU's ring has come. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wake SEC(".maps");

static __always_inline int mark(const struct ib_qp *qp, __u32 step)
{
	struct rec_event e = { .kind = step, .t = bpf_ktime_get_ns() };
	struct rec_cpu *c;
	__u32 cpu;

	c = rec_this_cpu(&cpu);
	if (!c)
		return 0;
	e.id = BPF_CORE_READ(qp, qp_num);
	if (!((rec_put(c, cpu, &e) + 1) & (rec_size / 4 - 1)))
		bpf_ringbuf_output(&wake, &cpu, sizeof(cpu), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* clang-format off */
#define RXE(qp) (&((struct rxe_qp *)(qp))->ibqp)
#define SIW(qp) (&((struct siw_qp *)(qp))->base_qp)

/* The opcodes of answers, of each transport: READ responses, ACK, and ATOMIC's. */
static __always_inline int is_answer(__u8 opcode)
{
	opcode &= 0x1f;
	return opcode >= 0x0d && opcode <= 0x12;
}

#define ENTRY(name, function, qp, step)                                         \
	SEC("fentry/" function)                                                 \
	int name(__u64 *arg)                                                    \
	{                                                                       \
		return mark(qp(arg[0]), step);                                  \
	}

#define IB(qp) ((struct ib_qp *)(qp))
/* clang-format on */

ENTRY(rxe_post, "rxe_post_send", IB, PROV_POST)
ENTRY(rxe_run, "rxe_requester", RXE, PROV_RUN)
ENTRY(rxe_arrived, "rxe_resp_queue_pkt", RXE, PROV_ARRIVED)
ENTRY(rxe_serve, "rxe_responder", RXE, PROV_SERVE)
ENTRY(rxe_back, "rxe_comp_queue_pkt", RXE, PROV_BACK)
ENTRY(rxe_finish, "rxe_completer", RXE, PROV_FINISH)

/* On the loopback a packet is received inside the call that sends it, so that it leaves when its checksum is made. */
SEC("fexit/rxe_icrc_generate")
int rxe_sent(__u64 *arg)
{
	struct rxe_pkt_info *pkt = (void *)arg[1];

	return mark(RXE(BPF_CORE_READ(pkt, qp)),
		    is_answer(BPF_CORE_READ(pkt, opcode)) ? PROV_ANSWERED : PROV_SENT);
}

/* A kernel's completion begins with an ib_wc. */
SEC("fentry/rxe_cq_post")
int rxe_cq(__u64 *arg)
{
	struct ib_wc *wc = (void *)arg[1];

	return mark(BPF_CORE_READ(wc, qp), PROV_CQ);
}

ENTRY(siw_post, "siw_post_send", IB, PROV_SIW | PROV_POST)
ENTRY(siw_start, "siw_sq_start", SIW, PROV_SIW | PROV_START)
ENTRY(siw_run, "siw_qp_sq_process", SIW, PROV_SIW | PROV_RUN)
ENTRY(siw_cq_send, "siw_sqe_complete", SIW, PROV_SIW | PROV_CQ)
ENTRY(siw_cq_recv, "siw_rqe_complete", SIW, PROV_SIW | PROV_CQ)

/* What is left when the socket is full leaves later, and then this returns again. */
SEC("fexit/siw_qp_sq_process")
int siw_sent(__u64 *arg)
{
	return mark(SIW(arg[0]), PROV_SIW | PROV_SENT);
}

SEC("fexit/siw_tx_hdt")
int siw_full(__u64 *arg)
{
	if ((int)arg[2] != -EAGAIN)
		return 0;
	return mark(SIW(arg[0] - bpf_core_field_offset(struct siw_qp, tx_ctx)),
		    PROV_SIW | PROV_FULL);
}

SEC("fentry/siw_tcp_rx_data")
int siw_serve(__u64 *arg)
{
	read_descriptor_t *rd = (void *)arg[0];

	return mark(SIW(BPF_CORE_READ(rd, arg.data)), PROV_SIW | PROV_SERVE);
}
