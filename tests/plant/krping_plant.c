// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One bug of each kind, for tests/guest/plant.t: an alarm that does not go off
 * here would not go off for rdma_krping either. The parameter "plant" names the
 * bug, which is committed when the module is loaded.
 *
 * The kernel has to survive each bug, since in the VM an oops is a panic. So bugs only read where
 * they must not, and none corrupts a list, since a kernel with BUG_ON_DATA_CORRUPTION would stop.
 */
#include "plant.h"

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>

#define PLANT_BYTES 64
#define PLANT_LEAKS 10

PLANT_PARAM(charp, plant, "none", 0444, "the bug, or none");

static void plant_warn(void)
{
	WARN(1, "planted\n");
}

static char *plant_kept;

/*
 * More than one: a copy of the last pointer may stay on a stack that is kept for the next task, where
 * kmemleak sees it. And zeroed: free memory has the address of the next free object in it, so each leaked object
 * would refer to the one that was allocated behind it, and a copy of one pointer would hide several. The object in
 * plant_kept is such a copy, made on purpose: with kmalloc() kmemleak found 5 and 8 of the ten in two boots.
 */
static void plant_leak(void)
{
	unsigned int i;
	char *p;

	WRITE_ONCE(plant_kept, kzalloc(PLANT_BYTES, GFP_KERNEL));
	for (i = 0; i < PLANT_LEAKS; i++) {
		p = kzalloc(PLANT_BYTES, GFP_KERNEL);
		/* The compiler forgets the pointer, too. */
		OPTIMIZER_HIDE_VAR(p);
	}
}

/* Reads a byte of memory that the compiler must not know anything about. */
static void plant_read(char *p, size_t at)
{
	OPTIMIZER_HIDE_VAR(p);
	(void)READ_ONCE(p[at]);
}

static void plant_uaf(void)
{
	char *p = kmalloc(PLANT_BYTES, GFP_KERNEL);
	char *gone = p;

	OPTIMIZER_HIDE_VAR(gone);
	kfree(p);
	if (gone)
		plant_read(gone, 0);
}

static void plant_oob(void)
{
	char *p = kmalloc(PLANT_BYTES, GFP_KERNEL);

	if (p)
		plant_read(p, PLANT_BYTES);
	kfree(p);
}

static DEFINE_MUTEX(plant_a);
static DEFINE_MUTEX(plant_b);

static void plant_lock(void)
{
	mutex_lock(&plant_a);
	mutex_lock(&plant_b);
	mutex_unlock(&plant_b);
	mutex_unlock(&plant_a);

	mutex_lock(&plant_b);
	mutex_lock(&plant_a);
	mutex_unlock(&plant_a);
	mutex_unlock(&plant_b);
}

static void plant_sleep(void)
{
	preempt_disable();
	might_sleep();
	preempt_enable();
}

static char __rcu *plant_rcu_pointer;

static void plant_rcu(void)
{
	(void)rcu_dereference(plant_rcu_pointer);
}

static int plant_array[4] = { 1, 2, 3, 4 };
static unsigned int plant_index = ARRAY_SIZE(plant_array);

static void plant_bounds(void)
{
	/* No READ_ONCE() of the element: it takes the address, which may be one past the end. */
	int element = plant_array[READ_ONCE(plant_index)];

	pr_info("read: %d\n", element);
}

static void plant_shift(void)
{
	int one = 1;

	OPTIMIZER_HIDE_VAR(one);
	pr_info("shifted: %d\n", one << (READ_ONCE(plant_index) + 60));
}

static void plant_timer_fn(struct timer_list *t)
{
}

static void plant_object(void)
{
	struct timer_list *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(t, plant_timer_fn, 0);
	mod_timer(t, jiffies + 3600 * HZ);
	/* A kernel that finds this bug also takes the timer off its wheel. */
	kfree(t);
}

/* clang-format off */
static const struct {
	const char *name;
	void (*commit)(void);
} plants[] = {
	{ "none", NULL },
	{ "warn", plant_warn },
	{ "leak", plant_leak },
	{ "uaf", plant_uaf },
	{ "oob", plant_oob },
	{ "lock", plant_lock },
	{ "sleep", plant_sleep },
	{ "rcu", plant_rcu },
	{ "bounds", plant_bounds },
	{ "shift", plant_shift },
	{ "object", plant_object },
};
/* clang-format on */

static int __init krping_plant_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plants); i++)
		if (!strcmp(plant, plants[i].name)) {
			pr_info("%s\n", plant);
			if (plants[i].commit)
				plants[i].commit();
			return 0;
		}
	return -EINVAL;
}

static void __exit krping_plant_exit(void)
{
	kfree(plant_kept);
}

PLANT_MODULE(krping_plant_init, krping_plant_exit,
	     "Bugs for the test suite to find; of no other use");
