// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes rxe's acknowledgement of one message useless: that with the message sequence
 * number "msn" gets the packet sequence number before its own, so that it says nothing
 * new to whoever has sent the message. That is the queue pair whose first message is
 * acknowledged next, so in rping the client. For tests/guest/events.t, over IPv4.
 *
 * The probe is on a function that another file of rxe calls, so that no compiler
 * inlines it. The packet has no checksum there yet. Its headers are those of
 * InfiniBand Architecture Specification, volume 1, 9.2 (BTH) and 9.3.5 (AETH).
 */
#include "plant.h"

#include <linux/skbuff.h>

#define UNACKED_BTH    28   /* behind the headers of IPv4 and UDP */
#define UNACKED_LEN    16   /* BTH and AETH */
#define UNACKED_OPCODE 0x11 /* RC acknowledge */
#define UNACKED_NAK    0x60 /* in the syndrome: not an acknowledgement */

PLANT_PARAM(uint, msn, 0, 0444, "number of the message, counted from 1");
PLANT_COUNTER(changed, "acknowledgements that were made useless");

static u32 unacked_qpn; /* 0: not known yet; no queue pair that connects has it */

static u32 unacked_24(const u8 *p)
{
	return p[0] << 16 | p[1] << 8 | p[2];
}

static int unacked_xmit(struct kprobe *kp, struct pt_regs *regs)
{
	struct sk_buff *skb = (void *)regs_get_kernel_argument(regs, 2);
	u8 *bth = skb->data + UNACKED_BTH, *psn = bth + 9, *aeth = bth + 12;
	u32 before;

	if (skb_headlen(skb) < UNACKED_BTH + UNACKED_LEN || skb->data[0] >> 4 != 4)
		return 0;
	if (bth[0] != UNACKED_OPCODE || aeth[0] & UNACKED_NAK)
		return 0;
	if (unacked_24(aeth + 1) == 1)
		cmpxchg(&unacked_qpn, 0, unacked_24(bth + 5));
	if (unacked_24(aeth + 1) != msn || unacked_24(bth + 5) != READ_ONCE(unacked_qpn))
		return 0;
	before = unacked_24(psn) - 1;
	psn[0] = before >> 16;
	psn[1] = before >> 8;
	psn[2] = before;
	changed++;
	return 0;
}

static struct kprobe unacked_probe = {
	.symbol_name = "rxe_xmit_packet",
	.pre_handler = unacked_xmit,
};
static struct kprobe *probes[] = { &unacked_probe };
PLANT_PROBES(kprobe, probes, 1, "Acknowledgements of rxe that say nothing, for tests");
