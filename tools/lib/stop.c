// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <pthread.h>
#include <stdint.h>

#include "out.h"
#include "stop.h"

/*
 * One wish to stop may be two signals. timeout(1) signals its command, and at once the command's group with the command in it;
 * and where Ctrl-C reaches timeout(1) and its command, timeout(1) passes it on. On a busy machine the command may run in
 * between.
 */
#define SAME_WISH_NS 500000000

static siginfo_t wish;
static uint64_t wish_ns;

static void again(int sig, siginfo_t *info, void *context)
{
	/* Nobody passes on a Ctrl-C as one: it comes from the kernel, so two of them are two. */
	bool two = info->si_code == SI_KERNEL && wish.si_code == SI_KERNEL;

	(void)context;
	if (!two && krp_time_now() - wish_ns < SAME_WISH_NS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void krp_stop_signals(sigset_t *stop)
{
	struct sigaction hup;

	sigemptyset(stop);
	sigaddset(stop, SIGINT);
	sigaddset(stop, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(stop, SIGHUP);
	pthread_sigmask(SIG_BLOCK, stop, NULL);
	/* A shell starts background jobs with SIGINT ignored; a SIGINT must stop us all the same. */
	signal(SIGINT, SIG_DFL);
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
