// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A race of two instructions, for tests/guest/smp.t: threads on two CPUs add 1 to one number, by a
 * load and a store, without a lock. Only where the CPUs are at work at the same time is an addition
 * lost. The CPUs of an emulator that lets them take turns never stop between the two instructions.
 */
#include "plant.h"

#define RACE_ADDS 20000000

PLANT_COUNTER(lost, "additions that were lost, of 40000000");

static unsigned int race_number;
static atomic_t race_ready = ATOMIC_INIT(0);

/* Both begin at the same moment: one of them alone would soon be through. */
static int race_add(void *unused)
{
	unsigned int i, n;

	atomic_inc(&race_ready);
	while (atomic_read(&race_ready) < PLANT_THREADS)
		cond_resched();
	for (i = 0; i < RACE_ADDS; i++) {
		n = READ_ONCE(race_number);
		WRITE_ONCE(race_number, n + 1);
	}
	complete(&plant_done);
	return 0;
}

static int __init race_begin(void)
{
	void *none[PLANT_THREADS] = {};
	int err = num_online_cpus() < PLANT_THREADS ? -ENODEV : plant_threads(race_add, none);

	lost = PLANT_THREADS * RACE_ADDS - race_number;
	return err;
}

PLANT_MODULE(race_begin, plant_no_end, "A race for the test suite to find; of no other use");
