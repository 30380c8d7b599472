/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a software provider does between the post of a request and the signal of its completion: the stage wire, divided by
 * the marks of bpf/provider.bpf.c.
 */
#ifndef KRP_STAGES_PROVIDER_H
#define KRP_STAGES_PROVIDER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../bpf/provider.h"
#include "../lib/lost.h"

/* Each lasts from the mark that begins it to the next one that begins another, and so they tile wire. */
enum provider_stage {
	PROVIDER_TASK,	    /* rxe: until the requester runs */
	PROVIDER_HAND_OVER, /* siw: until the transmit thread runs */
	PROVIDER_SEND,	    /* until a packet leaves, or TCP has all */
	PROVIDER_TCP,	    /* the socket is full */
	PROVIDER_NET,	    /* until the other end's provider has it */
	PROVIDER_QUEUE,	    /* rxe: until the other end's responder runs */
	PROVIDER_RESPOND,   /* rxe: until the responder has made its answer, or completion */
	PROVIDER_RECEIVE,   /* siw: until TCP's data are placed, and what they ask for is done */
	PROVIDER_ACK,	    /* rxe: until the answer is back at the requester's completer */
	PROVIDER_COMPLETE,  /* rxe: until the completion is signalled */
	PROVIDER_PEER,	    /* until the other end's program has posted what is waited for */
	PROVIDER_NR_STAGES,
};

/* How far the steps of a run are followed: two times, since a wait for an own request ends otherwise than one for a message. */
struct provider_path {
	uint64_t next; /* the number of the next mark */
	struct provider_at {
		uint8_t stage;
		bool peers;	 /* the request that is under way is the peer's */
		bool peer_sends; /* siw: the peer transmits */
	} message, request;
};

/* steps.c: what the marks mean. */

const char *provider_stage_name(unsigned int stage);
/* Takes a mark: at t the queue pair made the step, with PROV_SIW. They may come in any order. */
void provider_add(uint64_t t, uint32_t qp, uint32_t step);
/*
 * Adds to ns[] how long each stage was between t and t_end, which is not before the last call's t_end. peer_qp is 0 if the
 * peer is not on this host; request: the wait is for an own request.
 */
void provider_split(struct provider_path *path, uint32_t qp, uint32_t peer_qp, bool request,
		    uint64_t t, uint64_t t_end, uint64_t ns[PROVIDER_NR_STAGES]);
void provider_forget(void);

/* provider.c: where they come from. */

/*
 * Attaches to the functions of the providers that are loaded; dies with the cause if there are none. Returns a file
 * that is readable when marks are to be read.
 */
int provider_open(void);
void provider_close(void);
/* Takes the marks so far. Returns until when they are complete, which is for all times to come unless they have ended. */
uint64_t provider_read(void);
/* No more marks are taken. */
void provider_end(void);
/* Marks that were overwritten before they were read, and calls of functions that BPF skipped. */
struct krp_lost provider_lost(void);

#endif /* KRP_STAGES_PROVIDER_H */
