// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <pthread.h>
#include <stdint.h>

#include "out.h"
#include "stop.h"

/* timeout(1) signals its command, and then the command's group with the command in it: that is one wish to stop. */
#define SAME_WISH_NS 500000000

static uint64_t stopped_ns;

static void again(int sig)
{
	if (krp_time_now() - stopped_ns < SAME_WISH_NS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void krp_next_signal_kills(const sigset_t *stop)
{
	struct sigaction action = { .sa_handler = again, .sa_flags = SA_RESTART };
	int sig;

	stopped_ns = krp_time_now();
	for (sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(stop, sig) == 1)
			sigaction(sig, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, stop, NULL);
}
