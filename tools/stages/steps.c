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

struct mark {
	uint64_t t;
	uint32_t qp;
	uint32_t step;
};

static struct mark *marks;
static size_t nr, room, sorted; /* the first ones, which are in the order of time */
static uint64_t first;		/* the number of marks[0] */

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

/* Whose step a rule is about. */
enum who {
	ANYONE,
	OWN,
	AWAITED,  /* the peer, whose message is waited for */
	ASKS,	  /* the end whose request is under way */
	ANSWERS,  /* the other end */
	SENDS,	  /* siw: the end that transmits */
	RECEIVES, /* siw: the other end */
};

static bool is_of(enum who who, const struct provider_at *at, bool request, bool peer)
{
	switch (who) {
	case OWN:
		return !peer;
	case AWAITED:
		return peer && !request;
	case ASKS:
		return peer == at->peers;
	case ANSWERS:
		return peer != at->peers;
	case SENDS:
		return peer == at->peer_sends;
	case RECEIVES:
		return peer != at->peer_sends;
	default:
		return true;
	}
}

/* clang-format off */
#define IN(stage) (1U << PROVIDER_##stage)
#define SIW(step) (PROV_SIW | PROV_##step)

/* A step leads from one of these stages to another one; the first rule counts that is for it. */
static const struct {
	uint16_t step, who, from, to;
} rules[] = {
	{ PROV_POST,	 OWN,	   UINT16_MAX,				  PROVIDER_TASK },
	{ PROV_POST,	 AWAITED,  IN(PEER),				  PROVIDER_TASK },
	{ PROV_RUN,	 ASKS,	   IN(TASK),				  PROVIDER_SEND },
	{ PROV_SENT,	 ASKS,	   UINT16_MAX & ~IN(PEER),		  PROVIDER_NET },
	{ PROV_ARRIVED,	 ANSWERS,  UINT16_MAX & ~IN(PEER),		  PROVIDER_QUEUE },
	{ PROV_SERVE,	 ANSWERS,  IN(QUEUE),				  PROVIDER_RESPOND },
	{ PROV_ANSWERED, ANSWERS,  IN(QUEUE) | IN(RESPOND),		  PROVIDER_ACK },
	{ PROV_BACK,	 ASKS,	   UINT16_MAX & ~IN(PEER),		  PROVIDER_ACK },
	{ PROV_FINISH,	 ASKS,	   IN(ACK),				  PROVIDER_COMPLETE },
	{ PROV_CQ,	 AWAITED,  IN(QUEUE) | IN(RESPOND) | IN(COMPLETE), PROVIDER_PEER },

	{ SIW(POST),	 OWN,	   UINT16_MAX,				  PROVIDER_HAND_OVER },
	{ SIW(POST),	 AWAITED,  IN(PEER),				  PROVIDER_HAND_OVER },
	/* To answer a READ; for a request the post has asked its own thread. */
	{ SIW(START),	 ANSWERS,  IN(RECEIVE),				  PROVIDER_HAND_OVER },
	{ SIW(RUN),	 ANYONE,   IN(HAND_OVER) | IN(TCP),		  PROVIDER_SEND },
	{ SIW(FULL),	 SENDS,	   IN(SEND),				  PROVIDER_TCP },
	{ SIW(SENT),	 SENDS,	   IN(SEND),				  PROVIDER_NET },
	/* On the loopback TCP's data are received inside the call that sends them, which may have begun before the post. */
	{ SIW(SERVE),	 RECEIVES, IN(SEND) | IN(TCP) | IN(NET),	  PROVIDER_RECEIVE },
	{ SIW(SERVE),	 ANSWERS,  IN(HAND_OVER),			  PROVIDER_RECEIVE },
	{ SIW(CQ),	 AWAITED,  IN(RECEIVE),				  PROVIDER_PEER },
};
/* clang-format on */

static void move(struct provider_at *at, bool request, unsigned int step, bool peer)
{
	unsigned int i;

	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (rules[i].step == step && rules[i].from >> at->stage & 1 &&
		    is_of(rules[i].who, at, request, peer))
			break;
	}
	if (i == sizeof(rules) / sizeof(*rules))
		return;
	at->stage = rules[i].to;
	if ((step & ~PROV_SIW) == PROV_POST)
		at->peers = peer;
	else if (step == SIW(RUN))
		at->peer_sends = peer;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct mark *)a)->t, y = ((const struct mark *)b)->t;

	return (x > y) - (x < y);
}

/* One CPU's marks come after those of another CPU, and may be older. */
static void sort(void)
{
	uint64_t t = UINT64_MAX;
	size_t i;

	for (i = sorted; i < nr; i++) {
		if (marks[i].t < t)
			t = marks[i].t;
	}
	for (i = sorted; i && marks[i - 1].t > t;)
		i--;
	qsort(marks + i, nr - i, sizeof(*marks), by_time);
	sorted = nr;
}

void provider_add(uint64_t t, uint32_t qp, uint32_t step)
{
	if (nr == 2 * KEEP) {
		sort();
		memmove(marks, marks + KEEP, KEEP * sizeof(*marks));
		first += KEEP;
		nr = sorted = KEEP;
	}
	if (nr == room)
		marks = krp_grow(marks, &room, room ? 2 * room : 4096, sizeof(*marks));
	marks[nr++] = (struct mark){ t, qp, step };
}

void provider_split(struct provider_path *path, uint32_t qp, uint32_t peer_qp, bool request,
		    uint64_t t, uint64_t t_end, uint64_t ns[PROVIDER_NR_STAGES])
{
	struct provider_at *at = request ? &path->request : &path->message;
	const struct mark *m;

	if (sorted < nr)
		sort();
	if (path->next < first)
		path->next = first;
	for (; path->next < first + nr; path->next++) {
		m = &marks[path->next - first];
		if (m->t >= t_end)
			break;
		if (!m->qp || (m->qp != qp && m->qp != peer_qp))
			continue;
		if (m->t > t) {
			ns[at->stage] += m->t - t;
			t = m->t;
		}
		move(&path->request, true, m->step, m->qp != qp);
		move(&path->message, false, m->step, m->qp != qp);
	}
	ns[at->stage] += t_end - t;
}

void provider_forget(void)
{
	free(marks);
	marks = NULL;
	nr = room = sorted = 0;
	first = 0;
}
