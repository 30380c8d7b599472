// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <pthread.h>
#include <stdint.h>

#include "out.h"
#include "stop.h"

/*
 * timeout(1) signals its command, and at once the command's group with the command in it: that is one wish to stop. On a busy
 * machine the command may run in between.
 */
#define SAME_WISH_NS 500000000

static siginfo_t wish;
static uint64_t wish_ns;

static void again(int sig, siginfo_t *info, void *context)
{
	(void)context;
	/* Ctrl-C has no sender: it comes from the kernel. */
	if (info->si_code == SI_USER && wish.si_code == SI_USER && info->si_pid == wish.si_pid &&
	    krp_time_now() - wish_ns < SAME_WISH_NS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void krp_next_signal_kills(const sigset_t *stop, const siginfo_t *first)
{
	struct sigaction action = { .sa_sigaction = again, .sa_flags = SA_RESTART | SA_SIGINFO };
	int sig;

	wish = *first;
	wish_ns = krp_time_now();
	for (sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(stop, sig) == 1)
			sigaction(sig, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, stop, NULL);
}
