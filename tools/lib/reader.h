/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The main loop of the tools that read the records of iterations: it reads them in
 * time, takes the runs that have ended, and prints.
 */
#ifndef KRP_LIB_READER_H
#define KRP_LIB_READER_H

#include "follow.h"
#include "watch.h"

struct krp_reader {
	struct krp_watch *watch; /* with records */
	struct krp_follow *follow;
	struct krp_runs *runs;
	struct krp_setting *setting;
	/* All is read some times a second, and not only where much waits to be read. */
	bool eager;
	/* Reads what is not in the rings, each time that the rings were read; may be NULL. */
	void (*read)(void);
	/* Runs that have ended, of which all was read, are about to be taken; may be NULL. */
	void (*ready)(void);
	/* Takes a run that has ended. With KRP_TORN it is asked again, else the slot is dropped. */
	enum krp_taken (*take)(uint32_t slot);
	/* Looks at the runs that go on, some times a second; may be NULL. */
	void (*look)(void);
	/* An interval is over. */
	void (*print)(void);
	bool (*done)(void);
	/* It is over, but for what is not read yet; may be NULL. */
	void (*stop)(void);
};

/*
 * Returns when done() says so, or for a signal or the end of the last interval. All
 * records were read then, and all runs that had ended were taken.
 */
void krp_reader_run(const struct krp_reader *r);

#endif /* KRP_LIB_READER_H */
