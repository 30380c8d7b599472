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

static void mark(uint64_t t, uint32_t qp, unsigned int step)
{
	provider_add(&(struct prov_mark){ .t = t, .qp = qp, .step = step }, 1);
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

/* A READ of our own on rxe, each step a nanosecond longer than the one before. */
static void rxe_read(uint64_t t)
{
	static const struct {
		uint32_t qp;
		unsigned int step;
	} steps[] = {
		{ OWN, PROV_POST },	{ OWN, PROV_RUN },    { OWN, PROV_SENT },
		{ PEER, PROV_ARRIVED }, { PEER, PROV_SERVE }, { PEER, PROV_ANSWERED },
		{ OWN, PROV_BACK },	{ OWN, PROV_FINISH }, { OWN, PROV_CQ },
	};
	unsigned int i;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		mark(t, steps[i].qp, steps[i].step);
		t += i + 1;
	}
}

TEST(request)
{
	rxe_read(100);
	assert_string_equal(split(true, 100, 140),
			    "task=1 send=2 net=3 queue=4 respond=5 ack=13 complete=12 of 40");
}

TEST(marks_of_others_and_of_the_past)
{
	mark(50, OTHER, PROV_POST);
	mark(60, 0, PROV_POST);
	mark(70, OWN, PROV_POST);
	assert_string_equal(split(true, 80, 90), "task=10 of 10");
	/* A CPU's marks come later than those of another CPU, and are older. */
	mark(120, OWN, PROV_SENT);
	mark(110, OWN, PROV_RUN);
	assert_string_equal(split(true, 90, 130), "task=20 send=10 net=10 of 40");
	assert_string_equal(split(true, 130, 130), "of 0");
}

/* The message comes when the peer has READ: the ball is ours, then the peer's, and its READ is another request. */
TEST(message)
{
	mark(100, OWN, PROV_POST);
	mark(110, OWN, PROV_RUN);
	mark(120, OWN, PROV_SENT);
	mark(130, PEER, PROV_ARRIVED);
	mark(140, PEER, PROV_SERVE);
	mark(150, PEER, PROV_CQ);
	/* The acknowledgement of our message is not what we wait for. */
	mark(160, PEER, PROV_ANSWERED);
	mark(170, OWN, PROV_BACK);
	mark(180, OWN, PROV_FINISH);
	mark(190, PEER, PROV_POST);
	mark(200, PEER, PROV_RUN);
	mark(210, PEER, PROV_SENT);
	mark(220, OWN, PROV_ARRIVED);
	mark(230, OWN, PROV_SERVE);
	assert_string_equal(split(false, 105, 240),
			    "task=15 send=20 net=20 queue=20 respond=20 peer=40 of 135");
}

/* What the peer posts for itself does not disturb a request of our own. */
TEST(request_beside_the_peers)
{
	mark(100, OWN, PROV_POST);
	mark(110, PEER, PROV_POST);
	mark(120, PEER, PROV_RUN);
	mark(130, PEER, PROV_CQ);
	mark(140, OWN, PROV_RUN);
	assert_string_equal(split(true, 100, 150), "task=40 send=10 of 50");
}

#define SIW(step) (PROV_SIW | (step))

/* On the loopback the peer receives inside the call that sends; a full socket is no network. */
TEST(siw)
{
	mark(100, OWN, SIW(PROV_POST));
	mark(105, OWN, SIW(PROV_START));
	mark(110, OWN, SIW(PROV_RUN));
	mark(120, OWN, SIW(PROV_FULL));
	mark(130, OWN, SIW(PROV_SENT));
	mark(140, OWN, SIW(PROV_RUN));
	mark(150, PEER, SIW(PROV_SERVE));
	mark(160, OWN, SIW(PROV_SENT));
	mark(170, PEER, SIW(PROV_START));
	mark(180, PEER, SIW(PROV_RUN));
	mark(190, PEER, SIW(PROV_SENT));
	mark(200, OWN, SIW(PROV_SERVE));
	assert_string_equal(split(true, 100, 210),
			    "hand-over=20 send=30 tcp=20 net=10 receive=30 of 110");
}

/* So many marks that the first ones are forgotten: nothing is read that is not there, and the time is all told. */
TEST(forgotten)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		mark(1000 + i, OWN, i % 2 ? PROV_POST : PROV_RUN);
	assert_non_null(strstr(split(true, 1000, 1001000), "of 1000000"));
	assert_true(ns[PROVIDER_PEER] && ns[PROVIDER_TASK] > 200000 && ns[PROVIDER_SEND] > 200000);
}
