// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Follows a request through its provider: the last step that a mark told decides the stage. A message that is waited for is
 * followed from the end that has something to post to the other one and back; a request of one's own only there and back,
 * whatever the peer posts meanwhile. Packets of one message are sent while others are already received: the time is
 * that of the step that came last.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/alloc.h"
#include "provider.h"

/* Marks are kept until so many have come after them. */
#define KEEP (1U << 18)

static struct prov_mark *all;
static size_t nr, room;
static uint64_t first; /* the number of all[0] */

const char *provider_stage_name(unsigned int stage)
{
	static const char *const names[PROVIDER_NR_STAGES] = {
		[PROVIDER_TASK] = "task",	[PROVIDER_HAND_OVER] = "hand-over",
		[PROVIDER_SEND] = "send",	[PROVIDER_TCP] = "tcp",
		[PROVIDER_NET] = "net",		[PROVIDER_QUEUE] = "queue",
		[PROVIDER_RESPOND] = "respond", [PROVIDER_RECEIVE] = "receive",
		[PROVIDER_ACK] = "ack",		[PROVIDER_COMPLETE] = "complete",
		[PROVIDER_PEER] = "peer",
	};

	return names[stage];
}

static bool is_in(unsigned int stage, unsigned int stages)
{
	return stages >> stage & 1;
}

#define IN(stage) (1U << PROVIDER_##stage)

static void posted(struct provider_at *at, bool request, bool siw, bool peer)
{
	/* The peer posts for us only if it is its turn. */
	if (peer && (request || !is_in(at->stage, IN(PEER))))
		return;
	at->peers = peer;
	at->stage = siw ? PROVIDER_HAND_OVER : PROVIDER_TASK;
}

static void step_of_siw(struct provider_at *at, bool request, unsigned int step, bool peer)
{
	switch (step) {
	case PROV_POST:
		posted(at, request, true, peer);
		break;
	case PROV_START:
		/* To answer a READ; another thread was asked by the post. */
		if (peer != at->peers && is_in(at->stage, IN(RECEIVE)))
			at->stage = PROVIDER_HAND_OVER;
		break;
	case PROV_RUN:
		if (is_in(at->stage, IN(HAND_OVER) | IN(TCP))) {
			at->stage = PROVIDER_SEND;
			at->peer_sends = peer;
		}
		break;
	case PROV_FULL:
		if (is_in(at->stage, IN(SEND)) && peer == at->peer_sends)
			at->stage = PROVIDER_TCP;
		break;
	case PROV_SENT:
		if (is_in(at->stage, IN(SEND)) && peer == at->peer_sends)
			at->stage = PROVIDER_NET;
		break;
	case PROV_SERVE:
		/* On the loopback TCP's data are received inside the call that sends them, which may be one that ran already. */
		if (is_in(at->stage, IN(SEND) | IN(TCP) | IN(NET)) ?
			    peer != at->peer_sends :
			    is_in(at->stage, IN(HAND_OVER)) && peer != at->peers)
			at->stage = PROVIDER_RECEIVE;
		break;
	case PROV_CQ:
		if (!request && peer && is_in(at->stage, IN(RECEIVE)))
			at->stage = PROVIDER_PEER;
		break;
	}
}

static void step_of_rxe(struct provider_at *at, bool request, unsigned int step, bool peer)
{
	bool asks = peer == at->peers; /* it is a step of the end whose request is under way */

	switch (step) {
	case PROV_POST:
		posted(at, request, false, peer);
		break;
	case PROV_RUN:
		if (asks && is_in(at->stage, IN(TASK)))
			at->stage = PROVIDER_SEND;
		break;
	case PROV_SENT:
		if (asks && !is_in(at->stage, IN(PEER)))
			at->stage = PROVIDER_NET;
		break;
	case PROV_ARRIVED:
		if (!asks && !is_in(at->stage, IN(PEER)))
			at->stage = PROVIDER_QUEUE;
		break;
	case PROV_SERVE:
		if (!asks && is_in(at->stage, IN(QUEUE)))
			at->stage = PROVIDER_RESPOND;
		break;
	case PROV_ANSWERED:
		if (!asks && is_in(at->stage, IN(QUEUE) | IN(RESPOND)))
			at->stage = PROVIDER_ACK;
		break;
	case PROV_BACK:
		if (asks && !is_in(at->stage, IN(PEER)))
			at->stage = PROVIDER_ACK;
		break;
	case PROV_FINISH:
		if (asks && is_in(at->stage, IN(ACK)))
			at->stage = PROVIDER_COMPLETE;
		break;
	case PROV_CQ:
		if (!request && peer && is_in(at->stage, IN(QUEUE) | IN(RESPOND) | IN(COMPLETE)))
			at->stage = PROVIDER_PEER;
		break;
	}
}

void provider_step(struct provider_at *at, bool request, unsigned int step, bool peer)
{
	if (step & PROV_SIW)
		step_of_siw(at, request, step & ~PROV_SIW, peer);
	else
		step_of_rxe(at, request, step, peer);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct prov_mark *)a)->t, y = ((const struct prov_mark *)b)->t;

	return (x > y) - (x < y);
}

void provider_add(const struct prov_mark *marks, size_t n)
{
	size_t from = nr, i;
	uint64_t t = UINT64_MAX;

	if (!n)
		return;
	if (nr > 2 * KEEP) {
		memmove(all, all + nr - KEEP, KEEP * sizeof(*all));
		first += nr - KEEP;
		nr = from = KEEP;
	}
	if (nr + n > room)
		all = krp_grow(all, &room, 2 * (nr + n), sizeof(*all));
	memcpy(all + nr, marks, n * sizeof(*all));
	nr += n;
	for (i = from; i < nr; i++) {
		if (all[i].t < t)
			t = all[i].t;
	}
	/* One CPU's marks may be older than the last ones of another CPU. */
	while (from && all[from - 1].t > t)
		from--;
	qsort(all + from, nr - from, sizeof(*all), by_time);
}

void provider_split(struct provider_path *path, uint32_t qp, uint32_t peer_qp, bool request,
		    uint64_t t, uint64_t t_end, uint64_t ns[PROVIDER_NR_STAGES])
{
	struct provider_at *at = request ? &path->request : &path->message;
	const struct prov_mark *m;

	if (path->next < first)
		path->next = first;
	for (; path->next < first + nr; path->next++) {
		m = &all[path->next - first];
		if (m->t >= t_end)
			break;
		if (!m->qp || (m->qp != qp && m->qp != peer_qp))
			continue;
		if (m->t > t) {
			ns[at->stage] += m->t - t;
			t = m->t;
		}
		provider_step(&path->request, true, m->step, m->qp != qp);
		provider_step(&path->message, false, m->step, m->qp != qp);
	}
	ns[at->stage] += t_end - t;
}

void provider_forget(void)
{
	free(all);
	all = NULL;
	nr = room = 0;
	first = 0;
}
