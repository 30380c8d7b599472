// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* tools/stages/steps.c: a request is followed through its provider. */
#include "unit.h"
#include "tools/stages/provider.h"

enum { OWN = 7, PEER = 9, OTHER = 11 };

static struct provider_path path;
static uint64_t ns[PROVIDER_NR_STAGES];

SETUP()
{
	provider_forget();
	path = (struct provider_path){ .message.stage = PROVIDER_PEER,
				       .request.stage = PROVIDER_PEER };
	memset(ns, 0, sizeof(ns));
}

#define P 0x1000 /* a step of the peer */
#define MARKS(t, ...) \
	marks((t), sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), (int[]){ __VA_ARGS__ })

/* Steps, one each ten nanoseconds. */
static void marks(uint64_t t, unsigned int nr, const int *step)
{
	for (; nr--; step++, t += 10)
		provider_add(t, *step & P ? PEER : OWN, *step & ~P);
}

/* What was between two times, by name, and their sum. */
static const char *split(bool request, uint64_t t, uint64_t t_end)
{
	static char text[256];
	uint64_t sum = 0;
	unsigned int i;
	int n = 0;

	memset(ns, 0, sizeof(ns));
	provider_split(&path, OWN, PEER, request, t, t_end, ns);
	for (i = 0; i < PROVIDER_NR_STAGES; i++) {
		sum += ns[i];
		if (ns[i])
			n += snprintf(text + n, sizeof(text) - n, "%s=%d ", provider_stage_name(i),
				      (int)ns[i]);
	}
	snprintf(text + n, sizeof(text) - n, "of %d", (int)sum);
	return text;
}

TEST(request)
{
	MARKS(100, PROV_POST, PROV_RUN, PROV_SENT, P | PROV_ARRIVED, P | PROV_SERVE,
	      P | PROV_ANSWERED, PROV_BACK, PROV_FINISH, PROV_CQ);
	assert_string_equal(split(true, 100, 195),
			    "task=10 send=10 net=10 queue=10 respond=10 ack=20 complete=25 of 95");
}

TEST(marks_of_others_and_of_the_past)
{
	provider_add(50, OTHER, PROV_POST);
	provider_add(60, 0, PROV_POST);
	provider_add(70, OWN, PROV_POST);
	assert_string_equal(split(true, 80, 90), "task=10 of 10");
	/* A CPU's marks come later than those of another CPU, and are older. */
	provider_add(120, OWN, PROV_SENT);
	provider_add(110, OWN, PROV_RUN);
	assert_string_equal(split(true, 90, 130), "task=20 send=10 net=10 of 40");
	assert_string_equal(split(true, 130, 130), "of 0");
}

/* The message comes when the peer has READ: the ball is ours, then the peer's, and its READ is another request. */
TEST(message)
{
	/* The acknowledgement of our message is not what we wait for. */
	MARKS(100, PROV_POST, PROV_RUN, PROV_SENT, P | PROV_ARRIVED, P | PROV_SERVE, P | PROV_CQ,
	      P | PROV_ANSWERED, PROV_BACK, PROV_FINISH, P | PROV_POST, P | PROV_RUN, P | PROV_SENT,
	      PROV_ARRIVED, PROV_SERVE);
	assert_string_equal(split(false, 105, 240),
			    "task=15 send=20 net=20 queue=20 respond=20 peer=40 of 135");
}

/* What the peer posts for itself does not disturb a request of our own. */
TEST(request_beside_the_peers)
{
	MARKS(100, PROV_POST, P | PROV_POST, P | PROV_RUN, P | PROV_CQ, PROV_RUN);
	assert_string_equal(split(true, 100, 150), "task=40 send=10 of 50");
}

#define SIW(step) (PROV_SIW | PROV_##step)

/* On the loopback the peer receives inside the call that sends; a full socket is no network. */
TEST(siw)
{
	MARKS(100, SIW(POST), SIW(START), SIW(RUN), SIW(FULL), SIW(SENT), SIW(RUN), P | SIW(SERVE),
	      SIW(SENT), P | SIW(START), P | SIW(RUN), P | SIW(SENT), SIW(SERVE));
	assert_string_equal(split(true, 100, 220),
			    "hand-over=30 send=30 tcp=20 net=10 receive=30 of 120");
}

/* So many marks that the first ones are forgotten: nothing is read that is not there, and the time is all told. */
TEST(forgotten)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		provider_add(1000 + i, OWN, i % 2 ? PROV_POST : PROV_RUN);
	assert_non_null(strstr(split(true, 1000, 1001000), "of 1000000"));
	assert_true(ns[PROVIDER_PEER] && ns[PROVIDER_TASK] > 200000 && ns[PROVIDER_SEND] > 200000);
}
