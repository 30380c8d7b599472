// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Prints how many thousand times in a second this host's TSC counts. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* A pair of readings, of which the clock's is between two of the TSC that are close. */
static unsigned long long pair(struct timespec *t)
{
	unsigned long long before, after, best = ~0ULL, tsc = 0;
	struct timespec now;
	int i;

	for (i = 0; i < 100; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &now);
		after = __rdtsc();
		if (after - before >= best)
			continue;
		best = after - before;
		tsc = before + best / 2;
		*t = now;
	}
	return tsc;
}

int main(void)
{
	struct timespec t0, t1;
	unsigned long long tsc0 = pair(&t0), tsc1;

	usleep(50000);
	tsc1 = pair(&t1);
	printf("%.0f\n",
	       (tsc1 - tsc0) * 1e6 / ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)));
	return 0;
}
