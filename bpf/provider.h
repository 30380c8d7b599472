/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a software provider does with a request: an event for each step, of the program of the function that makes the
 * step, in the rings of bpf/recorder.h: kind is the step, id the number of the queue pair, t the time.
 */
#ifndef KRPING_PROVIDER_H
#define KRPING_PROVIDER_H

/* clang-format off */

enum prov_step {
	PROV_POST,		/* a request is handed to the provider */
	PROV_START,		/* the provider's thread is asked to transmit */
	PROV_RUN,		/* the transmitter begins to run */
	PROV_SENT,		/* a packet of a request leaves, or all that could be sent has left */
	PROV_FULL,		/* the socket takes no more for now */
	PROV_ARRIVED,		/* a packet of a request has come to the other end */
	PROV_SERVE,		/* the other end begins to handle it */
	PROV_ANSWERED,		/* a packet of its answer leaves */
	PROV_BACK,		/* a packet of the answer has come back */
	PROV_FINISH,		/* the requester begins to handle the answer */
	PROV_CQ,		/* a completion is put into a completion queue */
};

#define PROV_SIW	0x100	/* beside a step: it is siw's */

/* clang-format on */

#endif /* KRPING_PROVIDER_H */
